"""Runs ncu: follows its log, leaves the program's streams alone, survives Ctrl-C with what was collected so far."""

from __future__ import annotations

import codecs
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

from triage.errors import NcuFailed, UsageError
from triage.ncu.log import Log
from triage.ncu.processes import send

POLL_S = 0.1
# A line for each kernel and pass: no run that gives a report comes near it. A program that prints into the log may.
LOG_BYTES, LOG_END_BYTES = 32 << 20, 1 << 20
_AT_ONCE = 4 << 20
# After an interrupt: ncu got it from the terminal itself, or it is sent on; then it has time to write its report.
FORWARD_AFTER_S, TERMINATE_AFTER_S, KILL_AFTER_S = 1.0, 20.0, 30.0

Reason = Literal["", "interrupt", "timeout", "hang"]


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run ended. ``status`` is ncu's exit status; ``stopped`` why it was stopped from here, if it was;
    ``silent_on`` the kernel it hung on; ``seconds`` its wall time."""

    status: int
    log: Log
    stopped: Reason = ""
    silent_on: str = ""
    seconds: float = 0.0


class _Stopper:
    """Counts interrupts, and turns them and the two time limits into ever harder signals."""

    def __init__(self, timeout: float, hang_timeout: float) -> None:
        self.timeout, self.hang_timeout = timeout, hang_timeout
        self.started = self.heard = time.monotonic()
        self.interrupts = 0
        self.reason: Reason = ""
        self.silent_on = ""
        self._since = 0.0
        self._sent: set[signal.Signals] = set()

    def interrupt(self, *_: object) -> None:
        self.interrupts += 1

    def heard_something(self) -> None:
        self.heard = time.monotonic()

    def check(self, process: subprocess.Popen[bytes], log: Log) -> None:
        now = time.monotonic()
        if not self.reason:
            self._decide(now, log)
            self._since = now
        if not self.reason:
            return
        waited = now - self._since
        if not log.stopping and (self.reason != "interrupt" or waited >= FORWARD_AFTER_S):
            self._send(process, signal.SIGINT)
        if self.interrupts > 1 or waited >= TERMINATE_AFTER_S:
            self._send(process, signal.SIGTERM)
        if self.interrupts > 2 or waited >= KILL_AFTER_S:
            self._send(process, signal.SIGKILL)

    def _decide(self, now: float, log: Log) -> None:
        current = log.current()
        if self.interrupts:
            self.reason = "interrupt"
        elif self.timeout and now - self.started >= self.timeout:
            self.reason = "timeout"
        elif self.hang_timeout and current and now - self.heard >= self.hang_timeout:
            self.reason = "hang"
        if self.reason and current:
            self.silent_on = current[0]

    def _send(self, process: subprocess.Popen[bytes], number: signal.Signals) -> None:
        if number not in self._sent:
            self._sent.add(number)
            send(process.pid, number)


def run(
    command: Sequence[str],
    log_file: Path,
    *,
    timeout: float = 0.0,
    hang_timeout: float = 0.0,
    on_progress: Callable[[Log], None] = lambda log: None,
) -> Ended:
    """Run ``command``, which logs to ``log_file``, to its end; stdin, stdout and stderr are inherited untouched.

    ``timeout`` bounds the whole run, ``hang_timeout`` the silence inside one kernel (seconds; 0: never). Raises
    ``NcuFailed`` when the command cannot be started.
    """
    try:
        log_file.unlink(missing_ok=True)
    except OSError as fault:
        raise UsageError(f"cannot write {log_file}: {fault.strerror}", "choose another folder with --output") from fault
    log, stopper = Log(), _Stopper(timeout, hang_timeout)
    with _interrupts_to(stopper.interrupt):
        try:
            process = subprocess.Popen(list(command))
        except OSError as fault:
            raise NcuFailed(f"{command[0]} cannot be started: {fault.strerror}", "run `triage doctor`") from fault
        follower = _Follower(log_file, log)
        while process.poll() is None:
            if follower.read():
                stopper.heard_something()
                on_progress(log)
            stopper.check(process, log)
            time.sleep(POLL_S)
        follower.close()
    # ncu may be gone before its signal was looked at here.
    reason: Reason = stopper.reason or ("interrupt" if stopper.interrupts else "")
    return Ended(process.returncode, log, reason, stopper.silent_on, time.monotonic() - stopper.started)


class _Follower:
    """Reads a file as it grows: its first :data:`LOG_BYTES` and, where it is larger, what it ends with."""

    def __init__(self, path: Path, log: Log) -> None:
        self.path, self.log = path, log
        self._stream: IO[bytes] | None = None
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._left = LOG_BYTES

    def read(self) -> bool:
        if self._stream is None:
            # A run that puts something else there (a folder, a pipe) has no log.
            if not self.path.is_file():
                return False
            self._stream = self.path.open("rb")
        data = self._stream.read(min(_AT_ONCE, self._left))
        self._left -= len(data)
        self.log.feed(self._decoder.decode(data))
        # More in a file that is not read any further is news too: the run is alive.
        return bool(data) or (not self._left and self._grown())

    def _grown(self) -> bool:
        assert self._stream is not None
        before = self._stream.tell()
        return self._stream.seek(0, os.SEEK_END) > before

    def close(self) -> None:
        while self._left and self.read():
            pass
        if self._stream is not None:
            end = self._stream.seek(0, os.SEEK_END)
            if end > LOG_BYTES:
                # The error that ended the run stands at the end.
                self._stream.seek(max(LOG_BYTES, end - LOG_END_BYTES))
                self.log.feed("\n" + self._decoder.decode(self._stream.read(LOG_END_BYTES)))
            self._stream.close()
        self.log.finish()


@contextmanager
def _interrupts_to(handler: Callable[..., None]) -> Iterator[None]:
    """Ctrl-C, SIGTERM and SIGHUP call ``handler`` instead of ending this process; only the main thread can ask for
    that."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    # A terminal that is closed (SIGHUP) would leave ncu and the program behind; what is ignored (nohup) stays so.
    numbers = {signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)}
    heard = [number for number in numbers if signal.getsignal(number) is not signal.SIG_IGN]
    previous = {number: signal.signal(number, handler) for number in heard}
    try:
        yield
    finally:
        for number, old in previous.items():
            signal.signal(number, old)
