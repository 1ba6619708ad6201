"""Small checks that every rule file shares: allowed keys, types, names, with suggestions."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable
from typing import Any

from triage.rules.conditions import OPERATORS, AllOf, AnyOf, Comparison, Node, Not, Threshold
from triage.rules.formulas import Formula, FormulaError, parse
from triage.rules.rulebook import ChipRange, parse_chips
from triage.rules.yamlfile import Document, List, Map


def suggestion(word: str, choices: Iterable[str]) -> str:
    """``" (did you mean 'x'?)"`` or an empty string."""
    close = difflib.get_close_matches(word, list(choices), n=1, cutoff=0.6)
    return f" (did you mean {close[0]!r}?)" if close else ""


def keys(document: Document, where: Map, required: Collection[str], optional: Collection[str], what: str) -> None:
    """Note every unknown and every missing key of ``where``."""
    allowed = [*required, *optional]
    for key in where:
        if key not in allowed:
            document.fault(where, key, "unknown-key", f"{what} has no key {key!r}{suggestion(key, allowed)}")
    for key in required:
        if key not in where:
            document.fault(where, None, "missing-key", f"{what} lacks the key {key!r}")


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
    if isinstance(value, bool) or not isinstance(value, (int, float)):
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
    try:
        return parse_chips(str(where[key]))
    except ValueError:
        document.fault(where, key, "chips", f"{where[key]!r} is no range of compute capabilities (try '>=9.0')")
        return None


class ConditionReader:
    """Turns the YAML of a condition into a node; knows the declared facts and thresholds."""

    def __init__(self, facts: Collection[str], thresholds: dict[str, Threshold]) -> None:
        self.facts = facts
        self.thresholds = thresholds

    def read(self, document: Document, where: Map, key: str, value: Any = None) -> Node | None:
        """The condition at ``key`` of ``where``; ``None`` (with faults noted) when it is none."""
        value = where.get(key) if value is None else value
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
            part = self.read(document, value, "not", inner)
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
        keys(document, value, ["fact"], [*OPERATORS, "source"], "a comparison")
        fact = value["fact"]
        if fact not in self.facts:
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
            return Comparison(fact, op, threshold)
        if isinstance(limit, bool) or not isinstance(limit, (int, float)):
            document.fault(value, op, "type", f"{op!r} needs a number or the name of a threshold")
            return None
        return Comparison(fact, op, Threshold(float(limit), text(document, value, "source")))
