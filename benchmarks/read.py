"""Reading: every layout of the fixtures, time a kernel; and `ncu_report` alone on the same report.

python benchmarks/read.py [FILE…]
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from statistics import median

import measure

from triage.commands import wanted_metrics
from triage.readers import load
from triage.rules import default_rulebook

_DATA = Path(__file__).resolve().parent.parent / "tests" / "data"
_FILES = (
    "readers_pr.ncu-rep", "limiters_h200.csv", "readers_raw_base.csv", "readers_raw_instances.csv",
    "readers_details.csv", "readers_details.txt", "readers_metrics_stdout.csv",
)  # fmt: skip
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
    files = [Path(word) for word in sys.argv[1:]] or [_DATA / name for name in _FILES]
    wanted = wanted_metrics(default_rulebook())
    rows = [["file", "MB", "kernels", "load, metrics of the rules", "load, all metrics", "ncu_report alone"]]
    for path in files:
        kernels = len(load(path, metrics=wanted).kernels)
        some, everything = (_timed(path, metrics) for metrics in (wanted, None))
        alone = f"{_alone(path):.3f} s" if path.suffix.startswith(".ncu-rep") else ""
        size = f"{path.stat().st_size / 1e6:.2f}"
        rows.append([path.name, size, str(kernels), f"{some:.3f} s", f"{everything:.3f} s", alone])
    print(f"python benchmarks/read.py {' '.join(sys.argv[1:])}\n")
    print(measure.table(rows))


def _timed(path: Path, metrics: frozenset[str] | None) -> float:
    times = []
    for _ in range(_RUNS):
        begun = time.perf_counter()
        for kernel in load(path, metrics=metrics).kernels:
            if metrics is None:
                dict(kernel.metrics)
        times.append(time.perf_counter() - begun)
    return median(times)


def _alone(path: Path) -> float:
    begun = time.perf_counter()
    subprocess.run([sys.executable, "-c", _ALONE, str(path)], check=True)
    return time.perf_counter() - begun


if __name__ == "__main__":
    main()
