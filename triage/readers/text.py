"""Text of any layout to a Profile: raw and details CSV, ``--metrics`` runs, text pages, logs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import chain
from pathlib import Path

from triage.errors import UnreadableReport
from triage.model import Kernel, Profile
from triage.readers import cells, csv_raw, labels, text_page
from triage.readers.columns import Columns
from triage.readers.csv_long import Gatherer
from triage.readers.log import Log
from triage.readers.rows import Rows, lines
from triage.readers.sniff import Content
from triage.readers.strays import Strays

# Rows looked at before the number convention is decided; enough for every file of fewer than some dozen kernels.
_PROBED_CELLS = 200_000
_RUN = "Command line profiler metrics"


def read(path: Path, content: Content, metrics: Collection[str] | None) -> Profile:
    """Reads a text file; see :func:`triage.readers.load` for what is raised."""
    log = Log()
    table = Tables(path, metrics)
    rows = Rows(lines(path, content.encoding), log)
    table.read(rows)
    if not rows.found:
        return _page(path, content)
    kernels = table.kernels()
    if not kernels:
        raise log.failure(str(path), table.strays.refusal(str(path), rows.separator, rows.quoted))
    return Profile(path=str(path), kind=table.kind(), kernels=kernels, warnings=(*log.notes(), *table.warnings(rows)))


def _page(path: Path, content: Content) -> Profile:
    """A file without a CSV table: a text page, or a log that says why there is none."""
    log, page = Log(), text_page.Page()
    page.read(lines(path, content.encoding), log)
    convention = cells.decide(page.values())
    strays = Strays()
    gatherer = Gatherer(labels.known(), strays)
    page.gather(gatherer, convention)
    if not len(gatherer):
        raise log.failure(str(path))
    warnings = [*log.notes(), *_doubts(gatherer, convention), *strays.warnings()]
    if page.cut:
        warnings.append("the page is cut inside a table; what stood behind is lost")
    kernels = gatherer.kernels()
    warnings += repeats(gatherer.repeated)
    warnings.append("a text page carries rounded values of few metrics; a raw CSV or the .ncu-rep says more")
    return Profile(path=str(path), kind="text-details", kernels=kernels, warnings=tuple(warnings))


def _doubts(gatherer: Gatherer, convention: cells.Convention) -> list[str]:
    said = [convention.warning] if convention.warning else []
    if gatherer.unknown:
        shown = ", ".join(list(gatherer.unknown)[:5])
        said.append(f"{len(gatherer.unknown)} labels are not known to triage and kept under their own name: {shown}")
    if gatherer.conflicts:
        said.append(f"{gatherer.conflicts} values of the same result contradict each other; the first was kept")
    return said


class Tables:
    """Follows the tables of one file, however many headers it has."""

    def __init__(
        self,
        path: Path,
        metrics: Collection[str] | None,
        *,
        convention: cells.Convention | None = None,
        keep: bool = True,
        bare: bool = False,
    ) -> None:
        """``bare`` says that the table is known to have no row of units: none is looked for."""
        self._path = path
        self._wanted = metrics
        self._keep = keep
        self.strays = Strays()
        self._gatherer = Gatherer(labels.known(), self.strays)
        self._raw: list[Kernel] = []
        self._convention = convention
        self._bare = bare
        # The pieces of a divided table cannot know what stands in the others.
        self._seen: set[int] | None = set() if convention is None else None
        self.bare = self.repeated = self._torn = 0

    def read(self, rows: Iterable[list[str]]) -> None:
        """Takes all rows. Raises :class:`UnreadableReport` for a summary table or one that ncu did not write."""
        source = iter(rows)
        head = []
        if self._convention is None:
            head = probed(source)
            self._convention = decided(head)
        convention = self._convention
        columns: Columns | None = None
        sheet: csv_raw.Sheet | None = None
        table = 0
        for row in chain(head, source):
            if columns is None or is_header(row):
                columns, sheet = header(self._path, row), None
                if self._bare and not columns.is_long:
                    sheet = self._sheet(columns, ())
                self._torn += columns.damaged
                table += 1
            elif columns.is_long:
                if columns.is_result(row) and len(row) > columns.place["Metric Value"]:
                    self._gatherer.add(table, columns, row, convention)
                else:
                    self._stray(columns, row)
            elif sheet is None and columns.is_units(row):
                sheet = self._sheet(columns, row)
            elif columns.is_result(row):
                if sheet is None:
                    self.bare += 1
                    sheet = self._sheet(columns, ())
                if self._again(columns, row):
                    continue
                self.strays.short += len(row) < len(columns.header)
                self._raw.append(csv_raw.kernel(len(self._raw), sheet, row))
            else:
                self._stray(columns, row)

    def _stray(self, columns: Columns, row: list[str]) -> None:
        if columns.overflows(row):
            self.strays.too_long(len(row), len(columns.header))
        else:
            self.strays.odd += 1

    def _again(self, columns: Columns, row: list[str]) -> bool:
        """Whether a result stood in the file before, below the same header, to the digit and with the same ID."""
        if self._seen is None or "ID" not in columns.place:
            return False
        mark = hash((columns.header, *row))
        again = mark in self._seen
        self._seen.add(mark)
        self.repeated += again
        return again

    def _sheet(self, columns: Columns, units: list[str] | tuple[str, ...]) -> csv_raw.Sheet:
        convention = self._convention or cells.Convention()
        return csv_raw.Sheet(columns, units, convention, self._wanted, keep=self._keep, strays=self.strays)

    @property
    def raw(self) -> list[Kernel]:
        """The results of raw pages."""
        return self._raw

    def kernels(self) -> tuple[Kernel, ...]:
        return tuple(self._raw) or self._gatherer.kernels()

    def kind(self) -> str:
        if self._raw:
            return "csv-raw"
        return "csv-metrics" if set(self._gatherer.sections) == {_RUN} else "csv-details"

    def warnings(self, rows: Rows) -> list[str]:
        said = _doubts(self._gatherer, self._convention or cells.Convention())
        if self._raw and len(self._gatherer):
            said.append(mixed(len(self._gatherer)))
        said += pages(rows.pages)
        said += torn(self._torn) + unitless(self.bare) + cut(rows.broken, rows.cut)
        if self._cut_between_rows():
            said.append("the last result has far fewer metrics than the others: the file may be cut short")
        return said + self.strays.warnings() + repeats(self.repeated + self._gatherer.repeated)

    @property
    def others(self) -> int:
        """Results of details tables beside a raw one."""
        return len(self._gatherer)

    def _cut_between_rows(self) -> bool:
        sizes = self._gatherer.sizes()
        return len(sizes) > 1 and sizes[-1] < 0.8 * min(sizes[:-1])


def probed(rows: Iterator[list[str]]) -> list[list[str]]:
    """The first rows, as many as decide how numbers are written."""
    head: list[list[str]] = []
    count = 0
    for row in rows:
        head.append(row)
        count += len(row)
        if count > _PROBED_CELLS:
            break
    return head


def decided(head: list[list[str]]) -> cells.Convention:
    """How numbers are written, from the first rows of a file."""
    return cells.decide(_values(head))


def header(path: Path, row: list[str]) -> Columns:
    """The columns of a header. Raises :class:`UnreadableReport` for a summary table or one that ncu did not write."""
    columns = Columns.of(row)
    if columns.is_summary:
        raise UnreadableReport(
            f"{path}: a summary table: it holds averages over launches, not results",
            "export without --print-summary: ncu --import FILE --page raw --csv --print-units base > FILE.csv",
        )
    metrics = any("__" in name or name.startswith("inst_executed") for name in columns.metrics)
    if "Kernel Name" not in columns.place or not (columns.is_long or metrics):
        raise UnreadableReport(
            f"{path}: a table, but not one that ncu wrote",
            "make one with: ncu --import FILE --page raw --csv --print-units base > FILE.csv",
        )
    return columns


def is_header(row: list[str]) -> bool:
    """Whether a row is the header of a table."""
    return "Kernel Name" in row and ("ID" in row or "Invocations" in row)


def mixed(others: int) -> str:
    """The warning for a raw page with ``others`` results of details tables in the same file."""
    left = "results of its details tables are" if others > 1 else "result of its details table is"
    return f"the file mixes layouts; {others} {left} left out"


def pages(results: int) -> list[str]:
    """The warning for ``results`` of text pages in a file with a table."""
    if not results:
        return []
    left = "results of its text pages are" if results > 1 else "result of its text page is"
    return [f"the file mixes layouts; {results} {left} left out: save each layout in a file of its own"]


def torn(names: int) -> list[str]:
    """The warning for a header with ``names`` columns that no metric is called."""
    return [f"the header is damaged: {names} of its columns bear no metric's name and are not used"] if names else []


def unitless(tables: int) -> list[str]:
    """The warning for ``tables`` raw tables without the row of units that ncu writes below the header."""
    if not tables:
        return []
    return ["the row of units below the header is lost; values were taken to be in base units, which they may not be"]


def repeats(results: int) -> list[str]:
    """The warning for ``results`` that stand in the file more than once."""
    return [f"{results} results are copies, to the digit, of others in the file; they were left out"] if results else []


def cut(broken: int, ending: bool) -> list[str]:
    """The warning for rows that break off (``broken`` of them) or a file that does (``ending``)."""
    if not broken and not ending:
        return []
    why = f"{broken} rows break off inside a cell" if broken else "its last row has no end"
    return [f"the file is cut or damaged: {why}; what they held is lost"]


def _values(rows: list[list[str]]) -> Iterator[tuple[str, str]]:
    """The value cells of the first rows, each with its unit."""
    columns: Columns | None = None
    places: list[int] = []
    units: list[str] = []
    for row in rows:
        if columns is None or is_header(row):
            columns = Columns.of(row)
            places, units = list(columns.metrics.values()), []
        elif columns.is_long:
            yield columns.cell(row, "Metric Value"), columns.cell(row, "Metric Unit")
        elif columns.is_units(row):
            units = row
        else:
            for at in places:
                if at < len(row):
                    yield row[at], units[at] if at < len(units) else ""
