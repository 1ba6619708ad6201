"""Why a walk did not end where a case expects: at which question, which rivals were unknown, which facts missing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from triage.facts import FactSet
from triage.model import Verdict
from triage.rules.conditions import AllOf, AnyOf, Node, Not
from triage.rules.rulebook import Rulebook
from triage.rules.walk import Judged, Walked


def why(walked: Walked, facts: FactSet, expected: Sequence[str]) -> str:
    """One line: where the walk ended, and what it says of the limiters that were ``expected`` instead."""
    parts: list[str] = []
    if walked.named is not None:
        parts.append(f"named at question {walked.named.question.id!r}")
    elif walked.candidate is not None:
        rivals = ", ".join(dict.fromkeys(entry.limiter.id for entry in walked.blockers))
        parts.append(
            f"at question {walked.candidate.question.id!r} {walked.candidate.limiter.id} holds, "
            f"with unknown rivals: {rivals}"
        )
        parts += _lacking(walked.blockers, facts)
    else:
        parts.append("no question has an answer that holds")
    held = walked.named or walked.candidate
    for name in expected:
        entries = [entry for entry in walked.judged if entry.limiter.id == name]
        if entries and (held is None or held.limiter.id != name):
            parts.append("; ".join(_state(entry, facts) for entry in entries))
    return "; ".join(parts)


def why_rule(rulebook: Rulebook, limiter: str, facts: FactSet) -> str:
    """The facts that leave the rule of one limiter unknown; empty where it is decided."""
    missing = ", ".join(dict.fromkeys(undecided(rulebook.limiters[limiter].when, facts)))
    return f"missing facts: {missing}" if missing else ""


def _state(entry: Judged, facts: FactSet) -> str:
    place = f"{entry.limiter.id} at question {entry.question.id!r}"
    if entry.verdict is Verdict.UNKNOWN:
        return "; ".join([f"{place} is unknown", *_lacking([entry], facts)])
    if entry.verdict is Verdict.FIRES:
        return f"{place} holds behind it"
    if entry.gate is Verdict.CLEAR:
        return f"{place} is not asked: its gate is clear"
    return f"{place} is clear"


def _lacking(entries: Iterable[Judged], facts: FactSet) -> list[str]:
    names = dict.fromkeys(name for entry in entries for node in _nodes(entry) for name in undecided(node, facts))
    return [f"missing facts: {', '.join(names)}"] if names else []


def _nodes(entry: Judged) -> list[Node]:
    nodes = (entry.question.gate, entry.answer.only_when, entry.limiter.when)
    return [node for node in nodes if node is not None]


def undecided(node: Node, facts: FactSet) -> Iterator[str]:
    """The facts of the comparisons that leave ``node`` unknown; none where it is decided."""
    if facts.judge(node) is not Verdict.UNKNOWN:
        return
    if isinstance(node, (AllOf, AnyOf)):
        for part in node.parts:
            yield from undecided(part, facts)
    elif isinstance(node, Not):
        yield from undecided(node.part, facts)
    else:
        yield node.fact
