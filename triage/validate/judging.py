"""A diagnosis beside what is known: one kernel judged."""

from __future__ import annotations

from dataclasses import replace

from triage.model import Finding
from triage.validate.manifest import Calibration
from triage.validate.model import Advice, Judged


def judge(
    entry: Calibration,
    finding: Finding,
    *,
    time_us: float | None = None,
    twin_us: float | None = None,
    advice: Advice | None = None,
    source: str = "",
) -> Judged:
    """What ``finding`` says about the kernel of ``entry``; the walk is kept where the verdict is not right."""
    diagnosis = finding.diagnosis
    found = Judged(
        entry=entry,
        limiter=diagnosis.limiter,
        confidence=diagnosis.confidence,
        summary=diagnosis.summary,
        fix=diagnosis.fixes[0].text if diagnosis.fixes else "",
        bound=diagnosis.bound.speedup if diagnosis.bound else None,
        missing=diagnosis.missing,
        time_us=time_us,
        twin_us=twin_us,
        advice=advice,
        source=source,
    )
    if found.outcome == "right":
        return found
    from triage.explaining import explain

    return replace(found, walk=explain(finding))
