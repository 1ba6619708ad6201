"""``facts.yaml``: canonical quantities and the ways to get them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from triage.rules import checks
from triage.rules.checks import ConditionReader
from triage.rules.chips import ChipRange, parse_chips
from triage.rules.conditions import Threshold
from triage.rules.formulas import FACT, Formula
from triage.rules.rulebook import Alternative, FactDef
from triage.rules.shapes import ALTERNATIVE, FACT_ENTRY
from triage.rules.yamlfile import Document, List, Map

# Facts made of facts made of facts ...: the longest chain that is worked out. The shipped ones need less than ten.
DEEPEST = 60
_OPEN, _DONE = 1, 2


def read_facts(
    document: Document, root: Map, facts: dict[str, FactDef], thresholds: Mapping[str, Threshold]
) -> list[str]:
    """Add the facts under the key ``facts`` of ``root``; their ids. A fact may use every fact of this and of earlier
    files, in any order, but no cycle."""
    entries = root.get("facts")
    if not isinstance(entries, Map):
        document.fault(root, "facts", "type", "'facts' must be a map of fact ids")
        return []
    expanded = list(_expanded(document, entries))
    units = {name: definition.unit for name, definition in facts.items()}
    units |= {name: str(entry.get("unit", "")) for name, entry, _ in expanded}
    names = frozenset(units)
    conditions = ConditionReader(units, thresholds)
    for name, entry, word in expanded:
        if name in facts and facts[name].unit != units[name]:
            was = checks.said_unit(facts[name].unit)
            document.fault(entry, "unit", "unit", f"the fact {name!r} is in {was}; rules compare it in that unit")
        if not FACT.fullmatch(name):
            document.fault(entries, name, "id", f"{name!r} is no fact id: lower-case letters, digits and _")
            continue
        facts[name] = _read(document, name, entry, word, names, conditions)
    cyclic = _cycles(facts)
    for name in cyclic:
        document.fault(entries, name if name in entries else None, "cycle", f"the fact {name!r} depends on itself")
    for name in _too_deep(facts, cyclic):
        message = f"the fact {name!r} is made of more than {DEEPEST} facts in a row"
        document.fault(entries, name if name in entries else None, "cycle", message)
    return [name for name, _, _ in expanded]


def _expanded(document: Document, entries: Map) -> list[tuple[str, Map, str]]:
    """Facts with ``each: [a, b]`` stand for one fact a word: ``{}`` in the id and its formulas is that word."""
    found: list[tuple[str, Map, str]] = []
    for name, entry in entries.items():
        if not isinstance(entry, Map):
            document.fault(entries, name, "type", "a fact is a map: {label: ..., unit: ..., from: ...}")
        elif "each" in entry:
            words = checks.texts(document, entry, "each")
            found.extend((name.replace("{}", word), entry, word) for word in words)
        else:
            found.append((name, entry, ""))
    return found


def _read(
    document: Document, name: str, entry: Map, word: str, names: Collection[str], conditions: ConditionReader
) -> FactDef:
    checks.keys(document, entry, FACT_ENTRY, what=f"the fact {name!r}")
    if not any(key in entry for key in ("from", "largest_of", "sum_of_known", "at_most", "at_least")):
        document.fault(entry, None, "missing-key", f"the fact {name!r} has no way to get it: from, largest_of, ...")
    values = entry.get("from", List())
    if not isinstance(values, List):
        values = [values]
    alternatives = [_alternative(document, entry, value, word, names, conditions) for value in values]
    if "{}" in name:
        document.fault(entry, None, "missing-key", f"the fact {name!r} lacks the key 'each': the words for {{}}")
    return FactDef(
        id=name,
        label=checks.text(document, entry, "label").replace("{}", word),
        unit=checks.text(document, entry, "unit"),
        says=checks.text(document, entry, "says").replace("{}", word),
        alternatives=tuple(a for a in alternatives if a is not None),
        largest_of=_facts(document, entry, "largest_of", names),
        optional=_facts(document, entry, "optional", names),
        sum_of_known=_facts(document, entry, "sum_of_known", names),
        at_most=_formulas(document, entry, "at_most", word, names),
        at_least=_formulas(document, entry, "at_least", word, names),
        when_nothing=checks.text(document, entry, "when_nothing"),
        collect=checks.flag(document, entry, "collect", True),
        spot=document.spot(entry),
    )


def _alternative(
    document: Document, entry: Map, value: Any, word: str, names: Collection[str], conditions: ConditionReader
) -> Alternative | None:
    if isinstance(value, Map):
        checks.keys(document, value, ALTERNATIVE)
        formula = None
        if "use" in value:
            formula = checks.formula(document, value, "use", _filled(value["use"], word), names)
        when = conditions.read(document, value, "when") if "when" in value else None
        given = checks.chips(document, value)
        collect = checks.flag(document, value, "collect", True)
        if formula is None:
            return None
        chips = given or _since_volta(formula)
        return Alternative(formula, chips, when, collect, given is not None, document.spot(value))
    formula = checks.formula(document, entry, "from", _filled(value, word), names)
    spot = document.spot(entry, "from")
    return Alternative(formula, _since_volta(formula), spot=spot) if formula is not None else None


def _since_volta(formula: Formula) -> ChipRange | None:
    """Names with a dot (``unit__counter.rollup``) exist since Volta; Pascal's counters are called otherwise."""
    return parse_chips(">=7.0") if any("." in name for name in formula.metrics) else None


def _filled(value: Any, word: str) -> Any:
    return value.replace("{}", word) if isinstance(value, str) and word else value


def _facts(document: Document, entry: Map, key: str, names: Collection[str]) -> tuple[str, ...]:
    found = checks.texts(document, entry, key)
    for name in found:
        if name not in names:
            document.fault(entry, key, "unknown-fact", f"no fact is called {name!r}{checks.suggestion(name, names)}")
    return tuple(name for name in found if name in names)


def _formulas(document: Document, entry: Map, key: str, word: str, names: Collection[str]) -> tuple[Any, ...]:
    values = entry.get(key, List())
    values = values if isinstance(values, List) else [values]
    made = [checks.formula(document, entry, key, _filled(value, word), names) for value in values]
    return tuple(formula for formula in made if formula is not None)


def _cycles(facts: dict[str, FactDef]) -> list[str]:
    """Facts whose value (not only whose bounds) depends on itself."""
    state: dict[str, int] = {}
    found: list[str] = []
    for name in facts:
        if name in state:
            continue
        # A stack of its own: a file may chain more facts than Python may nest calls.
        stack = [(name, iter(_parts(facts[name])))]
        state[name] = _OPEN
        while stack:
            current, parts = stack[-1]
            part = next(parts, None)
            if part is None:
                state[current] = _DONE
                stack.pop()
            elif state.get(part) == _OPEN:
                found.append(current)
            elif part in facts and part not in state:
                state[part] = _OPEN
                stack.append((part, iter(_parts(facts[part]))))
    return found


def _too_deep(facts: dict[str, FactDef], cyclic: list[str]) -> list[str]:
    """Facts that are made of a longer chain of facts than are worked out."""
    if cyclic:
        return []
    depth: dict[str, int] = {}
    for name in facts:
        stack = [name]
        while stack:
            current = stack[-1]
            parts = [part for part in _parts(facts[current]) if part in facts]
            waiting = [part for part in parts if part not in depth]
            if waiting:
                stack += waiting
            else:
                depth[current] = 1 + max((depth[part] for part in parts), default=0)
                stack.pop()
    return [name for name, steps in depth.items() if steps == DEEPEST + 1]


def _parts(definition: FactDef) -> list[str]:
    parts = [part for way in definition.alternatives for part in way.formula.facts]
    return [*parts, *definition.largest_of, *definition.sum_of_known]
