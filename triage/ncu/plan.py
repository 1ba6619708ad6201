"""Decides what to collect: a set, resolved against the rules in force and the metrics this chip has."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from triage.errors import FaultyRules
from triage.ncu.chip import ALWAYS, Chip
from triage.ncu.sets import MetricSet
from triage.suggest import STRICT, closest

SURVEY_METRIC = "gpu__time_duration.sum"
STALL_GROUP = "group:smsp__pcsamp_warp_stall_reasons"
_STALL = re.compile(r"smsp__pcsamp_warps_issue_stalled_\w+(?<!_not_issued)")


class Needed(Protocol):
    """A fact that the rules ask for, and the groups of metrics that give it (``triage.rules.Need``)."""

    @property
    def fact(self) -> str: ...

    @property
    def alternatives(self) -> tuple[tuple[str, ...], ...]: ...


@dataclass(frozen=True, slots=True)
class Absent:
    """Something asked for that this chip cannot give: the metrics, who asked (a fact, or ``file:line``), and a
    suggestion where a name looks misspelt."""

    metrics: tuple[str, ...]
    asked_by: str
    suggestion: str = ""

    def __str__(self) -> str:
        return f"{' and '.join(self.metrics)} (for {self.asked_by}){self.suggestion}"


@dataclass(frozen=True, slots=True)
class Plan:
    """What one run collects. ``metrics`` go to ``--metrics``, ``sections`` to ``--section``, ``ncu_set`` to ``--set``;
    ``absent`` was asked for and left out."""

    name: str
    metrics: tuple[str, ...] = ()
    sections: tuple[str, ...] = ()
    ncu_set: str | None = None
    absent: tuple[Absent, ...] = ()


def plan(chosen: MetricSet, needs: Iterable[Needed], chip: Chip, extra: Sequence[str] = ()) -> Plan:
    """Resolve ``chosen`` for ``chip``. ``needs`` is what the rules ask for (used by sets with ``from: rules``), in the
    order in which ncu packs it best; ``extra`` are metrics from the command line.

    What the chip lacks is left out and listed in ``absent``. Raises ``FaultyRules`` when nothing is left to collect.
    """
    metrics: dict[str, None] = {SURVEY_METRIC: None}
    absent: list[Absent] = []
    if chosen.from_rules:
        for need in needs:
            _take(need.alternatives, f"fact {need.fact}", chip, metrics, absent)
    for wanted in chosen.metrics:
        _take([(name,) for name in wanted.any_of], wanted.place, chip, metrics, absent)
    for name in extra:
        _take([(name,)], "--metrics", chip, metrics, absent)
    if len(metrics) == 1 and absent and not chosen.sections and chosen.ncu_set is None:
        raise FaultyRules(
            f"{chosen.place}: the set {chosen.name!r} has no metric that this GPU can collect; first: {absent[0]}",
            "ncu --query-metrics lists what it has",
            details=tuple(map(str, absent)),
        )
    asked = tuple(metric for metric in _grouped(metrics, chip) if not metric.startswith(ALWAYS))
    return Plan(chosen.name, asked, chosen.sections, chosen.ncu_set, tuple(absent))


def _grouped(metrics: Iterable[str], chip: Chip) -> dict[str, None]:
    """The sampled stall reasons come from one pass together; asked for as a group they cannot be split, and those
    that no rule reads still count in the total that shares are taken of."""
    if not chip.has(STALL_GROUP):
        return dict.fromkeys(metrics)
    grouped = (STALL_GROUP if _STALL.fullmatch(metric) else metric for metric in metrics)
    return dict.fromkeys(grouped)


def _take(
    alternatives: Iterable[Sequence[str]], asked_by: str, chip: Chip, metrics: dict[str, None], absent: list[Absent]
) -> None:
    groups = [tuple(group) for group in alternatives if group]
    for group in groups:
        if all(chip.has(metric) for metric in group):
            metrics.update(dict.fromkeys(group))
            return
    if groups:
        lacking = tuple(metric for metric in groups[0] if not chip.has(metric))
        base = lacking[0].split(".", 1)[0]
        known = chip.metrics - {base} if len(lacking) == 1 else frozenset[str]()
        why = (
            " (part of a section, ncu does not take it by name)"
            if base in chip.metrics
            else closest(base, known, STRICT)
        )
        absent.append(Absent(lacking, asked_by, why))
