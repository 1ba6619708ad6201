"""Evidence in words: what is not known is left out of the sentence and named behind it."""

from __future__ import annotations

from typing import Any

import pytest

from triage.diagnosis.wording import filled
from triage.facts import FactSet
from triage.rules import default_rulebook

RULES = default_rulebook()
WASTE = (
    "The accesses touch {theoretical_waste} times the sectors their bytes need ({load_sectors_per_request} a load, "
    "{store_sectors_per_request} a store); the busiest memory unit runs at {memory_pct}."
)
LOADS = {"load_sectors_per_request": 16.5, "store_sectors_per_request": 32.0}
STALLS = (
    "{stall_fixed_pct} of the stalled warp time waits for fixed-latency results; schedulers issue {issue_active} an "
    "active cycle with {occupancy_pct} occupancy."
)


def said(template: str, **given: float) -> str:
    return filled(template, FactSet(RULES, {}, "9.0", given=given))


@pytest.mark.parametrize(
    ("template", "given", "expected"),
    [
        (
            WASTE,
            {**LOADS, "theoretical_waste": 4.0, "memory_pct": 96.0},
            "The accesses touch 4 times the sectors their bytes need (16.5 sectors a load, 32 sectors a store); the "
            "busiest memory unit runs at 96.0 %.",
        ),
        (
            WASTE,
            {**LOADS, "memory_pct": 96.0},
            "16.5 sectors a load, 32 sectors a store; the busiest memory unit runs at 96.0 %. "
            f"Not known: {RULES.facts['theoretical_waste'].label}.",
        ),
        (
            STALLS,
            {"issue_active": 0.25},
            "Schedulers issue 0.250 inst/cycle an active cycle. Not known: "
            f"{RULES.facts['stall_fixed_pct'].label}; {RULES.facts['occupancy_pct'].label}.",
        ),
        ("{waves} waves.", {}, f"Not known: {RULES.facts['waves'].label}."),
        ("Busiest unit: {compute_pct}; waves: {waves}", {"waves": 2.0}, "Busiest unit: not collected; waves: 2"),
        ("One {waves}. Two {lanes_active}.", {"waves": 2.0}, f"One 2. Not known: {RULES.facts['lanes_active'].label}."),
    ],
)
def test_a_clause_without_its_fact_is_left_out(template: str, given: dict[str, Any], expected: str) -> None:
    assert said(template, **given) == expected


def test_no_evidence_of_a_rule_says_that_something_takes_not_collected() -> None:
    for limiter in RULES.limiters.values():
        text = said(limiter.evidence)
        assert "not collected" not in text and "{" not in text and text.endswith(".")
