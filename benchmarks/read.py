"""Reading: every layout of the fixtures; beside it what others need for the same report, each as a whole process:
`ncu_report` alone and, where `ncu` is on PATH, `ncu --import FILE --page raw --csv`.

    python benchmarks/read.py [--results N] [FILE…]

`--results` adds a report of so many results, made by repeating those of a fixture.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import measure
import synthetic

from triage.commands import wanted_metrics
from triage.readers import load
from triage.rules import default_rulebook

_DATA = Path(__file__).resolve().parent.parent / "tests" / "data"
_FILES = (
    "readers_pr.ncu-rep", "limiters_h200.csv", "readers_raw_base.csv", "readers_raw_instances.csv",
    "readers_details.csv", "readers_details.txt", "readers_metrics_stdout.csv",
)  # fmt: skip
_REPEATED = _DATA / "ncu_hello.ncu-rep"
_RUNS = 5
# What any program does that uses NVIDIA's library by itself: every value of every result.
_ALONE = """
import sys, ncu_report
for part in (context := ncu_report.load_report(sys.argv[1])):
    for action in part:
        for name in action.metric_names():
            action[name].value()
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--results", type=int)
    given = parser.parse_args()
    loads = ["load, metrics of the rules", "load, all metrics"]
    rows = [["file", "MB", "kernels", *loads, "triage report", "ncu_report alone", "ncu --import --csv"]]
    rows += [_row(path) for path in given.files or [_DATA / name for name in _FILES]]
    if given.results:
        with tempfile.TemporaryDirectory() as folder:
            big = synthetic.make(_REPEATED, given.results, Path(folder) / f"{given.results}.ncu-rep")
            rows.append(_row(big, runs=1))
    print(f"python benchmarks/read.py {' '.join(sys.argv[1:])}\n")
    print(measure.table(rows))


def _row(path: Path, runs: int = _RUNS) -> list[str]:
    wanted = wanted_metrics(default_rulebook())
    kernels = len(load(path, metrics=wanted).kernels)
    cells = [path.name, f"{path.stat().st_size / 1e6:.2f}", str(kernels)]
    cells += [f"{_timed(path, metrics, runs):.3f} s" for metrics in (wanted, None)]
    if not path.suffix.startswith(".ncu-rep"):
        return [*cells, _whole(measure.triage("report", str(path))), "", ""]
    ncu = shutil.which("ncu")
    return [
        *cells,
        _whole(measure.triage("report", str(path))),
        _whole([sys.executable, "-c", _ALONE, str(path)]),
        _whole([ncu, "--import", str(path), "--page", "raw", "--csv", "--print-units", "base"]) if ncu else "no ncu",
    ]


def _timed(path: Path, metrics: frozenset[str] | None, runs: int) -> float:
    times = []
    for _ in range(runs):
        begun = time.perf_counter()
        for kernel in load(path, metrics=metrics).kernels:
            if metrics is None:
                dict(kernel.metrics)
        times.append(time.perf_counter() - begun)
    return median(times)


def _whole(words: list[str]) -> str:
    begun = time.perf_counter()
    done = subprocess.run(words, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    seconds = time.perf_counter() - begun
    return f"{seconds:.2f} s" if done.returncode == 0 else f"status {done.returncode}"


if __name__ == "__main__":
    main()
