"""The source lines that hold what the named limiter is about."""

from __future__ import annotations

from triage.model import Kernel, LineFinding, SourceLine
from triage.rules.rulebook import LimiterDef

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


def _weight(line: SourceLine, metric: str) -> float:
    value = line.values.get(metric, 0.0)
    ideal = _IDEAL.get(metric)
    return max(0.0, value - line.values.get(ideal, 0.0)) if ideal else value
