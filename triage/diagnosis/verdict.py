"""One kernel to one diagnosis: facts, the walk, and everything that a report says about them."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from triage import arguments
from triage.diagnosis import border, confidence, consistency, given, hygiene, picture, steps
from triage.diagnosis.later import Later
from triage.diagnosis.lines import findings
from triage.diagnosis.wording import evidence, filled, listed
from triage.facts import FactSet, Known, of_kernel
from triage.model import Bound, Contributor, Device, Diagnosis, Evidence, Kernel, Quantity, Verdict
from triage.rules.overrides import for_chip
from triage.rules.rulebook import LimiterDef, Rulebook
from triage.rules.walk import Judged, Walked, walk

# Beyond this many metrics the set that the rules need is the shorter command.
_NAMED_METRICS = 8


def diagnose(kernel: Kernel, rulebook: Rulebook | None = None) -> Diagnosis:
    """What limits ``kernel``, by the rules given (the shipped ones by default)."""
    arguments.instance(kernel, Kernel, "kernel", "a Kernel of a profile")
    rules = for_chip(given.rules(rulebook), kernel.device.cc)
    doubts = consistency.check(kernel, consistency.read_by(rules))
    return of_facts(kernel, of_kernel(doubts.trusted(kernel), rules), rules, doubts.warnings)


def of_facts(kernel: Kernel, facts: FactSet, rules: Rulebook, doubts: tuple[str, ...] = ()) -> Diagnosis:
    """What limits a kernel whose facts are there; ``doubts`` are contradictions among its counters."""
    return _diagnosis(kernel, facts, walk(rules, facts), rules, doubts)


def diagnose_metrics(
    metrics: Mapping[str, float | str | tuple[float | str, str] | Quantity | None],
    *,
    cc: str | float | None = None,
    name: str = "kernel",
    rulebook: Rulebook | None = None,
) -> Diagnosis:
    """What limits a kernel of which only counters are known.

    ``metrics`` maps ncu's metric names to numbers in base units (ns, byte, %), to ``(value, unit)`` pairs such as
    ``(40, "us")``, to texts as ncu prints them, or to quantities; ``cc`` is the compute capability (``"9.0"``). What is
    not in the mapping counts as not collected, and so do ``None``, NaN, infinity and numbers that no float holds.

    Raises ``TypeError`` and ``ValueError`` that name the argument.
    """
    arguments.text(name, "name", "the name of the kernel")
    known, chip = given.counters(metrics), given.capability(cc)
    return diagnose(Kernel(0, name, name, device=Device(cc=chip), metrics=known), rulebook)


def _diagnosis(kernel: Kernel, facts: FactSet, walked: Walked, rules: Rulebook, doubts: tuple[str, ...]) -> Diagnosis:
    serious = (*doubts, *hygiene.serious(kernel, facts))
    doubtful = (*serious, *hygiene.notes(kernel, facts))
    named = walked.named
    shared: dict[str, Any] = {
        "steps": Later(lambda: steps.steps(rules, walked, facts, serious)),
        "contributors": _contributors(walked, facts, rules),
        "ruled_out": Later(lambda: steps.ruled_out(walked, facts)),
        "warnings": doubtful,
        "bars": picture.bars(facts),
        "stalls": picture.stalls(facts),
        "occupancy": picture.occupancy(facts),
        "facts": Known(facts),
    }
    if named is None:
        return _undecided(kernel, facts, walked, shared)
    limiter = named.limiter
    near = border.borders(walked, named, facts)
    level, why = confidence.rate(walked, named, near, serious)
    return Diagnosis(
        limiter=limiter.id,
        title=limiter.title,
        family=limiter.family,
        confidence=level,
        confidence_why=why,
        near=tuple(dict.fromkeys(one.limiter for one in near if one.limiter)),
        summary=filled(limiter.evidence, facts),
        because=limiter.because,
        evidence=_evidence(limiter, facts),
        fixes=limiter.fixes,
        unless=limiter.unless,
        see=limiter.see,
        lines=findings(kernel, limiter),
        bound=_bound(limiter, facts),
        missing=steps.unknown_metrics(walked.doubts, facts),
        experiment=limiter.experiment if level == "low" else "",
        **shared,
    )


def _undecided(kernel: Kernel, facts: FactSet, walked: Walked, shared: dict[str, Any]) -> Diagnosis:
    missing = steps.unknown_metrics(walked.blockers, facts)
    candidate = walked.candidate
    rivals = list(dict.fromkeys(entry.limiter.title for entry in walked.blockers))
    busiest = filled("Busiest compute unit: {compute_pct}; busiest memory unit: {memory_pct}", facts)
    if candidate is not None:
        summary = f"{filled(candidate.limiter.evidence, facts)} This would be {candidate.limiter.id}, but "
        summary += f"{_listed(rivals)} could hide behind it and {'was' if len(rivals) == 1 else 'were'} not measured."
    elif not walked.blockers:
        summary = f"Every rule was measured and none holds. {busiest}."
        near = border.nearest(walked, facts)
        summary += f" {near.text}." if near else ""
    else:
        summary = f"{busiest}; what else was collected does not lead to the end of the decision path."
    if rivals and not missing:
        summary += f" ncu has no counter on this chip that would settle {_listed(rivals)}."
    families = {entry.limiter.family for entry in (*walked.blockers, *([candidate] if candidate else []))}
    return Diagnosis(
        limiter=None,
        title="Undecided",
        # The family is said where every answer that is still open belongs to it.
        family=families.pop() if candidate is not None and len(families) == 1 else None,
        confidence="low",
        confidence_why=("the path could not be walked to an end",),
        summary=summary,
        evidence=_evidence(candidate.limiter, facts) if candidate is not None else _headline_evidence(facts),
        missing=missing,
        collect=_collect(kernel, missing),
        experiment=candidate.limiter.experiment if candidate is not None else "",
        **shared,
    )


def _evidence(limiter: LimiterDef, facts: FactSet) -> tuple[Evidence, ...]:
    quoted = evidence(limiter.evidence, facts)
    names = {entry.fact for entry in quoted}
    return quoted + tuple(entry for entry in _headline_evidence(facts) if entry.fact not in names)


def _headline_evidence(facts: FactSet) -> tuple[Evidence, ...]:
    """What users look for first, wherever it can be had."""
    names = (
        "waves",
        "sm_throughput_pct",
        "memory_throughput_pct",
        "compute_pct",
        "memory_pct",
        "load_sectors_per_request",
        "store_sectors_per_request",
        "arithmetic_intensity",
        "ridge_point",
    )
    text = "".join(f"{{{name}}}" for name in names if facts.sayable(name))
    return evidence(text, facts)


def _contributors(walked: Walked, facts: FactSet, rules: Rulebook) -> tuple[Contributor, ...]:
    """Limiters that also hold behind the named one, strongest first."""
    named = walked.named.limiter.id if walked.named else None
    found: dict[str, Contributor] = {}
    for entry in walked.judged:
        limiter = entry.limiter
        if limiter.id == named or limiter.id in found or not _contributes(entry, facts):
            continue
        strength = max(0.0, min(100.0, facts.interval(limiter.strength)[0]))
        text = filled(limiter.evidence, facts)
        found[limiter.id] = Contributor(
            limiter.id, limiter.title, limiter.family, text, strength, evidence(limiter.evidence, facts)
        )
    return tuple(sorted(found.values(), key=lambda entry: -entry.strength))


def _contributes(entry: Judged, facts: FactSet) -> bool:
    if entry.limiter.veto is not None and facts.judge(entry.limiter.veto) is Verdict.FIRES:
        return False
    if entry.limiter.contributes is not None:
        return facts.judge(entry.limiter.contributes) is Verdict.FIRES
    return entry.verdict is Verdict.FIRES


def _bound(limiter: LimiterDef, facts: FactSet) -> Bound | None:
    """The most that removing the limiter can bring, by the limiter's own formula."""
    if limiter.headroom is None:
        return None
    if limiter.headroom.formula is None:
        return Bound(None, limiter.headroom.because)
    low, high = limiter.headroom.formula.evaluate(facts.metric, facts.interval)
    if low != high:
        return Bound(None, "Not every counter that the bound needs was collected.")
    return Bound(max(1.0, low), limiter.headroom.because)


def _collect(kernel: Kernel, missing: tuple[str, ...]) -> str:
    """The command that collects what is missing, for this kernel alone."""
    if not missing:
        return ""
    function = kernel.function or kernel.name
    if len(missing) > _NAMED_METRICS:
        return f"triage profile -k {shlex.quote(function)} ./your-program"
    return (
        f"ncu --config-file off --clock-control none --metrics {','.join(missing)} "
        f"--kernel-name {shlex.quote(function)} --launch-count 1 -f -o more.ncu-rep ./your-program"
    )


def _listed(titles: list[str]) -> str:
    """``a, b and c``; beyond four the rest is counted."""
    return listed([*titles[:3], f"{len(titles) - 3} other rivals"] if len(titles) > 4 else titles)
