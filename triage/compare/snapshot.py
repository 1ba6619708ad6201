"""A report folded for comparison: one state for each kernel, launch shape and NVTX range."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from statistics import median

from triage.compare import quantities
from triage.compare.model import Collection, Snapshot, State
from triage.model import Device, Finding, Report, Source

_CONTROL = "collected with --{}-control none"
_REPLAY = "collected with --replay-mode "
SPILLS = ("spill_requests", "local_sectors")
# An answer of launches with less than a tenth of the kernel's time is not worth a word.
_LITTLE = 10.0


def snapshot(report: Report) -> Snapshot:
    """Fold the findings of a report; the order is that of first appearance."""
    collections = [collection(source) for source in report.sources]
    members: dict[tuple[object, ...], list[Finding]] = {}
    for finding in report.findings:
        one = finding.kernel
        key = (one.device.name, one.workload, one.name, one.launch.grid, one.launch.block, one.nvtx)
        members.setdefault(key, []).append(finding)
    states = tuple(_state(found, collections) for found in members.values())
    first = report.sources[0] if report.sources else None
    return Snapshot(
        path=", ".join(source.path for source in report.sources),
        kind="report",
        states=states,
        device=first.device if first else Device(),
        collection=collections[0] if collections else Collection(),
        rules=(report.rulebook.digest, report.rulebook.profile),
        warnings=tuple(dict.fromkeys(text for source in report.sources for text in source.warnings)),
    )


def collection(source: Source) -> Collection:
    """How a file was collected: a report records the options that were not the default, a CSV only what a log beside
    it says."""
    told = source.kind == "ncu-rep"
    warnings = source.warnings
    replay = next((text.removeprefix(_REPLAY) for text in warnings if text.startswith(_REPLAY)), None)
    return Collection(
        ncu=source.ncu_version,
        clocks=_control(warnings, "clock", "free", "controlled" if told else None),
        caches=_control(warnings, "cache", "kept", "flushed" if told else None),
        replay=replay or ("kernel" if told else None),
    )


def _control(warnings: tuple[str, ...], what: str, off: str, default: str | None) -> str | None:
    sign = _CONTROL.format(what)
    return off if any(text.startswith(sign) for text in warnings) else default


def _state(found: list[Finding], collections: list[Collection]) -> State:
    durations = tuple(
        finding.duration_ns for finding in found if finding.duration_ns is not None and finding.duration_ns > 0
    )
    limiters = Counter(finding.diagnosis.limiter for finding in found).most_common()
    shares = _shares(found)
    # The launch that stands for all: of those with the answer that most of the time has, the one nearest the median.
    speaks = max(shares, key=lambda limiter: (shares[limiter], dict(limiters)[limiter]))
    candidates = [finding for finding in found if finding.diagnosis.limiter == speaks]
    middle = median(durations) if durations else 0.0
    shown = min(candidates, key=lambda finding: abs((finding.duration_ns or 0.0) - middle))
    diagnosis = shown.diagnosis
    facts = {
        name: fact.quantity.value
        for name, fact in diagnosis.facts.items()
        if fact.quantity is not None and fact.low == fact.high
    }
    executed = quantities.instructions(shown.kernel)
    if executed is not None:
        facts["instructions"] = executed
    for name in SPILLS:
        known = [fact for one in found if (fact := one.diagnosis.facts.get(name)) and fact.quantity is not None]
        if known:
            facts[name] = max(fact.low for fact in known)
    return State(
        kernel=replace(shown.kernel, metrics={}, lines=()),
        collection=collections[shown.source],
        durations=durations,
        launches=len(found),
        limiter=diagnosis.limiter,
        title=diagnosis.title,
        family=diagnosis.family,
        confidence=diagnosis.confidence,
        near=diagnosis.near,
        summary=diagnosis.summary,
        limiters=tuple(limiters),
        beside=_beside(found, shares, speaks),
        contributors=tuple(item.limiter for item in diagnosis.contributors),
        evidence=tuple(item.fact for item in diagnosis.evidence if item.fact in facts),
        facts=facts,
        # Source lines are looked up for one launch of a kernel only.
        lines=next((one.diagnosis.lines for one in (shown, *candidates) if one.diagnosis.lines), ()),
        fix=diagnosis.fixes[0].text if diagnosis.fixes else "",
    )


def _shares(found: list[Finding]) -> dict[str | None, float]:
    """Percent of the time that each answer holds for; of the launches where one of them was not timed."""
    timed = all(finding.duration_ns is not None and finding.duration_ns > 0 for finding in found)
    weights = [(finding.duration_ns or 0.0) if timed else 1.0 for finding in found]
    whole = sum(weights)
    shares: dict[str | None, float] = {}
    for finding, weight in zip(found, weights, strict=True):
        limiter = finding.diagnosis.limiter
        shares[limiter] = shares.get(limiter, 0.0) + 100 * weight / whole
    return shares


def _beside(
    found: list[Finding], shares: dict[str | None, float], speaks: str | None
) -> tuple[tuple[str | None, float], ...]:
    """The other answers that count. One that is never surer than ``low`` does not: launches that lie near a threshold
    fall on both sides of it from run to run."""
    answers = [one.diagnosis for one in found]
    sure = {answer.limiter for answer in answers if answer.limiter is None or answer.confidence != "low"}
    others = [(limiter, share) for limiter, share in shares.items() if limiter != speaks and limiter in sure]
    return tuple(sorted((one for one in others if one[1] >= _LITTLE), key=lambda one: -one[1]))
