"""Numbers as a person reads them: three significant digits, a unit on each, prefixes in powers of 1000.

Every function takes base units (``ns``, ``byte``, ``byte/s``, ``hz``, ``%``) and returns ASCII text, so that a
table looks the same on a page, in a terminal and in a log. What is ``None``, NaN or infinite reads ``n/a``:
a value that was not collected never becomes 0.
"""

from __future__ import annotations

import math
from decimal import ROUND_HALF_EVEN, Decimal

NOT_AVAILABLE = "n/a"

_LARGE = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
# Units that take a prefix directly; the others are counts and get "M", "G" as a word of their own.
_PREFIXED = {"byte": "B", "byte/s": "B/s", "byte/second": "B/s", "hz": "Hz", "flop/s": "FLOP/s", "flop": "FLOP"}
_NAMED = {"flop/byte": "FLOP/byte", "register/thread": "registers per thread"}
_PLURAL = {
    "block": "blocks",
    "cycle": "cycles",
    "inst": "instructions",
    "register": "registers",
    "request": "requests",
    "sector": "sectors",
    "thread": "threads",
    "warp": "warps",
}


def significant(value: float, digits: int = 3) -> str:
    """``value`` to ``digits`` significant digits, thousands separated; a whole number stays exact up to a million.

    >>> significant(84.23), significant(0.01234), significant(4096.0), significant(123456.7)
    ('84.2', '0.0123', '4,096', '123,000')
    """
    if not math.isfinite(value):
        return NOT_AVAILABLE
    if value == 0:
        return "0"
    if float(value).is_integer() and abs(value) < 1e6:
        return f"{int(value):,}"
    if not 1e-4 <= abs(value) < 1e15:
        return f"{value:.{digits - 1}e}"
    rounded = _round(value, digits)
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(rounded))))
    return f"{rounded:,.{decimals}f}"


def duration(nanoseconds: float | None) -> str:
    """A time in ``ns``, ``us``, ``ms`` or ``s``: ``812 ns``, ``12.3 us``, ``1.20 ms``."""
    if nanoseconds is None or not math.isfinite(nanoseconds):
        return NOT_AVAILABLE
    rounded = _round(nanoseconds, 3)
    for scale, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "us")):
        if abs(rounded) >= scale:
            return f"{_fixed(nanoseconds / scale)} {unit}"
    return f"{significant(nanoseconds)} ns"


def size(count: float | None) -> str:
    """Bytes with a decimal prefix, as ``ncu`` counts them: ``512 B``, ``67.1 MB``."""
    return _prefixed(count, "B")


def percent(value: float | None) -> str:
    """A measured percentage, 0 to 100 (a counter may exceed it): ``84.2 %``, ``38.0 %``, ``0.40 %``, ``<0.01 %``.

    Three significant digits with trailing zeros, but never more than two decimals: the third says nothing.
    """
    if value is None or not math.isfinite(value):
        return NOT_AVAILABLE
    if value in {0, 100}:
        return f"{value:.0f} %"
    if 0 < value < 0.01:
        return "<0.01 %"
    return f"{value:.2f} %" if abs(value) < 1 else f"{_fixed(value)} %"


def whole_percent(value: float | None) -> str:
    """A percentage for running text, without decimals: ``91 %``, ``<1 %``; never ``100 %`` for less than all."""
    if value is None or not math.isfinite(value):
        return NOT_AVAILABLE
    if 0 < value < 1:
        return "<1 %"
    if 99 < value < 100:
        return ">99 %" if value >= 99.5 else "99 %"
    return f"{value:.0f} %"


def factor(value: float | None) -> str:
    """A speed-up: ``1.80x``."""
    return NOT_AVAILABLE if value is None or not math.isfinite(value) else f"{_fixed(value)}x"


def quantity(value: float | None, unit: str = "") -> str:
    """Any value in base units with its unit: ``quantity(2.5e9, "byte/s")`` is ``2.50 GB/s``."""
    if value is None or not math.isfinite(value):
        return NOT_AVAILABLE
    if unit in {"ns", "nsecond"}:
        return duration(value)
    if unit == "%":
        return percent(value)
    if unit in _PREFIXED:
        return _prefixed(value, _PREFIXED[unit])
    text = _count(value)
    word = _NAMED.get(unit, _PLURAL.get(unit, unit))
    if unit in _PLURAL and text == "1":
        word = {"inst": "instruction"}.get(unit, unit)
    return f"{text} {word}" if word else text


def exact(value: float) -> str:
    """A counter for a table that people compare with ``ncu``: whole numbers in full, others to six digits."""
    if not math.isfinite(value):
        return NOT_AVAILABLE
    if float(value).is_integer() and abs(value) < 1e15:
        return str(int(value))
    return f"{value:.6g}"


def _prefixed(value: float | None, unit: str) -> str:
    if value is None or not math.isfinite(value):
        return NOT_AVAILABLE
    rounded = _round(value, 3)
    for scale, prefix in _LARGE:
        if abs(rounded) >= scale:
            return f"{_fixed(value / scale)} {prefix}{unit}"
    return f"{significant(value)} {unit}"


def _count(value: float) -> str:
    rounded = _round(value, 3)
    for scale, prefix in _LARGE[:-1]:
        if abs(rounded) >= scale:
            return f"{_fixed(value / scale)} {prefix}"
    return significant(value)


def _fixed(value: float) -> str:
    """Three significant digits with trailing zeros kept, so that a column of scaled values lines up."""
    rounded = _round(value, 3)
    if rounded == 0:
        return "0"
    if abs(rounded) >= 1e15:
        # No counter gets there: damage, which must neither fill a page with digits nor fail to be shown.
        return f"{rounded:.2e}"
    decimals = max(0, 2 - math.floor(math.log10(abs(rounded))))
    return f"{rounded:,.{decimals}f}"


def _round(value: float, digits: int) -> float:
    if value == 0:
        return 0.0
    shortest = repr(float(value))
    if "e" not in shortest and len(shortest.replace(".", "").strip("-0")) > digits + 1:
        # More digits than a tie has: the binary expansion rounds the same way, ten times as fast.
        return float(f"{value:.{digits - 1}e}")
    # Decimal on the shortest representation: what a person would round by hand, not the binary expansion.
    exponent = math.floor(math.log10(abs(value))) - digits + 1
    rounded = float(Decimal(shortest).quantize(Decimal(1).scaleb(exponent), rounding=ROUND_HALF_EVEN))
    return rounded if math.isfinite(rounded) else value  # the largest floats round beyond the largest float
