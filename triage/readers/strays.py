"""What rows and cells of a table are not what ncu writes: counted so that pieces of a file add up, said once a file."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from triage.errors import UnreadableReport
from triage.readers.misspelt import told

_SHOWN = 3
_LONGEST = 24
# A counter with one of these is a number, whatever unit it has.
_ROLLUP = re.compile(r"\.(?:sum|avg|min|max|ratio|pct|max_rate)(?:\.|$)")
_AGAIN = (
    "export it again and leave it as ncu writes it: ncu --import FILE --page raw --csv --print-units base > FILE.csv"
)


@dataclass(slots=True)
class Strays:
    """Counts of rows: ``short`` ones lack the last cells, ``long`` ones have more than the header, ``odd`` ones are no
    rows of the table. ``sizes`` holds the cells of the first long row and of its header. ``illegible`` counts cells
    that should hold a number and hold other text, ``examples`` the first distinct ones of them. ``misspelt`` maps
    columns that nearly have the name of a counter to that counter, which the table lacks. ``disputed`` counts values
    that columns of one name tell differently."""

    short: int = 0
    odd: int = 0
    long: int = 0
    sizes: tuple[int, int] = (0, 0)
    illegible: int = 0
    examples: dict[str, None] = field(default_factory=dict)
    misspelt: dict[str, str] = field(default_factory=dict)
    disputed: int = 0

    def too_long(self, cells: int, header: int) -> None:
        """Counts a row of ``cells`` cells below a header of fewer."""
        self.sizes = self.sizes if self.long else (cells, header)
        self.long += 1

    def no_number(self, text: str) -> None:
        """Counts a cell that should hold a number."""
        self.illegible += 1
        if len(self.examples) < _SHOWN:
            self.examples[text[:_LONGEST]] = None

    def warnings(self) -> list[str]:
        """One sentence for each kind that was found."""
        said = []
        if self.short:
            said.append(f"{self.short} rows are shorter than the header; their last metrics are missing")
        if self.long:
            rows, were = ("rows have", "were") if self.long > 1 else ("row has", "was")
            said.append(f"{self.long} {rows} more cells than the header ({_than(self.sizes)}) and {were} left out")
        if self.odd:
            said.append(f"{self.odd} lines inside the table are no rows of it and were left out")
        if self.illegible:
            shown = ", ".join(repr(text) for text in self.examples)
            many = f"{self.illegible:,} cells hold" if self.illegible > 1 else "1 cell holds"
            said.append(f"{many} no number where ncu writes one ({shown}): these values are unknown")
        if self.disputed:
            values = "values are" if self.disputed > 1 else "value is"
            said.append(f"{self.disputed:,} {values} unknown: columns of the same name contradict each other")
        return said + told(self.misspelt.items())

    def refusal(self, path: str, separator: str, quoted: bool) -> UnreadableReport:
        """Why a table gave no kernel at all. ``separator`` parts its cells, ``quoted`` says whether they are quoted."""
        if self.long:
            longer = f"{path}: its rows have more cells than the header ({_than(self.sizes)})"
            if quoted:
                return UnreadableReport(f"{longer}, so that no cell can be assigned to its column", _AGAIN)
            return UnreadableReport(f"{longer}: without quotes, a '{separator}' in a name or number parts it", _AGAIN)
        if self.odd:
            none = f"none of the {self.odd:,} lines" if self.odd > 1 else "no line"
            return UnreadableReport(f"{path}: {none} below its header is a result of ncu", _AGAIN)
        return UnreadableReport(f"{path}: the table has a header but no kernel", "export the report again")


def total(parts: Iterable[Strays]) -> Strays:
    """The sum over the pieces of a file."""
    whole = Strays()
    for part in parts:
        if part.long and not whole.long:
            whole.sizes = part.sizes
        whole.short += part.short
        whole.odd += part.odd
        whole.long += part.long
        whole.illegible += part.illegible
        whole.misspelt |= part.misspelt
        whole.disputed += part.disputed
        for text in part.examples:
            if len(whole.examples) < _SHOWN:
                whole.examples[text] = None
    return whole


def is_number(metric: str, unit: str) -> bool:
    """Whether the value of a metric has to be a number: it has a unit or is rolled up. A ``breakdown:`` or ``group:``
    lists the names of others."""
    return ":" not in metric and (bool(unit.strip()) or _ROLLUP.search(metric) is not None)


def is_error(text: str) -> bool:
    """Whether a cell is what a spreadsheet shows in place of a value: ``####``, ``#REF!``, ``#N/A``."""
    return text.startswith("#")


def _than(sizes: tuple[int, int]) -> str:
    cells, header = sizes
    return f"{cells:,}, not {header:,}"
