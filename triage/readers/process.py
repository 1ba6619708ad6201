"""Runs the reading child under a time and a memory bound and hands on what it says, line by line."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_CHILD = Path(__file__).with_name("child.py")
_PROC = Path("/proc")
_POLL_S = 0.05
_MARGIN_S = 5
# What opening a report takes at most: the library, and an entry for each block. Reports of 8 to 800 MB take 20 to 43 MB
# for it, compressed or not, which is 1 byte for each compressed one and less for plain ones; a small file that unpacks
# to millions of empty blocks takes gigabytes.
_OPENING_BYTES, _OPENING_FACTOR = 256 << 20, 64


@dataclass(slots=True)
class Ending:
    """How a child ended: ``reason`` is ``""`` (well), ``time``, ``memory`` or ``crash``; ``detail`` its last words."""

    reason: str = ""
    detail: str = ""
    lines: list[str] = field(default_factory=list)


def run(request: dict[str, Any], *, deadline: float, memory_bytes: int, ending: Ending) -> Iterator[dict[str, Any]]:
    """Yields the records of one child and fills in ``ending`` when it is over.

    ``deadline`` is on the clock of ``time.monotonic``; ``memory_bytes`` bounds resident memory where the platform
    tells it (Linux) and address space on other POSIX systems; until the report is open, less is allowed, by the size of
    its file. The child is gone when this returns, however it ends.
    """
    # Should this process be killed where its end is not told at once, the child ends by itself.
    request = {**request, "seconds": max(1, math.ceil(deadline - time.monotonic()) + _MARGIN_S)}
    watched = (_PROC / "self" / "statm").is_file()
    if not watched and os.name == "posix":
        request = {**request, "address_space": memory_bytes * 4}
    with tempfile.TemporaryFile() as noise:
        child = subprocess.Popen(
            # -I and -S: neither the environment nor site hooks reach the child, and it starts in half the time.
            [sys.executable, "-I", "-S", str(_CHILD)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=noise,
        )
        assert child.stdin is not None and child.stdout is not None
        over, opened = threading.Event(), threading.Event()

        def limit() -> int:
            return memory_bytes if opened.is_set() else min(memory_bytes, _opening(request))

        guard = threading.Thread(
            target=_watch, args=(child, over, deadline, limit if watched else None, ending), daemon=True
        )
        guard.start()
        complete = False
        try:
            # Standard input stays open: its end tells the child that nobody waits for it any more.
            with suppress(BrokenPipeError):
                child.stdin.write(json.dumps(request).encode() + b"\n")
                child.stdin.flush()
            for line in child.stdout:
                try:
                    record = json.loads(line)
                except (ValueError, RecursionError):
                    # A line cut by the end of the child.
                    break
                # The first line comes when the report is open.
                opened.set()
                complete = complete or "end" in record
                yield record
        finally:
            over.set()
            if not complete or ending.reason:
                child.kill()
            child.stdout.close()
            # A child that is done has left by itself: it flushed its last line and exits at once.
            child.wait()
            with suppress(BrokenPipeError):
                child.stdin.close()
            guard.join()
        if not complete and not ending.reason:
            ending.reason = "crash"
            noise.seek(0, os.SEEK_END)
            noise.seek(max(noise.tell() - 4000, 0))
            words = noise.read().decode("utf-8", "replace").strip().splitlines()
            ending.detail = words[-1][:200] if words else f"status {child.returncode}"


def _watch(
    child: subprocess.Popen[bytes],
    over: threading.Event,
    deadline: float,
    limit: Callable[[], int] | None,
    ending: Ending,
) -> None:
    while not over.wait(_POLL_S):
        if time.monotonic() > deadline:
            ending.reason = "time"
        elif limit is not None and _resident(child.pid) > limit():
            ending.reason = "memory"
        else:
            continue
        child.kill()
        return


def _opening(request: dict[str, Any]) -> int:
    """Resident bytes that opening the report of a request may take."""
    try:
        size = os.stat(request["path"]).st_size  # noqa: PTH116 - asked every few milliseconds
    except OSError:
        size = 0
    return _OPENING_BYTES + _OPENING_FACTOR * size


def _resident(pid: int) -> int:
    """Resident bytes of a process, 0 where it is gone."""
    try:
        pages = int((_PROC / str(pid) / "statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")
