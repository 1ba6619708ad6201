"""Which kernels come first: repeated launches folded into groups, ordered by time or by what a fix could save."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median

from triage.model import Finding, Report


@dataclass(frozen=True, slots=True)
class Group:
    """Launches of one kernel with one shape and one limiter.

    ``places`` are their positions in ``Report.findings`` (the page's ``#k`` fragments), ``shown`` the launch
    whose duration is nearest the median: it stands for all. ``duration_ns`` and ``share`` are sums (``None``
    when no launch was timed), ``shortest`` and ``longest`` the spread of one launch in ns.
    """

    findings: tuple[Finding, ...]
    places: tuple[int, ...]
    shown: Finding
    place: int
    duration_ns: float | None
    share: float | None
    shortest: float | None
    longest: float | None

    @property
    def saving_ns(self) -> float | None:
        """Time that removing the limiter could save, over all launches, in ns; ``None`` where it is not bounded."""
        bound = self.shown.diagnosis.bound
        if self.duration_ns is None or bound is None or bound.speedup is None or bound.speedup < 1:
            return None
        return self.duration_ns * (1 - 1 / bound.speedup)


def groups(report: Report) -> tuple[Group, ...]:
    """The findings folded by file, GPU, kernel name, grid, block and limiter, in order of first appearance."""
    members: dict[tuple[object, ...], list[int]] = {}
    for place, finding in enumerate(report.findings):
        kernel = finding.kernel
        key = (
            finding.source,
            kernel.device,
            kernel.name,
            kernel.launch.grid,
            kernel.launch.block,
            finding.diagnosis.limiter,
        )
        members.setdefault(key, []).append(place)
    return tuple(_group(report, tuple(places)) for places in members.values())


def by_time(folded: tuple[Group, ...]) -> tuple[Group, ...]:
    """Longest total time first; what was not timed keeps its order at the end."""
    return tuple(sorted(folded, key=lambda group: _known(group.duration_ns) or -1.0, reverse=True))


def by_saving(folded: tuple[Group, ...]) -> tuple[Group, ...]:
    """Most time to win back first. Where the gain is not bounded the whole time is at stake, so it counts in full."""

    def at_stake(group: Group) -> float:
        if group.duration_ns is None:
            return -1.0
        saving = group.saving_ns
        return group.duration_ns if saving is None else saving

    return tuple(sorted(folded, key=at_stake, reverse=True))


def _group(report: Report, places: tuple[int, ...]) -> Group:
    findings = tuple(report.findings[place] for place in places)
    timed = [duration for finding in findings if (duration := _known(finding.duration_ns)) is not None]
    shares = [share for finding in findings if (share := _known(finding.share)) is not None]
    position = 0
    if timed:
        middle = median(timed)
        durations = [_known(finding.duration_ns) for finding in findings]
        distances = [math.inf if duration is None else abs(duration - middle) for duration in durations]
        position = distances.index(min(distances))
    return Group(
        findings=findings,
        places=places,
        shown=findings[position],
        place=places[position],
        duration_ns=sum(timed) if timed else None,
        share=sum(shares) if shares else None,
        shortest=min(timed) if timed else None,
        longest=max(timed) if timed else None,
    )


def _known(value: float | None) -> float | None:
    """A number that can be summed and sorted, or ``None``."""
    return value if value is not None and math.isfinite(value) else None
