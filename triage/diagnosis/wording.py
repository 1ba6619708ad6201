"""Sentences about facts: values with units, conditions as clauses, evidence templates filled in."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from triage import quantities
from triage.facts import FactSet
from triage.model import Condition, Evidence, Verdict
from triage.rules.conditions import Comparison
from triage.rules.limiterfile import PLACEHOLDER

_HOLDS = {"at_least": "is at least", "above": "is above", "below": "is below", "at_most": "is at most"}
_FAILS = {"at_least": "is below", "above": "is not above", "below": "is not below", "at_most": "is above"}
NOT_COLLECTED = "not collected"
_SENTENCES = re.compile(r"(?<=\.)\s+(?=[A-Z{])")
# Where a clause may end early: what follows adds to it.
_JOINTS = re.compile(r",? (?:and|while|with) |, ")
_BRACKETS = re.compile(r"\(([^()]*)\)")


def listed(names: Sequence[str]) -> str:
    """``a, b and c``."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


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
    """An evidence template with every ``{fact}`` replaced by its value and unit.

    A clause that rests on a fact without a value is left out, because it says nothing ("waits not collected of the
    time"); of such a clause the part in front of it and what stands in brackets are kept where they are known. The
    facts that were missed are named at the end, by their labels.
    """
    unknown = {fact for fact in PLACEHOLDER.findall(template) if value_text(fact, facts) == NOT_COLLECTED}
    # A list of facts ("Busiest unit: ...") takes the words as they are.
    missed = [fact for fact in unknown if f": {{{fact}}}" not in template]
    if missed:
        template = _without(template, frozenset(missed), facts)
    text = PLACEHOLDER.sub(lambda match: value_text(match.group(1), facts), template)
    return text[:1].upper() + text[1:]


def _without(template: str, unknown: frozenset[str], facts: FactSet) -> str:
    """The clauses of a template that can be said, and what is not known."""
    kept = []
    for sentence in _SENTENCES.split(template):
        clauses = [said for clause in sentence.rstrip(". ").split("; ") for said in _sayable(clause, unknown)]
        if clauses:
            kept.append(f"{'; '.join(clauses)}.")
    missed = dict.fromkeys(fact for fact in PLACEHOLDER.findall(template) if fact in unknown)
    kept.append(f"Not known: {'; '.join(facts.rulebook.facts[fact].label for fact in missed)}.")
    return " ".join(said[:1].upper() + said[1:] for said in kept)


def _sayable(clause: str, unknown: frozenset[str]) -> Iterator[str]:
    if unknown.isdisjoint(PLACEHOLDER.findall(clause)):
        yield clause
        return
    heads = [clause[: joint.start()] for joint in _JOINTS.finditer(clause)]
    whole = [head for head in heads if head.count("(") == head.count(")") and _says(head, unknown)]
    yield from whole[-1:]
    rest = clause[len(whole[-1]) :] if whole else clause
    yield from (inner for inner in _BRACKETS.findall(rest) if _says(inner, unknown))


def _says(part: str, unknown: frozenset[str]) -> bool:
    named = PLACEHOLDER.findall(part)
    return bool(named) and unknown.isdisjoint(named)


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
