"""Small checks that every rule file shares: allowed keys, types, names, with suggestions."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any

from triage.rules.chips import ChipRange, chip_number, parse_chips
from triage.rules.conditions import OPERATORS, AllOf, AnyOf, Comparison, Node, Not, Threshold
from triage.rules.formulas import Formula, FormulaError, parse
from triage.rules.kinds import Shape
from triage.rules.shapes import COMPARISON
from triage.rules.yamlfile import Document, List, Map
from triage.suggest import closest

# The words of rule files, wherever they are checked.
suggestion = closest


def said_unit(unit: str) -> str:
    """A unit as a message names it."""
    return repr(unit) if unit else "no unit"


def keys(document: Document, where: Map, shape: Shape, more: Collection[str] = (), what: str = "") -> None:
    """Note every unknown and every missing key of ``where``, which should be a ``shape``; ``more`` are allowed too."""
    allowed, name = [*shape.keys, *more], what or shape.what
    for key in where:
        if key not in allowed:
            document.fault(where, key, "unknown-key", f"{name} has no key {key!r}{suggestion(key, allowed)}")
    for key in shape.required:
        if key not in where:
            document.fault(where, None, "missing-key", f"{name} lacks the key {key!r}")


def flag(document: Document, where: Map, key: str, default: bool) -> bool:
    """``true`` or ``false`` at ``key``."""
    value = where.get(key, default)
    if not isinstance(value, bool):
        document.fault(where, key, "type", f"{key!r} must be true or false")
        return default
    return value


def text(document: Document, where: Map, key: str, default: str = "") -> str:
    """The string at ``key``; folded to one line. A number or list there is a fault."""
    value = where.get(key, default)
    if not isinstance(value, str):
        document.fault(where, key, "type", f"{key!r} must be text")
        return default
    return " ".join(value.split())


def texts(document: Document, where: Map, key: str) -> tuple[str, ...]:
    """The list of strings at ``key`` (one string counts as a list of one)."""
    value = where.get(key, List())
    if isinstance(value, str):
        return (" ".join(value.split()),)
    if not isinstance(value, List) or not all(isinstance(item, str) for item in value):
        document.fault(where, key, "type", f"{key!r} must be a list of texts")
        return ()
    return tuple(" ".join(item.split()) for item in value)


def choice(document: Document, where: Map, key: str, choices: Collection[str], default: str) -> str:
    """The word at ``key``, one of ``choices``."""
    value = where.get(key, default)
    if value not in choices:
        document.fault(where, key, "value", f"{key!r} must be one of {', '.join(choices)}, not {value!r}")
        return default
    return str(value)


def number(document: Document, where: Map, key: str) -> float | None:
    """The number at ``key``, or ``None`` with a fault."""
    value = where.get(key)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        document.fault(where, key, "type", f"{key!r} must be a number")
        return None
    return float(value)


def formula(document: Document, where: Map, key: str, value: Any, facts: Collection[str]) -> Formula | None:
    """The formula ``value`` that stands at ``key``; numbers are formulas too."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        document.fault(where, key, "type", f"{key!r} must be a formula")
        return None
    try:
        return parse(str(value), facts)
    except FormulaError as fault:
        word = str(value).strip()
        document.fault(where, key, "formula", f"{fault}{suggestion(word, facts)}")
        return None


def chips(document: Document, where: Map, key: str = "cc") -> ChipRange | None:
    """The range of compute capabilities at ``key``, when there is one."""
    if key not in where:
        return None
    value = where[key]
    if isinstance(value, (str, float)) and not isinstance(value, bool):
        try:
            return parse_chips(str(value))
        except ValueError as fault:
            document.fault(where, key, "chips", f"{str(value)[:80]!r} is no range of compute capabilities: {fault}")
            return None
    document.fault(where, key, "chips", f"{value!r} is no range of compute capabilities: write it as text, '>=9.0'")
    return None


def chip(document: Document, where: Map, key: str = "cc") -> str | None:
    """The one compute capability at ``key``, when there is one."""
    found = chips(document, where, key)
    if found is not None and chip_number(found.text) is None:
        document.fault(where, key, "chips", f"{found.text!r} is no single compute capability: write '9.0'")
        return None
    return found.text if found is not None else None


class ConditionReader:
    """Turns the YAML of a condition into a node; knows the declared facts with their units, and the thresholds."""

    def __init__(self, facts: Mapping[str, str], thresholds: Mapping[str, Threshold]) -> None:
        self.facts = facts
        self.thresholds = thresholds

    def read(self, document: Document, where: Map, key: str) -> Node | None:
        """The condition at ``key`` of ``where``; ``None`` (with faults noted) when it is none."""
        value = where.get(key)
        if not isinstance(value, Map):
            document.fault(where, key, "condition", f"{key!r} must be a condition: fact and operator, or all, any, not")
            return None
        return self._node(document, value)

    def _node(self, document: Document, value: Map) -> Node | None:
        if "fact" in value:
            return self._comparison(document, value)
        names = [name for name in ("all", "any", "not") if name in value]
        if len(names) != 1 or len(value) != 1:
            extra = next((name for name in value if name not in ("all", "any", "not")), None)
            hint = suggestion(extra, ["fact", "all", "any", "not"]) if extra else ""
            document.fault(value, extra, "condition", f"a condition holds 'fact', or one of all, any, not{hint}")
            return None
        name, inner = names[0], value[names[0]]
        if name == "not":
            part = self.read(document, value, "not")
            return Not(part) if part else None
        if not isinstance(inner, List) or not inner:
            document.fault(value, name, "condition", f"{name!r} must be a list of conditions")
            return None
        parts = [self._node(document, item) if isinstance(item, Map) else None for item in inner]
        for item, place in zip(inner, inner.places, strict=True):
            if not isinstance(item, Map):
                document.at(place, "condition", "a condition is a map: {fact: ..., at_least: ...}")
        kept = tuple(part for part in parts if part is not None)
        if not kept:
            return None
        return AllOf(kept) if name == "all" else AnyOf(kept)

    def _comparison(self, document: Document, value: Map) -> Node | None:
        keys(document, value, COMPARISON)
        fact = value["fact"]
        if not isinstance(fact, str) or fact not in self.facts:
            document.fault(
                value, "fact", "unknown-fact", f"no fact is called {fact!r}{suggestion(str(fact), self.facts)}"
            )
            return None
        used = [name for name in OPERATORS if name in value]
        if not used:
            document.fault(value, "fact", "condition", f"a comparison needs one of {', '.join(OPERATORS)}")
            return None
        parts = [self._one(document, value, str(fact), name) for name in used]
        kept = tuple(part for part in parts if part is not None)
        if len(kept) == 1:
            return kept[0]
        return AllOf(kept) if kept else None

    def _one(self, document: Document, value: Map, fact: str, op: str) -> Comparison | None:
        limit = value[op]
        if isinstance(limit, str):
            threshold = self.thresholds.get(limit)
            if threshold is None:
                document.fault(
                    value,
                    op,
                    "unknown-threshold",
                    f"no threshold is called {limit!r}{suggestion(limit, self.thresholds)}",
                )
                return None
            if threshold.unit != self.facts[fact]:
                document.fault(
                    value,
                    op,
                    "unit",
                    f"the fact {fact!r} is in {said_unit(self.facts[fact])}, "
                    f"the threshold {limit!r} in {said_unit(threshold.unit)}",
                )
            return Comparison(fact, op, threshold)
        number_ = number(document, value, op)
        if number_ is None:
            return None
        source = text(document, value, "source")
        if not source and number_ != 0:
            document.advise(
                value, op, "no-source", f"the number {limit:g} has no source: add one, or name a threshold that has"
            )
        if self.facts[fact] == "%" and number_ > 100 and op in ("at_least", "above"):
            document.advise(value, op, "range", f"{fact!r} is a percentage: it is never above {limit:g} %")
        return Comparison(fact, op, Threshold(number_, source, "", self.facts[fact], document.spot(value, op)))
