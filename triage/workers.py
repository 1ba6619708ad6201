"""Processes that read and diagnose pieces of reports: as many as cores and free memory allow, or none."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections import deque
from collections.abc import Collection, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from triage.diagnosis.brief import Packed, pack
from triage.diagnosis.reporting import finding
from triage.diagnosis.verdict import diagnose
from triage.errors import TriageError, UnreadableReport
from triage.model import Finding
from triage.readers.ranges import cores
from triage.rules.rulebook import Rulebook

if TYPE_CHECKING:
    from triage.readers.piece import Piece, Tally

# Below this much work another process would start later than this one ends.
_ALONE_KERNELS, _ALONE_FILES = 150, 4
# What a worker and the child that reads a report for it may take together.
_WORKER_BYTES = 600 << 20
_MOST_WORKERS = 16
_SCRIPT = Path(__file__).with_name("worker.py")
# A worker that was left has this long to clear up.
_CLEAR_UP_S = 5.0


@dataclass(frozen=True, slots=True)
class Job:
    """What is wanted of a piece: packed verdicts of all (``brief``), or findings of all or of those in ``pick``."""

    metrics: Collection[str] | None
    brief: bool
    pick: frozenset[int] | None = None
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    tally: Tally
    packed: list[Packed]
    findings: list[Finding]
    offset: int


def _answer(piece: Piece, job: Job, rules: Rulebook) -> Answer:
    kernels, tally = piece.read(job.metrics, keep=not job.brief)
    if job.brief:
        return Answer(tally, [pack(kernel, diagnose(kernel, rules)) for kernel in kernels], [], job.offset)
    chosen = [kernel for kernel in kernels if job.pick is None or kernel.index in job.pick]
    return Answer(tally, [], [finding(each, rules) for each in chosen], job.offset)


# Rules hold functions, which cannot be sent: every worker loads its own.
_own_rules: list[Rulebook] = []


def prepare(folders: tuple[str, ...], profile: str) -> None:
    """In a worker: get ready for :func:`work`."""
    from triage.rules import load_rulebook

    _own_rules.append(load_rulebook(folders, profile=profile))


def work(piece: Piece, job: Job) -> Answer | TriageError:
    """In a worker: read and diagnose a piece."""
    try:
        return _answer(piece, job, _own_rules[-1])
    except TriageError as error:
        # Exceptions with keyword arguments do not survive pickling; as a value it does.
        return _portable(error)


def _portable(error: TriageError) -> TriageError:
    made = type(error)(error.message, error.hint)
    made.details = error.details
    return made


class _Worker:
    """One process of :mod:`triage.worker`. It takes a piece at a time and ends when it is left or this process ends."""

    def __init__(self, rules: Rulebook) -> None:
        with _deaf():
            self._process = subprocess.Popen(
                # -P: the folder of the script is no place to import from.
                [sys.executable, "-P", str(_SCRIPT)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        assert self._process.stdin is not None and self._process.stdout is not None
        self._jobs, self._answers = self._process.stdin, self._process.stdout
        self._needs = (sys.path, (rules.identity.folders, rules.identity.profile))
        self._fresh = self.lives = True

    def do(self, piece: Piece, job: Job) -> Answer | TriageError:
        """Raises ``EOFError`` or ``OSError`` when the process has ended."""
        for one in (*(self._needs if self._fresh else ()), (piece, job)):
            self._jobs.write(pickle.dumps(one, pickle.HIGHEST_PROTOCOL))
        self._jobs.flush()
        self._fresh = False
        answer: Answer | TriageError | str
        answer, fault = pickle.load(self._answers)
        if isinstance(answer, str):
            error = RuntimeError(answer)
            error.add_note(fault)
            raise error
        return answer

    def stop(self) -> None:
        """Ends it, whatever it is at; its :meth:`do` then fails."""
        self.lives = False
        self._process.terminate()

    def close(self) -> None:
        """Lets go of it: one that waits for work ends."""
        for stream in (self._jobs, self._answers):
            with suppress(OSError):
                stream.close()

    def wait(self) -> None:
        """Waits until it has ended, and makes it end where that takes long."""
        try:
            self._process.wait(_CLEAR_UP_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


class _Crew:
    """Up to a number of workers, each led by a thread; one that died is replaced for the next piece."""

    def __init__(self, size: int, rules: Rulebook) -> None:
        self._rules = rules
        self._free: list[_Worker] = []
        self._dead: list[_Worker] = []
        self._busy: set[_Worker] = set()
        self._lock = Lock()
        self._over = False
        self._threads = ThreadPoolExecutor(size)

    def submit(self, piece: Piece, job: Job) -> Future[Answer | TriageError]:
        return self._threads.submit(self._do, piece, job)

    def _do(self, piece: Piece, job: Job) -> Answer | TriageError:
        worker = None
        try:
            worker = self._take()
            return worker.do(piece, job) if worker else _ended()
        except (EOFError, OSError, pickle.UnpicklingError):
            # It is gone, or no further one can be started.
            if worker:
                worker.stop()
            return _ended()
        finally:
            if worker:
                with self._lock:
                    self._busy.remove(worker)
                    (self._free if worker.lives else self._dead).append(worker)

    def _take(self) -> _Worker | None:
        with self._lock:
            if self._over:
                return None
            worker = self._free.pop() if self._free else _Worker(self._rules)
            self._busy.add(worker)
            return worker

    def end(self) -> None:
        """Ends every worker, in the middle of its piece if need be; none is left when this returns."""
        with self._lock:
            self._over = True
            busy = list(self._busy)
        for worker in busy:
            worker.stop()
        self._threads.shutdown(wait=False, cancel_futures=True)
        for worker in busy:
            worker.wait()
        self._threads.shutdown(wait=True)
        for worker in (*self._free, *self._dead):
            worker.close()
        for worker in (*self._free, *self._dead):
            worker.wait()


_Waiting = deque[tuple[int, "Future[Answer | TriageError]"]]


class Pool:
    """Runs jobs here, or in ``workers`` processes; answers come in the order of the jobs."""

    def __init__(self, workers: int, rules: Rulebook) -> None:
        self._workers = workers
        self._rules = rules
        self._crew: _Crew | None = None

    def __enter__(self) -> Pool:
        if self._workers > 1:
            self._crew = _Crew(self._workers, self._rules)
        return self

    def __exit__(self, *_: object) -> None:
        if self._crew is not None:
            self._crew.end()

    def run(self, jobs: Iterable[tuple[int, Piece, Job]]) -> Iterator[tuple[int, Answer | TriageError]]:
        """The place of each job with its answer, or with the error that a part of a file came to."""
        if self._crew is None:
            for place, piece, job in jobs:
                try:
                    yield place, _answer(piece, job, self._rules)
                except TriageError as error:
                    yield place, error
            return
        # Few pieces wait at a time, so that the rows of a large table are never all in memory.
        waiting: _Waiting = deque()
        for place, piece, job in jobs:
            waiting.append((place, self._crew.submit(piece, job)))
            if len(waiting) > 2 * self._workers:
                yield _next(waiting)
        while waiting:
            yield _next(waiting)


def _next(waiting: _Waiting) -> tuple[int, Answer | TriageError]:
    place, future = waiting.popleft()
    return place, future.result()


@contextmanager
def _deaf() -> Iterator[None]:
    """Holds Ctrl-C back while a worker is started: it inherits that, and ends when it is told to, not in the middle of
    its own start with a traceback."""
    import signal

    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _ended() -> TriageError:
    return UnreadableReport("a reading process was ended by the system, for want of memory as a rule", "free memory")


def count(kernels: int, files: int, *, brief: bool) -> int:
    """How many processes to use: none for little work, else by cores and by the memory that is free.

    ``files`` counts those that are slow to open (``.ncu-rep``). Findings in full, unlike ``brief`` ones, take ten times
    as long to send from one process to another as to make, so that only opening many files is worth it.
    """
    if files <= _ALONE_FILES and (not brief or kernels <= _ALONE_KERNELS):
        return 1
    return max(1, min(cores(), _free_bytes() // _WORKER_BYTES, _MOST_WORKERS))


def _free_bytes() -> int:
    """Memory that can be had without swapping, by what the system tells; 4 GiB where it does not."""
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return 4 << 30
