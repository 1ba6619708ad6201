"""A raw page in pieces: batches of rows as text, each with the header and units that it stands below."""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from triage.model import Kernel
from triage.readers import sniff
from triage.readers.cells import Convention
from triage.readers.piece import Piece, Tally
from triage.readers.strays import total

# Characters of rows that go to a process together.
_BATCH = 1 << 20
# Rows of a details page that a kernel has at least: for an estimate alone.
_ROWS_PER_KERNEL = 20


def estimate(path: Path) -> int:
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


def of(path: Path, content: sniff.Content) -> RawTable | None:
    """The table that a file is, ``None`` where it holds something else."""
    from triage.readers import rows, text
    from triage.readers.log import Log

    found = rows.Rows(rows.lines(path, content.encoding), Log())
    head = text.probed(iter(found))
    if not head or text.header(path, head[0]).is_long:
        return None
    return RawTable(path, content.encoding, estimate(path), text.decided(head))
