"""Which counters the rules in force need: what the planning of a run starts from."""

from __future__ import annotations

from triage.rules.rulebook import FactDef, Need, Rulebook


def needed(rulebook: Rulebook) -> tuple[Need, ...]:
    """The facts that rules and reports use, each with the groups of metrics that give it, best first.

    Only ways worth a pass are listed (``collect`` is not false). Facts made of other facts are followed down to
    metrics; a fact whose every way is free (launch and device attributes) is listed as well.
    """
    needs: dict[str, Need] = {}
    for name in used_facts(rulebook):
        definition = rulebook.facts[name]
        groups = [_metrics(rulebook, group.formula.facts, group.formula.metrics) for group in _worth(definition)]
        kept = tuple(dict.fromkeys(group for group in groups if group))
        if kept:
            needs[name] = Need(name, kept)
    return tuple(needs.values())


def used_facts(rulebook: Rulebook) -> tuple[str, ...]:
    """Every fact that a condition, a text or the page uses, and the facts those are made of."""
    wanted: dict[str, None] = {}

    def add(name: str) -> None:
        if name in wanted or name not in rulebook.facts:
            return
        definition = rulebook.facts[name]
        if not definition.collect:
            return
        wanted[name] = None
        for part in (*definition.largest_of, *definition.sum_of_known):
            add(part)
        for alternative in _worth(definition):
            for part in alternative.formula.facts:
                add(part)

    for limiter in rulebook.limiters.values():
        if limiter.status == "retired":
            continue
        for condition in (limiter.when, limiter.veto, limiter.contributes):
            if condition is not None:
                for leaf in condition.leaves():
                    add(leaf.fact)
        add(limiter.strength)
    for question in rulebook.path:
        if question.gate is not None:
            for leaf in question.gate.leaves():
                add(leaf.fact)
        for name in question.shows:
            add(name)
    for name, definition in rulebook.facts.items():
        # What a page shows beyond the rules is collected too, where it is worth a pass.
        if definition.collect:
            add(name)
    return tuple(wanted)


def _worth(definition: FactDef) -> list:  # type: ignore[type-arg]
    return [alternative for alternative in definition.alternatives if alternative.collect]


def _metrics(rulebook: Rulebook, facts: tuple[str, ...], metrics: tuple[str, ...]) -> tuple[str, ...]:
    """The metrics of a group, and those of the first way of each fact it uses."""
    found = list(metrics)
    for name in facts:
        definition = rulebook.facts[name]
        ways = _worth(definition)
        if definition.largest_of or not ways:
            continue
        found += _metrics(rulebook, ways[0].formula.facts, ways[0].formula.metrics)
    return tuple(dict.fromkeys(found))
