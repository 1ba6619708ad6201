"""What is noise in a duration and what is not.

Repeated launches tell the noise: with four and more on both sides a rank test decides, so that one slow first launch
or two clock states of a GPU are no change. Without repeats a stated default holds. Under the profiler the durations of
one kernel vary by 0.2 to 1.5 % (standard deviation over mean, kernels of 30 to 520 us on an H200); between runs the
clock drifts as well, so nothing below the floor is ever called a change.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median, stdev

from triage import quantities
from triage.compare.model import Change, Timing

# A rank test of fewer than four launches a side cannot tell anything at any sensible level.
_ENOUGH = 4
# Paired launches need eight for a sign-like test to reach 1 %.
_ENOUGH_PAIRED = 8
_LEVEL = 0.01
# Launches of one kernel that differ by more than this do different work; then the i-th is held against the i-th.
_UNLIKE = 0.05
# Beyond, from a picosecond to thirty years, it is the number of a damaged file, whose ratios leave what a float holds.
_SHORTEST_NS, _LONGEST_NS = 1e-3, 1e18
# All differences of two long series cost more than they say.
_MOST_DIFFERENCES = 40_000


@dataclass(frozen=True, slots=True)
class Noise:
    """How much a duration may move without meaning anything, as fractions: ``floor`` always, ``single`` where a side
    has fewer than four launches, ``short`` likewise for kernels below ``short_ns``."""

    floor: float = 0.02
    single: float = 0.05
    short: float = 0.10
    short_ns: float = 20_000.0


def judge(base: Sequence[float], head: Sequence[float], noise: Noise, *, in_order: bool = True) -> Timing:
    """Whether ``head`` is slower or faster than ``base`` (ns). What is no time of a kernel is left out. ``in_order``
    says that both are in launch order and complete, so that the i-th launch may be held against the i-th."""
    before = [value for value in base if _SHORTEST_NS <= value <= _LONGEST_NS]
    after = [value for value in head if _SHORTEST_NS <= value <= _LONGEST_NS]
    if not before or not after:
        untimed = "neither side was" if not before and not after else f"the {'head' if before else 'base'} was not"
        why = f"{untimed} timed"
        return Timing(_middle(before), _middle(after), None, noise.floor, "unknown", why)
    if min(len(before), len(after)) >= _ENOUGH:
        return _repeated(before, after, noise, in_order)
    return _few(before, after, noise)


def _few(before: list[float], after: list[float], noise: Noise) -> Timing:
    """Too few launches on a side for a test: a band around the base decides."""
    ratio = median(after) / median(before)
    # As a difference it is the same in both directions to the last digit, so that neither is called a change alone.
    distance = abs(math.log(median(after)) - math.log(median(before)))
    many = max((before, after), key=len)
    if len(many) >= _ENOUGH:
        # The repeated side tells the noise: three standard deviations, and never inside what was seen.
        band = max(noise.floor, 3 * _spread(many), max(many) / median(many) - 1, 1 - min(many) / median(many))
        why = f"{_counts(before, after)}; the repeats vary by up to {quantities.percent(100 * band)}"
    else:
        short = min(median(before), median(after)) < noise.short_ns
        band = noise.short if short else noise.single
        seen = [max(side) / min(side) - 1 for side in (before, after) if len(side) > 1]
        band = max([band, *seen])
        kind = f" below {quantities.duration(noise.short_ns)}" if short else ""
        why = (
            f"{_counts(before, after)}; for so few{kind} up to {quantities.percent(100 * band)} "
            "is taken as noise, more launches would tell better"
        )
    return _timing(before, after, ratio, band, distance > math.log1p(band), why)


def _repeated(before: list[float], after: list[float], noise: Noise, in_order: bool) -> Timing:
    floor = math.log1p(noise.floor)
    unlike = min(_spread(before), _spread(after)) > _UNLIKE
    if in_order and unlike and len(before) == len(after) >= _ENOUGH_PAIRED:
        steps = [math.log(b / a) for a, b in zip(before, after, strict=True)]
        shift = median(steps)
        sure = _signed_rank(steps) <= _LEVEL
        how = "launches of unlike length, the first held against the first and so on"
    else:
        shift = _shift(before, after)
        apart = min(after) > max(before) or max(after) < min(before)
        sure = apart or _rank_sum(before, after) <= _LEVEL
        how = "the two sides do not overlap" if apart else "a rank test at 1 %"
    band = max(noise.floor, _spread(before), _spread(after)) if not unlike else noise.floor
    changed = sure and abs(shift) > floor
    if changed:
        why = f"{_counts(before, after)}; {how}"
    elif sure:
        why = f"{_counts(before, after)}; below {quantities.percent(100 * noise.floor)} nothing is called a change"
    else:
        why = f"{_counts(before, after)}; they overlap as repeated launches do"
    return _timing(before, after, math.exp(shift), band, changed, why)


def _timing(before: list[float], after: list[float], ratio: float, band: float, changed: bool, why: str) -> Timing:
    change: Change = "same" if not changed else "slower" if ratio > 1 else "faster"
    return Timing(median(before), median(after), ratio, band, change, why)


def _shift(before: list[float], after: list[float]) -> float:
    """The middle of all differences of logarithms (Hodges and Lehmann's estimate of a shift)."""
    if len(before) * len(after) > _MOST_DIFFERENCES:
        return math.log(median(after) / median(before))
    logs = [math.log(value) for value in before], [math.log(value) for value in after]
    return median(b - a for a in logs[0] for b in logs[1])


def _spread(values: Sequence[float]) -> float:
    """Standard deviation of the logarithms: the relative spread of one launch."""
    return stdev(math.log(value) for value in values) if len(values) > 1 else 0.0


def _rank_sum(before: Sequence[float], after: Sequence[float]) -> float:
    """Two-sided p of the Mann-Whitney test, normal approximation with ties and continuity correction."""
    n, m = len(before), len(after)
    ranks, ties = _ranks([*before, *after])
    u = sum(ranks[:n]) - n * (n + 1) / 2
    total = n + m
    variance = n * m / 12 * (total + 1 - ties / (total * (total - 1)))
    return _two_sided(abs(u - n * m / 2) - 0.5, variance)


def _signed_rank(steps: Sequence[float]) -> float:
    """Two-sided p of Wilcoxon's signed-rank test, normal approximation with ties and continuity correction."""
    kept = [step for step in steps if step != 0]
    n = len(kept)
    if n == 0:
        return 1.0
    ranks, ties = _ranks([abs(step) for step in kept])
    w = sum(rank for rank, step in zip(ranks, kept, strict=True) if step > 0)
    variance = n * (n + 1) * (2 * n + 1) / 24 - ties / 48
    return _two_sided(abs(w - n * (n + 1) / 4) - 0.5, variance)


def _two_sided(distance: float, variance: float) -> float:
    return 1.0 if variance <= 0 or distance <= 0 else math.erfc(distance / math.sqrt(2 * variance))


def _ranks(values: Sequence[float]) -> tuple[list[float], float]:
    """Ranks from 1, ties sharing their mean; and the sum of t^3 - t over the ties."""
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks = [0.0] * len(values)
    ties = 0.0
    start = 0
    while start < len(order):
        stop = start
        while stop < len(order) and values[order[stop]] == values[order[start]]:
            stop += 1
        size = stop - start
        for place in order[start:stop]:
            ranks[place] = (start + stop + 1) / 2
        ties += size**3 - size
        start = stop
    return ranks, ties


def _middle(values: list[float]) -> float | None:
    return median(values) if values else None


def _counts(before: Sequence[float], after: Sequence[float]) -> str:
    if len(before) == len(after) == 1:
        return "one launch a side"
    return f"{len(before):,} and {len(after):,} launches"
