"""The processes below one: ncu is a shell script that starts the profiler, which starts a launcher, which starts the
program; a signal to the first alone changes nothing."""

from __future__ import annotations

import os
import signal
from collections import defaultdict
from contextlib import suppress
from pathlib import Path


def descendants(pid: int, proc: Path = Path("/proc")) -> list[int]:
    """``pid`` and every process below it, parents first. Only ``pid`` where there is no ``/proc``."""
    children: dict[int, list[int]] = defaultdict(list)
    for stat in proc.glob("[0-9]*/stat"):
        with suppress(OSError, ValueError, IndexError):
            # The name in parentheses may hold blanks and parentheses itself.
            fields = stat.read_text(errors="replace").rsplit(")", 1)[1].split()
            children[int(fields[1])].append(int(stat.parent.name))
    found = [pid]
    for parent in found:
        found += children[parent]
    return found


def send(pid: int, number: signal.Signals) -> None:
    """Send a signal to ``pid`` and everything below it."""
    for process in descendants(pid):
        with suppress(OSError):
            os.kill(process, number)
