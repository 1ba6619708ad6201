"""How sure a verdict is, and why: the margin to its thresholds, what was unknown, what the hygiene says."""

from __future__ import annotations

from triage.facts import FactSet
from triage.model import Confidence, Verdict
from triage.rules.conditions import AllOf, AnyOf, Comparison, Node, Not
from triage.rules.walk import Judged, Walked

# Shares of the threshold. Repeated launches under the profiler vary by 0.2 to 1.5 % and sampled stalls by up to 11
# points, so a verdict within 5 % of a threshold could fall the other way, and within 15 % deserves a second look.
CLOSE = 0.05
NEAR = 0.15
_LEVELS: tuple[Confidence, ...] = ("low", "medium", "high")


def rate(walked: Walked, named: Judged, facts: FactSet, hygiene: tuple[str, ...]) -> tuple[Confidence, tuple[str, ...]]:
    """The confidence of a named limiter and the reasons that lowered it (or the one that did not)."""
    level = 2
    why: list[str] = []
    margin, leaf = _margin(named, facts)
    if leaf is not None and margin < NEAR:
        level -= 2 if margin < CLOSE else 1
        label = facts.rulebook.facts[leaf.fact].label
        why.append(f"{label} is within {max(1, round(100 * margin))} % of its threshold")
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


def _margin(named: Judged, facts: FactSet) -> tuple[float, Comparison | None]:
    """The nearest of the rule's own thresholds and of those of the gate that led to its question."""
    margins = [_of(named.limiter.when, facts, Verdict.FIRES)]
    if named.question.gate is not None:
        margins.append(_of(named.question.gate, facts, Verdict.FIRES))
    return min(margins, key=lambda pair: pair[0])


def _of(node: Node, facts: FactSet, wanted: Verdict) -> tuple[float, Comparison | None]:
    """How far the deciding comparison of ``node`` stands from its threshold, as a share of the threshold."""
    if isinstance(node, Comparison):
        return (_distance(node, facts), node)
    if isinstance(node, Not):
        return _of(node.part, facts, Verdict.CLEAR if wanted is Verdict.FIRES else Verdict.FIRES)
    parts = [_of(part, facts, wanted) for part in node.parts if facts.judge(part) is wanted]
    if not parts:
        return (float("inf"), None)
    weakest = isinstance(node, AllOf) == (wanted is Verdict.FIRES)
    choose = min if weakest or not isinstance(node, (AllOf, AnyOf)) else max
    return choose(parts, key=lambda pair: pair[0])


def _distance(leaf: Comparison, facts: FactSet) -> float:
    low, high = facts.interval(leaf.fact)
    limit = leaf.threshold.value
    nearest = low if leaf.op in ("at_least", "above") else high
    if low <= limit <= high:
        nearest = limit
    # A threshold at zero compares two measured numbers: points out of a hundred are the scale then.
    return abs(nearest - limit) / (abs(limit) if limit else 100.0)
