"""The rows of ncu's table inside any text: log lines and program output before, inside and after it are set aside."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from triage.errors import UnreadableReport
from triage.numerals import whole
from triage.readers.log import Log
from triage.readers.text_page import is_kernel_line

_LONGEST_LINE = 64 << 20
# A row starts with the result's ID and the process's; inside an open cell a quote is doubled or ends the cell.
_ROW_START = re.compile(r'"\d+"[,;\t]"')
# Every layout has a kernel's name; a table of the program's own that starts with an ID has not.
_HEADER = re.compile(r'(?:"(?:ID|Process ID)"(?P<sep>[,;\t])(?=.*"Kernel Name")|"Kernel Name"(?P<only>[,;\t]))"')
_BARE_HEADER = re.compile(r"(?:[^,;\t]{0,20}[,;\t])?(?:ID|Process ID)(?P<sep>[,;\t])(?=.*Kernel Name)")
_CONTINUED_LINES = 200
# A mail or a web page puts no-break spaces where ncu writes plain ones. As thousands separators, within numbers, they
# are ncu's own in some locales; in its words they never are.
_NO_BREAK = "\u00a0"
_MANGLED = re.compile(r"\b(?:Kernel|Process|Host|Block|Grid|Section|Metric|Context|Stream):?\u00a0(?:\w|\()")


class Rows:
    """Iterates over the table rows of a text as lists of cells; the header row (each time it appears) included.

    ``log`` holds what stood around the table, ``broken`` counts rows that end in the middle of a cell, ``found``
    says whether a header was seen, ``separator`` and ``quoted`` how its cells are parted and whether they are quoted as
    ncu does, ``cut`` whether the last row ends without a line break where that can mean a lost digit. ``pages`` counts
    the results of text pages that stand around the table.
    """

    def __init__(self, lines: Iterable[str], log: Log) -> None:
        self._lines = lines
        self.log = log
        self.broken = 0
        self.found = False
        self.cut = False
        self.pages = 0
        self.separator = ","
        self.quoted = True

    def __iter__(self) -> Iterator[list[str]]:
        allow_long_cells()
        records = self.records()
        first = next(records, None)
        if first is None:
            return
        # The separator is known once the first record is; a reader started earlier would not see it.
        source = chain([first], records)
        while True:
            try:
                yield from csv.reader(source, delimiter=self.separator)
                return
            except csv.Error:
                # The record is lost; a fresh reader goes on behind it.
                self.broken += 1

    def records(self) -> Iterator[str]:
        """Complete records as text, one string each even where a cell holds a line break; instead of iterating."""
        pending: list[str] = []
        quotes = 0
        for line in self._lines:
            if pending:
                if _ROW_START.match(line) or len(pending) > _CONTINUED_LINES:
                    self.broken += 1
                    for lost in pending[1:]:
                        self.log.feed(lost)
                    pending = []
                else:
                    if line.startswith("==") and _is_log(line):
                        self.log.feed(line)
                        continue
                    pending.append(line)
                    quotes += line.count('"')
                    if quotes % 2 == 0:
                        yield "".join(pending)
                        pending = []
                    continue
            row = self._row(line)
            if row is None:
                self.pages += is_kernel_line(line)
                # A row cut within its first cell has no separator; only the last line has no line break.
                self.cut = self.found and not self.quoted and whole(line) is not None
                self.log.feed(line)
                continue
            quotes = row.count('"')
            if quotes % 2:
                pending = [row]
            else:
                yield row
                # Between quotes a cut shows; without them the last number may have lost its end.
                self.cut = not self.quoted and not row.endswith(("\n", "\r"))
        if pending:
            self.broken += 1
            self.cut = True

    def _row(self, line: str) -> str | None:
        """The part of a line that is a table row, ``None`` where there is none."""
        if not self.found:
            header = _HEADER.search(line) or _BARE_HEADER.match(line)
            if header is None:
                return None
            self.found = True
            self.separator = header["sep"] or header["only"]
            self.quoted = line[header.start()] == '"'
            # An index column in front (a table saved by other software) is a column; other output is not.
            return line if line[: header.start()].endswith(self.separator) else line[header.start() :]
        if line.startswith('"'):
            return line
        if not self.quoted:
            return line if self.separator in line and not _is_log(line) else None
        # Output of the program without a line break can stand before a row.
        inside = _ROW_START.search(line) or _HEADER.search(line)
        return line[inside.start() :] if inside else None


def allow_long_cells() -> None:
    """Lets the csv module take cells as long as the longest line; its limit belongs to the process."""
    if csv.field_size_limit() < _LONGEST_LINE:
        csv.field_size_limit(_LONGEST_LINE)


def _is_log(line: str) -> bool:
    return line.startswith(("==PROF==", "==WARNING==", "==ERROR=="))


def lines(path: Path, encoding: str) -> Iterator[str]:
    """The lines of a text file, endings kept; undecodable bytes become replacement characters. From
    the first line on whose words are parted by no-break spaces, these are read as spaces.

    Raises :class:`UnreadableReport` for a line longer than 64 M characters, or where reading fails on the way.
    """
    try:
        mangled = False
        with path.open(encoding=encoding, errors="replace", newline="") as file:
            while line := file.readline(_LONGEST_LINE):
                if len(line) >= _LONGEST_LINE:
                    raise UnreadableReport(f"{path}: a line is longer than 64 million characters", "export it again")
                if _NO_BREAK in line and (mangled := mangled or _MANGLED.search(line) is not None):
                    line = line.replace(_NO_BREAK, " ")
                # Zero bytes are noise of a torn write; the csv module refuses them on some versions.
                yield line.replace("\0", "") if "\0" in line else line
    except (OSError, UnicodeError) as error:
        raise UnreadableReport(f"{path}: reading failed: {type(error).__name__}", "copy the file again") from None
