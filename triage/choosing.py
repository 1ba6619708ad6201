"""``--kernel GLOB``: which kernels of a report are shown."""

from __future__ import annotations

from dataclasses import replace
from fnmatch import fnmatchcase

from triage.errors import UsageError
from triage.model import Hint, Kernel, Report


def matches(kernel: Kernel, pattern: str | None) -> bool:
    """Whether the bare name or the whole name matches the glob; no pattern matches everything."""
    return pattern is None or fnmatchcase(kernel.function, pattern) or fnmatchcase(kernel.name, pattern)


def unmatched(report: Report, what: str) -> UsageError:
    """The error where nothing of a report is left; the hint names some of its kernels."""
    known = ", ".join(dict.fromkeys(finding.kernel.function[:60] for finding in report.findings[:20]))
    where = report.sources[0].path if len(report.sources) == 1 else f"{len(report.sources):,} files"
    return UsageError(f"there is no {what} in {where}", f"kernels: {known}")


def narrowed(report: Report, pattern: str | None) -> Report:
    """The report with only those kernels; shares stay those of the whole report, and hints those about no other kernel.
    Raises :class:`UsageError` where none is left."""
    if pattern is None:
        return report
    places = [place for place, finding in enumerate(report.findings) if matches(finding.kernel, pattern)]
    if not places:
        raise unmatched(report, f"kernel {pattern!r}")
    moved = {place: new for new, place in enumerate(places)}
    hints = tuple(
        Hint(hint.kind, hint.text, tuple(moved[place] for place in hint.kernels))
        for hint in report.hints
        if all(place in moved for place in hint.kernels)
    )
    note = (
        f"only kernels named {pattern!r}: {len(places):,} of {len(report.findings):,} launches; shares are of the time "
        "of all"
    )
    findings = tuple(report.findings[place] for place in places)
    return replace(report, findings=findings, hints=hints, warnings=(*report.warnings, note))
