"""The walk for one kernel as text: every question, its facts with thresholds and sources, its answer."""

from __future__ import annotations

from collections.abc import Collection

from triage.model import Check, Condition, Finding, Step, Verdict
from triage.renderers.escape import clean

_MARK = {Verdict.FIRES: "yes", Verdict.CLEAR: "no", Verdict.UNKNOWN: "?"}
_STATE = {"named": "NAMED", "hidden": "holds", "ruled-out": "no", "unknown": "unknown", "contributor": "holds"}


def explain(finding: Finding, largest: Collection[str] = ()) -> str:
    """The path as walked, one block a question, ending with the verdict and what would change it.

    ``largest`` holds the ids of the questions whose strongest answer is named; of the others it is the first.
    """
    diagnosis = finding.diagnosis
    # No line begins with a name: a log of CI takes "::error ..." there for a command.
    lines = [f"Kernel {finding.kernel.index}: {finding.kernel.name}", ""]
    for step in diagnosis.steps:
        lines += _step(step, step.id in largest)
    lines.append(f"Verdict: {diagnosis.limiter or 'undecided'} ({diagnosis.confidence} confidence)")
    lines.append(f"  {diagnosis.summary}")
    lines += [f"  Confidence: {why}." for why in diagnosis.confidence_why]
    lines += [f"  Also: {entry.limiter}. {entry.text}" for entry in diagnosis.contributors]
    lines += [f"  Try: {fix.text}" for fix in diagnosis.fixes[:3]]
    lines += [f"  Not if: {text}" for text in diagnosis.unless]
    if diagnosis.experiment:
        lines.append(f"  To be sure: {diagnosis.experiment}")
    if diagnosis.missing:
        lines.append(f"  Not collected: {', '.join(diagnosis.missing)}")
    if diagnosis.collect:
        lines.append(f"  Collect them: {diagnosis.collect}")
    lines += [f"  Note: {warning}" for warning in diagnosis.warnings]
    # Names come from a report, sentences from rules that may be a stranger's: every line is made inert.
    return "\n".join(map(clean, lines)) + "\n"


def _step(step: Step, largest: bool) -> list[str]:
    mark = _MARK[step.verdict] if step.covered else "not covered"
    pick = " (pick: largest)" if largest else ""
    lines = [f"[{step.id}] {step.question}{pick}  [{mark}]", f"    {step.answer}"]
    lines += [f"    only if: {_condition(fact)}" for fact in step.facts]
    for check in step.checks:
        lines += _check(check)
    return [*lines, ""]


def _check(check: Check) -> list[str]:
    lines = [f"    {check.limiter}: {_STATE.get(check.state, check.state)}"]
    lines += [f"        {_condition(fact)}" for fact in check.conditions]
    if check.missing:
        lines.append(f"        missing: {', '.join(check.missing)}")
    return lines


def _condition(fact: Condition) -> str:
    source = f"  [{fact.source}]" if fact.source else ""
    return f"{_MARK[fact.verdict]:<3} {fact.text}{source}"
