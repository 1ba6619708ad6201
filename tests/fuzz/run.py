"""Mutates reports for a set time and keeps every one that is not taken as it should be.

    python tests/fuzz/run.py --seconds 60 [--seed 1] [--keep DIR] [FILE or FOLDER…]

Takes the captures in tests/data unless files or folders are given; what is no report, or warns of damage as it is, is
left out. Ends with status 1 when something was found; the mutated files then lie in --keep (a new temporary folder
unless said), each with a line that says which mutations made it and what was wrong. The same seed and files give the
same mutations.
"""

from __future__ import annotations

import argparse
import importlib.util
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS), str(TESTS.parent)]

import mutants  # noqa: E402 - beside the tests
import structural  # noqa: E402
from warm_reader import Warm  # noqa: E402

from triage.errors import TriageError  # noqa: E402
from triage.readers import ncu_rep, process  # noqa: E402

_SUFFIXES = (".csv", ".txt", ".log", ".ncu-rep")
_SLOWEST_S = 10
# How often a file is put in front of another one, of one.
_JOINED = 0.03


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--keep", type=Path, default=None)
    given = parser.parse_args()
    seed = given.seed if given.seed is not None else random.SystemRandom().randrange(1 << 32)
    chance = random.Random(seed)
    keep = given.keep or Path(tempfile.mkdtemp(prefix="triage-fuzz-"))
    keep.mkdir(parents=True, exist_ok=True)
    if importlib.util.find_spec("ncu_report") is not None:
        process.run = Warm(ncu_rep.library(Path("report"))).run
    corpus = _corpus(given.files or [TESTS / "data"])
    if not corpus:
        parser.error("no report among the files given")
    sources = list(corpus)
    kinds = {path: _mutations(path) for path in sources}
    # A log without a kernel can only be refused in a wrong way: once in twenty times is enough.
    weights = [20 if corpus[path].limiters else 1 for path in sources]
    done: Counter[str] = Counter()
    found = 0
    worst = 0.0
    begin = time.monotonic()
    while time.monotonic() < begin + given.seconds:
        path = chance.choices(sources, weights)[0]
        data, intact, made = path.read_bytes(), corpus[path], []
        if chance.random() < _JOINED:
            other = chance.choice([each for each in sources if each.suffix == path.suffix])
            data += other.read_bytes()
            intact = _both(intact, corpus[other])
            made.append(f"then {other.name}")
        else:
            for _ in range(chance.choice((1, 1, 1, 2, 5))):
                mutation = chance.choice(kinds[path])
                data = mutation(data if len(data) > 1 else b"xx", chance)
                made.append(mutation.__name__)
        mutated = keep / f"{seed}-{sum(done.values())}{path.suffix}"
        mutated.write_bytes(data)
        begun = time.monotonic()
        wrong = mutants.complaint(mutated, intact)
        took = time.monotonic() - begun
        worst = max(worst, took)
        if took > _SLOWEST_S:
            wrong = wrong or f"took {took:.0f} s"
        done[path.suffix] += 1
        if wrong:
            found += 1
            print(f"{mutated} (from {path.name}, {', '.join(made)}): {wrong}", flush=True)
        else:
            mutated.unlink()
    each = ", ".join(f"{count} {suffix}" for suffix, count in sorted(done.items()))
    print(
        f"{sum(done.values())} mutated reports ({each}) of {len(sources)} files in {time.monotonic() - begin:.0f} s, "
        f"seed {seed}: {found} wrong, slowest {worst:.1f} s"
    )
    return 1 if found else 0


def _corpus(given: Iterable[Path]) -> dict[Path, mutants.Intact]:
    """The reports among files and folders, read as they are."""
    found: dict[Path, mutants.Intact] = {}
    for path in given:
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.suffix in _SUFFIXES and file.is_file():
                try:
                    found[file] = mutants.Intact.of(file)
                except (TriageError, AssertionError) as why:
                    # A log without kernels has no verdict to contradict, but must not bring a traceback either.
                    print(f"{file}: {'not used' if isinstance(why, AssertionError) else 'no kernel'}", flush=True)
                    if isinstance(why, TriageError) and why.exit_code != 3:
                        found[file] = mutants.Intact(file)
    return found


def _mutations(path: Path) -> tuple[structural.Mutation, ...]:
    if path.suffix == ".ncu-rep":
        return (*mutants.MUTATIONS, *structural.of_blocks(path))
    return (*mutants.MUTATIONS, *structural.TEXTS)


def _both(one: mutants.Intact, other: mutants.Intact) -> mutants.Intact:
    limiters = {name: found.copy() for name, found in one.limiters.items()}
    for name, found in other.limiters.items():
        limiters.setdefault(name, set()).update(found)
    return mutants.Intact(one.path, limiters)


if __name__ == "__main__":
    sys.exit(main())
