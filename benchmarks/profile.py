"""What the `triage` set costs against ncu's full set, on one program in one call, and whether the verdicts agree.

    python benchmarks/profile.py [--survey] [--ours ARG]... [--extra ARG]... -- ./program args...

Needs a GPU and ncu. Prints a table: wall time, passes, size of the report, kernels, and kernels with the same verdict.
`--ours` hands an argument to `triage profile` (with a survey --ours=--share=100 --ours=--launches-per-kernel=1 profiles
every kernel once), `--extra` one to the full run of ncu, to try what a flag costs there.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

FULL = ["--config-file", "off", "--clock-control", "none", "--cache-control", "all", "--apply-rules", "no",
        "--target-processes", "all", "--import-source", "yes", "--set", "full", "-f"]  # fmt: skip


def timed(command: list[str]) -> float:
    """Wall seconds of a command; its output goes to standard error, a failure ends the benchmark."""
    started = time.perf_counter()
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=sys.stderr, stderr=sys.stderr, check=False)
    if done.returncode:
        sys.exit(f"{command[0]} ended with {done.returncode}")
    return time.perf_counter() - started


def verdicts(report: Path) -> dict[tuple[str, str, int], str]:
    """Limiter by kernel, launch shape and turn: what two reports of one program can be matched by."""
    made = subprocess.run(
        [sys.executable, "-m", "triage", "report", str(report), "-f", "json", "-o", "-"],
        stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    turns: Counter[tuple[str, str]] = Counter()
    found = {}
    for kernel in json.loads(made.stdout)["kernels"]:
        key = (kernel["name"], f"{kernel['grid']} {kernel['block']}")
        found[(*key, turns[key])] = kernel["diagnosis"]["limiter"] or "undecided"
        turns[key] += 1
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--survey", action="store_true", help="let triage rank the kernels first")
    parser.add_argument("--ours", action="append", default=[], help="an argument for triage profile")
    parser.add_argument("--extra", action="append", default=[], help="an argument for ncu's full run")
    parser.add_argument("program", nargs="+")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        ours, full = Path(folder) / "ours", Path(folder) / "full.ncu-rep"
        survey = [] if given.survey else ["--no-survey"]
        options = [*survey, *given.ours, "-f", "json", "-o", str(ours)]
        command = [sys.executable, "-m", "triage", "profile", *options, *given.program]
        seconds = timed(command)
        reference = timed(["ncu", *FULL, *given.extra, "-o", str(full), *given.program])
        report = next(ours.glob("*.ncu-rep"))
        mine, theirs = verdicts(report), verdicts(full)
        shared = mine.keys() & theirs.keys()
        same = sum(mine[key] == theirs[key] for key in shared)
        print(f"{'set':<10}{'wall':>10}{'kernels':>10}{'report':>12}")
        print(f"{'triage':<10}{seconds:>8.1f} s{len(mine):>10}{report.stat().st_size / 1e6:>9.1f} MB")
        print(f"{'full':<10}{reference:>8.1f} s{len(theirs):>10}{full.stat().st_size / 1e6:>9.1f} MB")
        print(f"wall time ratio {seconds / reference:.3f}; the same verdict on {same} of {len(shared)} kernels")
        for key in sorted(shared):
            if mine[key] != theirs[key]:
                print(f"  {key[0]}: {mine[key]} from the triage set, {theirs[key]} from the full set")


if __name__ == "__main__":
    main()
