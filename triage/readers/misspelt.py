"""Columns whose name is one character away from a counter that the table lacks: what a flipped bit or a hand left.

A counter that is missing where most of its set is there, beside a name nearly like it, was hardly left out by ncu. Only
names that no rule knows count; words that ncu itself has in both forms are let pass.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import lru_cache

# Words of ncu's own names that are one character apart: units of a chip and types of operands.
_OWN = (
    frozenset({"gpc", "gpu"}), frozenset({"dram", "dramc"}), frozenset({"l1", "l2"}), frozenset("tdmxf"),
    frozenset({"adu", "alu"}), frozenset({"tma", "fma"}), frozenset({"dmma", "hmma", "imma"}),
    frozenset({"fadd", "dadd", "hadd"}), frozenset({"fmul", "dmul", "hmul"}), frozenset({"ffma", "dfma", "hfma"}),
    frozenset("xyz"),
)  # fmt: skip
_WORD = re.compile(r"[._]+")
# Of fewer counters that are there nobody knows whether the missing one was asked for.
_LEAST = 20


@lru_cache(maxsize=8)
def misspelt(columns: frozenset[str], wanted: frozenset[str], least: int = _LEAST) -> tuple[tuple[str, str], ...]:
    """``(column, counter)`` for each of the ``columns`` that is one of the ``wanted`` counters but for one character
    (another one, one more or one less), where that counter is no column itself and ``least`` others are.

    >>> misspelt(frozenset({"sm__cxcles_active.avg"}), frozenset({"sm__cycles_active.avg"}), least=0)
    (('sm__cxcles_active.avg', 'sm__cycles_active.avg'),)
    """
    if len(wanted & columns) < least:
        return ()
    around: dict[str, str] = {}
    for counter in sorted(wanted - columns):
        for near in _shortened(counter):
            around.setdefault(near, counter)
    if not around:
        return ()
    found = []
    for column in sorted(columns - wanted):
        counters = (around[near] for near in _shortened(column) if near in around)
        nearly = next((each for each in counters if _one_apart(column, each) and not _both_own(column, each)), None)
        if nearly is not None:
            found.append((column, nearly))
    return tuple(found)


def _shortened(name: str) -> Iterator[str]:
    """The name, and the name without each of its characters: two names that share one of these are nearly alike."""
    yield name
    for at in range(len(name)):
        yield name[:at] + name[at + 1 :]


def _both_own(one: str, other: str) -> bool:
    """Whether the two differ in one word, and ncu has both."""
    words = [set(_WORD.split(name)) for name in (one, other)]
    apart = words[0] ^ words[1]
    return len(apart) == 2 and any(apart <= own for own in _OWN)


def _one_apart(one: str, other: str) -> bool:
    if len(one) == len(other):
        return sum(a != b for a, b in zip(one, other, strict=True)) == 1
    shorter, longer = sorted((one, other), key=len)
    return len(longer) - len(shorter) == 1 and shorter in _shortened(longer)


def told(pairs: Collection[tuple[str, str]]) -> list[str]:
    """The warning about them, if there are any."""
    if not pairs:
        return []
    column, counter = next(iter(pairs))
    more = f", and {len(pairs) - 1} more like it" if len(pairs) > 1 else ""
    return [f"the file may be damaged: column {column!r} is no counter, and {counter} is missing{more}"]
