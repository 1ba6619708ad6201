"""Compute capabilities in rule files: one, or ranges of them."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

# ``triage/rules/shapes.py`` gives these to editors as well.
ONE = r"[0-9]{1,2}(\.[0-9])?"
WORD = rf"((>=|<=|>|<)?{ONE}|{ONE}-{ONE}|[0-9]{{1,2}}\.\*)"

_ONE = re.compile(ONE)
_RANGE = re.compile(rf"({ONE})-({ONE})")
_SIGNED = re.compile(rf"(>=|<=|>|<)?({ONE})")
_FAMILY = re.compile(r"([0-9]{1,2})\.\*")
_LEAST, _MOST = 0.0, 1e9
# Minor versions are a tenth apart.
_STEP = 0.1
# No chip is near: from here on it is the number of an architecture, ``sm_90`` for 9.0.
ARCHITECTURES = 50
_KINDS = "write '9.0', '>=8.6', '<7.0', '7.0-8.0' or '9.*', several separated by blanks"


@dataclass(frozen=True, slots=True)
class ChipRange:
    """Compute capabilities, as ``>=9.0``, ``<=8.0``, ``8.6``, or several separated by spaces (any may hold)."""

    text: str
    ranges: tuple[tuple[float, float], ...]

    def holds(self, cc: float | None) -> bool:
        """Whether ``cc`` lies in the range; an unknown chip lies in every range."""
        return cc is None or any(low <= cc <= high for low, high in self.ranges)


def parse_chips(text: str) -> ChipRange:
    """``">=9.0"``, ``"<=8.0"``, ``"8.6"``, ``"7.0-8.0"``, ``"10.*"``, or several separated by spaces.

    Raises ``ValueError``, whose message says why, for anything else: also for what holds for no chip, or for every one.
    """
    ranges = tuple(_range(word) for word in text.split())
    if not ranges:
        raise ValueError(f"it is empty; {_KINDS}")
    down = max((high for low, high in ranges if low == _LEAST), default=-_MOST)
    up = min((low for low, high in ranges if high == _MOST), default=_MOST)
    # The first chip above what lies below: one that no part reaches leaves a hole.
    first = math.floor(10 * down + 1e-6) + 1
    if first >= 10 * up - 1e-6:
        raise ValueError("one of the parts holds for any chip; write what lies between two as '7.0-8.0'")
    return ChipRange(text, ranges)


def chip_number(cc: str | None) -> float | None:
    """``"9.0"`` as 9.0 (``"10.3"`` as 10.3); ``None`` when there is none or it is no compute capability."""
    return float(cc) if cc and _ONE.fullmatch(cc) else None


def _range(word: str) -> tuple[float, float]:
    if found := _FAMILY.fullmatch(word):
        return _number(found[1]), _number(found[1]) + 0.95
    if found := _RANGE.fullmatch(word):
        low, high = _number(found[1]), _number(found[3])
        if low > high:
            raise ValueError(f"{word!r} ends before it begins; write the smaller number first")
        return low, high
    found = _SIGNED.fullmatch(word)
    if found is None:
        raise ValueError(f"{word[:40]!r} is none; {_KINDS}")
    number = _number(found[2])
    low, high = {
        ">=": (number, _MOST),
        ">": (number + _STEP / 2, _MOST),
        "<=": (_LEAST, number),
        "<": (_LEAST, number - _STEP / 2),
    }.get(found[1], (number, number))
    if low > high:
        raise ValueError(f"{word!r} holds for no chip")
    return low, high


def _number(text: str) -> float:
    number = float(text)
    if number >= ARCHITECTURES:
        raise ValueError(f"no chip has compute capability {text}; sm_90 is '9.0', sm_100 is '10.0'")
    return number
