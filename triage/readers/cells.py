"""Numbers as ncu prints them in any locale, and which convention a file follows.

A lone ``117.344`` means 117.344 under one convention and 117344 under another, so the convention is decided once
a file from the cells that can mean one thing only.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

# Grouping characters that are never decimal signs: space, no-break, narrow no-break, thin space, apostrophes.
_FILLERS = str.maketrans("", "", " \u00a0\u202f\u2009'\u2019")
_MISSING = frozenset({
    "", "n/a", "no data", "<error>", "inf", "-inf", "+inf",
    # As the runtime of Windows prints it too.
    "nan", "-nan", "nan(ind)", "-nan(ind)", "nan(snan)", "-nan(snan)",
})  # fmt: skip

_POINT_DECIMAL = re.compile(
    r"[-+]?(\d{1,3}(,\d{3})+\.\d*|\d{1,3}(,\d{3}){2,}|\d*\.(\d{1,2}|\d{4,})|\d{4,}\.\d+|0\d*\.\d+"
    r"|\d+(\.\d*)?[eE][-+]?\d+)"
)
_COMMA_DECIMAL = re.compile(
    r"[-+]?(\d{1,3}(\.\d{3})+,\d*|\d{1,3}(\.\d{3}){2,}|\d*,(\d{1,2}|\d{4,})|\d{4,},\d+|0\d*,\d+|\d+,\d*[eE][-+]?\d+)"
)
_EITHER = re.compile(r"[-+]?[1-9]\d{0,2}[.,]\d{3}")
_GROUPED_BY_FILLER = re.compile(r"[-+]?\d{1,3}(?:[ \u00a0\u202f\u2009'\u2019]\d{3})+(?:([.,])\d*)?")
# Groups of three, or of two and then three as in India; anything else between digits is a list, not a number.
_NUMBER = {
    ".": re.compile(r"[-+]?(?:(?:\d+|[1-9]\d{0,2}(?:,\d{2,3})*,\d{3})(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?"),
    ",": re.compile(r"[-+]?(?:(?:\d+|[1-9]\d{0,2}(?:\.\d{2,3})*\.\d{3})(?:,\d*)?|,\d+)(?:[eE][-+]?\d+)?"),
}


@dataclass(frozen=True, slots=True)
class Convention:
    """How numbers are written: ``decimal`` is the decimal sign; ``warning`` says why that is doubtful, or ``""``."""

    decimal: str = "."
    warning: str = ""

    def number(self, text: str) -> float | None:
        """``text`` as a finite number, or ``None`` where it is no number at all."""
        # A spreadsheet that takes a column for percentages writes the sign into each cell.
        text = text.translate(_FILLERS).removesuffix("%")
        if not _NUMBER[self.decimal].fullmatch(text):
            return None
        value = float(text.replace(",", "") if self.decimal == "." else text.replace(".", "").replace(",", "."))
        return value if math.isfinite(value) else None

    def value(self, text: str) -> float | str | None:
        """A metric cell: a number, a string, or ``None`` where ncu printed that there is no value.

        ``total (i0; i1)`` gives the total and ``all (all)`` the string ``all``; a bare list of instances
        ``a; b; c`` has no total, so it is ``None``.
        """
        try:
            # The common case, several times faster than any pattern.
            if self.decimal == "." and "," not in text and "_" not in text:
                value = float(text)
                if math.isfinite(value):
                    return value
        except ValueError:
            pass
        text = text.strip()
        if is_missing(text):
            return None
        number = self.number(text)
        if number is not None:
            return number
        if text.endswith(")") and " (" in text:
            total, instances = text[:-1].split(" (", 1)
            number = self.number(total)
            if number is not None:
                return number
            if is_missing(total):
                return None
            if total == instances:
                return total
        if "; " in text and all(
            is_missing(part) or self.number(part) is not None for part in text.strip("()").split("; ")
        ):
            return None
        return text


def is_missing(text: str) -> bool:
    """Whether ncu says with this cell that there is no value (``n/a``, ``nan``, ``no data``, ``(!) …``, empty)."""
    return text.startswith("(!)") or text.strip().lower() in _MISSING


def decide(cells: Iterable[tuple[str, str]]) -> Convention:
    """The convention of a file, from its ``(text, unit)`` value cells.

    Cells that can mean one thing only decide (two separators; a decimal part that is not three digits). Without
    any, whole nanoseconds do: ncu never prints a fraction of one. Where nothing decides, a point is taken as the
    decimal sign, which is what ncu writes in the C locale, and the warning names the doubtful cell.
    """
    point = comma = 0
    doubtful: tuple[str, str] | None = None
    nanoseconds = {".": 0, ",": 0}
    for text, unit in cells:
        text = text.split(" (", 1)[0].strip().removesuffix("%").rstrip()
        if "." not in text and "," not in text:
            continue
        grouped = _GROUPED_BY_FILLER.fullmatch(text)
        if grouped:
            point += grouped[1] == "."
            comma += grouped[1] == ","
        elif _EITHER.fullmatch(text):
            doubtful = doubtful or (text, unit)
            if unit in ("ns", "nsecond"):
                nanoseconds["." if "." in text else ","] += 1
        elif _POINT_DECIMAL.fullmatch(text):
            point += 1
        elif _COMMA_DECIMAL.fullmatch(text):
            comma += 1
    if point and comma:
        winner, other = (".", ",") if point >= comma else (",", ".")
        return Convention(
            winner,
            f"numbers are written in two ways in this file; '{winner}' was taken as the decimal sign although "
            f"{min(point, comma)} cells use '{other}'",
        )
    if point or comma or doubtful is None:
        return Convention("," if comma else ".")
    if nanoseconds["."] and not nanoseconds[","]:
        return Convention(",", f"'{doubtful[0]}' was read as a whole number, '.' being taken for thousands")
    if nanoseconds[","] and not nanoseconds["."]:
        return Convention(".")
    return Convention(
        ".",
        f"'{doubtful[0]}' can be read in two ways and nothing in the file decides; '.' was taken as the decimal "
        "sign (export under LC_ALL=C to be sure)",
    )
