"""One report over any number of files, in parallel processes bounded by cores and memory, streamed.

Few kernels (a thousand or fewer) are diagnosed in full. Of more, every kernel keeps its verdict (see
:mod:`triage.diagnosis.brief`) and only those that a report shows first are read again for their details, so that
memory grows with the number of kernels by about a kilobyte each. Whatever was done when it is interrupted stands in
the report, with a warning that begins with ``interrupted``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from triage.choosing import matches, narrowed
from triage.diagnosis.brief import Unpacker
from triage.diagnosis.devices import across
from triage.diagnosis.reporting import assembled, device_of
from triage.errors import NothingProfiled, TriageError, UnreadableReport
from triage.model import Device, Finding, Report, Source
from triage.paths import INTERRUPTED, expand, real
from triage.readers import pieces
from triage.readers.piece import Tally
from triage.rules.rulebook import Rulebook
from triage.workers import Job, Pool
from triage.workers import count as workers_for

if TYPE_CHECKING:
    from triage.readers.piece import Divided, Piece

Progress = Callable[[int, int], None]
# Up to so many kernels every one is diagnosed in full: about 100 kB each, with its walk and its metrics.
IN_FULL = 1000
# Of more kernels, the groups of launches whose details are kept.
DETAILED = 300
_SHOWN_FAILURES = 20


@dataclass(slots=True)
class _File:
    """One file as it is worked on. ``named``: the command line names it, it was not found in a folder."""

    path: Path
    named: bool
    source: Divided | None = None
    faults: list[TriageError] = field(default_factory=list)
    tallies: list[Tally] = field(default_factory=list)
    offsets: list[int] = field(default_factory=list)
    offset: int = 0

    def took(self, tally: Tally) -> None:
        """Its next piece is read."""
        self.offsets.append(self.offset)
        self.tallies.append(tally)
        self.offset += max(tally.expected, tally.found)

    def lost(self, error: TriageError) -> None:
        """Its next piece cannot be read."""
        self.faults.append(error)
        self.took(Tally())

    @property
    def read(self) -> bool:
        return any(tally.found for tally in self.tallies)


def collect(
    paths: Sequence[str | Path],
    rules: Rulebook,
    metrics: Collection[str] | None,
    *,
    command: str = "",
    progress: Progress | None = None,
    workers: int | None = None,
    kernel: str | None = None,
) -> Report:
    """Reads and diagnoses every report among ``paths``: files, folders (searched through), patterns with ``**``.

    ``metrics`` names what the rules and the page need. ``progress`` is called with kernels done and expected.
    ``workers`` bounds the processes (by cores and free memory unless said). ``kernel`` is a glob: only kernels named so
    are in the report, with their shares of all. A file that cannot be read is left out
    with a warning as long as another can (where ``paths`` names it, it stands in ``Report.unread`` too); raises the
    error of the only file, or :class:`~triage.errors.UnreadableReport` with one line a file, where none can.
    """
    given = [Path(path) for path in paths]
    files, skipped = expand(given)
    named = {real(path) for path in given}
    work = _Work([_File(path, real(path) in named) for path in files], rules, metrics, progress, kernel)
    alone = len(files) == 1 and not skipped
    for file in work.files:
        try:
            file.source = pieces.divide(file.path)
        except TriageError as error:
            if alone:
                raise
            file.faults.append(error)
    expected = sum(file.source.kernels for file in work.files if file.source)
    work.expected = expected
    many = expected > IN_FULL
    slow = sum(file.source.slow for file in work.files if file.source)
    count = workers_for(expected, slow, brief=many) if workers is None else workers
    with Pool(count, rules) as pool:
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
    kernel: str | None
    expected: int = 0
    findings: list[Finding] = field(default_factory=list)
    devices: dict[int, dict[Device, None]] = field(default_factory=dict)
    interrupted: bool = False
    detailed: int | None = None

    def first_pass(self, pool: Pool, *, brief: bool) -> None:
        """Every kernel of every file."""
        unpacker = Unpacker(self.rules)
        jobs = (
            (place, piece, Job(self.metrics, brief))
            for place, file in enumerate(self.files)
            for piece in self._pieces(place, file)
        )
        try:
            for place, answer in pool.run(jobs):
                file = self.files[place]
                offset = file.offset
                if isinstance(answer, TriageError):
                    file.lost(answer)
                    continue
                file.took(answer.tally)
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

    def _pieces(self, place: int, file: _File) -> Iterator[Piece]:
        if file.source is None:
            return
        try:
            yield from file.source.pieces()
        except TriageError as error:
            file.faults.append(error)

    def second_pass(self, pool: Pool) -> None:
        """The details of the launches that stand for the groups which a report shows first."""
        from triage.renderers import ranking

        made = assembled(self.findings, (), self.rules, "")
        folded = tuple(group for group in ranking.groups(made) if matches(group.shown.kernel, self.kernel))
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
                    chosen_at = wanted[place].get(finding.kernel.index + answer.offset)
                    if chosen_at is not None:
                        self.findings[chosen_at] = _placed(finding, place, answer.offset)
        except KeyboardInterrupt:
            self.interrupted = True

    def _chosen(self, wanted: dict[int, dict[int, int]]) -> Iterator[tuple[int, Piece, Job]]:
        for place, indices in wanted.items():
            file = self.files[place]
            assert file.source is not None
            numbered = zip(file.source.pieces(indices), file.offsets, file.tallies, strict=False)
            for piece, offset, tally in numbered:
                size = max(tally.expected, tally.found)
                whole = len(file.tallies) == 1
                own = frozenset(n - offset for n in indices if whole or offset <= n < offset + size)
                if own:
                    yield place, piece, Job(self.metrics, False, own, offset)

    def report(self, command: str, skipped: Sequence[str]) -> Report:
        """The report over everything that was found."""
        read = [place for place, file in enumerate(self.files) if file.read]
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
        unread = [file.faults[0].message for file in self.files if file.named and file.faults and not file.read]
        warnings = (*made.warnings, *self._said(skipped), *across(made))
        return narrowed(replace(made, warnings=warnings, unread=(*unread, *skipped)), self.kernel)

    def _said(self, skipped: Sequence[str]) -> Iterator[str]:
        if self.interrupted:
            yield f"{INTERRUPTED}: {len(self.findings):,} of about {self.expected:,} kernels were read"
        faults = [file.faults[0].message for file in self.files if file.faults and not file.read]
        for text in (*faults, *skipped)[:_SHOWN_FAILURES]:
            yield f"left out: {text}"
        if len(faults) + len(skipped) > _SHOWN_FAILURES:
            yield f"left out: {len(faults) + len(skipped) - _SHOWN_FAILURES} more files"
        for file in self.files:
            if file.faults and file.read:
                yield f"{file.path}: parts of it are lost: {file.faults[0].message}"
        if self.detailed is not None:
            yield (
                f"the {self.detailed} kernels that take most time are told in full, the others by their verdict; "
                "triage explain FILE --kernel N tells any, triage report FILE --kernel GLOB those named so"
            )


def _placed(finding: Finding, source: int, offset: int) -> Finding:
    kernel = finding.kernel
    return replace(finding, source=source, kernel=replace(kernel, index=kernel.index + offset) if offset else kernel)


def _nothing(work: _Work, alone: bool) -> TriageError | KeyboardInterrupt:
    faults = [file.faults[0] for file in work.files if file.faults]
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
