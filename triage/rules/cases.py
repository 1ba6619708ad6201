"""The inline tests of the limiter files: facts in, the rule's verdict out."""

from __future__ import annotations

from triage.facts import FactSet
from triage.rules.rulebook import LimiterDef, Rulebook, RuleCase
from triage.rules.walk import judge_rule


def verdict(rulebook: Rulebook, limiter: LimiterDef, case: RuleCase) -> str:
    """What the rule alone says of the facts of a case: fires, clear or unknown."""
    return str(judge_rule(limiter, FactSet(rulebook, {}, given=case.facts)))


def run(rulebook: Rulebook) -> tuple[int, int, list[str]]:
    """Run every case of every limiter: (passed, failed, one line a failure with its place)."""
    passed, failures = 0, []
    for limiter in rulebook.limiters.values():
        for case in limiter.tests:
            found = verdict(rulebook, limiter, case)
            if found == case.expect:
                passed += 1
            else:
                failures.append(f"{case.place}: {limiter.id}, {case.name!r}: expected {case.expect}, was {found}")
    return passed, len(failures), failures
