"""Why a case failed: the question, the unknown rivals and the facts that are missing."""

from __future__ import annotations

import pytest
from captures import DATA

from triage.facts import FactSet
from triage.rules import default_rulebook
from triage.rules.cases import failed
from triage.rules.rulebook import WalkCase
from triage.rules.walk import walk

RULES = default_rulebook()
FULL_DRAM = {"dram_pct": 90.0, "l2_pct": 40.0, "l1_pct": 20.0}


def failure(expect: str, facts: dict[str, float], limiter: str = "") -> str:
    return failed(RULES, WalkCase("a case", (expect,), limiter, facts=facts))


def test_a_case_that_holds_says_nothing() -> None:
    assert failure("undecided", {}) == ""


def test_the_question_the_unknown_rivals_and_the_missing_facts() -> None:
    said = failure("dram-bandwidth", FULL_DRAM)
    walked = walk(RULES, FactSet(RULES, {}, given=FULL_DRAM))
    assert walked.candidate is not None
    assert walked.candidate.limiter.id == "dram-bandwidth"
    assert said.startswith("'a case': expected dram-bandwidth, was undecided (at question 'level' dram-bandwidth holds")
    rivals, missing = said.removesuffix(")").split("with unknown rivals: ")[1].split("; missing facts: ")
    assert rivals.split(", ") == list(dict.fromkeys(entry.limiter.id for entry in walked.blockers))
    assert {"uncoalesced-global", "local-memory"} <= set(rivals.split(", "))
    assert "layout_waste" in missing.split(", ")
    assert not set(FULL_DRAM) & set(missing.split(", "))


def test_giving_what_is_missing_settles_the_case() -> None:
    facts = dict(FULL_DRAM)
    for _ in range(12):
        said = failure("dram-bandwidth", facts)
        if not said:
            break
        facts |= dict.fromkeys(said.removesuffix(")").split("missing facts: ")[1].split(", "), 0.0)
    assert said == ""


def test_the_expected_limiter_that_is_unknown_where_nothing_holds() -> None:
    said = failure("shared-latency", {})
    assert "was undecided (no question has an answer that holds; shared-latency at question 'stalls' is unknown" in said
    assert "stall_mio_pct" in said.split("missing facts: ")[1]


@pytest.mark.parametrize(
    ("expect", "reason"),
    [
        ("l1-wavefronts", "l1-wavefronts at question 'level' holds behind it"),
        ("dram-bandwidth", "dram-bandwidth at question 'level' is clear"),
        ("pipe-fp64", "pipe-fp64 at question 'pipes' is not asked: its gate is clear"),
    ],
)
def test_another_limiter_is_named(expect: str, reason: str) -> None:
    case = WalkCase("a case", (expect,), capture=DATA / "limiters_h200.csv", kernel="2")
    assert failed(RULES, case) == (
        f"'a case': expected {expect}, was bank-conflicts (named at question 'mechanism'; {reason})"
    )


def test_one_rule_alone() -> None:
    assert failure("fires", {}, "barrier") == (
        "'a case': expected fires, was unknown (missing facts: stall_barrier_pct)"
    )
    assert failure("fires", {"stall_barrier_pct": 1.0}, "barrier") == "'a case': expected fires, was clear"
