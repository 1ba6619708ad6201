"""``--launches A-B``: which launches of each kernel take part."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace

from triage.choosing import matches, unmatched
from triage.errors import UsageError
from triage.model import Report
from triage.numerals import whole

_RANGE = re.compile(r"([0-9]+)(?:(-)([0-9]+)?)?")


@dataclass(frozen=True, slots=True)
class Launches:
    """The launches ``first`` to ``last`` (0-based, both included) of each kernel; ``last`` is ``None`` for all on."""

    first: int = 0
    last: int | None = None

    def holds(self, ordinal: int) -> bool:
        """Whether the launch with this 0-based number among its likes takes part."""
        return ordinal >= self.first and (self.last is None or ordinal <= self.last)


def parse(text: str | None) -> tuple[Launches, Launches]:
    """Base and head of ``A-B``, ``A``, ``A-``, or ``BASE:HEAD`` of such. Raises :class:`UsageError`."""
    if not text:
        return Launches(), Launches()
    parts = text.split(":")
    if len(parts) > 2:
        raise UsageError(f"--launches {text} has more than two parts", "write 0-4 for both sides, or 0-4:5-9")
    chosen = [_one(part, text) for part in parts]
    return chosen[0], chosen[-1]


def _one(part: str, asked: str) -> Launches:
    found = _RANGE.fullmatch(part.strip())
    first, last = (whole(found[1]), whole(found[3] or found[1])) if found is not None else (None, None)
    if found is None or first is None or last is None:
        raise UsageError(f"--launches {asked} is no range", "write 0-4 for both sides, or 0-4:5-9 for base and head")
    if found[2] and not found[3]:
        return Launches(first)
    if last < first:
        raise UsageError(f"--launches {asked} ends before it begins", "write the smaller number first")
    return Launches(first, last)


def select(report: Report, launches: Launches, kernel: str | None = None) -> Report:
    """The report with those launches of each kernel (same name, grid, block, NVTX range), and only the kernels whose
    bare or full name matches the glob ``kernel``. Raises :class:`UsageError` where nothing is left."""
    seen: Counter[tuple[object, ...]] = Counter()
    kept = []
    for finding in report.findings:
        one = finding.kernel
        key = (one.name, one.launch.grid, one.launch.block, one.nvtx, one.device.name)
        if launches.holds(seen[key]) and matches(one, kernel):
            kept.append(finding)
        seen[key] += 1
    if not kept and report.findings:
        what = f"kernel {kernel!r}" if kernel else f"launch {launches.first} of any kernel"
        raise unmatched(report, what)
    return replace(report, findings=tuple(kept))
