"""Walks the decision path over the facts of one kernel: one answer, blocked or not, and what every rule said.

The walk is a decision list. Answers are judged in the order of ``path.yaml``; an answer holds when its question's gate,
its own condition and the limiter's ``when`` fire and no known ``veto`` holds. The first that holds is named, unless a
rival listed in its ``blocked_by`` is unknown: then the path ends undecided. In a ``largest`` question the strength
decides, and a rival of the same question that is unknown and could be stronger blocks as well.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from triage.facts import FactSet
from triage.model import Verdict
from triage.rules.conditions import Node
from triage.rules.rulebook import Answer, LimiterDef, Question, Rulebook


@dataclass(frozen=True, slots=True)
class Judged:
    """One answer of one question as judged: ``own`` is the limiter's rule alone, ``verdict`` also needs the gate."""

    question: Question
    answer: Answer
    limiter: LimiterDef
    gate: Verdict
    own: Verdict
    verdict: Verdict
    veto_unknown: bool


@dataclass(frozen=True, slots=True)
class Walked:
    """The outcome of a walk. ``named`` is the answer the path ends in, or ``None``; ``candidate`` the one that would
    have been named if the ``blockers`` were known; ``doubts`` are unknown rivals that only lower the confidence."""

    judged: tuple[Judged, ...]
    named: Judged | None
    candidate: Judged | None = None
    blockers: tuple[Judged, ...] = ()
    doubts: tuple[Judged, ...] = ()
    tied: tuple[Judged, ...] = field(default=())


def walk(rulebook: Rulebook, facts: FactSet) -> Walked:
    """Walk the whole path; every answer is judged, also behind the one that is named."""
    judged: list[Judged] = []
    for question in rulebook.path:
        gate = Verdict.FIRES if question.gate is None else facts.judge(question.gate)
        for answer in question.answers:
            limiter = rulebook.limiters[answer.limiter]
            if limiter.status != "retired":
                judged.append(_judge(question, answer, limiter, gate, facts))
    everything = tuple(judged)
    for question in rulebook.path:
        group = [entry for entry in everything if entry.question is question]
        firing = [entry for entry in group if entry.verdict is Verdict.FIRES]
        if not firing:
            continue
        winner = firing[0]
        if question.pick == "largest":
            # `max` keeps the first of equals, so the order of the file breaks ties.
            winner = max(firing, key=lambda entry: facts.interval(entry.limiter.strength)[0])
        blockers = _blockers(winner, everything, facts)
        if question.pick == "largest":
            blockers += _stronger_unknown(winner, group, blockers, facts)
        if blockers:
            return Walked(everything, None, winner, tuple(blockers), _doubts(winner, everything, blockers))
        return Walked(everything, winner, winner, (), _doubts(winner, everything, []))
    return Walked(everything, None, None, tuple(e for e in everything if e.verdict is Verdict.UNKNOWN))


def _judge(question: Question, answer: Answer, limiter: LimiterDef, gate: Verdict, facts: FactSet) -> Judged:
    own = judge_rule(limiter, facts)
    veto_unknown = limiter.veto is not None and facts.judge(limiter.veto) is Verdict.UNKNOWN
    only = Verdict.FIRES if answer.only_when is None else facts.judge(answer.only_when)
    verdict = Verdict.FIRES
    for part in (gate, only, own):
        if part is Verdict.CLEAR:
            verdict = Verdict.CLEAR
            break
        if part is Verdict.UNKNOWN:
            verdict = Verdict.UNKNOWN
    return Judged(question, answer, limiter, gate, own, verdict, veto_unknown)


def judge_rule(limiter: LimiterDef, facts: FactSet) -> Verdict:
    """The limiter's own rule: ``when``, cleared by a veto that is known to hold."""
    verdict = facts.judge(limiter.when)
    if verdict is not Verdict.CLEAR and limiter.veto is not None and facts.judge(limiter.veto) is Verdict.FIRES:
        return Verdict.CLEAR
    return verdict


def _blockers(winner: Judged, everything: tuple[Judged, ...], facts: FactSet) -> list[Judged]:
    """Unknown rivals that the path declares to hide behind the winner."""
    found: list[Judged] = []
    for rival in winner.answer.blocked_by:
        if rival.limiter == winner.limiter.id or _holds(rival.unless, facts):
            continue
        if rival.where is not None and not _holds(rival.where, facts):
            continue
        entries = [entry for entry in everything if entry.limiter.id == rival.limiter]
        found += [entry for entry in entries if entry.verdict is Verdict.UNKNOWN and entry not in found]
    return found


def _holds(condition: Node | None, facts: FactSet) -> bool:
    return condition is not None and facts.judge(condition) is Verdict.FIRES


def _stronger_unknown(winner: Judged, group: list[Judged], already: list[Judged], facts: FactSet) -> list[Judged]:
    strength = facts.interval(winner.limiter.strength)[0]
    return [
        entry
        for entry in group
        if entry.verdict is Verdict.UNKNOWN
        and entry not in already
        and entry.limiter.family == winner.limiter.family
        and facts.interval(entry.limiter.strength)[1] > strength
        and entry.limiter.strength != winner.limiter.strength
    ]


def _doubts(winner: Judged, everything: tuple[Judged, ...], blockers: list[Judged]) -> tuple[Judged, ...]:
    """Unknown answers that stand before the winner on the path and do not block it."""
    found: list[Judged] = []
    for entry in everything:
        if entry is winner:
            break
        if entry.verdict is Verdict.UNKNOWN and entry not in blockers:
            found.append(entry)
    return tuple(found)
