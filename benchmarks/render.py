"""Rendering: one report of few and of many kernels in every format, time and size.

python benchmarks/render.py [FILE]
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import measure
import synthetic

from triage.collection import collect
from triage.commands import wanted_metrics
from triage.renderers import FORMATS, render
from triage.rules import default_rulebook

_SOURCE = Path(__file__).resolve().parent.parent / "tests" / "data" / "limiters_h200.csv"
_KERNELS = (30, 100, 1000, 10_000)


def main() -> None:
    source = Path(sys.argv[1]) if len(sys.argv) > 1 else _SOURCE
    rules = default_rulebook()
    rows = [["kernels", *(f"{name}, s" for name in FORMATS), *(f"{name}, MB" for name in FORMATS)]]
    with tempfile.TemporaryDirectory() as folder:
        for count in _KERNELS:
            path = Path(folder) / "big.csv"
            synthetic.table(source, count, path)
            made = collect([path], rules, wanted_metrics(rules))
            times, sizes = [], []
            for name in FORMATS:
                begun = time.perf_counter()
                text = render(made, name)
                times.append(f"{time.perf_counter() - begun:.2f}")
                sizes.append(f"{len(text.encode()) / 1e6:.2f}")
            rows.append([f"{count:,}", *times, *sizes])
    print(f"python benchmarks/render.py {' '.join(sys.argv[1:])}\n")
    print(measure.table(rows))


if __name__ == "__main__":
    main()
