"""Looks at other processes, for tests of what is left behind."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc to look at processes")


def _fields(pid: int) -> list[str]:
    try:
        # The name in parentheses may hold blanks and parentheses itself.
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rsplit(")", 1)[1].split()
    except OSError:
        return []


def alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and was not waited for does not."""
    return bool(fields := _fields(pid)) and fields[0] not in "ZX"


def gone(pid: int, within: float = 5.0) -> bool:
    """Whether it ends in that time."""
    end = time.monotonic() + within
    while alive(pid) and time.monotonic() < end:
        time.sleep(0.02)
    return not alive(pid)


def children(pid: int) -> set[int]:
    """The processes that it started and that still run."""
    pids = [int(path.name) for path in Path("/proc").glob("[0-9]*")]
    return {each for each in pids if (fields := _fields(each)) and fields[1] == str(pid) and fields[0] not in "ZX"}
