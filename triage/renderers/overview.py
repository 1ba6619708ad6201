"""What a page says before its kernels: where the time goes, how the list is ordered, what holds across kernels."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from triage import quantities
from triage.magnitude import plausible
from triage.model import Quantity, Report
from triage.renderers import bounds, wording
from triage.renderers.escape import shorten
from triage.renderers.page import FAMILIES, family
from triage.renderers.ranking import Group

# Rows that a hint names one by one; of more it only says how many.
_HINT_ROWS = 12


def title(report: Report) -> str:
    """The document's title: what was read, and how many kernels."""
    names = ", ".join(wording.file_name(source.path) for source in report.sources[:3])
    return shorten(f"{names or 'triage'}: {wording.count(len(report.findings), 'kernel')}", 120)


def second_sentence(report: Report, ranked: Sequence[Group]) -> str:
    """What the headline leaves out: all time together, the kernel with most to win back, how many are undecided."""
    if not ranked:
        return ""
    known = [group.duration_ns for group in ranked if group.duration_ns is not None]
    parts = []
    if known and len(report.findings) > 1:
        parts.append(f"{len(report.findings):,} launches took {quantities.duration(sum(known))} in all.")
    bounded = [group for group in ranked if group.saving_ns is not None]
    if bounded and len(ranked) > 1:
        most = max(bounded, key=lambda group: group.at_stake or 0.0)
        name = shorten(wording.short_name(most.shown.kernel, ranked), 100)
        parts.append(
            f"Most to win back where it can be bounded: {name}, at most {quantities.duration(most.saving_ns)} "
            f"of {quantities.duration(most.duration_ns)}."
        )
    parts.append(wording.undecided(report))
    return " ".join(part for part in parts if part)


def ranking_note(report: Report, ranked: Sequence[Group], listed: Sequence[Group]) -> str:
    """How the list is ordered, and what was folded."""
    if len(ranked) == 1:
        order = "One kernel." if len(report.findings) == 1 else "One kernel, launched more than once."
    elif any(group.saving_ns is not None for group in ranked):
        order = (
            "Most time at stake first: the time that removing the limiter could save at most, or the whole time "
            "where that has no bound."
        )
    else:
        order = "Longest first."
    folded = len(report.findings) - len(ranked)
    if folded:
        rows = (
            "one row" if len(ranked) == 1 else f"{len(ranked):,} {'rows' if len(listed) == len(ranked) else 'kernels'}"
        )
        order += f" {len(report.findings):,} launches are folded into {rows}: same kernel, same shape, same limiter."
    return order


def families(report: Report) -> tuple[tuple[str, str], ...]:
    """The families that occur, in a fixed order, for the legend."""
    present = {family(finding.diagnosis) for finding in report.findings}
    return tuple((name, words) for name, words in FAMILIES.items() if name in present)


def report_warnings(report: Report, common: Iterable[str]) -> tuple[str, ...]:
    """Warnings about the report, its files, and those that every kernel carries."""
    return tuple(dict.fromkeys((*bounds.warnings(report), *(f"All kernels: {text}" for text in common))))


def hints(report: Report, listed: Sequence[Group]) -> tuple[tuple[str, tuple[tuple[int, int], ...]], ...]:
    """What several kernels together show, each with the rows (rank, place) it is about; many rows are not listed."""
    ranks = {place: (rank, group.place) for rank, group in enumerate(listed, 1) for place in group.places}
    kept, left = bounds.hints(report)
    made: list[tuple[str, tuple[tuple[int, int], ...]]] = []
    for hint in kept:
        rows = dict.fromkeys(ranks[place] for place in hint.kernels if place in ranks)
        made.append((hint.text, tuple(sorted(rows)) if len(rows) <= _HINT_ROWS else ()))
    return (*made, (left, ())) if left else tuple(made)


def how_measured(report: Report) -> str:
    """The clocks that the kernels ran at and the passes they took, as one sentence; empty where nothing is known."""
    parts = []
    for fact, words in (("sm_frequency", "SM clock"), ("dram_frequency", "memory clock")):
        found = [
            known.quantity.value
            for finding in report.findings
            if (known := finding.diagnosis.facts.get(fact)) is not None and known.quantity is not None
        ]
        if found := [value for value in found if math.isfinite(value) and value > 0]:
            low, high = (quantities.quantity(value, "hz") for value in (min(found), max(found)))
            parts.append(f"{words} {low}" if low == high else f"{words} {low} to {high}")
    passes = [
        metric.value
        for finding in report.findings
        if isinstance(metric := finding.kernel.metrics.get("profiler__replayer_passes"), Quantity)
        and plausible(metric.value)
    ]
    if passes:
        low, high = f"{min(passes):.0f}", f"{max(passes):.0f}"
        word = "pass" if high == "1" else "passes"
        parts.append(f"{low if low == high else f'{low} to {high}'} {word} a kernel")
    return f"Measured with {', '.join(parts)}." if parts else ""
