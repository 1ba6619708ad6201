"""A large file in pieces that can be read apart, in any process: rows of a raw page, ranges of a ``.ncu-rep``.

What cannot be divided (details pages, text pages, compressed or damaged reports) is one piece: the whole file.
:func:`divide` looks at a file, the source it returns yields pieces, and each piece, wherever it is read, gives its
kernels and a :class:`Tally` of what was wrong with it. Kernels are numbered from 0 in each piece.
"""

from __future__ import annotations

import csv
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar, Protocol

from triage.model import Kernel
from triage.readers import load, sniff
from triage.readers.cells import Convention
from triage.readers.strays import Strays, total

# Text below this is read whole: it is done before a second process has started.
_SMALL = 4 << 20
# Characters of rows that go to a process together.
_BATCH = 1 << 20
# Results below which a report is one piece.
_FEW_RESULTS = 300
# Rows of a details page that a kernel has at least, and bytes of a compressed result: for estimates alone.
_ROWS_PER_KERNEL = 20
_COMPRESSED_RESULT = 10_000


@dataclass(frozen=True, slots=True)
class Tally:
    """What was found of a piece: ``kind`` and ``version`` of the file, its ``warnings``, ``strays`` among its rows
    and cells, ``broken`` rows, results of ``other`` layouts and results ``expected`` but perhaps not found."""

    kind: str = ""
    version: str | None = None
    warnings: tuple[str, ...] = ()
    strays: Strays = field(default_factory=Strays)
    broken: int = 0
    other: int = 0
    expected: int = 0
    found: int = 0


class Piece(Protocol):
    """Something that a worker can read; picklable."""

    def read(self, metrics: Collection[str] | None, *, keep: bool) -> tuple[Sequence[Kernel], Tally]:
        """Its kernels, numbered from 0. ``metrics`` are those wanted, ``keep`` asks for the others too where they come
        for nothing."""
        ...


class Source(Protocol):
    """A file that was looked at; ``kernels`` estimates how many it holds, ``slow`` ones are opened by NVIDIA's
    library in a process of its own."""

    @property
    def kernels(self) -> int: ...

    @property
    def slow(self) -> bool: ...

    def pieces(self, pick: Collection[int] | None = None) -> Iterator[Piece]:
        """The pieces, in the order of the file. ``pick`` names the only results wanted: a source that can pass over
        others without reading them does."""
        ...

    def close(self, tallies: Sequence[Tally]) -> Tally:
        """The sum over all pieces, with the warnings of the whole file."""
        ...


def divide(path: Path) -> Source:
    """Looks at a file. Raises :class:`~triage.errors.UnreadableReport` for what is no report at all."""
    content = sniff.content(path)
    if content.kind == "rep":
        from triage.readers import ncu_rep

        survey = ncu_rep.survey(path, compressed=False)
        if survey.fault or survey.frame.results <= _FEW_RESULTS:
            return WholeFile(path, survey.frame.results, slow=True)
        return Results(path, survey)
    if content.kind == "repz":
        return WholeFile(path, max(1, content.size // _COMPRESSED_RESULT), slow=True)
    if content.size > _SMALL:
        table = RawTable.of(path, content)
        if table is not None:
            return table
    return WholeFile(path, _estimate(path))


def _estimate(path: Path) -> int:
    """Kernels of a text, at most, by its line breaks."""
    try:
        with path.open("rb") as file:
            head = file.read(1 << 16)
            breaks = head.count(b"\n")
            while data := file.read(1 << 20):
                breaks += data.count(b"\n")
    except OSError:
        return 1
    long = b"Metric Value" in head or b"Section: " in head
    # A raw page has a header and a row of units.
    return max(1, breaks // _ROWS_PER_KERNEL if long else breaks - 2)


@dataclass(frozen=True, slots=True)
class WholeFile:
    """A file that one process reads from end to end: source and piece in one."""

    path: Path
    kernels: int
    slow: bool = False

    def pieces(self, pick: Collection[int] | None = None) -> Iterator[Piece]:
        yield self

    def read(self, metrics: Collection[str] | None, *, keep: bool) -> tuple[Sequence[Kernel], Tally]:
        profile = load(self.path, metrics=metrics)
        tally = Tally(profile.kind, profile.ncu_version, profile.warnings, found=len(profile.kernels))
        # The place in the file counts results that were lost; the collection numbers what it gets.
        return profile.kernels, tally

    def close(self, tallies: Sequence[Tally]) -> Tally:
        return tallies[0] if tallies else Tally()


@dataclass(frozen=True, slots=True)
class ResultRange:
    """Results ``start`` to ``stop`` of a ``.ncu-rep``, or those of them in ``pick``."""

    path: Path
    library: str
    start: int
    stop: int | None
    processes: tuple[str | None, ...]
    pick: tuple[int, ...] | None = None
    timeout_s: float = 120

    def read(self, metrics: Collection[str] | None, *, keep: bool) -> tuple[Sequence[Kernel], Tally]:
        from triage.readers import ncu_rep, ranges

        found = ranges.Found()
        request = {
            "library": self.library,
            "metrics": None if metrics is None else sorted(set(metrics)),
            "lines": False,
            "pick": self.pick,
        }
        with ncu_rep.readable(self.path) as path:
            deadline = time.monotonic() + self.timeout_s
            span = (self.start, self.stop)
            ranges.one({**request, "path": str(path)}, span, deadline, ncu_rep.DEFAULT_MEMORY, found)
        processes = (None,) * self.start + self.processes
        kernels = [ncu_rep.kernel(record, processes) for _, record in sorted(found.records.items())]
        empty = sum(not kernel.metrics for kernel in kernels)
        warnings = [*found.faults, *([f"{empty} results carry no metric"] if empty else [])]
        kernels = [replace(kernel, index=kernel.index - self.start) for kernel in kernels]
        return kernels, Tally(warnings=tuple(warnings), expected=len(self.processes), found=len(kernels))


class Results:
    """A ``.ncu-rep`` whose frame is whole, by ranges of results."""

    slow: ClassVar[bool] = True

    def __init__(self, path: Path, survey: object) -> None:
        from triage.readers.ncu_rep import Survey

        assert isinstance(survey, Survey)
        self._path = path
        self._survey = survey
        self.kernels = survey.frame.results

    def pieces(self, pick: Collection[int] | None = None) -> Iterator[Piece]:
        from triage.readers import ranges

        frame, library = self._survey.frame, self._survey.library
        for start, stop in ranges.split(frame.payloads, ranges.CHUNK_BYTES):
            processes = frame.processes[start:stop]
            chosen = None if pick is None else tuple(sorted(n for n in pick if start <= n and (not stop or n < stop)))
            yield ResultRange(self._path, library, start, stop, processes, chosen)

    def close(self, tallies: Sequence[Tally]) -> Tally:
        from triage.readers import ncu_rep

        frame = self._survey.frame
        warnings = [*ncu_rep.damage("", frame, 0), *(text for tally in tallies for text in tally.warnings)]
        found = sum(tally.found for tally in tallies)
        if found < frame.results:
            warnings.append(f"{frame.results - found} of {frame.results} results are lost; {found} were read")
        warnings += ncu_rep.collected(frame.command)
        return Tally("ncu-rep", frame.ncu_version, tuple(dict.fromkeys(warnings)), found=found)


@dataclass(frozen=True, slots=True)
class RowBatch:
    """Rows of a raw page as text, below the header (and units) that they belong to; ``bare`` where the table was seen
    to have no units."""

    path: Path
    separator: str
    convention: Convention
    head: tuple[str, ...]
    records: tuple[str, ...]
    bare: bool = False

    def read(self, metrics: Collection[str] | None, *, keep: bool) -> tuple[Sequence[Kernel], Tally]:
        from triage.readers import rows, text

        rows.allow_long_cells()
        broken = 0

        def parsed() -> Iterator[list[str]]:
            nonlocal broken
            for record in (*self.head, *self.records):
                try:
                    yield from csv.reader([record], delimiter=self.separator)
                except csv.Error:
                    broken += 1

        tables = text.Tables(self.path, metrics, convention=self.convention, keep=keep, bare=self.bare)
        tables.read(parsed())
        kernels = tables.raw
        return kernels, Tally(strays=tables.strays, broken=broken, other=tables.others, found=len(kernels))


@dataclass(slots=True)
class RawTable:
    """A raw page of a size worth dividing."""

    slow: ClassVar[bool] = False

    path: Path
    encoding: str
    kernels: int
    convention: Convention
    _notes: tuple[str, ...] = ()
    _broken: int = 0
    _torn: int = 0
    _unitless: int = 0
    _repeated: int = 0
    _pages: int = 0
    _cut: bool = False
    _separator: str = ","
    _quoted: bool = True
    _reads: int = field(default=0)

    @classmethod
    def of(cls, path: Path, content: sniff.Content) -> RawTable | None:
        """The table, ``None`` where the file holds something else."""
        from triage.readers import rows, text
        from triage.readers.log import Log

        found = rows.Rows(rows.lines(path, content.encoding), Log())
        head = text.probed(iter(found))
        if not head or text.header(path, head[0]).is_long:
            return None
        return cls(path, content.encoding, _estimate(path), text.decided(head))

    def pieces(self, pick: Collection[int] | None = None) -> Iterator[Piece]:
        from triage.readers import rows, text
        from triage.readers.columns import Columns
        from triage.readers.log import Log

        log = Log()
        found = rows.Rows(rows.lines(self.path, self.encoding), log)
        head: tuple[str, ...] = ()
        batch: list[str] = []
        size = 0

        def made() -> RowBatch:
            return RowBatch(self.path, found.separator, self.convention, head, tuple(batch), bare)

        def cells(record: str) -> list[str]:
            try:
                return next(csv.reader([record], delimiter=found.separator), [])
            except csv.Error:
                return []

        rows.allow_long_cells()
        columns: Columns | None = None
        torn = unitless = repeated = 0
        seen: set[int] = set()
        # Whether the table's units are settled: by their row, or by a result above any.
        settled = bare = False
        for record in found.records():
            if columns is None or ("Kernel Name" in record and text.is_header(cells(record))):
                if batch:
                    yield made()
                columns, head, batch, size = text.header(self.path, cells(record)), (record,), [], 0
                torn += columns.damaged
                settled, bare = columns.is_long, False
                continue
            if not settled:
                row = cells(record)
                if columns.is_units(row):
                    head, settled = (*head, record), True
                    continue
                if columns.is_result(row):
                    settled = bare = True
                    unitless += 1
            mark = hash((head[0], record.rstrip("\r\n")))
            if mark in seen and "ID" in columns.place and columns.is_result(cells(record)):
                repeated += 1
                continue
            seen.add(mark)
            batch.append(record)
            size += len(record)
            if size >= _BATCH:
                yield made()
                batch, size = [], 0
        if batch:
            yield made()
        self._notes, self._broken, self._cut, self._torn = tuple(log.notes()), found.broken, found.cut, torn
        self._unitless, self._repeated, self._pages = unitless, repeated, found.pages
        self._separator, self._quoted = found.separator, found.quoted

    def close(self, tallies: Sequence[Tally]) -> Tally:
        from triage.readers import text

        strays = total(tally.strays for tally in tallies)
        found = sum(tally.found for tally in tallies)
        if (strays.long or strays.odd) and not found:
            # One piece without a kernel is damage; all of them are a table of another kind.
            raise strays.refusal(str(self.path), self._separator, self._quoted)
        said = [*self._notes]
        if self.convention.warning:
            said.append(self.convention.warning)
        other = sum(tally.other for tally in tallies)
        if other:
            said.append(text.mixed(other))
        said += text.pages(self._pages)
        said += text.torn(self._torn) + text.unitless(self._unitless)
        said += text.cut(self._broken + sum(tally.broken for tally in tallies), self._cut)
        said += strays.warnings()
        said += text.repeats(self._repeated)
        return Tally("csv-raw", None, tuple(said), found=found)
