"""Thins a report to the few counters that a comparison needs, as a raw CSV: ``python compare_thin.py IN OUT.csv``."""

import csv
import sys
from pathlib import Path

from triage.model import Kernel, Quantity
from triage.readers import load

METRICS = (
    "gpu__time_duration.sum",
    "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
    "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
    "launch__registers_per_thread",
    "launch__waves_per_multiprocessor",
    "device__attribute_display_name",
    "device__attribute_multiprocessor_count",
)
LEADING = ("ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream", "Block Size")
LEADING += ("Grid Size", "Device", "CC")


def cell(kernel: Kernel, name: str) -> str:
    found = kernel.metrics.get(name)
    if isinstance(found, Quantity):
        return f"{found.value:,.0f}" if found.value.is_integer() else f"{found.value:.6f}"
    return found or ""


def main(source: str, target: str) -> None:
    kernels = load(source, metrics=METRICS).kernels
    units = [next((v.unit for k in kernels if isinstance(v := k.metrics.get(name), Quantity)), "") for name in METRICS]
    rows = [[*LEADING, *METRICS], [*[""] * len(LEADING), *units]]
    for kernel in kernels:
        launch = kernel.launch
        shapes = [str(launch.block), str(launch.grid)]
        leading = [str(kernel.index), "1", "limiters", "host", kernel.name, launch.context, launch.stream, *shapes]
        rows.append([*leading, "0", kernel.device.cc, *(cell(kernel, name) for name in METRICS)])
    with Path(target).open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)


if __name__ == "__main__":
    main(*sys.argv[1:])
