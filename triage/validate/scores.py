"""Figures of a validation: the confusion matrix, how pairs did, ncu's own advice beside our verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from triage.validate.model import CLEARLY_FASTER, Judged, Pair, Validation, pairs

UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the confusion matrix: the kernels that stand for ``limiter`` and what they were named.

    ``only`` counts those for which it is the only right answer, ``right`` those that were named right; ``named`` maps
    each answer (``undecided`` for none) to its count, most frequent first.
    """

    limiter: str
    kernels: int
    only: int
    right: int
    named: Mapping[str, int]


def matrix(judged: Sequence[Judged]) -> tuple[Row, ...]:
    """The confusion matrix, row by row, sorted by limiter id."""
    by_limiter: dict[str, list[Judged]] = {}
    for one in judged:
        by_limiter.setdefault(one.expected, []).append(one)
    return tuple(
        Row(
            limiter=limiter,
            kernels=len(ones),
            only=sum(one.entry.accept == (limiter,) for one in ones),
            right=sum(one.outcome == "right" for one in ones),
            named=dict(Counter(one.limiter or UNDECIDED for one in ones).most_common()),
        )
        for limiter, ones in sorted(by_limiter.items())
    )


@dataclass(frozen=True, slots=True)
class PairCount:
    """How the pairs did. ``timed`` have a measured speed-up; ``bounded`` have a stated bound as well, which ``beaten``
    of them exceed; ``first`` are faster by 1.3x and more by the fix that the report lists first, ``listed`` by any fix
    that it lists; ``gone`` are twins bound by something else, of ``judged``."""

    all: int
    timed: int
    bounded: int
    beaten: int
    first: int
    listed: int
    gone: int
    judged: int


def count_pairs(found: Sequence[Pair]) -> PairCount:
    """The figures of these pairs."""
    timed = [pair for pair in found if pair.speedup is not None]
    faster = [pair for pair in timed if (pair.speedup or 0) >= CLEARLY_FASTER and pair.kernel.outcome == "right"]
    return PairCount(
        all=len(found),
        timed=len(timed),
        bounded=sum(pair.kernel.bound is not None for pair in timed),
        beaten=sum(pair.beaten for pair in found),
        first=sum(pair.first for pair in faster),
        listed=sum(pair.listed for pair in faster),
        gone=sum(pair.gone is True for pair in found),
        judged=sum(pair.twin_judged for pair in found),
    )


@dataclass(frozen=True, slots=True)
class AdviceScore:
    """ncu's first advice beside our verdict, over the kernels whose report holds rule results."""

    kernels: int
    ours: int
    theirs: int


def advice_right(one: Judged) -> bool:
    """Whether ncu's first advice names an accepted limiter."""
    return one.advice is not None and bool(set(one.advice.limiters) & set(one.entry.accept))


def score_advice(judged: Sequence[Judged]) -> AdviceScore:
    """How often each is right. A kernel for which ncu gave no estimate is not among those counted."""
    advised = [one for one in judged if one.advice is not None]
    return AdviceScore(
        kernels=len(advised),
        ours=sum(one.outcome == "right" for one in advised),
        theirs=sum(advice_right(one) for one in advised),
    )


def outcomes(validation: Validation) -> Mapping[str, int]:
    """How many kernels were named right, missed, left undecided, or named plainly wrong."""
    found = Counter(one.outcome for one in validation.judged)
    return {word: found[word] for word in ("right", "miss", "undecided", "wrong")}


def uncovered(judged: Sequence[Judged], limiters: Sequence[str]) -> tuple[str, ...]:
    """Limiters that are not the only right answer of at least two kernels here: those that prove least."""
    only = Counter(one.entry.accept[0] for one in judged if len(one.entry.accept) == 1)
    return tuple(limiter for limiter in sorted(limiters) if only[limiter] < 2)


__all__ = [
    "UNDECIDED",
    "AdviceScore",
    "PairCount",
    "Row",
    "advice_right",
    "count_pairs",
    "matrix",
    "outcomes",
    "pairs",
    "score_advice",
    "uncovered",
]
