"""One report over any number of files, in parallel processes bounded by cores and memory, streamed.

Few kernels (a thousand or fewer) are diagnosed in full. Of more, every kernel keeps its verdict (see
:mod:`triage.diagnosis.brief`) and only those that a report shows first are read again for their details, so that
memory grows with the number of kernels by about a kilobyte each. Whatever was done when it is interrupted stands in
the report, with a warning that begins with ``interrupted``.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from triage.diagnosis.brief import Packed, Unpacker, pack
from triage.diagnosis.ranks import odd_ones
from triage.diagnosis.reporting import assembled, device_of
from triage.errors import NothingProfiled, TriageError, UnreadableReport
from triage.model import Device, Finding, Report, Source
from triage.paths import INTERRUPTED, expand
from triage.readers import pieces
from triage.rules.rulebook import Rulebook

if TYPE_CHECKING:
    from triage.readers.pieces import Piece, Tally

Progress = Callable[[int, int], None]
# Up to so many kernels every one is diagnosed in full: about 100 kB each, with its walk and its metrics.
IN_FULL = 1000
# Of more kernels, the groups of launches whose details are kept.
DETAILED = 300
# Below this much work another process would start later than this one ends.
_ALONE_KERNELS, _ALONE_FILES = 150, 4
# What a worker and the child that reads a report for it may take together.
_WORKER_BYTES = 600 << 20
_MOST_WORKERS = 16
_SHOWN_FAILURES = 20


@dataclass(slots=True)
class _File:
    """One file as it is worked on; ``done`` counts its finished pieces in order."""

    path: Path
    source: pieces.Source | None = None
    fault: TriageError | None = None
    tallies: list[Tally] = field(default_factory=list)
    offsets: list[int] = field(default_factory=list)
    findings: int = 0


def collect(
    paths: Sequence[str | Path],
    rules: Rulebook,
    metrics: Collection[str] | None,
    *,
    command: str = "",
    progress: Progress | None = None,
    workers: int | None = None,
) -> Report:
    """Reads and diagnoses every report among ``paths``: files, folders (searched through), patterns with ``**``.

    ``metrics`` names what the rules and the page need. ``progress`` is called with kernels done and expected.
    ``workers`` bounds the processes (by cores and free memory unless said). A file that cannot be read is left out
    with a warning as long as another can; raises the error of the only file, or
    :class:`~triage.errors.UnreadableReport` with one line a file, where none can.
    """
    given = [Path(path) for path in paths]
    files, skipped = expand(given)
    work = _Work([_File(path) for path in files], rules, metrics, progress)
    alone = len(files) == 1 and not skipped
    for file in work.files:
        try:
            file.source = pieces.divide(file.path)
        except TriageError as error:
            if alone:
                raise
            file.fault = error
    expected = sum(file.source.kernels for file in work.files if file.source)
    work.expected = expected
    many = expected > IN_FULL
    count = _workers(expected, len(files)) if workers is None else workers
    with _Pool(count, rules) as pool:
        work.first_pass(pool, brief=many)
        if many and not work.interrupted:
            work.second_pass(pool)
    if not work.findings:
        raise _nothing(work, alone)
    return work.report(command, skipped)


@dataclass(slots=True)
class _Work:
    files: list[_File]
    rules: Rulebook
    metrics: Collection[str] | None
    progress: Progress | None
    expected: int = 0
    findings: list[Finding] = field(default_factory=list)
    devices: dict[int, dict[Device, None]] = field(default_factory=dict)
    interrupted: bool = False
    warnings: list[str] = field(default_factory=list)
    detailed: int | None = None

    def first_pass(self, pool: _Pool, *, brief: bool) -> None:
        """Every kernel of every file."""
        unpacker = Unpacker(self.rules)
        jobs = (
            (place, piece, _Job(self.metrics, brief))
            for place, file in enumerate(self.files)
            for piece in self._pieces(place, file)
        )
        try:
            for place, answer in pool.run(jobs):
                file = self.files[place]
                if isinstance(answer, TriageError):
                    self._fail(file, answer)
                    continue
                offset = sum(tally.expected or tally.found for tally in file.tallies[-1:]) + (
                    file.offsets[-1] if file.offsets else 0
                )
                file.offsets.append(offset)
                file.tallies.append(answer.tally)
                made = (
                    [unpacker.finding(packed, place, offset) for packed in answer.packed]
                    if answer.packed
                    else [_placed(finding, place, offset) for finding in answer.findings]
                )
                self.findings += made
                self.devices.setdefault(place, {}).update(dict.fromkeys(each.kernel.device for each in made))
                if self.progress:
                    self.progress(len(self.findings), max(self.expected, len(self.findings)))
        except KeyboardInterrupt:
            self.interrupted = True
        if pool.broken:
            self.warnings.append(f"{pool.broken} parts are lost: a reading process was ended (out of memory?)")

    def _pieces(self, place: int, file: _File) -> Iterator[Piece]:
        if file.source is None:
            return
        try:
            yield from file.source.pieces()
        except TriageError as error:
            self._fail(file, error)

    def _fail(self, file: _File, error: TriageError) -> None:
        if file.tallies:
            self.warnings.append(f"{error.message}; what was read before is kept")
        else:
            file.fault = error

    def second_pass(self, pool: _Pool) -> None:
        """The details of the launches that stand for the groups which a report shows first."""
        from triage.renderers import ranking

        made = assembled(self.findings, (), self.rules, "")
        folded = ranking.groups(made)
        chosen = {group.place for group in ranking.by_time(folded)[:DETAILED]}
        chosen |= {group.place for group in ranking.by_saving(folded)[:DETAILED]}
        self.detailed = len(chosen) if len(folded) > len(chosen) else None
        wanted: dict[int, dict[int, int]] = {}
        for at in chosen:
            finding = self.findings[at]
            wanted.setdefault(finding.source, {})[finding.kernel.index] = at
        try:
            for place, answer in pool.run(self._chosen(wanted)):
                if isinstance(answer, TriageError):
                    continue
                for finding in answer.findings:
                    at = wanted[place].get(finding.kernel.index + answer.offset)
                    if at is not None:
                        self.findings[at] = _placed(finding, place, answer.offset)
        except KeyboardInterrupt:
            self.interrupted = True

    def _chosen(self, wanted: dict[int, dict[int, int]]) -> Iterator[tuple[int, Piece, _Job]]:
        for place, indices in wanted.items():
            file = self.files[place]
            assert file.source is not None
            numbered = zip(file.source.pieces(indices), file.offsets, file.tallies, strict=False)
            for piece, offset, tally in numbered:
                size = tally.expected or tally.found
                own = frozenset(n - offset for n in indices if offset <= n < offset + size)
                if own:
                    yield place, piece, _Job(self.metrics, False, own, offset)

    def report(self, command: str, skipped: Sequence[str]) -> Report:
        """The report over everything that was found."""
        read = [place for place, file in enumerate(self.files) if file.tallies]
        renumbered = {place: number for number, place in enumerate(read)}
        sources = []
        for place in read:
            file = self.files[place]
            assert file.source is not None
            whole = file.source.close(file.tallies)
            device = device_of(list(self.devices.get(place, {})))
            sources.append(Source(str(file.path), whole.kind, whole.version, device, whole.found, whole.warnings))
        findings = [replace(each, source=renumbered[each.source]) for each in self.findings]
        findings.sort(key=lambda each: each.source)
        made = assembled(findings, tuple(sources), self.rules, command)
        return replace(made, warnings=(*made.warnings, *self._said(skipped), *odd_ones(made)))

    def _said(self, skipped: Sequence[str]) -> Iterator[str]:
        if self.interrupted:
            yield f"{INTERRUPTED}: {len(self.findings):,} of about {self.expected:,} kernels were read"
        faults = [file.fault.message for file in self.files if file.fault]
        for text in (*faults, *skipped)[:_SHOWN_FAILURES]:
            yield f"left out: {text}"
        if len(faults) + len(skipped) > _SHOWN_FAILURES:
            yield f"left out: {len(faults) + len(skipped) - _SHOWN_FAILURES} more files"
        yield from self.warnings
        if self.detailed is not None:
            yield (
                f"the {self.detailed} kernels that take most time are told in full, the others by their verdict; "
                "triage explain FILE --kernel N tells any"
            )


def _placed(finding: Finding, source: int, offset: int) -> Finding:
    kernel = finding.kernel
    return replace(finding, source=source, kernel=replace(kernel, index=kernel.index + offset) if offset else kernel)


def _nothing(work: _Work, alone: bool) -> TriageError | KeyboardInterrupt:
    faults = [file.fault for file in work.files if file.fault]
    if work.interrupted:
        return KeyboardInterrupt()
    if alone or len(faults) == 1 == len(work.files):
        return faults[0] if faults else NothingProfiled("no kernel was found", "check the files")
    kinds = {type(fault) for fault in faults}
    kind = kinds.pop() if len(kinds) == 1 else UnreadableReport
    return kind(
        f"none of {len(work.files)} files can be read",
        faults[0].hint if faults else "",
        details=tuple(fault.message for fault in faults),
    )


@dataclass(frozen=True, slots=True)
class _Job:
    """What is wanted of a piece: packed verdicts of all (``brief``), or findings of all or of those in ``pick``."""

    metrics: Collection[str] | None
    brief: bool
    pick: frozenset[int] | None = None
    offset: int = 0


@dataclass(frozen=True, slots=True)
class _Answer:
    tally: Tally
    packed: list[Packed]
    findings: list[Finding]
    offset: int


def _answer(piece: Piece, job: _Job, rules: Rulebook) -> _Answer:
    from triage.diagnosis.reporting import finding
    from triage.diagnosis.verdict import diagnose

    kernels, tally = piece.read(job.metrics, keep=not job.brief)
    if job.brief:
        return _Answer(tally, [pack(kernel, diagnose(kernel, rules)) for kernel in kernels], [], job.offset)
    chosen = [kernel for kernel in kernels if job.pick is None or kernel.index in job.pick]
    return _Answer(tally, [], [finding(kernel, rules) for kernel in chosen], job.offset)


# Rules hold functions, which cannot be sent: every worker loads its own.
_own_rules: list[Rulebook] = []


def _start(folders: tuple[str, ...], profile: str) -> None:
    import signal

    from triage.rules import load_rulebook

    # Ctrl-C reaches every process of the terminal; the parent decides what becomes of the workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _own_rules.append(load_rulebook(folders, profile=profile))


def _work(piece: Piece, job: _Job) -> _Answer | TriageError:
    try:
        return _answer(piece, job, _own_rules[-1])
    except TriageError as error:
        # Exceptions with keyword arguments do not survive pickling; as a value it does.
        return _portable(error)


def _portable(error: TriageError) -> TriageError:
    made = type(error)(error.message, error.hint)
    made.details = error.details
    return made


class _Pool:
    """Runs jobs here, or in ``workers`` processes; answers come in the order of the jobs."""

    def __init__(self, workers: int, rules: Rulebook) -> None:
        self._workers = workers
        self._rules = rules
        self._executor: Executor | None = None
        self.broken = 0

    def __enter__(self) -> _Pool:
        if self._workers > 1:
            import multiprocessing

            # Started afresh: this process may have threads, which a fork would tear.
            self._executor = ProcessPoolExecutor(
                self._workers,
                mp_context=multiprocessing.get_context("spawn"),
                initializer=_start,
                initargs=(self._rules.identity.folders, self._rules.identity.profile),
            )
        return self

    def __exit__(self, *_: object) -> None:
        if self._executor is not None:
            self._executor.shutdown(wait=False, cancel_futures=True)

    def run(self, jobs: Iterable[tuple[int, Piece, _Job]]) -> Iterator[tuple[int, _Answer | TriageError]]:
        if self._executor is None:
            for place, piece, job in jobs:
                try:
                    yield place, _answer(piece, job, self._rules)
                except TriageError as error:
                    yield place, error
            return
        # Few pieces wait at a time, so that the rows of a large table are never all in memory.
        waiting: deque[tuple[int, Future[_Answer | TriageError]]] = deque()
        for place, piece, job in jobs:
            try:
                waiting.append((place, self._executor.submit(_work, piece, job)))
            except BrokenProcessPool:
                self.broken += 1
            if len(waiting) > 2 * self._workers:
                yield from self._next(waiting)
        while waiting:
            yield from self._next(waiting)

    def _next(
        self, waiting: deque[tuple[int, Future[_Answer | TriageError]]]
    ) -> Iterator[tuple[int, _Answer | TriageError]]:
        place, future = waiting.popleft()
        try:
            yield place, future.result()
        except BrokenProcessPool:
            self.broken += 1


def _workers(kernels: int, files: int) -> int:
    """How many processes to use: none for little work, else by cores and by the memory that is free."""
    from triage.readers.ranges import cores

    if kernels <= _ALONE_KERNELS and files <= _ALONE_FILES:
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
