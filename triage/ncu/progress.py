"""Shows how far a run is, on stderr, without touching what the program prints.

On a terminal the last row is set apart (a scroll region) and holds one status line; elsewhere a line appears every
ten seconds. stdout is never written to.
"""

from __future__ import annotations

import os
import shutil
import time
from typing import TextIO

from triage.ncu.log import Log
from triage.ncu.survey import function_name

LINE_EVERY_S, REDRAW_EVERY_S = 10.0, 0.2
_LONGEST_NAME = 200


class Progress:
    """A status line for one run. ``expected`` is the number of results to come, ``None`` when unknown."""

    def __init__(self, stream: TextIO, title: str, expected: int | None = None, *, quiet: bool = False) -> None:
        self.stream, self.title, self.expected, self.quiet = stream, title, expected, quiet
        self.started = self._shown_at = time.monotonic()
        self._first: tuple[int, float] | None = None
        self._fancy = stream.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        self._rows = 0

    def __enter__(self) -> Progress:
        if self._fancy and not self.quiet:
            self._rows = shutil.get_terminal_size().lines
            # Make room, keep the last row out of the scrolling part, go back to where the cursor was.
            self._write(f"\n\x1b7\x1b[1;{self._rows - 1}r\x1b8\x1b[1A")
        return self

    def __exit__(self, *_: object) -> None:
        if self._rows:
            self._write(f"\x1b7\x1b[r\x1b[{self._rows};1H\x1b[2K\x1b8")

    def update(self, log: Log) -> None:
        """Show where the run stands; called as often as there is news."""
        now = time.monotonic()
        if self.quiet or now - self._shown_at < (REDRAW_EVERY_S if self._rows else LINE_EVERY_S):
            return
        self._shown_at = now
        text = self.line(log, now)
        if self._rows:
            width = shutil.get_terminal_size().columns - 1
            self._write(f"\x1b7\x1b[{self._rows};1H\x1b[2K{text[:width]}\x1b8")
        else:
            self._write(text + "\n")

    def line(self, log: Log, now: float) -> str:
        """What the status line says. A name in it is data: nothing is left in it for a terminal to obey.

        ``triage: profiling 3 of 20 - tile 50 %, 8 passes a kernel, about 12 s left``.
        """
        from triage.renderers.escape import clean, shorten

        done = log.count
        text = f"triage: {self.title} {done + 1 if log.current() else done}"
        text += f" of {self.expected}" if self.expected else ""
        if current := log.current():
            text += f" - {shorten(clean(function_name(current[0])), _LONGEST_NAME)} {current[1]} %"
        if done and (passes := log.passes):
            text += f", {passes} pass{'es' if passes > 1 else ''} a kernel"
        left = self._left(done, now)
        return text + (f", about {left:.0f} s left" if left is not None else "")

    def _left(self, done: int, now: float) -> float | None:
        if not done:
            return None
        if self._first is None:
            # The first result holds the start of the program; the pace is that of the others.
            self._first = (done, now)
            return None
        first, at = self._first
        if not self.expected or done <= first:
            return None
        return max(0.0, (self.expected - done) * (now - at) / (done - first))

    def _write(self, text: str) -> None:
        try:
            self.stream.write(text)
            self.stream.flush()
        except (OSError, ValueError):
            # The terminal is gone or the disk full: the run goes on, and nobody looks.
            self.quiet = True
