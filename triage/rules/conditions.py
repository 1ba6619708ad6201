"""Conditions over facts, judged to fires, clear or unknown (Kleene's three values)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

from triage.model import Verdict
from triage.rules.formulas import Interval

OPERATORS = ("at_least", "above", "below", "at_most")
# Bound once: every kernel judges a hundred comparisons.
FIRES, CLEAR, UNKNOWN = Verdict.FIRES, Verdict.CLEAR, Verdict.UNKNOWN


class FactLookup(Protocol):
    """What a condition needs of a kernel's facts: the interval of each."""

    def interval(self, fact: str) -> Interval: ...


@dataclass(frozen=True, slots=True)
class Threshold:
    """A number to compare with, in the unit of the fact, and where it comes from. ``name`` is the entry of
    ``thresholds.yaml`` it was taken from, or ``""`` for a number written in the rule itself; ``spot`` where it is
    written; ``was`` what it replaces, where an override or a later file changed it."""

    value: float
    source: str = ""
    name: str = ""
    unit: str = field(default="", compare=False)
    spot: tuple[str, int, int] = field(default=("", 0, 0), compare=False)
    was: Threshold | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Comparison:
    """``fact`` compared with a threshold. With ``low == high`` the fact is known; an interval decides only when all
    of it lies on one side."""

    fact: str
    op: str
    threshold: Threshold

    def judge(self, facts: FactLookup) -> Verdict:
        low, high = facts.interval(self.fact)
        limit = self.threshold.value
        op = self.op
        if op == "at_least":
            return FIRES if low >= limit else CLEAR if high < limit else UNKNOWN
        if op == "above":
            return FIRES if low > limit else CLEAR if high <= limit else UNKNOWN
        if op == "below":
            return FIRES if high < limit else CLEAR if low >= limit else UNKNOWN
        return FIRES if high <= limit else CLEAR if low > limit else UNKNOWN

    def leaves(self) -> Iterator[Comparison]:
        yield self


@dataclass(frozen=True, slots=True)
class AllOf:
    """Fires when every part fires, clear as soon as one is clear."""

    parts: tuple[Node, ...]

    def judge(self, facts: FactLookup) -> Verdict:
        unknown = False
        for part in self.parts:
            verdict = part.judge(facts)
            if verdict is CLEAR:
                return verdict
            unknown = unknown or verdict is UNKNOWN
        return UNKNOWN if unknown else FIRES

    def leaves(self) -> Iterator[Comparison]:
        for part in self.parts:
            yield from part.leaves()


@dataclass(frozen=True, slots=True)
class AnyOf:
    """Fires as soon as one part fires, clear when every part is clear."""

    parts: tuple[Node, ...]

    def judge(self, facts: FactLookup) -> Verdict:
        unknown = False
        for part in self.parts:
            verdict = part.judge(facts)
            if verdict is Verdict.FIRES:
                return verdict
            unknown = unknown or verdict is Verdict.UNKNOWN
        return Verdict.UNKNOWN if unknown else Verdict.CLEAR

    def leaves(self) -> Iterator[Comparison]:
        for part in self.parts:
            yield from part.leaves()


@dataclass(frozen=True, slots=True)
class Not:
    """Swaps fires and clear; unknown stays unknown."""

    part: Node

    def judge(self, facts: FactLookup) -> Verdict:
        verdict = self.part.judge(facts)
        if verdict is Verdict.UNKNOWN:
            return verdict
        return Verdict.CLEAR if verdict is Verdict.FIRES else Verdict.FIRES

    def leaves(self) -> Iterator[Comparison]:
        yield from self.part.leaves()


Node = Comparison | AllOf | AnyOf | Not


def map_thresholds(node: Node, change: Callable[[Comparison], Threshold]) -> Node:
    """The same condition with every threshold replaced by what ``change`` makes of its comparison."""
    if isinstance(node, Comparison):
        return Comparison(node.fact, node.op, change(node))
    if isinstance(node, Not):
        return Not(map_thresholds(node.part, change))
    return type(node)(tuple(map_thresholds(part, change) for part in node.parts))
