"""Thresholds that a team sets otherwise: for a named threshold or a fact, for one limiter, for some chips."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from triage import quantities
from triage.rules import checks
from triage.rules.chips import ChipRange, chip_number
from triage.rules.conditions import OPERATORS, Comparison, Node, Threshold, map_thresholds
from triage.rules.kinds import Key, Number, Shape
from triage.rules.rulebook import FactDef, LimiterDef, Question, Rulebook, Spot, shown
from triage.rules.shapes import CHIPS, FACT, LIMITER, TEXT
from triage.rules.sharing import shared
from triage.rules.yamlfile import Document, Fault, List, Map

# The limiters and the path, as they were before any override.
Rules = tuple[Mapping[str, LimiterDef], tuple[Question, ...]]

WHERE = Shape("chips", "'when'", {"cc": Key(CHIPS, "The chips it holds for.", required=True)})
OVERRIDE = Shape(
    "override",
    "an override",
    {
        "threshold": Key(TEXT, "A named threshold, wherever rules compare with it."),
        "value": Key(Number(), "Its new value."),
        "fact": Key(FACT, "Instead of a threshold: a fact, wherever rules compare it ..."),
        "at_least": Key(Number(), "... with at_least: the new number,"),
        "above": Key(Number(), "... or with above,"),
        "below": Key(Number(), "... or with below,"),
        "at_most": Key(Number(), "... or with at_most."),
        "limiter": Key(LIMITER, "Only in the rule of this limiter; without it, everywhere, the path included."),
        "when": Key(WHERE, "Only on some chips."),
        "source": Key(TEXT, "Why: who measured what.", required=True),
    },
)


@dataclass(frozen=True, slots=True)
class Override:
    """One override. ``threshold`` or ``fact`` with ``op`` say what is compared; ``limiter`` and ``chips`` narrow it."""

    value: float
    source: str
    threshold: str = ""
    fact: str = ""
    op: str = ""
    limiter: str = ""
    chips: ChipRange | None = None
    spot: Spot = field(default=("", 0, 0), compare=False)

    def concerns(self, leaf: Comparison) -> bool:
        """Whether it changes the number of this comparison."""
        if self.threshold:
            return leaf.threshold.name == self.threshold
        return leaf.fact == self.fact and leaf.op == self.op

    def touches(self, limiter: str, leaf: Comparison) -> bool:
        """Whether it changes this comparison in the rule of ``limiter`` (empty: on the path)."""
        return self.limiter in ("", limiter) and self.concerns(leaf)

    def overlaps(self, other: Override) -> bool:
        """Whether both may be about one number: the same name, or a threshold and a fact."""
        return (self.threshold, self.fact, self.op) == (other.threshold, other.fact, other.op) or (
            bool(self.threshold) != bool(other.threshold)
        )

    def changed(self, was: Threshold) -> Threshold:
        """The threshold that replaces ``was``; its source says where it was set and what it was."""
        where = f" on cc {self.chips.text}" if self.chips else ""
        old = quantities.quantity(was.value, was.unit)
        source = f"{self.source} (set in {shown(self.spot)}{where}; was {old})"
        return replace(was, value=self.value, source=source, spot=self.spot, was=was)


def read_overrides(
    document: Document,
    root: Map,
    facts: Mapping[str, FactDef],
    limiters: Mapping[str, LimiterDef],
    path: tuple[Question, ...],
    thresholds: Mapping[str, Threshold],
) -> list[Override]:
    """The overrides under the key ``overrides`` of ``root``; one that changes nothing is a fault."""
    entries = root.get("overrides")
    if not isinstance(entries, List):
        document.fault(root, "overrides", "type", "'overrides' must be a list")
        return []
    found: list[Override] = []
    for entry, place in zip(entries, entries.places, strict=True):
        if not isinstance(entry, Map):
            document.at(place, "type", "an override is {threshold: ..., value: ..., source: ...}, or {fact: ..., ...}")
            continue
        override = _read(document, entry, facts, limiters, thresholds)
        if override is None:
            continue
        if not any(override.touches(*found_at) for found_at in _compared((limiters, path))):
            what = override.threshold or f"{override.fact} with {override.op!r}"
            where = f" in {override.limiter!r}" if override.limiter else ""
            document.at(place, "no-effect", f"no rule compares {what}{where}")
            continue
        found.append(override)
    return found


def _read(
    document: Document,
    entry: Map,
    facts: Mapping[str, FactDef],
    limiters: Mapping[str, LimiterDef],
    thresholds: Mapping[str, Threshold],
) -> Override | None:
    before = len(document.faults)
    checks.keys(document, entry, OVERRIDE)
    chips = None
    if "when" in entry:
        when = entry["when"]
        if isinstance(when, Map):
            checks.keys(document, when, WHERE)
            chips = checks.chips(document, when)
        else:
            document.fault(entry, "when", "type", "'when' is {cc: ...}")
    source, limiter = checks.text(document, entry, "source"), checks.text(document, entry, "limiter")
    threshold, fact = checks.text(document, entry, "threshold"), checks.text(document, entry, "fact")
    for key, name, known in (
        ("threshold", threshold, thresholds),
        ("fact", fact, facts),
        ("limiter", limiter, limiters),
    ):
        if key in entry and name not in known:
            hint = checks.suggestion(name, known)
            document.fault(entry, key, f"unknown-{key}", f"no {key} is called {name!r}{hint}")
    ops = [op for op in OPERATORS if op in entry]
    good = ("threshold" in entry and "value" in entry and not ops and "fact" not in entry) or (
        "fact" in entry and len(ops) == 1 and "value" not in entry and "threshold" not in entry
    )
    if not good:
        document.fault(entry, None, "override", "an override has threshold and value, or fact and one of at_least, ...")
        return None
    op = ops[0] if ops else ""
    value = checks.number(document, entry, op or "value")
    if value is not None and value < 0 and not op:
        document.fault(entry, "value", "value", "a threshold is not below 0: everything would be above it")
    if value is None or len(document.faults) > before:
        return None
    return Override(value, source, threshold, fact, op, limiter, chips, document.spot(entry))


def check_effect(overrides: Sequence[Override], documents: Mapping[str, Document], rules: Rules) -> None:
    """Note overrides that set what is in force already; one for some chips is compared with what holds everywhere."""
    everywhere = [override for override in overrides if override.chips is None]
    for place, override in enumerate(overrides):
        before = everywhere if override.chips else [one for one in overrides[:place] if one.chips is None]
        if override.chips and any(one.chips and one.overlaps(override) for one in overrides[:place]):
            continue  # which of them is in force depends on the chip
        values = {
            next((one.value for one in reversed(before) if one.touches(limiter, leaf)), leaf.threshold.value)
            for limiter, leaf in _compared(rules)
            if override.touches(limiter, leaf)
        }
        if values == {override.value} and override.spot[0] in documents:
            message = f"{override.value:g} is in force already"
            documents[override.spot[0]].advice.append(Fault(*override.spot, "no-effect", message))


def apply(rulebook: Rulebook, overrides: tuple[Override, ...]) -> Rulebook:
    """The same rules with the overrides worked in, in order."""
    for override in overrides:
        rulebook = _apply(rulebook, override)
    return shared(rulebook)


def for_chip(rulebook: Rulebook, cc: str | None) -> Rulebook:
    """The rules in force on a chip (``"9.0"``); on an unknown chip those without overrides for chips."""
    if not rulebook.overrides or cc is None:
        return rulebook
    found = rulebook.variants.get(cc)
    if found is None:
        number = chip_number(cc)
        held = tuple(o for o in rulebook.overrides if number is not None and o.chips and o.chips.holds(number))
        found = rulebook.variants[cc] = apply(rulebook, held) if held else rulebook
    return found


def _apply(rulebook: Rulebook, override: Override) -> Rulebook:
    def change(leaf: Comparison) -> Threshold:
        return override.changed(leaf.threshold) if override.concerns(leaf) else leaf.threshold

    def moved(node: Node | None) -> Node | None:
        return None if node is None else map_thresholds(node, change)

    limiters = {
        name: replace(
            limiter,
            when=map_thresholds(limiter.when, change),
            veto=moved(limiter.veto),
            contributes=moved(limiter.contributes),
        )
        if override.limiter in ("", name)
        else limiter
        for name, limiter in rulebook.limiters.items()
    }
    if override.limiter:
        return replace(rulebook, limiters=limiters)
    path = tuple(
        replace(
            question,
            gate=moved(question.gate),
            answers=tuple(
                replace(
                    answer,
                    only_when=moved(answer.only_when),
                    blocked_by=tuple(rival.mapped(moved) for rival in answer.blocked_by),
                )
                for answer in question.answers
            ),
        )
        for question in rulebook.path
    )
    facts = {
        name: replace(
            definition, alternatives=tuple(replace(way, when=moved(way.when)) for way in definition.alternatives)
        )
        if any(way.when is not None for way in definition.alternatives)
        else definition
        for name, definition in rulebook.facts.items()
    }
    thresholds = {
        name: override.changed(threshold) if name == override.threshold else threshold
        for name, threshold in rulebook.thresholds.items()
    }
    return replace(rulebook, limiters=limiters, path=path, facts=facts, thresholds=thresholds)


def _compared(rules: Rules) -> Iterator[tuple[str, Comparison]]:
    """Every comparison of rules and path, with the limiter whose rule it is (empty: the path)."""
    limiters, path = rules
    nodes: list[tuple[str, Node | None]] = []
    for name, limiter in limiters.items():
        nodes += [(name, node) for node in (limiter.when, limiter.veto, limiter.contributes)]
    for question in path:
        nodes.append(("", question.gate))
        for answer in question.answers:
            nodes += [("", answer.only_when), *(("", node) for rival in answer.blocked_by for node in rival.conditions)]
    for name, node in nodes:
        if node is not None:
            yield from ((name, leaf) for leaf in node.leaves())
