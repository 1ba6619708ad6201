"""A question, a fact and a threshold as lines of text: what each says, where it is written, and which rules use it."""

from __future__ import annotations

from collections.abc import Iterator

from triage import quantities
from triage.rules.conditions import AllOf, AnyOf, Comparison, Node, Threshold
from triage.rules.rulebook import FactDef, Question, Rulebook, shown

WORDS = {"at_least": "at least", "above": "above", "below": "below", "at_most": "at most"}


def condition_lines(node: Node, rulebook: Rulebook, depth: int) -> list[str]:
    """A condition, one comparison a line with its number and source, indented by ``depth`` steps."""
    indent = "  " * depth
    if isinstance(node, Comparison):
        definition = rulebook.facts[node.fact]
        limit = quantities.quantity(node.threshold.value, definition.unit)
        name = f" ({node.threshold.name})" if node.threshold.name else ""
        source = f"  [{node.threshold.source}]" if node.threshold.source else ""
        return [f"{indent}{definition.label} ({node.fact}) {WORDS[node.op]} {limit}{name}{source}"]
    if isinstance(node, (AllOf, AnyOf)):
        word = "all of" if isinstance(node, AllOf) else "any of"
        return [
            f"{indent}{word}",
            *(line for part in node.parts for line in condition_lines(part, rulebook, depth + 1)),
        ]
    return [f"{indent}not", *condition_lines(node.part, rulebook, depth + 1)]


def question_page(question: Question, rulebook: Rulebook) -> list[str]:
    """A question of the path: when it is asked, and what it may end in, in which order."""
    lines = [f"{question.id}: {question.ask}", f"question, decision {question.decision}, {shown(question.spot)}", ""]
    if question.note:
        lines += [question.note, ""]
    if question.gate is not None:
        lines += ["Asked only if", *condition_lines(question.gate, rulebook, 1)]
    strengths = question.pick == "largest"
    if question.answers:
        lines.append(f"May end in (pick: {question.pick}; {'the strongest' if strengths else 'the first'} that holds)")
    for answer in question.answers:
        strength = f", by {rulebook.limiters[answer.limiter].strength}" if strengths else ""
        rivals = ", ".join(dict.fromkeys(rival.limiter for rival in answer.blocked_by))
        lines.append(f"  {answer.limiter}{strength}{f'; undecided while unknown: {rivals}' if rivals else ''}")
        if answer.only_when is not None:
            lines += ["    only if", *condition_lines(answer.only_when, rulebook, 3)]
    return lines


def fact_page(fact: FactDef, rulebook: Rulebook) -> list[str]:
    """A fact: its unit, the ways to get it, and the rules that compare it."""
    unit = f"in {fact.unit}" if fact.unit else "without a unit"
    lines = [f"{fact.id}: {fact.label}", f"fact, {unit}, {shown(fact.spot)}", "", fact.says, "", "Ways to get it"]
    if fact.largest_of:
        lines.append(f"  the largest of {', '.join(fact.largest_of)}")
    if fact.sum_of_known:
        lines.append(f"  the sum of those collected of {', '.join(fact.sum_of_known)}")
    for way in fact.alternatives:
        chips = f", on cc {way.cc.text}" if way.cc is not None and way.chips_given else ""
        read = "" if way.collect else ", read where a report holds it (collect: false)"
        lines.append(f"  {way.formula.text}{chips}{read}")
        if way.when is not None:
            lines += ["    only if", *condition_lines(way.when, rulebook, 3)]
    for word, bounds in (("at most", fact.at_most), ("at least", fact.at_least)):
        lines += [f"  {word} {bound.text}, where it was not measured itself" for bound in bounds]
    used = [place for place, leaf in _comparisons(rulebook) if leaf.fact == fact.id]
    return [*lines, *_used("Compared in", used)]


def threshold_page(threshold: Threshold, rulebook: Rulebook) -> list[str]:
    """A named number: its value, its source, what it was before, and the rules that compare with it."""
    value = quantities.quantity(threshold.value, threshold.unit)
    lines = [f"{threshold.name}: {value}", f"threshold, {shown(threshold.spot)}", "", threshold.source]
    was = threshold.was
    while was is not None:
        lines.append(f"  was {quantities.quantity(was.value, was.unit)}, {shown(was.spot)}")
        was = was.was
    used = [place for place, leaf in _comparisons(rulebook) if leaf.threshold.name == threshold.name]
    return [*lines, "", *_used("Compared in", used)]


def _used(title: str, places: list[str]) -> list[str]:
    return [title, *(f"  {place}" for place in dict.fromkeys(places))] if places else [f"{title} no rule"]


def _comparisons(rulebook: Rulebook) -> Iterator[tuple[str, Comparison]]:
    """Every comparison of the rules in force with what holds it."""
    nodes: list[tuple[str, Node | None]] = []
    for limiter in rulebook.limiters.values():
        if limiter.status != "retired":
            nodes += [(f"limiter {limiter.id}", node) for node in (limiter.when, limiter.veto, limiter.contributes)]
    for question in rulebook.path:
        nodes.append((f"question {question.id}", question.gate))
        for answer in question.answers:
            place = f"question {question.id}, answer {answer.limiter}"
            nodes += [
                (place, answer.only_when),
                *((place, node) for rival in answer.blocked_by for node in rival.conditions),
            ]
    for fact in rulebook.facts.values():
        nodes += [(f"fact {fact.id}", way.when) for way in fact.alternatives]
    for place, node in nodes:
        if node is not None:
            yield from ((place, leaf) for leaf in node.leaves())
