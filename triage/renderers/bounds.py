"""How much of a large report a person gets to see, and what every format says about the rest.

A report may hold twenty thousand kernels: a page or a log of all of them is of no use to anybody. What is left out is
always counted, with the way to it; JSON has everything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from triage import quantities
from triage.model import Hint, Report, Source
from triage.renderers import ranking, wording
from triage.renderers.ranking import Group

#: Files that are named one by one.
SOURCES = 20
#: Warnings about a report and its files.
WARNINGS = 30
#: Hints of one kind.
HINTS = 8
#: From so many files on, a warning that they share is said once.
_SHARED = 4


def shown(ranked: Sequence[Group], limit: int, longest: int = 0) -> tuple[Group, ...]:
    """The first ``limit`` groups in their order, and of the others the ``longest`` ones that belong to a picture of
    the time."""
    if len(ranked) <= limit:
        return tuple(ranked)
    wanted = {group.place for group in ranked[:limit]}
    wanted |= {group.place for group in ranking.by_time(tuple(ranked))[:longest]}
    return tuple(group for group in ranked if group.place in wanted)


def left_out(ranked: Sequence[Group], listed: Sequence[Group]) -> str:
    """What is not listed, as a sentence; empty where everything is."""
    left = len(ranked) - len(listed)
    if not left:
        return ""
    there = {group.place for group in listed}
    rest = [group.share for group in ranked if group.place not in there]
    known = [share for share in rest if share is not None]
    of = f", {quantities.whole_percent(sum(known))} of the time together," if known else ""
    verb = "is" if left == 1 else "are"
    return (
        f"{wording.count(left, 'more kernel')}{of} {verb} left out here: "
        "--kernel GLOB chooses kernels by name, -f json holds all."
    )


def hints(report: Report) -> tuple[tuple[Hint, ...], str]:
    """The hints to show, most worth of each kind first, and a sentence about the others."""
    seen: Counter[str] = Counter()
    kept = []
    for hint in report.hints:
        seen[hint.kind] += 1
        if seen[hint.kind] <= HINTS:
            kept.append(hint)
    left = len(report.hints) - len(kept)
    text = f"{wording.count(left, 'more hint')} of these kinds left out here: -f json holds all." if left else ""
    return tuple(kept), text


def sources(report: Report) -> tuple[tuple[Source, ...], str]:
    """The files to name, and a sentence about the others."""
    rest = report.sources[SOURCES:]
    if not rest:
        return report.sources, ""
    launches = sum(source.kernels for source in rest)
    text = f"{wording.count(len(rest), 'more file')} with {wording.count(launches, 'kernel launch', 'es')}"
    return report.sources[:SOURCES], text


def warnings(report: Report) -> tuple[str, ...]:
    """Warnings about the report and its files, those that many files share once, and at last how many are left out."""
    carried: dict[str, list[Source]] = {}
    for source in report.sources:
        for text in dict.fromkeys(source.warnings):
            carried.setdefault(text, []).append(source)
    told = list(report.warnings)
    for text, files in carried.items():
        if len(report.sources) == 1:
            told.append(text)
        elif len(files) < _SHARED:
            told += [f"{wording.file_name(source.path)}: {text}" for source in files]
        else:
            which = "all" if len(files) == len(report.sources) else f"{len(files):,} of {len(report.sources):,}"
            told.append(f"{which} files: {text}")
    told = list(dict.fromkeys(told))
    left = len(told) - WARNINGS
    return (*told[:WARNINGS], f"{wording.count(left, 'more warning')}: -f json holds all") if left > 0 else tuple(told)
