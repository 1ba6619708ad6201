"""Runs ncu: follows its log, leaves the program's streams alone, survives Ctrl-C with what was collected so far."""

from __future__ import annotations

import codecs
import math
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

from triage.errors import NcuFailed, UsageError
from triage.ncu.log import Log
from triage.ncu.processes import send

POLL_S = 0.1
# After an interrupt: ncu got it from the terminal itself, or it is sent on; then it has time to write its report.
FORWARD_AFTER_S, TERMINATE_AFTER_S, KILL_AFTER_S = 1.0, 20.0, 30.0
SAME_S = 0.25
# Bytes: the log is read in pieces, and of one that is further ahead than this only the end.
PIECE, TAIL, BACKLOG = 1 << 18, 1 << 20, 32 << 20

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
        self._interrupted = -math.inf
        self._sent: set[signal.Signals] = set()

    def interrupt(self, *_: object) -> None:
        # Who ends a job often does it twice, by process and by group; a second one counts when a person could mean it.
        now = time.monotonic()
        if now - self._interrupted >= SAME_S:
            self.interrupts += 1
        self._interrupted = now

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
    ``NcuFailed`` when the command cannot be started and ``UsageError`` when something stands in the way of the log.
    """
    try:
        log_file.unlink(missing_ok=True)
    except OSError as fault:
        why = f"the log {log_file} cannot be replaced: {fault.strerror}"
        raise UsageError(why, "choose another --output") from None
    log, stopper = Log(), _Stopper(timeout, hang_timeout)
    with _interrupts_to(stopper.interrupt):
        try:
            process = subprocess.Popen(list(command))
        except OSError as fault:
            raise NcuFailed(f"{command[0]} cannot be started: {fault.strerror}", "run `triage doctor`") from fault
        follower = _Follower(log_file, log)
        try:
            while process.poll() is None:
                if follower.read():
                    stopper.heard_something()
                    on_progress(log)
                stopper.check(process, log)
                time.sleep(POLL_S)
        finally:
            follower.close()
            if process.poll() is None:
                _abandon(process)
    # ncu may be gone before its signal was looked at here.
    reason: Reason = stopper.reason or ("interrupt" if stopper.interrupts else "")
    return Ended(process.returncode, log, reason, stopper.silent_on, time.monotonic() - stopper.started)


def _abandon(process: subprocess.Popen[bytes]) -> None:
    """Nobody follows the run any more, so it does not go on either."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        send(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(FORWARD_AFTER_S)
            return


class _Follower:
    """Reads a file as it grows, in pieces. Of one that grows faster than it can be read it takes the end."""

    def __init__(self, path: Path, log: Log) -> None:
        self.path, self.log = path, log
        self._stream: IO[bytes] | None = None
        self._decode = _decoder()

    def read(self) -> bool:
        """Whether there was anything new."""
        try:
            # Only a file: what else stands there (a folder, a pipe) is not ncu's log, and opening it could wait.
            if self._stream is None and self.path.is_file():
                self._stream = self.path.open("rb", buffering=0)
            return self._stream is not None and self._take(self._stream)
        except OSError:
            # The log tells how far the run is; a run that cannot be followed is still a run.
            return False

    def _take(self, stream: IO[bytes]) -> bool:
        unread = os.fstat(stream.fileno()).st_size - stream.tell()
        if unread > BACKLOG:
            stream.seek(unread - TAIL, os.SEEK_CUR)
            self.log.skip(unread - TAIL)
            self._decode = _decoder()
            unread = TAIL
        left = unread
        while left > 0 and (piece := stream.read(min(left, PIECE))):
            left -= len(piece)
            self.log.feed(self._decode.decode(piece))
        return unread > 0

    def close(self) -> None:
        self.read()
        self.log.feed(self._decode.decode(b"", final=True))
        self.log.finish()
        if self._stream is not None:
            self._stream.close()


def _decoder() -> codecs.IncrementalDecoder:
    return codecs.getincrementaldecoder("utf-8")("replace")


@contextmanager
def _interrupts_to(handler: Callable[..., None]) -> Iterator[None]:
    """Ctrl-C, SIGTERM and the end of the terminal call ``handler`` instead of ending this process; only the main thread
    can ask for that. A run that was told to outlive its terminal (nohup) does."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = [signal.SIGINT, signal.SIGTERM]
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        numbers.append(signal.SIGHUP)
    previous = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, old in previous.items():
            signal.signal(number, old)
