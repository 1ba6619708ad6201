"""Sentences about facts: values with units, conditions as clauses, evidence templates filled in."""

from __future__ import annotations

import math
from functools import lru_cache

from triage import quantities
from triage.facts import FactSet
from triage.model import Condition, Evidence, Verdict
from triage.rules.conditions import Comparison
from triage.rules.limiterfile import PLACEHOLDER

_HOLDS = {"at_least": "is at least", "above": "is above", "below": "is below", "at_most": "is at most"}
_FAILS = {"at_least": "is below", "above": "is not above", "below": "is not below", "at_most": "is above"}
NOT_COLLECTED = "not collected"


def value_text(fact: str, facts: FactSet) -> str:
    """The value of a fact with its unit, ``at least ...`` for a partial roll-up, or ``not collected``."""
    kept = facts.texts.get(fact)
    if kept is None:
        kept = facts.texts[fact] = _value_text(fact, facts)
    return kept


def _value_text(fact: str, facts: FactSet) -> str:
    definition = facts.rulebook.facts[fact]
    low, high = facts.interval(fact)
    if low == high:
        if low == 0 and definition.when_nothing:
            return definition.when_nothing
        return quantities.quantity(low, definition.unit)
    if definition.largest_of and low > 0:
        return f"at least {quantities.quantity(low, definition.unit)}"
    if math.isfinite(high) and definition.unit == "%" and high < 100:
        return f"at most {quantities.quantity(high, definition.unit)}"
    return NOT_COLLECTED


def filled(template: str, facts: FactSet) -> str:
    """An evidence template with every ``{fact}`` replaced by its value and unit."""
    text = PLACEHOLDER.sub(lambda match: value_text(match.group(1), facts), template)
    return text[:1].upper() + text[1:]


def evidence(template: str, facts: FactSet) -> tuple[Evidence, ...]:
    """The facts of a template as evidence, in the order in which it quotes them."""
    return tuple(quoted(fact, facts) for fact in dict.fromkeys(PLACEHOLDER.findall(template)))


def quoted(fact: str, facts: FactSet) -> Evidence:
    """One fact as evidence; its value is ``None`` where it is not known exactly."""
    definition = facts.rulebook.facts[fact]
    return Evidence(fact, facts.value(fact), definition.unit, value_text(fact, facts), definition.label)


def condition(leaf: Comparison, facts: FactSet) -> Condition:
    """A comparison as it was judged, with a clause that says so: ``DRAM 84 % is at least 65 %``."""
    # The same comparison stands in several gates and rules of a rulebook, as one object.
    kept = facts.conditions.get(id(leaf))
    if kept is None or kept[0] is not leaf:
        kept = facts.conditions[id(leaf)] = (leaf, _condition(leaf, facts))
    return kept[1]


@lru_cache(maxsize=1024)
def _limit(value: float, unit: str) -> str:
    return quantities.quantity(value, unit)


def _condition(leaf: Comparison, facts: FactSet) -> Condition:
    definition = facts.rulebook.facts[leaf.fact]
    verdict = leaf.judge(facts)
    threshold = leaf.threshold
    limit = _limit(threshold.value, definition.unit)
    value = value_text(leaf.fact, facts)
    words = (_FAILS if verdict is Verdict.CLEAR else _HOLDS)[leaf.op]
    if verdict is Verdict.UNKNOWN:
        text = f"{definition.label}: {value} (compared with {limit})"
    else:
        text = f"{definition.label} {value} {words} {limit}"
    return Condition(
        leaf.fact,
        leaf.op,
        threshold.value,
        facts.value(leaf.fact),
        definition.unit,
        verdict,
        text,
        threshold.source,
    )
