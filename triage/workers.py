"""Processes that read and diagnose pieces of reports: as many as cores and free memory allow, or none."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Collection, Iterable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING

from triage.diagnosis.brief import Packed, pack
from triage.diagnosis.reporting import finding
from triage.diagnosis.verdict import diagnose
from triage.errors import TriageError, UnreadableReport
from triage.model import Finding
from triage.readers.ranges import cores
from triage.rules.rulebook import Rulebook

if TYPE_CHECKING:
    from tempfile import _TemporaryFileWrapper

    from triage.readers.pieces import Piece, Tally

# Below this much work another process would start later than this one ends.
_ALONE_KERNELS, _ALONE_FILES = 150, 4
# What a worker and the child that reads a report for it may take together.
_WORKER_BYTES = 600 << 20
_MOST_WORKERS = 16
_SAFE = "PYTHONSAFEPATH"


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


# A file that is there as long as the work is wanted. (An event of multiprocessing needs a parent that outlives the
# start of its workers; one that is interrupted does not.)
_wanted: list[Path] = []


def _end_with_parent() -> None:
    """Ends this worker when the process that wanted its answers is gone, however it went; it would wait for ever."""
    from multiprocessing import parent_process

    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _start(folders: tuple[str, ...], profile: str, wanted: str) -> None:
    import signal
    import threading

    from triage.rules import load_rulebook

    threading.Thread(target=_end_with_parent, daemon=True).start()
    # Ctrl-C reaches every process of the terminal; the parent decides what becomes of the workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _wanted.append(Path(wanted))
    _own_rules.append(load_rulebook(folders, profile=profile))


def _work(piece: Piece, job: Job) -> Answer | TriageError:
    if not _wanted[-1].exists():
        return _ended()
    try:
        return _answer(piece, job, _own_rules[-1])
    except TriageError as error:
        # Exceptions with keyword arguments do not survive pickling; as a value it does.
        return _portable(error)


def _portable(error: TriageError) -> TriageError:
    made = type(error)(error.message, error.hint)
    made.details = error.details
    return made


_Waiting = deque[tuple[int, "Future[Answer | TriageError]"]]


class Pool:
    """Runs jobs here, or in ``workers`` processes; answers come in the order of the jobs."""

    def __init__(self, workers: int, rules: Rulebook) -> None:
        self._workers = workers
        self._rules = rules
        self._executor: Executor | None = None
        self._flag: _TemporaryFileWrapper[bytes] | None = None
        self._safe: str | None = None

    def __enter__(self) -> Pool:
        if self._workers > 1:
            import multiprocessing

            # Started afresh: this process may have threads, which a fork would tear.
            context = multiprocessing.get_context("spawn")
            self._flag = NamedTemporaryFile(prefix="triage-")
            # Python starts a worker with the working directory first on its path: a folder of reports that holds a
            # multiprocessing.py would be run.
            self._safe = os.environ.get(_SAFE)
            os.environ[_SAFE] = "1"
            self._executor = ProcessPoolExecutor(
                self._workers,
                mp_context=context,
                initializer=_start,
                initargs=(self._rules.identity.folders, self._rules.identity.profile, self._flag.name),
            )
        return self

    def __exit__(self, *_: object) -> None:
        if self._executor is not None:
            # What a worker is at it finishes within seconds; ended by force it could leave the queue locked for ever.
            if self._flag is not None:
                self._flag.close()
            self._executor.shutdown(wait=False, cancel_futures=True)
            if self._safe is None:
                os.environ.pop(_SAFE, None)
            else:
                os.environ[_SAFE] = self._safe

    def run(self, jobs: Iterable[tuple[int, Piece, Job]]) -> Iterator[tuple[int, Answer | TriageError]]:
        if self._executor is None:
            for place, piece, job in jobs:
                try:
                    yield place, _answer(piece, job, self._rules)
                except TriageError as error:
                    yield place, error
            return
        # Few pieces wait at a time, so that the rows of a large table are never all in memory.
        waiting: _Waiting = deque()
        for place, piece, job in jobs:
            try:
                with _deaf():
                    waiting.append((place, self._executor.submit(_work, piece, job)))
            except BrokenProcessPool:
                yield from self._drained(waiting)
                yield place, _ended()
                continue
            if len(waiting) > 2 * self._workers:
                yield from self._next(waiting)
        yield from self._drained(waiting)

    def _drained(self, waiting: _Waiting) -> Iterator[tuple[int, Answer | TriageError]]:
        while waiting:
            yield from self._next(waiting)

    def _next(self, waiting: _Waiting) -> Iterator[tuple[int, Answer | TriageError]]:
        place, future = waiting.popleft()
        try:
            yield place, future.result()
        except BrokenProcessPool:
            yield place, _ended()


@contextmanager
def _deaf() -> Iterator[None]:
    """Holds Ctrl-C back while a worker may be started: it inherits that, and ends when it is told to, not in the middle
    of its own start with a traceback."""
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
