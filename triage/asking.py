"""Short questions to other programs (``ncu --version``, ``nvidia-smi``): bounded in time and in size.

A program that never answers, never stops talking, or leaves a process behind that holds its pipe costs a bounded wait
and bounded memory, and nothing that it started for the answer goes on running when it is given up.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import IO

# Bytes. A page of help has some kilobytes, ncu's list of base metrics some megabytes.
LIMIT = 16 << 20
# How long a program is heard out that has ended while something still holds its pipe.
GRACE_S = 0.5
_POLL_S = 0.02
_PIECE = 1 << 16
# A killed process is gone at once, unless it hangs inside a driver.
_REAP_S = 2.0
_LONGEST_WORDS = 200
# Signals that a program gets for a fault of its own. A shell that started it gives 128 and the signal as its status.
_FAULTS = frozenset({"SIGILL", "SIGTRAP", "SIGABRT", "SIGBUS", "SIGFPE", "SIGSEGV", "SIGSYS"})
_SHELL = 128
# Windows reports an exception as the status: 0xC0000005 is an access violation.
_WINDOWS_FAULT = 0xC0000000
# What is being asked now, in whatever thread.
_asked: set[subprocess.Popen[bytes]] = set()

Run = Callable[[Sequence[str], float], "Said"]


@dataclass(frozen=True, slots=True)
class Said:
    """What a program answered. ``status`` is its exit status, ``text`` stdout and stderr together, ``fault`` why it
    was given up (``did not answer within 10 s``), if it was."""

    status: int
    text: str
    fault: str = ""

    @property
    def crash(self) -> str:
        """``it crashed (SIGSEGV)`` or ``it was ended by SIGKILL``; empty where it ended by itself or was given up."""
        if self.fault:
            return ""
        if self.status >= _WINDOWS_FAULT:
            return f"it crashed (status {self.status:#x})"
        shell = self.status > _SHELL
        try:
            name = signal.Signals(self.status - _SHELL if shell else -self.status).name
        except ValueError:
            return f"it was ended by signal {-self.status}" if self.status < 0 else ""
        if name in _FAULTS:
            return f"it crashed ({name})"
        # A status above 128 may be one of the program's own; that of a kill is as good as never.
        return f"it was ended by {name}" if not shell or name == "SIGKILL" else ""

    @property
    def broken(self) -> str:
        """Why the answer may lack its end: it was given up, or crashed. Empty for a whole one."""
        return self.fault or self.crash

    def words(self, otherwise: str) -> str:
        """What to tell a person about a failed answer: why it was given up, that it crashed, else its first error or
        line, made inert and short; ``otherwise`` where it said nothing."""
        from triage.renderers.escape import clean, shorten

        chosen = self.fault
        if not chosen:
            lines = [line.strip() for line in self.text.splitlines() if line.strip()]
            error = next((line for line in lines if "==ERROR==" in line), lines[0] if lines else "")
            chosen = error.replace("==ERROR== ", "")
            if self.crash:
                chosen = f"{self.crash}: {chosen}" if chosen else self.crash
        # Cut before it is cleaned: one line may be as long as the whole answer.
        return shorten(clean(chosen[: 20 * _LONGEST_WORDS]).strip() or otherwise, _LONGEST_WORDS)


class _Answer:
    """Reads a pipe to its end or to a number of bytes, in a thread of its own."""

    def __init__(self, stream: IO[bytes], limit: int, into: IO[bytes] | None) -> None:
        self.data, self.size = bytearray(), 0
        self.full = self.over = False
        self.lost = ""
        self._stream, self._limit, self._into = stream, limit, into
        # It may wait for an orphan for ever; that must not keep this process.
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self) -> None:
        with self._stream:
            while not self.over and not self.full and (piece := os.read(self._stream.fileno(), _PIECE)):
                if self.over:
                    return
                self.full = self.size + len(piece) > self._limit
                piece = piece[: self._limit - self.size]
                self.size += len(piece)
                if self._into is None:
                    self.data += piece
                    continue
                try:
                    self._into.write(piece)
                except OSError as fault:
                    self.lost = f"its answer cannot be kept: {fault.strerror}"
                    return

    @property
    def fault(self) -> str:
        return f"it answers without end ({self.size >> 20} MB and more)" if self.full else self.lost


def ask(command: Sequence[str], timeout: float, limit: int = LIMIT, into: IO[bytes] | None = None) -> Said:
    """Run a short helper program and gather what it says, up to ``limit`` bytes, in ``timeout`` seconds.

    With ``into`` the answer goes to that file and ``text`` is empty. A program that cannot start says why, with status
    127; one that is given up ends with status 124 and a ``fault``. Its own children are given up with it.
    """
    try:
        process = subprocess.Popen(
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=os.environ | {"LC_ALL": "C"},
            # A group of its own, so that it can be ended with all that it started.
            process_group=0 if os.name == "posix" else None,
        )
    except OSError as fault:
        return Said(127, f"{command[0]}: {fault.strerror}")
    except ValueError:
        return Said(127, f"{command[0]!r} is no name of a program")
    assert process.stdout is not None
    _asked.add(process)
    answer = _Answer(process.stdout, limit, into)
    given_up = "it was interrupted"
    try:
        given_up = _wait(process, answer, timeout)
    finally:
        if given_up or answer.thread.is_alive():
            _end(process)
        answer.thread.join(GRACE_S)
        # One that left the group may hold the pipe still; what it says is no part of the answer.
        answer.over = True
        _asked.discard(process)
    status = 124 if given_up or process.returncode is None else process.returncode
    return Said(status, bytes(answer.data).decode("utf-8", "replace"), given_up)


def give_up() -> None:
    """End every program that is being asked, so that the threads which wait for an answer go on at once."""
    for process in list(_asked):
        if process.returncode is None:
            _kill(process)


def _wait(process: subprocess.Popen[bytes], answer: _Answer, timeout: float) -> str:
    """Until the program has ended and was heard out; the reason to give it up otherwise."""
    deadline = time.monotonic() + timeout
    while not answer.fault:
        answer.thread.join(_POLL_S)
        if process.poll() is not None:
            answer.thread.join(GRACE_S)
            break
        if time.monotonic() >= deadline:
            return f"it did not answer within {timeout:.3g} s"
        if not answer.thread.is_alive():
            with suppress(subprocess.TimeoutExpired):
                process.wait(_POLL_S)
    return answer.fault


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends the program and all that it started in its group."""
    _kill(process)
    with suppress(subprocess.TimeoutExpired):
        process.wait(_REAP_S)


def _kill(process: subprocess.Popen[bytes]) -> None:
    with suppress(OSError):
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
