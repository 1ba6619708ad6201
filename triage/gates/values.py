"""Values with a unit as a team writes them: ``5%``, ``40 us``, ``2.5 TB/s``, ``2 * 4096 * 4096 * 4``."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from triage.rules.formulas import FormulaError, parse

T = TypeVar("T")
_NUMBER = re.compile(r"([0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?)\s*([A-Za-z/%]*)")
_TIMES = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
_RATES = {"B/s": 1.0, "kB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9, "TB/s": 1e12}


@dataclass(frozen=True, slots=True)
class Bandwidth:
    """A bandwidth asked for: ``value`` in byte/s, or with ``percent`` in percent of the DRAM's datasheet peak."""

    value: float
    percent: bool = False


def share(value: object) -> float:
    """``5%``, ``"5 %"`` or a bare 5 as the fraction 0.05. Raises ``ValueError`` with what is wrong."""
    number, unit = _split(value, "a percentage such as 5%")
    if unit not in ("", "%"):
        raise ValueError(f"{value!r} is no percentage; write 5%")
    return number / 100


def duration(value: object) -> float:
    """``40 us`` in ns. Raises ``ValueError``."""
    number, unit = _split(value, "a time such as 40 us")
    if unit not in _TIMES:
        raise ValueError(f"{value!r} is no time; write it with ns, us, ms or s, as in 40 us")
    return number * _TIMES[unit]


def bandwidth(value: object) -> Bandwidth:
    """``2.5 TB/s``, or ``80%`` of the DRAM's datasheet peak. Raises ``ValueError``."""
    number, unit = _split(value, "a bandwidth such as 2.5 TB/s or 80%")
    if unit == "%":
        return Bandwidth(number, percent=True)
    if unit not in _RATES:
        raise ValueError(f"{value!r} is no bandwidth; write 2.5 TB/s, 900 GB/s, or 80% of the DRAM's peak")
    return Bandwidth(number * _RATES[unit])


def positive(reader: Callable[[object], T]) -> Callable[[object], T]:
    """The same reader for values that mean nothing at 0: a bandwidth of 0 is always reached, a time of 0 never. What is
    too small for a number (``1e-400 us``) is 0 as well. Raises ``ValueError``."""

    def read(value: object) -> T:
        found = reader(value)
        if (found.value if isinstance(found, Bandwidth) else found) == 0:
            raise ValueError(f"{value!r} is 0; it must be above")
        return found

    return read


def size(value: object) -> float:
    """Bytes: a number, or arithmetic over numbers such as ``2 * 4096 * 4096 * 4``. Raises ``ValueError``."""
    try:
        low, high = parse(str(value), ()).evaluate(_nothing, _nothing)
    except FormulaError as fault:
        raise ValueError(f"{value!r} is no number of bytes: {fault}") from None
    if low != high or not math.isfinite(low) or low <= 0:
        raise ValueError(f"{value!r} is no number of bytes; write numbers only, as in 2 * 4096 * 4096 * 4")
    return low


def _nothing(name: str) -> tuple[float, float]:
    return (0.0, math.inf)


def _split(value: object, wanted: str) -> tuple[float, str]:
    # True and lists print as words and brackets, so the pattern refuses them as well.
    found = _NUMBER.fullmatch(str(value).strip())
    if found is None:
        raise ValueError(f"{value!r} is not {wanted}")
    number = float(found[1])
    if not math.isfinite(number):
        raise ValueError(f"{value!r} is not {wanted}")
    return number, found[2]
