"""How near a kernel lies to another answer, and which that is.

Looked at are the thresholds that the named answer itself stands on, the answers that were nearly given instead, and in
a question for the largest the one that is nearly as strong. What a fact on the other side of its threshold would
change is not guessed: the path is walked again with it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from triage.diagnosis.wording import listed
from triage.facts import FactSet
from triage.model import Verdict
from triage.rules.conditions import AllOf, Comparison, Node, Not
from triage.rules.walk import Judged, Walked, walk

# Shares of the threshold. Repeated launches under the profiler vary by 0.2 to 1.5 % and sampled stalls by up to 11
# points, so a verdict within 5 % of a threshold could fall the other way, and within 15 % deserves a second look.
CLOSE = 0.05
NEAR = 0.15
# Of the answers that were nearly given only the nearest are walked.
_WALKED = 4

# The comparisons that would have to turn, each with what it says now; none where one of them is far.
_Turns = tuple[tuple[Comparison, Verdict], ...]
_FAR: tuple[float, _Turns] = (math.inf, ())


@dataclass(frozen=True, slots=True)
class Border:
    """Another answer that lies near: ``distance`` is a share of the threshold (or of the strength), ``limiter`` what
    would be named (``""``: no answer), ``text`` one sentence without a full stop."""

    distance: float
    limiter: str
    text: str


def borders(walked: Walked, named: Judged, facts: FactSet) -> tuple[Border, ...]:
    """The answers near the named one, at most one of each kind."""
    missed = _missed(walked, named, facts)
    own = _own(named, facts)
    if own is not None and missed is not None and own.limiter == missed.limiter:
        own = None  # One threshold, seen from both of its sides.
    found = (missed, own, _runner_up(walked, named, facts))
    return tuple(border for border in found if border is not None)


def nearest(walked: Walked, facts: FactSet) -> Border | None:
    """The answer that was nearly given where the path ended without one though all was measured."""
    return _missed(walked, None, facts)


def _own(named: Judged, facts: FactSet) -> Border | None:
    """The threshold of the answer's own that lies nearest, unless the same is named on its other side."""
    nodes = (named.question.gate, named.answer.only_when, named.limiter.when)
    distance, turns = min((_turn(node, facts, Verdict.FIRES) for node in nodes if node), key=_by_distance)
    if not turns:
        return None
    other = _walked(turns, facts)
    if other == named.limiter.id:
        return None
    text = f"{_labels(turns, facts)} within {_percent(distance)} of {_its(turns)}"
    return Border(distance, other, f"{text}, and beyond it the answer would be {other}" if other else text)


def _missed(walked: Walked, named: Judged | None, facts: FactSet) -> Border | None:
    """The nearest answer that would be named if what speaks against it turned."""
    gates: dict[str, tuple[float, _Turns]] = {}
    found = [(*_together(_against(entry, facts, gates)), entry) for entry in _rivals(walked, named)]
    near = sorted((one for one in found if one[1]), key=lambda one: one[0])
    for distance, turns, entry in near[:_WALKED]:
        if _walked(turns, facts) == entry.limiter.id:
            where = f"{_percent(distance)} of where the answer would be {entry.limiter.id}"
            return Border(distance, entry.limiter.id, f"{_labels(turns, facts)} within {where}")
    return None


def _rivals(walked: Walked, named: Judged | None) -> Iterator[Judged]:
    """The answers that did not hold and would have been named before the one that was."""
    before = True
    for entry in walked.judged:
        if entry is named:
            before = False
        elif named is not None and entry.limiter.id == named.limiter.id:
            continue
        elif entry.verdict is Verdict.CLEAR and (before or _weighed(entry, named)):
            yield entry


def _weighed(entry: Judged, named: Judged | None) -> bool:
    return named is not None and entry.question is named.question and named.question.pick == "largest"


def _runner_up(walked: Walked, named: Judged, facts: FactSet) -> Border | None:
    """Of a question in which the largest is the answer: the second, where it is nearly as strong. Answers of one and
    the same strength are told apart by their order, not by noise."""
    first = facts.interval(named.limiter.strength)[0]
    if named.question.pick != "largest" or not 0 < first < math.inf:
        return None
    others = [
        (1 - facts.interval(entry.limiter.strength)[0] / first, entry.limiter.id)
        for entry in walked.judged
        if _weighed(entry, named)
        and entry.verdict is Verdict.FIRES
        and entry.limiter.strength != named.limiter.strength
    ]
    distance, other = min(others, default=(math.inf, ""))
    if distance >= NEAR:
        return None
    return Border(distance, other, f"{other} is within {_percent(distance)} of being as strong")


def _against(entry: Judged, facts: FactSet, gates: dict[str, tuple[float, _Turns]]) -> Iterator[tuple[float, _Turns]]:
    """What is known to keep an answer from holding. ``gates`` keeps what was found of each question's gate."""
    question = entry.question
    if question.gate is not None and entry.gate is Verdict.CLEAR:
        if question.id not in gates:
            gates[question.id] = _turn(question.gate, facts, Verdict.CLEAR)
        yield gates[question.id]
    for node in (entry.answer.only_when, entry.limiter.when):
        if node is not None and facts.judge(node) is Verdict.CLEAR:
            yield _turn(node, facts, Verdict.CLEAR)
    veto = entry.limiter.veto
    if veto is not None and facts.judge(veto) is Verdict.FIRES:
        yield _turn(veto, facts, Verdict.FIRES)


def _turn(node: Node, facts: FactSet, now: Verdict) -> tuple[float, _Turns]:
    """How far ``node``, which is ``now``, stands from the opposite, and the comparisons that would have to turn."""
    if isinstance(node, Comparison):
        distance = _distance(node, facts, now)
        return (distance, ((node, now),)) if distance < NEAR else _FAR
    if isinstance(node, Not):
        return _turn(node.part, facts, Verdict.CLEAR if now is Verdict.FIRES else Verdict.FIRES)
    parts = (_turn(part, facts, now) for part in node.parts if facts.judge(part) is now)
    # One part turns what fires only as a whole, or is clear only as a whole; else all of them have to.
    if isinstance(node, AllOf) == (now is Verdict.FIRES):
        return min(parts, key=_by_distance, default=_FAR)
    return _together(parts)


def _together(parts: Iterable[tuple[float, _Turns]]) -> tuple[float, _Turns]:
    """All parts have to turn, so the farthest counts; the first that is far ends it, as it does for most answers."""
    farthest, turns = 0.0, list[tuple[Comparison, Verdict]]()
    for distance, some in parts:
        if not some:
            return _FAR
        farthest = max(farthest, distance)
        turns += some
    return (farthest, tuple(turns)) if turns else _FAR


def _by_distance(found: tuple[float, _Turns]) -> float:
    return found[0]


def _distance(leaf: Comparison, facts: FactSet, now: Verdict) -> float:
    """From the nearer end of what is known of the fact to the threshold."""
    low, high = facts.interval(leaf.fact)
    limit = leaf.threshold.value
    rising = leaf.op in ("at_least", "above")
    end = low if rising == (now is Verdict.FIRES) else high
    # A threshold at zero compares two measured numbers: points out of a hundred are the scale then.
    return abs(end - limit) / (abs(limit) if limit else 100.0)


def _walked(turns: _Turns, facts: FactSet) -> str:
    """The limiter that would be named if the comparisons had turned; empty where none would."""
    other = walk(facts.rulebook, facts.supposing({leaf.fact: _beyond(leaf, now) for leaf, now in turns})).named
    return other.limiter.id if other is not None else ""


def _beyond(leaf: Comparison, now: Verdict) -> float:
    """The nearest value at which a comparison says the opposite."""
    limit = leaf.threshold.value
    at_limit = leaf.op in ("at_least", "at_most")  # whether it fires on the threshold itself
    if at_limit == (now is Verdict.CLEAR):
        return limit
    upwards = (leaf.op in ("at_least", "above")) == (now is Verdict.CLEAR)
    return math.nextafter(limit, math.inf if upwards else -math.inf)


def _labels(turns: _Turns, facts: FactSet) -> str:
    """``DRAM is``, ``DRAM and Waves per SM are``."""
    names = list(dict.fromkeys(facts.rulebook.facts[leaf.fact].label for leaf, _ in turns))
    return f"{listed(names)} {'is' if len(names) == 1 else 'are'}"


def _its(turns: _Turns) -> str:
    return "its threshold" if len({leaf.fact for leaf, _ in turns}) == 1 else "their thresholds"


def _percent(share: float) -> str:
    return f"{max(1, round(100 * share))} %"
