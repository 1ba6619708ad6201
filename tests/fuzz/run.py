"""Mutates reports for a set time and keeps every one that is not taken as it should be.

    python tests/fuzz/run.py --seconds 60 [--seed 1] [--keep DIR] [FILE…]

Takes the fixtures of the readers unless files are given. Ends with status 1 when something was found; the mutated
files then lie in --keep (a new temporary folder unless said), each with a line that says what was wrong.
"""

from __future__ import annotations

import argparse
import importlib.util
import random
import sys
import tempfile
import time
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS), str(TESTS.parent)]

import mutants  # noqa: E402 - beside the tests
from warm_reader import Warm  # noqa: E402

from triage.readers import ncu_rep, process  # noqa: E402

_FIXTURES = (
    "readers_raw_base.csv", "readers_raw_auto.csv", "readers_raw_instances.csv", "readers_metrics_stdout.csv",
    "readers_details.csv", "readers_details_names.csv", "readers_details.txt", "readers_graph_raw.csv",
    "readers_pr.ncu-rep",
)  # fmt: skip
_SLOWEST_S = 10


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--keep", type=Path, default=None)
    given = parser.parse_args()
    seed = given.seed if given.seed is not None else random.SystemRandom().randrange(1 << 32)
    chance = random.Random(seed)
    files = given.files or [TESTS / "data" / name for name in _FIXTURES]
    library = importlib.util.find_spec("ncu_report") is not None
    files = [path for path in files if library or path.suffix != ".ncu-rep"]
    keep = given.keep or Path(tempfile.mkdtemp(prefix="triage-fuzz-"))
    keep.mkdir(parents=True, exist_ok=True)
    if library:
        process.run = Warm(ncu_rep.library(Path("report"))).run
    intact = {path: mutants.Intact.of(path) for path in files}
    done = found = 0
    worst = 0.0
    end = time.monotonic() + given.seconds
    while time.monotonic() < end:
        path = chance.choice(files)
        data = path.read_bytes()
        for _ in range(chance.choice((1, 1, 1, 2, 5))):
            data = chance.choice(mutants.MUTATIONS)(data or b"x", chance)
        mutated = keep / f"{done}{path.suffix}"
        mutated.write_bytes(data)
        begun = time.monotonic()
        wrong = mutants.complaint(mutated, intact[path])
        took = time.monotonic() - begun
        worst = max(worst, took)
        if took > _SLOWEST_S:
            wrong = wrong or f"took {took:.0f} s"
        done += 1
        if wrong:
            found += 1
            print(f"{mutated} (from {path.name}): {wrong}", flush=True)
        else:
            mutated.unlink()
    print(f"{done} mutated reports in {given.seconds:.0f} s, seed {seed}: {found} wrong, slowest {worst:.1f} s")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
