"""The walk as a person reads it: each question, its facts and thresholds, its answer, what was unknown."""

from __future__ import annotations

from collections.abc import Iterable

from triage.diagnosis.wording import condition, filled, value_text
from triage.facts import FactSet
from triage.model import Check, Condition, RuledOut, Step, Verdict
from triage.rules.conditions import AllOf, AnyOf, Comparison, Node, Not
from triage.rules.rulebook import Question, Rulebook
from triage.rules.walk import Judged, Walked


def steps(rulebook: Rulebook, walked: Walked, facts: FactSet, doubtful: tuple[str, ...]) -> tuple[Step, ...]:
    """Every question of the path, in order."""
    return tuple(_step(question, walked, facts, doubtful) for question in rulebook.path)


def _step(question: Question, walked: Walked, facts: FactSet, doubtful: tuple[str, ...]) -> Step:
    entries = [entry for entry in walked.judged if entry.question is question]
    shown = ", ".join(f"{facts.rulebook.facts[name].label} {value_text(name, facts)}" for name in question.shows)
    gate = Verdict.FIRES if question.gate is None else facts.judge(question.gate)
    leaves = [] if question.gate is None else [condition(leaf, facts) for leaf in question.gate.leaves()]
    checks = tuple(_check(entry, walked, facts) for entry in entries)
    verdict = _verdict(entries, gate, walked)
    missing = unknown_metrics([entry for entry in entries if entry.verdict is Verdict.UNKNOWN], facts)
    if not question.covered:
        return Step(question.id, question.ask, Verdict.UNKNOWN, question.note, covered=False)
    answer = _answer(question, entries, gate, walked, leaves, shown, doubtful)
    return Step(question.id, question.ask, verdict, answer, tuple(leaves), checks, missing)


def _verdict(entries: list[Judged], gate: Verdict, walked: Walked) -> Verdict:
    if walked.named is not None and walked.named in entries:
        return Verdict.FIRES
    if gate is Verdict.CLEAR or not entries:
        return Verdict.CLEAR
    return Verdict.UNKNOWN if any(entry.verdict is Verdict.UNKNOWN for entry in entries) else Verdict.CLEAR


def _answer(
    question: Question,
    entries: list[Judged],
    gate: Verdict,
    walked: Walked,
    leaves: list[Condition],
    shown: str,
    doubtful: tuple[str, ...],
) -> str:
    if not entries:
        text = f"{shown}. {question.note}" if shown else question.note
        return f"{'; '.join(doubtful)}. {text}" if question.id == "trust" and doubtful else text
    if walked.named is not None and walked.named in entries:
        return f"{walked.named.limiter.title}. {shown}." if shown else f"{walked.named.limiter.title}."
    if walked.candidate is not None and walked.named is None and walked.candidate in entries:
        return f"{walked.candidate.limiter.title}, unless one of the unmeasured rivals hides behind it. {shown}."
    if gate is Verdict.CLEAR:
        why = next((leaf.text for leaf in leaves if leaf.verdict is Verdict.CLEAR), "")
        return f"Not asked: {why}." if why else "Not asked."
    unknown = [entry.limiter.title for entry in entries if entry.verdict is Verdict.UNKNOWN]
    if unknown:
        return f"Cannot tell: {', '.join(dict.fromkeys(unknown))} not measured well enough. {shown}."
    hidden = [entry.limiter.title for entry in entries if entry.verdict is Verdict.FIRES]
    if hidden:
        return f"Also {', '.join(hidden)}, behind the answer. {shown}."
    return f"No. {shown}." if shown else "No."


def _check(entry: Judged, walked: Walked, facts: FactSet) -> Check:
    state = {Verdict.FIRES: "hidden", Verdict.CLEAR: "ruled-out", Verdict.UNKNOWN: "unknown"}[entry.verdict]
    if walked.named is entry:
        state = "named"
    leaves = [*entry.limiter.when.leaves()]
    if entry.limiter.veto is not None:
        leaves += entry.limiter.veto.leaves()
    text = filled(entry.limiter.evidence, facts) if entry.own is Verdict.FIRES else ""
    missing = unknown_metrics([entry], facts) if entry.verdict is Verdict.UNKNOWN else ()
    return Check(
        entry.limiter.id,
        entry.limiter.title,
        entry.verdict,
        state,
        tuple(condition(leaf, facts) for leaf in leaves),
        missing,
        text,
    )


def ruled_out(walked: Walked, facts: FactSet) -> tuple[RuledOut, ...]:
    """Limiters whose own rule was measured and cleared, each with the comparison that cleared it."""
    found: dict[str, RuledOut] = {}
    for entry in walked.judged:
        if entry.own is not Verdict.CLEAR or entry.limiter.id in found:
            continue
        leaf = _clearing(entry.limiter.when, facts)
        if leaf is None and entry.limiter.veto is not None:
            leaf = next(iter(entry.limiter.veto.leaves()), None)
        text = condition(leaf, facts).text if leaf is not None else ""
        found[entry.limiter.id] = RuledOut(entry.limiter.id, entry.limiter.title, text)
    return tuple(found.values())


def _clearing(node: Node, facts: FactSet) -> Comparison | None:
    """The first comparison that clears a condition."""
    if isinstance(node, Comparison):
        return node if facts.judge(node) is Verdict.CLEAR else None
    if isinstance(node, Not):
        return next(iter(node.leaves()), None)
    return next((leaf for part in node.parts if (leaf := _clearing(part, facts)) is not None), None)


def unknown_metrics(entries: Iterable[Judged], facts: FactSet) -> tuple[str, ...]:
    """The metrics that would settle the entries: those of every unknown comparison in their gates and rules."""
    # Gates are shared by many entries and facts by many comparisons: each is looked at once.
    nodes: dict[int, Node] = {}
    for entry in entries:
        for node in (entry.question.gate, entry.answer.only_when, entry.limiter.when):
            if node is not None:
                nodes.setdefault(id(node), node)
    unknown = dict.fromkeys(leaf.fact for node in nodes.values() for leaf in _unknown_leaves(node, facts))
    return tuple(dict.fromkeys(name for fact in unknown for name in facts.missing(fact)))


def _unknown_leaves(node: Node, facts: FactSet) -> list[Comparison]:
    """The comparisons that keep a condition unknown; those of branches that are settled do not matter."""
    if facts.judge(node) is not Verdict.UNKNOWN:
        return []
    if isinstance(node, Comparison):
        return [node]
    parts = (node.part,) if isinstance(node, Not) else node.parts
    assert isinstance(node, (AllOf, AnyOf, Not))
    return [leaf for part in parts for leaf in _unknown_leaves(part, facts)]
