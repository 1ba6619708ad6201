"""Ranks, processes and devices of one run against each other: which of them is the odd one out.

Work that is the same everywhere should take the same time everywhere. Where at least three places (a file, a process,
a device) launched the same kernel with the same grid and block, the place that differs most is named, with what its
clock and its limiter say about it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import PurePath
from statistics import median

from triage import quantities
from triage.model import Finding, Report

# With two nobody can say which one is odd.
_LEAST = 3
# Repeated launches under the profiler vary by up to 1.5 %; a tenth is a difference worth a sentence, where the others
# agree among themselves four times better.
_SLOWER = 1.10
_AGREE = 4.0
_SHOWN = 3
_NAME = 60

_Place = tuple[int, str | None, str | None]


def odd_ones(report: Report) -> tuple[str, ...]:
    """A sentence for each kernel that one rank or device runs at another speed than the others, worst first."""
    groups: dict[tuple[object, ...], dict[_Place, list[Finding]]] = {}
    for finding in report.findings:
        kernel = finding.kernel
        key = (kernel.name, kernel.launch.grid, kernel.launch.block)
        place = (finding.source, kernel.process, kernel.device.index)
        groups.setdefault(key, {}).setdefault(place, []).append(finding)
    found = [said for places in groups.values() if len(places) >= _LEAST for said in _odd(places, report)]
    found.sort(key=lambda pair: -pair[0])
    texts = [text for _, text in found[:_SHOWN]]
    if len(found) > _SHOWN:
        texts.append(f"{len(found) - _SHOWN} more kernels take another time on one rank or device than on the others")
    return tuple(texts)


def _odd(places: dict[_Place, list[Finding]], report: Report) -> list[tuple[float, str]]:
    """``(time lost or gained in ns, sentence)`` for the place that stands out, if one does."""
    times: dict[_Place, float] = {}
    for place, findings in places.items():
        known = [each.duration_ns for each in findings if each.duration_ns is not None and each.duration_ns > 0]
        if known:
            times[place] = median(known)
    if len(times) < _LEAST:
        return []
    middle = median(times.values())
    odd = max(times, key=lambda place: max(times[place] / middle, middle / times[place]))
    others = [time for place, time in times.items() if place != odd]
    usual = median(others)
    ratio = times[odd] / usual
    apart = max(ratio, 1 / ratio) - 1
    spread = max(max(others) / usual, usual / min(others)) - 1
    if apart < _SLOWER - 1 or apart < _AGREE * spread:
        return []
    first = places[odd][0]
    name = first.kernel.function or first.kernel.name
    name = name if len(name) <= _NAME else f"{name[:_NAME]}..."
    word = "longer" if ratio > 1 else "less"
    text = (
        f"{_place(odd, list(times), report)} is the odd one out: {name} takes {quantities.duration(times[odd])} there "
        f"and {quantities.duration(usual)} on the {len(others)} others ({100 * abs(ratio - 1):.0f} % {word})"
    )
    rest = [each for place, findings in places.items() if place != odd for each in findings]
    text += "".join(_why(places[odd], rest))
    return [(abs(times[odd] - usual) * len(places[odd]), text)]


def _why(odd: Sequence[Finding], others: Sequence[Finding]) -> list[str]:
    """What differs beside the time."""
    said = []
    here, there = _clock(odd), _clock(others)
    if here and there and abs(here / there - 1) > 0.03:
        said.append(f"; its SM clock is {quantities.quantity(here, 'hz')} against {quantities.quantity(there, 'hz')}")
    limiter, usual = _limiter(odd), _limiter(others)
    if limiter != usual:
        said.append(f"; it is limited by {limiter or 'something undecided'}, the others by {usual or 'undecided'}")
    return said


def _clock(findings: Sequence[Finding]) -> float | None:
    facts = [each.diagnosis.facts.get("sm_frequency") for each in findings]
    known = [fact.quantity.value for fact in facts if fact is not None and fact.quantity is not None]
    return median(known) if known else None


def _limiter(findings: Sequence[Finding]) -> str | None:
    return Counter(each.diagnosis.limiter for each in findings).most_common(1)[0][0]


def _place(place: _Place, among: Sequence[_Place], report: Report) -> str:
    """What tells this place from the others: its file, else its process, else its device."""
    source, process, device = place
    if len({each[0] for each in among}) > 1 and source < len(report.sources):
        return PurePath(report.sources[source].path).name
    if len({each[1] for each in among}) > 1 and process:
        return f"process {process}"
    return f"device {device}"
