"""How sure a verdict is, and why: how near another answer lies, what was unknown, what the hygiene says."""

from __future__ import annotations

from triage.diagnosis.border import CLOSE, NEAR, Border
from triage.model import Confidence
from triage.rules.walk import Judged, Walked

_LEVELS: tuple[Confidence, ...] = ("low", "medium", "high")


def rate(
    walked: Walked, named: Judged, near: tuple[Border, ...], hygiene: tuple[str, ...]
) -> tuple[Confidence, tuple[str, ...]]:
    """The confidence of a named limiter and the reasons that lowered it (or the one that did not)."""
    level = 2
    why = [border.text for border in near]
    closest = min((border.distance for border in near), default=NEAR)
    if closest < NEAR:
        level -= 2 if closest < CLOSE else 1
    titles = list(dict.fromkeys(doubt.limiter.title for doubt in walked.doubts))
    if titles:
        # Each of them would have ended the walk before this answer.
        level -= min(2, len(titles))
        shown = ", ".join(titles[:3]) + (f" and {len(titles) - 3} more" if len(titles) > 3 else "")
        why.append(f"not measured, so not ruled out: {shown}")
    if named.veto_unknown:
        level -= 1
        why.append("a counter-check could not be made")
    if hygiene:
        level -= 1
        why.append(f"the measurement itself: {hygiene[0]}")
    if not why:
        why.append("no unmeasured rival could stand before it, and its facts are well away from their thresholds")
    return _LEVELS[max(level, 0)], tuple(why)
