"""Conditions that cannot hold, always hold, or are never reached.

A condition is turned into boxes: each is one way to make it hold, as an interval for every fact it compares. A box
with an empty interval contradicts itself. A box in which an earlier answer of the path holds as well shows that the
later answer is shadowed. Facts are taken as independent, so what is reported is certain; what is not may still be odd.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

from triage.model import Verdict
from triage.rules.conditions import AllOf, AnyOf, Comparison, Node, Not
from triage.rules.formulas import Interval
from triage.rules.rulebook import Answer, LimiterDef, Question, Rulebook
from triage.rules.yamlfile import Fault

# More ways than this to make a condition hold: it is left unchecked.
MOST_BOXES = 512
_OPPOSITE = {"at_least": "below", "above": "at_most", "below": "at_least", "at_most": "above"}


@dataclass(frozen=True, slots=True)
class Box:
    """One way to make a condition hold: for each fact its least and its largest value; an open end is moved by the
    smallest step there is, so that a closed interval says the same."""

    ends: dict[str, Interval] = field(hash=False)

    def interval(self, fact: str) -> Interval:
        """What the box says of a fact: anything where it says nothing."""
        return self.ends.get(fact, (-math.inf, math.inf))

    def with_(self, leaf: Comparison) -> Box | None:
        """The part of the box where ``leaf`` holds too; ``None`` where there is none."""
        low, high = self.interval(leaf.fact)
        limit = leaf.threshold.value
        if leaf.op == "at_least":
            low = max(low, limit)
        elif leaf.op == "above":
            low = max(low, math.nextafter(limit, math.inf))
        elif leaf.op == "below":
            high = min(high, math.nextafter(limit, -math.inf))
        else:
            high = min(high, limit)
        return Box({**self.ends, leaf.fact: (low, high)}) if low <= high else None


def boxes(node: Node | None) -> list[Box]:
    """The ways to make ``node`` hold; none: it contradicts itself. Raises ``OverflowError`` beyond 512."""
    return _within([Box({})], node, True) if node is not None else [Box({})]


def _within(start: list[Box], node: Node, wanted: bool) -> list[Box]:
    if isinstance(node, Comparison):
        leaf = node if wanted else Comparison(node.fact, _OPPOSITE[node.op], node.threshold)
        return [found for box in start if (found := box.with_(leaf)) is not None]
    if isinstance(node, Not):
        return _within(start, node.part, not wanted)
    if isinstance(node, AllOf) == wanted:
        for part in node.parts:
            start = _within(start, part, wanted)
        return start
    ways = [box for part in node.parts for box in _within(start, part, wanted)]
    if len(ways) > MOST_BOXES:
        raise OverflowError("too many ways")
    return ways


def check_logic(rulebook: Rulebook) -> Iterator[Fault]:
    """Contradictions in rules, gates and answers; answers that another one always precedes; shadowed ways to facts."""
    for limiter in rulebook.limiters.values():
        if limiter.status != "retired":
            yield from _rule(limiter)
    yield from _path(rulebook)
    yield from _ways(rulebook)


def _rule(limiter: LimiterDef) -> Iterator[Fault]:
    for key, node in (("when", limiter.when), ("veto", limiter.veto), ("contributes", limiter.contributes)):
        if node is None:
            continue
        spot = limiter.spots.get(key, limiter.spots.get("", ("", 0, 0)))
        try:
            if not boxes(node):
                yield Fault(*spot, "contradiction", f"{key!r} of {limiter.id!r} can never hold")
                continue
            for branch in _dead(node):
                message = f"{key!r} of {limiter.id!r} has a branch that can never hold: {branch}"
                yield Fault(*spot, "contradiction", message)
            if not boxes(Not(node)):
                yield Fault(*spot, "always", f"{key!r} of {limiter.id!r} always holds")
        except OverflowError:
            continue
    if limiter.veto is not None:
        try:
            rest = boxes(AllOf((limiter.when, Not(limiter.veto))))
        except OverflowError:
            return
        if not rest and boxes(limiter.when):
            spot = limiter.spots.get("veto", ("", 0, 0))
            yield Fault(*spot, "contradiction", f"the veto of {limiter.id!r} holds whenever its rule does")


def _dead(node: Node) -> Iterator[str]:
    """Branches of 'any' that contradict themselves."""
    if isinstance(node, Comparison):
        return
    parts = (node.part,) if isinstance(node, Not) else node.parts
    for part in parts:
        if isinstance(node, AnyOf) and not boxes(part):
            yield ", ".join(f"{leaf.fact} {leaf.op} {leaf.threshold.value:g}" for leaf in part.leaves())
        else:
            yield from _dead(part)


def _path(rulebook: Rulebook) -> Iterator[Fault]:
    """Answers that cannot hold where they stand, or whose place an earlier answer always takes."""
    earlier: list[tuple[Question, Answer, Node]] = []
    for question in rulebook.path:
        here: list[tuple[Question, Answer, Node]] = []
        for answer in question.answers:
            limiter = rulebook.limiters.get(answer.limiter)
            if limiter is None or limiter.status == "retired":
                continue
            whole = _whole(question, answer, limiter)
            try:
                ways = boxes(whole)
            except OverflowError:
                continue
            if not ways:
                if boxes(limiter.when):
                    message = f"{limiter.id!r} can never be named by {question.id!r}: gate, 'when' and rule contradict"
                    yield Fault(*answer.spot, "contradiction", message)
                continue
            rivals = earlier + (here if question.pick == "first" else [])
            first = next((rival for rival in rivals if all(_holds(rival[2], box) for box in ways)), None)
            if first is not None and first[1].limiter != limiter.id:
                message = f"{limiter.id!r} is never named by {question.id!r}: {first[1].limiter!r} holds before it"
                yield Fault(*answer.spot, "shadowed", message)
            here.append((question, answer, whole))
        earlier += here


def _whole(question: Question, answer: Answer, limiter: LimiterDef) -> Node:
    parts: list[Node] = [limiter.when]
    parts += [node for node in (question.gate, answer.only_when) if node is not None]
    if limiter.veto is not None:
        parts.append(Not(limiter.veto))
    return AllOf(tuple(parts))


def _holds(node: Node, box: Box) -> bool:
    return node.judge(box) is Verdict.FIRES


def _ways(rulebook: Rulebook) -> Iterator[Fault]:
    """Ways to a fact that are never taken, because an earlier one is the same or a plain number."""
    for definition in rulebook.facts.values():
        for place, way in enumerate(definition.alternatives):
            for before in definition.alternatives[:place]:
                everywhere = before.cc is None or before.cc == way.cc
                unconditional = before.when is None or before.when == way.when
                constant = not before.formula.metrics and not before.formula.facts
                if everywhere and unconditional and (constant or before.formula.text == way.formula.text):
                    message = f"this way to {definition.id!r} is never taken: '{before.formula.text[:60]}' comes first"
                    yield Fault(*way.spot, "shadowed", message)
                    break
