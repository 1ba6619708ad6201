"""How sure a verdict is, and why: the margin to its thresholds, what was unknown, what the hygiene says."""

from __future__ import annotations

import math

from triage.facts import FactSet
from triage.model import Confidence, Verdict
from triage.rules.conditions import AllOf, AnyOf, Comparison, Node, Not
from triage.rules.walk import Judged, Walked, walk

# Shares of the threshold. Repeated launches under the profiler vary by 0.2 to 1.5 % and sampled stalls by up to 11
# points, so a verdict within 5 % of a threshold could fall the other way, and within 15 % deserves a second look.
CLOSE = 0.05
NEAR = 0.15
_LEVELS: tuple[Confidence, ...] = ("low", "medium", "high")


def rate(walked: Walked, named: Judged, facts: FactSet, hygiene: tuple[str, ...]) -> tuple[Confidence, tuple[str, ...]]:
    """The confidence of a named limiter and the reasons that lowered it (or the one that did not)."""
    level = 2
    why: list[str] = []
    closest, reasons = _other_side(walked, named, facts)
    if closest < NEAR:
        level -= 2 if closest < CLOSE else 1
        why += reasons
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


def _other_side(walked: Walked, named: Judged, facts: FactSet) -> tuple[float, list[str]]:
    """How near the kernel lies to another answer, as a share of a threshold or of the strength, and what to say of it.

    Looked at are the answer's own thresholds, those of the answers that would stand before it, and in a question for
    the largest the one that is nearly as strong."""
    margin, leaf = _margin(named, facts)
    missed, entry, over = _near_miss(walked, named, facts)
    tied, second = _runner_up(walked, named, facts)
    reasons, said = [], ""
    if missed < NEAR and entry is not None and over is not None:
        said = entry.limiter.id
        reasons.append(f"{_label(over, facts)} is within {_percent(missed)} of where the answer would be {said}")
    if leaf is not None and margin < NEAR:
        beyond = _beyond(named, leaf, facts)
        told = said and over is not None and (beyond == said or (not beyond and leaf.fact == over.fact))
        if not told:
            text = f"{_label(leaf, facts)} is within {_percent(margin)} of its threshold"
            reasons.append(f"{text}, and beyond it the answer would be {beyond}" if beyond else text)
    if second is not None and tied < NEAR:
        reasons.append(f"{second.limiter.id} is within {_percent(tied)} of being as strong")
    return min(margin if leaf is not None else math.inf, missed, tied), reasons


def _label(leaf: Comparison, facts: FactSet) -> str:
    return facts.rulebook.facts[leaf.fact].label


def _beyond(named: Judged, leaf: Comparison, facts: FactSet) -> str:
    """The limiter that would be named if the fact lay just beyond the threshold; empty where none or the same."""
    limit = leaf.threshold.value
    other_side = {"at_least": math.nextafter(limit, -math.inf), "at_most": math.nextafter(limit, math.inf)}
    other = walk(facts.rulebook, facts.supposing(leaf.fact, other_side.get(leaf.op, limit))).named
    return "" if other is None or other.limiter.id == named.limiter.id else other.limiter.id


def _percent(share: float) -> str:
    return f"{max(1, round(100 * share))} %"


def nearest(walked: Walked, facts: FactSet) -> str:
    """Of a path that ends without an answer though all was measured: which was nearly given, or nothing."""
    missed, entry, over = _near_miss(walked, None, facts)
    if missed >= NEAR or entry is None or over is None:
        return ""
    return f"{_label(over, facts)} is within {_percent(missed)} of where the answer would be {entry.limiter.id}"


def _near_miss(walked: Walked, named: Judged | None, facts: FactSet) -> tuple[float, Judged | None, Comparison | None]:
    """The answer before the named one that came nearest to being given, and the comparison that kept it from it."""
    best: tuple[float, Judged | None, Comparison | None] = (math.inf, None, None)
    for entry in walked.judged:
        if entry is named:
            break
        if entry.verdict is not Verdict.CLEAR or (named is not None and _alike(entry, named)):
            continue
        # All that speaks against it would have to turn: the farthest counts.
        distance, leaf = max(_against(entry, facts), key=lambda pair: pair[0])
        if distance < best[0]:
            best = (distance, entry, leaf)
    return best


def _alike(entry: Judged, named: Judged) -> bool:
    """Whether an answer could not have stood before the named one: the same, or weighed against it by strength."""
    weighed = entry.question is named.question and named.question.pick == "largest"
    return weighed or entry.limiter.id == named.limiter.id


def _against(entry: Judged, facts: FactSet) -> list[tuple[float, Comparison | None]]:
    """What is known to keep an answer from holding."""
    nodes = (entry.question.gate, entry.answer.only_when, entry.limiter.when)
    against = [_of(node, facts, Verdict.CLEAR) for node in nodes if node and facts.judge(node) is Verdict.CLEAR]
    veto = entry.limiter.veto
    if veto is not None and facts.judge(veto) is Verdict.FIRES:
        against.append(_of(veto, facts, Verdict.FIRES))
    return against


def _runner_up(walked: Walked, named: Judged, facts: FactSet) -> tuple[float, Judged | None]:
    """Of a question in which the largest is the answer: by what share of its strength the second is behind. Answers
    of one and the same strength are told apart by their order, not by noise."""
    if named.question.pick != "largest":
        return math.inf, None
    first = facts.interval(named.limiter.strength)[0]
    others = [
        (1 - facts.interval(entry.limiter.strength)[0] / first, entry)
        for entry in walked.judged
        if entry.question is named.question
        and entry.verdict is Verdict.FIRES
        and entry.limiter.strength != named.limiter.strength
        and first > 0
    ]
    return min(others, key=lambda pair: pair[0], default=(math.inf, None))


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
