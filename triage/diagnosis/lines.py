"""The source lines that hold what the named limiter is about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import PurePath

from triage.diagnosis.later import Later
from triage.model import Diagnosis, Finding, Kernel, LineFinding, Report, SourceLine, Step
from triage.rules.rulebook import LimiterDef, Rulebook

# NVIDIA's guide, decision 6: a line that holds more than about 30 % is the place to look; five lines are enough to see
# whether it is one place or many, and below 5 % a line is noise.
SHOWN = 5
LEAST = 5.0
# Excess is what a layout or padding would remove, so the line with the largest excess ranks first.
_IDEAL = {
    "memory_l2_theoretical_sectors_global": "memory_l2_theoretical_sectors_global_ideal",
    "memory_l1_wavefronts_shared": "memory_l1_wavefronts_shared_ideal",
}


def findings(kernel: Kernel, limiter: LimiterDef) -> tuple[LineFinding, ...]:
    """Up to five lines with their share (0 to 100) of the first of the limiter's line metrics that the report holds."""
    for metric in limiter.lines:
        weights = [(line, _weight(line, metric)) for line in kernel.lines]
        total = sum(weight for _, weight in weights)
        if total <= 0:
            continue
        ranked = sorted(weights, key=lambda pair: (-pair[1], pair[0].file, pair[0].line))
        shown = [(line, 100 * weight / total) for line, weight in ranked[:SHOWN] if 100 * weight / total >= LEAST]
        label = f"{metric} beyond the ideal" if metric in _IDEAL else metric
        return tuple(
            LineFinding(line.file, line.line, share, label, line.text, tuple(text for _, text, _ in line.sass[:8]))
            for line, share in shown
        )
    return ()


def wanted(found: Finding, rulebook: Rulebook) -> tuple[str, ...]:
    """The line metrics that the finding's limiter names, with their ideals."""
    limiter = rulebook.limiters.get(found.diagnosis.limiter or "")
    names = limiter.lines if limiter is not None else ()
    return tuple(name for metric in names for name in (metric, _IDEAL.get(metric)) if name)


def _answered(diagnosis: Diagnosis, found: tuple[LineFinding, ...]) -> tuple[Step, ...]:
    """The walk with its question about source lines answered."""
    if not found:
        return tuple(diagnosis.steps)
    shown = ", ".join(f"{PurePath(line.file).name}:{line.line} ({line.share:.0f} %)" for line in found)
    return tuple(
        replace(step, answer=f"{shown} of {found[0].metric}.") if step.id == "lines" else step
        for step in diagnosis.steps
    )


def with_lines(report: Report, rulebook: Rulebook, lines: Mapping[tuple[int, int], tuple[SourceLine, ...]]) -> Report:
    """The same report with source lines; ``lines`` is keyed by (source, kernel index)."""
    found = []
    for finding in report.findings:
        own = lines.get((finding.source, finding.kernel.index), ())
        limiter = rulebook.limiters.get(finding.diagnosis.limiter or "")
        if own and limiter is not None:
            kernel = replace(finding.kernel, lines=own)
            finding = replace(
                finding,
                kernel=kernel,
                diagnosis=replace(
                    finding.diagnosis,
                    lines=findings(kernel, limiter),
                    steps=Later(partial(_answered, finding.diagnosis, findings(kernel, limiter))),
                ),
            )
        found.append(finding)
    return replace(report, findings=tuple(found))


def _weight(line: SourceLine, metric: str) -> float:
    value = line.values.get(metric, 0.0)
    ideal = _IDEAL.get(metric)
    return max(0.0, value - line.values.get(ideal, 0.0)) if ideal else value
