"""Whole numbers as people, file names, environments and other programs write them.

Python's own means disagree: ``str.isdigit`` takes a superscript that ``int`` refuses; ``int`` takes ``1_000`` and the
digits of every script, refuses more than 4,300 digits, and makes numbers that no column of 64 bits holds.
"""

from __future__ import annotations

import re

LARGEST = 2**63 - 1
_DIGITS = re.compile(r"0*([0-9]{1,19})")


def whole(text: str, most: int = LARGEST) -> int | None:
    """``text`` as a number from 0 to ``most``: ASCII digits and nothing else; ``None`` where it is anything else.

    >>> whole("12"), whole("007"), whole("²"), whole("-1"), whole("1_0"), whole("9" * 5000), whole("")
    (12, 7, None, None, None, None, None)
    """
    found = _DIGITS.fullmatch(text)
    number = int(found[1]) if found is not None else LARGEST + 1
    return number if number <= most else None
