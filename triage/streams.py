"""Standard streams as a shell may leave them: closed, full, not ready, or with nobody at the other end.

:func:`prepare` makes standard output fail once, with an error of our family that names it, and standard error never:
a message that cannot be shown must not hide what the exit code says.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Callable
from typing import Any, TextIO

from triage.errors import UsageError

_FILES = "what a command makes can also go to a file, see its --help"


class _Output(io.FileIO):
    """Descriptor 1. Its first failure is raised; what comes after it is dropped, so that neither the rest of the
    command nor the interpreter, which flushes at its end, fails again. A reader that went away (``| head``) is no
    failure: the command goes on to its end, so that a gate that does not hold still shows in the exit code."""

    _failed = False

    def write(self, data: Any, /) -> int:
        if self._failed:
            return len(data)
        try:
            return _written(super().write, self, data)
        except OSError as fault:
            self._failed = True
            if isinstance(fault, BrokenPipeError):
                return len(data)
            if fault.errno == errno.EBADF:
                raise UsageError("standard output is closed", f"leave it open; {_FILES}") from None
            raise UsageError(
                f"cannot write standard output: {fault.strerror}", f"send it elsewhere; {_FILES}"
            ) from None


class _Messages(io.FileIO):
    """Descriptor 2. What cannot be written is dropped."""

    def write(self, data: Any, /) -> int:
        try:
            return _written(super().write, self, data)
        except OSError:
            return len(data)


def _written(write: Any, stream: io.FileIO, data: Any) -> int:
    """The bytes written; a pipe that another process made non-blocking is waited for."""
    while (done := write(data)) is None:
        import select

        select.select([], [stream], [])
    return int(done)


def prepare() -> None:
    """Take over standard output and standard error of this process. Call it once, before anything is written."""
    _fill_gaps()
    if os.name == "nt":
        # The console has streams of its own kind; closed ones are rare there.
        sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115, PTH123 - open until the process ends
        sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115, PTH123
        return
    sys.stdout = _text(_Output(1, "w", closefd=False), sys.stdout)
    sys.stderr = _text(_Messages(2, "w", closefd=False), sys.stderr, errors="backslashreplace", lines=True)


def finish(action: Callable[[], int]) -> int:
    """The exit status of ``action`` once all that it printed has left this process; what keeps that from leaving is
    said on standard error, unless the status tells of something else already."""
    status = 0
    try:
        status = action()
        sys.stdout.flush()
    except UsageError as fault:
        print(f"triage: {fault.message}\nhint: {fault.hint}", file=sys.stderr)
        return status or fault.exit_code
    except KeyboardInterrupt:
        print("triage: interrupted", file=sys.stderr)
        return 130
    return status


def _fill_gaps() -> None:
    """Opens what was closed of descriptors 0 to 2, the wrong way round: using it fails as before, and no file that is
    opened later gets the number, which a child process would then write its output into."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            try:
                # The lowest free number is given, which is this one.
                os.set_inheritable(os.open(os.devnull, os.O_RDONLY if number else os.O_WRONLY), True)
            except OSError:
                return


def _text(raw: io.FileIO, old: TextIO | None, *, errors: str | None = None, lines: bool = False) -> TextIO:
    unbuffered = bool(getattr(old, "write_through", False))
    return io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=old.encoding if old is not None else "utf-8",
        errors=errors or (old.errors if old is not None else None) or "strict",
        newline="\n",
        line_buffering=lines or unbuffered or raw.isatty(),
    )
