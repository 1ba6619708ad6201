"""Columns whose name is one character away from a counter that the table lacks: what a flipped bit or a hand left.

ncu writes a column for each counter of a set, so a rule's counter that is missing beside a name nearly like it was not
left out by ncu. Only names that no rule knows count; the few units of a chip that ncu itself names alike are let pass.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import lru_cache

# Address-divergence unit, tensor memory accelerator, FP64 tensor instructions: beside ALU, FMA, and the other types.
_OWN = re.compile(r"_pipe_(adu|tma)[._]|_op_dmma_")


@lru_cache(maxsize=8)
def misspelt(columns: frozenset[str], wanted: frozenset[str]) -> tuple[tuple[str, str], ...]:
    """``(column, counter)`` for each of the ``columns`` that is one of the ``wanted`` counters but for one character
    (another one, one more or one less), where that counter is no column itself.

    >>> misspelt(frozenset({"sm__cxcles_active.avg"}), frozenset({"sm__cycles_active.avg"}))
    (('sm__cxcles_active.avg', 'sm__cycles_active.avg'),)
    """
    around: dict[str, str] = {}
    for counter in sorted(wanted - columns):
        for near in _shortened(counter):
            around.setdefault(near, counter)
    if not around:
        return ()
    found = []
    for column in sorted(columns - wanted):
        if _OWN.search(column):
            continue
        counters = (around[near] for near in _shortened(column) if near in around)
        nearly = next((each for each in counters if _one_apart(column, each)), None)
        if nearly is not None:
            found.append((column, nearly))
    return tuple(found)


def _shortened(name: str) -> Iterator[str]:
    """The name, and the name without each of its characters: two names that share one of these are nearly alike."""
    yield name
    for at in range(len(name)):
        yield name[:at] + name[at + 1 :]


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
