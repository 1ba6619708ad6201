"""Runs a command and measures it: wall time, and the peak of the memory that it and its children hold together."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")


@dataclass(frozen=True)
class Measured:
    """``seconds`` of wall time, ``peak_mb`` proportional resident memory of the process tree (Linux), ``status``."""

    seconds: float
    peak_mb: float
    status: int
    errors: str = ""


def command(words: list[str], *, poll_s: float = 0.1) -> Measured:
    """Runs ``words`` with output to nowhere. Memory shared by several processes counts once (PSS)."""
    begun = time.perf_counter()
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        peak = 0
        while process.poll() is None:
            peak = max(peak, sum(_resident(pid) for pid in _tree(process.pid)))
            time.sleep(poll_s)
        seconds = time.perf_counter() - begun
        errors = process.stderr.read() if process.stderr else ""
    return Measured(seconds, peak / 1e6, process.returncode, errors)


def triage(*words: str) -> list[str]:
    """The command line of triage with this interpreter."""
    return [sys.executable, "-m", "triage", *words]


def table(rows: list[list[str]]) -> str:
    """Rows as a Markdown table; the first is the header."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |" for row in rows
    ]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)


def _tree(root: int) -> list[int]:
    """The process and all below it."""
    found = [root]
    for pid in found:
        try:
            for task in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - names alone are wanted
                found += [int(child) for child in (_PROC / f"{pid}/task/{task}/children").read_text().split()]
        except OSError:
            continue
    return found


def _resident(pid: int) -> int:
    try:
        for line in (_PROC / str(pid) / "smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0
