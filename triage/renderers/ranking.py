"""Which kernels come first: repeated launches folded into groups, ordered by time or by what a fix could save."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median

from triage.amdahl import Headroom, headroom
from triage.model import Finding, Report


@dataclass(frozen=True, slots=True)
class Group:
    """Launches of one kernel with one shape and one limiter.

    ``places`` are their positions in ``Report.findings`` (the page's ``#k`` fragments), ``shown`` the launch
    whose duration is nearest the median: it stands for all. ``duration_ns`` and ``share`` are sums (``None``
    when no launch was timed), ``shortest`` and ``longest`` the spread of one launch in ns. ``weight`` is what ranks
    it: its share where a survey measured the program, else its duration.
    """

    findings: tuple[Finding, ...]
    places: tuple[int, ...]
    shown: Finding
    place: int
    duration_ns: float | None
    share: float | None
    shortest: float | None
    longest: float | None
    weight: float | None

    @property
    def saving_ns(self) -> float | None:
        """Time that removing the limiter could save, over all launches, in ns; ``None`` where it is not bounded."""
        return self._saved(self.duration_ns)

    @property
    def at_stake(self) -> float | None:
        """The part of ``weight`` that removing the limiter could save; all of it where that is not bounded."""
        saved = self._saved(self.weight)
        return self.weight if saved is None else saved

    @property
    def headroom(self) -> Headroom | None:
        """What removing the limiter from all these launches means for the time that shares are of."""
        bound = self.shown.diagnosis.bound
        return headroom(self.share, bound.speedup if bound is not None else None)

    def _saved(self, whole: float | None) -> float | None:
        bound = self.shown.diagnosis.bound
        if whole is None or bound is None or bound.speedup is None or bound.speedup < 1:
            return None
        return whole * (1 - 1 / bound.speedup)


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
    """Most of the time first; what was not timed keeps its order at the end."""
    return tuple(sorted(folded, key=lambda group: _known(group.weight) or -1.0, reverse=True))


def by_saving(folded: tuple[Group, ...]) -> tuple[Group, ...]:
    """Most time to win back first. Where the gain is not bounded the whole time is at stake, so it counts in full."""

    def at_stake(group: Group) -> float:
        known = group.at_stake
        return -1.0 if known is None else known

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
    duration, share = sum(timed) if timed else None, sum(shares) if shares else None
    return Group(
        findings=findings,
        places=places,
        shown=findings[position],
        place=places[position],
        duration_ns=duration,
        share=share,
        shortest=min(timed) if timed else None,
        longest=max(timed) if timed else None,
        weight=share if report.surveyed else duration,
    )


def _known(value: float | None) -> float | None:
    """A number that can be summed and sorted, or ``None``."""
    return value if value is not None and math.isfinite(value) else None
