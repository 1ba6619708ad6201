"""Growth: `triage report` as a whole process on 10 to 100,000 kernels, time and peak memory of all its processes.

    python benchmarks/scale.py [--most 100000] [FILE…]

Takes a CSV and a report of the fixtures unless files are given, and repeats their results. Reports stop at 10,000.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import measure
import synthetic

_DATA = Path(__file__).resolve().parent.parent / "tests" / "data"
_COUNTS = (10, 100, 1000, 10_000, 100_000)
_MOST_RESULTS = 10_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--most", type=int, default=100_000)
    given = parser.parse_args()
    files = given.files or [_DATA / "limiters_h200.csv", _DATA / "ncu_hello.ncu-rep"]
    rows = [["source", "kernels", "MB", "time", "ms a kernel", "peak memory", "status"]]
    for source in files:
        most = min(given.most, _MOST_RESULTS) if source.suffix == ".ncu-rep" else given.most
        for count in (each for each in _COUNTS if each <= most):
            with tempfile.TemporaryDirectory() as folder:
                path = synthetic.make(source, count, Path(folder) / f"big{source.suffix}")
                size = path.stat().st_size / 1e6
                found = measure.command(measure.triage("report", str(path)))
            per = f"{1000 * found.seconds / count:.2f}"
            time = f"{found.seconds:.1f} s"
            rows.append(
                [source.name, f"{count:,}", f"{size:.1f}", time, per, f"{found.peak_mb:.0f} MB", str(found.status)]
            )
            print(measure.table(rows[:1] + rows[-1:]).splitlines()[-1], flush=True)
    print(f"\npython benchmarks/scale.py {' '.join(map(str, files))}\n")
    print(measure.table(rows))


if __name__ == "__main__":
    main()
