"""Where the time goes over kernels: one bar, longest first, that leads to the kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from triage import quantities
from triage.renderers import page, wording
from triage.renderers.escape import shorten
from triage.renderers.ranking import Group, by_time

# Segments narrower than this (percent) cannot be told apart nor clicked; they are drawn as one.
_NARROW = 0.8
_SEGMENTS = 16
# A segment at least this wide (percent) holds its rank.
_LABELLED = 4.0


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


def segments(ranked: Sequence[Group]) -> tuple[Segment, ...]:
    """The bar for kernels in the order of the list (whose ranks it shows); empty for fewer than two timed ones."""
    ranks = {group.place: rank for rank, group in enumerate(ranked, 1)}
    timed = [group for group in by_time(tuple(ranked)) if group.share]
    if len(timed) < 2:
        return ()
    made: list[Segment] = []
    x = 0.0
    for group in timed[:_SEGMENTS]:
        share = group.share or 0.0
        if share < _NARROW:
            break
        rank = ranks[group.place]
        name = shorten(wording.label(group.shown.kernel), 80)
        title = (
            f"{rank}: {name}, {quantities.percent(share)} of the time, {wording.limiter_word(group.shown.diagnosis)}"
        )
        text = str(rank) if share >= _LABELLED else ""
        family = page.family(group.shown.diagnosis)
        made.append(Segment(round(x, 2), round(share, 2), family, group.place, text, title))
        x += share
    left = len(timed) - len(made)
    if left and x < 99.95:
        rest = f"{wording.count(left, 'other kernel')}, {quantities.percent(100 - x)} of the time together"
        made.append(Segment(round(x, 2), round(100 - x, 2), "rest", None, "", rest))
    return tuple(made)
