"""The tests of the rules: inline cases of the limiter files, and cases that walk the whole path."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from triage.errors import TriageError
from triage.facts import FactSet, of_kernel
from triage.model import Kernel, Quantity
from triage.numerals import whole
from triage.rules.casefile import UNDECIDED
from triage.rules.overrides import for_chip
from triage.rules.reasons import why, why_rule
from triage.rules.rulebook import LimiterDef, Rulebook, RuleCase, WalkCase
from triage.rules.selecting import names
from triage.rules.walk import judge_rule, walk


def verdict(rulebook: Rulebook, limiter: LimiterDef, case: RuleCase) -> str:
    """What the rule alone says of the facts of a case: fires, clear or unknown."""
    return str(judge_rule(limiter, FactSet(rulebook, {}, given=case.facts)))


def run(rulebook: Rulebook) -> tuple[int, int, list[str]]:
    """Run every case of every limiter and of every case file: (passed, failed, one line a failure with its place).

    Inline cases of a retired limiter are not run: it is never said.
    """
    passed, failures = 0, []
    for limiter in rulebook.limiters.values():
        if limiter.status == "retired":
            continue
        for case in limiter.tests:
            found = verdict(rulebook, limiter, case)
            if found == case.expect:
                passed += 1
            else:
                failures.append(f"{case.place}: {limiter.id}, {case.name!r}: expected {case.expect}, was {found}")
    for walk_case in rulebook.cases:
        failure = failed(rulebook, walk_case)
        if failure:
            failures.append(f"{walk_case.place}: {failure}")
        else:
            passed += 1
    return passed, len(failures), failures


def failed(rulebook: Rulebook, case: WalkCase) -> str:
    """What a case expected, what the rules said instead, and why; empty where it holds."""
    found, reason = _walked(rulebook, case)
    if found in case.expect:
        return ""
    failure = f"{case.name!r}: expected {' or '.join(case.expect)}, was {found}"
    return f"{failure} ({reason})" if reason else failure


def walked(rulebook: Rulebook, case: WalkCase) -> str:
    """What the rules say of the kernel of a case: a limiter, ``undecided``, or the verdict of the rule it asks for; the
    reason where the kernel cannot be had."""
    return _walked(rulebook, case)[0]


def _walked(rulebook: Rulebook, case: WalkCase) -> tuple[str, str]:
    """The same, and why the rules say it."""
    if case.fault:
        return case.fault, ""
    if case.capture is not None:
        try:
            kernel = _kernel(case.capture, case.kernel, _wanted(rulebook))
        except (TriageError, LookupError) as fault:
            return str(fault), ""
        rules = for_chip(rulebook, case.cc or kernel.device.cc)
        facts = of_kernel(kernel, rules)
    else:
        rules = for_chip(rulebook, case.cc)
        metrics: dict[str, Quantity | str] = {name: Quantity(value) for name, value in (case.metrics or {}).items()}
        facts = FactSet(rules, metrics, case.cc, given=case.facts)
    if case.limiter:
        verdict = str(judge_rule(rules.limiters[case.limiter], facts))
        return verdict, why_rule(rules, case.limiter, facts)
    made = walk(rules, facts)
    found = made.named.limiter.id if made.named is not None else UNDECIDED
    return found, "" if found in case.expect else why(made, facts, case.expect)


@lru_cache(maxsize=8)
def _kernels(capture: Path, metrics: frozenset[str]) -> tuple[Kernel, ...]:
    from triage.readers import load

    return load(capture, metrics=metrics).kernels


def _kernel(capture: Path, wanted: str, metrics: frozenset[str]) -> Kernel:
    kernels = _kernels(capture, metrics)
    index = whole(wanted)
    if index is not None:
        found = [kernel for kernel in kernels if kernel.index == index]
    else:
        found = [kernel for kernel in kernels if names(wanted, kernel)]
    if len(found) != 1:
        raise LookupError(f"{len(found)} kernels of {capture.name} match {wanted!r}")
    return found[0]


def _wanted(rulebook: Rulebook) -> frozenset[str]:
    return frozenset(
        metric
        for definition in rulebook.facts.values()
        for formula in definition.formulas
        for metric in formula.metrics
    )
