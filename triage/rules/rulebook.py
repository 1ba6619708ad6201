"""What the rule files say, as frozen types: facts, limiters, the path, thresholds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from triage.model import Fix, RulebookId
from triage.rules.chips import ChipRange
from triage.rules.conditions import Node, Threshold
from triage.rules.formulas import Formula

if TYPE_CHECKING:
    from triage.rules.overrides import Override


# Where something is written: file, line and column (1-based); an empty file name: nowhere.
Spot = tuple[str, int, int]
NOWHERE: Spot = ("", 0, 0)


def shown(spot: Spot) -> str:
    """A place as messages print it: ``file:line``."""
    return f"{spot[0]}:{spot[1]}" if spot[0] else ""


@dataclass(frozen=True, slots=True)
class Alternative:
    """One way to get a fact: a formula, for some chips (``cc``), under a condition (``when``). ``collect`` is False for
    what is read when a report has it but never worth a pass (roll-ups, counted stalls). ``chips_given`` says that the
    file names the chips; else they follow from the names of the metrics."""

    formula: Formula
    cc: ChipRange | None = None
    when: Node | None = None
    collect: bool = True
    chips_given: bool = False
    spot: Spot = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class FactDef:
    """A canonical quantity. ``largest_of`` makes it a roll-up: the largest of those facts; the ``optional`` ones may
    be missing without leaving a hole. ``sum_of_known`` sums those that were collected. ``at_most`` and ``at_least``
    bound the value when it was not measured itself."""

    id: str
    label: str
    unit: str
    says: str
    alternatives: tuple[Alternative, ...] = ()
    largest_of: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    sum_of_known: tuple[str, ...] = ()
    at_most: tuple[Formula, ...] = ()
    at_least: tuple[Formula, ...] = ()
    when_nothing: str = ""
    collect: bool = True
    spot: Spot = field(default=NOWHERE, compare=False)

    @property
    def formulas(self) -> tuple[Formula, ...]:
        """Every formula that may give or bound it."""
        return (*(way.formula for way in self.alternatives), *self.at_most, *self.at_least)

    def parts(self) -> set[str]:
        """The facts that this one is computed from, asks about or is bounded by."""
        asked = (leaf.fact for way in self.alternatives if way.when is not None for leaf in way.when.leaves())
        return {*self.largest_of, *self.sum_of_known, *asked, *(fact for one in self.formulas for fact in one.facts)}


@dataclass(frozen=True, slots=True)
class RuleCase:
    """An inline test: facts in, the verdict expected of the rule out."""

    name: str
    facts: Mapping[str, float]
    expect: str
    place: str
    spot: Spot = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class WalkCase:
    """A case of a case file: a kernel by ``facts``, by ``metrics`` or as ``kernel`` of a ``capture``, and what is
    expected: limiters or ``undecided`` of the whole path, or the verdict of the rule of ``limiter`` alone. ``fault``
    says why it cannot be run: its report is missing or must not be read."""

    name: str
    expect: tuple[str, ...]
    limiter: str = ""
    facts: Mapping[str, float] | None = None
    metrics: Mapping[str, float] | None = None
    cc: str | None = None
    capture: Path | None = None
    kernel: str = "0"
    place: str = ""
    spot: Spot = field(default=NOWHERE, compare=False)
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Headroom:
    """How much removing the limiter can bring: ``formula`` gives a factor, ``None`` says it cannot be bounded."""

    formula: Formula | None
    because: str


@dataclass(frozen=True, slots=True)
class Confusion:
    """A limiter that looks alike, and how to tell them apart."""

    limiter: str
    tell: str
    spot: Spot = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Guide:
    """What the catalogue says of a limiter beyond its rule: the fix as code (``before``, ``after``), when a library or
    Triton already solves it, what it is taken for, and the calibration kernels that have it by construction."""

    before: str = ""
    after: str = ""
    library: str = ""
    confused_with: tuple[Confusion, ...] = ()
    proof: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LimiterDef:
    """One limiter file. ``when`` must fire; a ``veto`` that is known to hold clears it again, an unknown veto only
    lowers the confidence. ``contributes`` says when it is worth naming behind another limiter (without it: when its
    question's gate and ``when`` hold). ``strength`` is the fact that orders contributors. ``lines`` names the
    per-line metrics that hold what this limiter is about. ``spots`` holds the place of each key of the file."""

    id: str
    title: str
    family: str
    status: str
    when: Node
    veto: Node | None
    contributes: Node | None
    strength: str
    evidence: str
    because: str
    fixes: tuple[Fix, ...]
    unless: tuple[str, ...]
    see: tuple[tuple[str, str], ...]
    tests: tuple[RuleCase, ...]
    experiment: str
    lines: tuple[str, ...]
    headroom: Headroom | None
    place: str
    guide: Guide = field(default_factory=Guide)
    spots: Mapping[str, Spot] = field(default_factory=dict, compare=False)

    def retired(self, spot: Spot) -> LimiterDef:
        """The same limiter, never said; ``spot`` is where that is written."""
        return replace(self, status="retired", spots={**self.spots, "status": spot})


@dataclass(frozen=True, slots=True)
class Blocker:
    """A rival that, while unknown, blocks an answer: not where ``unless`` is known to hold and, with ``where``, only
    where that is known to hold."""

    limiter: str
    unless: Node | None = None
    where: Node | None = None
    spot: Spot = field(default=NOWHERE, compare=False)

    @property
    def conditions(self) -> tuple[Node, ...]:
        """The conditions that it has."""
        return tuple(node for node in (self.unless, self.where) if node is not None)

    def mapped(self, change: Callable[[Node | None], Node | None]) -> Blocker:
        """The same rival with ``change`` applied to each of its conditions."""
        return replace(self, unless=change(self.unless), where=change(self.where))


@dataclass(frozen=True, slots=True)
class Answer:
    """A limiter that a question may end in."""

    limiter: str
    blocked_by: tuple[Blocker, ...] = ()
    only_when: Node | None = None
    spot: Spot = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Question:
    """One question of the path. ``gate`` must hold for its answers to count; ``pick`` is ``first`` (the order decides)
    or ``largest`` (the strength decides). ``covered`` is False for what a report cannot answer."""

    id: str
    decision: str
    ask: str
    gate: Node | None
    pick: str
    answers: tuple[Answer, ...]
    shows: tuple[str, ...]
    covered: bool
    note: str
    spot: Spot = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Rulebook:
    """The rules in force. ``identity`` holds the digest that reports carry."""

    facts: Mapping[str, FactDef]
    limiters: Mapping[str, LimiterDef]
    path: tuple[Question, ...]
    thresholds: Mapping[str, Threshold]
    identity: RulebookId
    warnings: tuple[str, ...] = field(default=())
    # Overrides that hold on some chips only; see triage.rules.overrides.for_chip, which keeps its work in `variants`.
    overrides: tuple[Override, ...] = ()
    layers: tuple[str, ...] = ()
    cases: tuple[WalkCase, ...] = ()
    variants: dict[str, Rulebook] = field(default_factory=dict, init=False, compare=False, repr=False)
    stalls: tuple[str, ...] = field(default=(), init=False, compare=False)
    _made_of: dict[str, frozenset[str]] = field(default_factory=dict, init=False, compare=False, repr=False)

    def made_of(self, facts: Iterable[str]) -> frozenset[str]:
        """The facts themselves and all that are computed from them or bounded by them."""
        none: frozenset[str] = frozenset()
        return none.union(*(self._computed_from(fact) for fact in facts))

    def _computed_from(self, fact: str) -> frozenset[str]:
        found = self._made_of.get(fact)
        if found is None:
            found = frozenset({fact})
            while grown := {name for name, one in self.facts.items() if not found.isdisjoint(one.parts())} - found:
                found |= grown
            self._made_of[fact] = found
        return found

    def __post_init__(self) -> None:
        names = (
            name
            for name, definition in self.facts.items()
            if name.startswith("stall_") and "Share of the stalled" in definition.says
        )
        object.__setattr__(self, "stalls", tuple(names))


@dataclass(frozen=True, slots=True)
class Need:
    """A fact to collect, and the groups of metrics that give it: the first group that a chip has in full is the
    one to take."""

    fact: str
    alternatives: tuple[tuple[str, ...], ...]
