"""Large reports made from small real ones, by repeating their results: rows of a CSV, blocks of a ``.ncu-rep``.

python benchmarks/synthetic.py tests/data/limiters_h200.csv 10000 big.csv
python benchmarks/synthetic.py tests/data/readers_pr.ncu-rep 1000 big.ncu-rep
"""

from __future__ import annotations

import csv
import io
import sys
from itertools import cycle, islice
from pathlib import Path

from triage.readers import framing


def table(source: Path, kernels: int, target: Path) -> None:
    """A raw page of ``kernels`` rows: those of ``source`` in turn, each with an ID of its own."""
    header, units, *rows = csv.reader(io.StringIO(source.read_text(encoding="utf-8")))
    place = header.index("ID")
    with target.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n")
        writer.writerows((header, units))
        for number, row in enumerate(islice(cycle(rows), kernels)):
            row[place] = str(number)
            writer.writerow(row)


def report(source: Path, kernels: int, target: Path) -> None:
    """A ``.ncu-rep`` of ``kernels`` results: every block of ``source``, then its result blocks in turn."""
    data = source.read_bytes()
    frame = framing.read(source)
    blocks = [data[start:end] for start, end in zip(frame.ends, frame.ends[1:], strict=False)]
    results = [block for block in blocks if _results(block) == 1]
    missing = kernels - frame.results
    if missing < 0 or not results:
        raise ValueError(f"{source} has {frame.results} results, not {kernels} or fewer")
    with target.open("wb") as file:
        file.write(data[: frame.ends[-1]])
        for block in islice(cycle(results), missing):
            file.write(block)


def _results(block: bytes) -> int:
    """How many results a block holds, read from its header."""
    from triage.readers import wire

    size = int.from_bytes(block[:4], "little")
    found = wire.message(block[4 : 4 + size]).get(2)
    return found if isinstance(found, int) else 0


def make(source: Path, kernels: int, target: Path) -> Path:
    """Whichever of both the suffix of ``source`` asks for; returns ``target``."""
    (report if source.suffix == ".ncu-rep" else table)(source, kernels, target)
    return target


if __name__ == "__main__":
    made = make(Path(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))
    print(f"{made}: {made.stat().st_size / 1e6:.1f} MB")
