"""Where the time goes over kernels: one bar in the order of the list, that leads to the kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from triage import quantities
from triage.renderers import page, wording
from triage.renderers.escape import shorten
from triage.renderers.ranking import Group, by_time

# Segments narrower than this (percent) cannot be told apart nor clicked; they are drawn as one.
_NARROW = 0.8
SEGMENTS = 16
# A segment holds its rank where it is this wide (percent) for each digit, and a margin.
_DIGIT, _MARGIN = 1.5, 3.0


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of the bar, in percent; ``place`` is the kernel's fragment, ``None`` for the rest together."""

    x: float
    width: float
    family: str
    place: int | None
    text: str
    title: str

    @property
    def middle(self) -> float:
        return round(self.x + self.width / 2, 2)


def segments(listed: Sequence[Group], ranked: Sequence[Group] | None = None) -> tuple[Segment, ...]:
    """The bar for kernels in the order of the list (whose ranks it shows); empty for fewer than two timed ones.
    ``ranked`` are all, those that the list leaves out too, where it does."""
    ranked = listed if ranked is None else ranked
    timed = [(rank, group) for rank, group in enumerate(listed, 1) if group.share]
    whole = [group.share for group in ranked if group.share]
    if len(whole) < 2:
        return ()
    longest = {group.place for group in by_time(tuple(ranked))[:SEGMENTS]}
    made: list[Segment] = []
    x = 0.0
    for rank, group in timed:
        share = group.share or 0.0
        if share < _NARROW or group.place not in longest:
            continue
        name = shorten(wording.label(group.shown.kernel), 80)
        title = (
            f"{rank}: {name}, {quantities.percent(share)} of the time, {wording.limiter_word(group.shown.diagnosis)}"
        )
        text = str(rank) if share >= _MARGIN + _DIGIT * len(str(rank)) else ""
        family = page.family(group.shown.diagnosis)
        made.append(Segment(round(x, 2), round(share, 2), family, group.place, text, title))
        x += share
    left = len(whole) - len(made)
    # Where a survey told the program's time, kernels that were not profiled take some of it: that stays blank.
    width = sum(whole) - x
    if left and width > 0.05:
        rest = f"{wording.count(left, 'other kernel')}, {quantities.percent(width)} of the time together"
        made.append(Segment(round(x, 2), round(width, 2), "rest", None, "", rest))
    return tuple(made)
