"""Launches of one kernel that disagree: which answer speaks for it, which others count, and what gates make of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from triage.compare.model import Snapshot, State
from triage.compare.snapshot import snapshot
from triage.diagnosis.reporting import report
from triage.gates import Config, Gates, check
from triage.model import Finding, Report
from triage.readers import load

from captures import DATA  # isort: skip
from compared import rules  # isort: skip

CAPTURE = report(load(DATA / "limiters_h200.csv"))


def launches(*of: tuple[str, float]) -> Report:
    """Launches of one kernel, each with the answer of a captured kernel and a time in us."""
    first = CAPTURE.findings[0].kernel
    found: list[Finding] = []
    for limiter, time in of:
        one = next(each for each in CAPTURE.findings if (each.diagnosis.limiter or "undecided") == limiter)
        kernel = replace(one.kernel, index=len(found), name="k", function="k", launch=first.launch)
        found.append(replace(one, kernel=kernel, duration_ns=1000 * time))
    return replace(CAPTURE, findings=tuple(found))


def only(made: Report) -> State:
    (found,) = snapshot(made).states
    return found


def doubtful(made: Report, limiter: str) -> Report:
    """The same report with every answer of one kind at low confidence, or without any answer."""
    changed = [
        replace(one, diagnosis=replace(one.diagnosis, confidence="low")) if one.diagnosis.limiter == limiter else one
        for one in made.findings
    ]
    return replace(made, findings=tuple(changed))


def undecided(made: Report, limiter: str) -> Report:
    changed = [
        replace(one, diagnosis=replace(one.diagnosis, limiter=None)) if one.diagnosis.limiter == limiter else one
        for one in made.findings
    ]
    return replace(made, findings=tuple(changed))


ONE_LONG = (("barrier", 1.0), ("barrier", 1.0), ("barrier", 1.0), ("local-memory", 97.0))


def test_the_answer_of_most_of_the_time_speaks() -> None:
    found = only(launches(*ONE_LONG))
    assert found.limiter == "local-memory" and found.launches == 4
    assert found.limiters == (("barrier", 3), ("local-memory", 1))
    # Three per cent of the time are not worth a word.
    assert found.beside == ()


def test_without_times_the_answer_of_most_launches_speaks() -> None:
    made = launches(*ONE_LONG)
    bare = replace(made, findings=tuple(replace(one, duration_ns=None) for one in made.findings))
    assert only(bare).limiter == "barrier"
    assert [limiter for limiter, _ in only(bare).beside] == ["local-memory"]


def test_another_answer_with_a_tenth_of_the_time_counts_unless_it_is_unsure() -> None:
    made = launches(("barrier", 80.0), ("local-memory", 20.0))
    assert only(made).beside == (("local-memory", pytest.approx(20.0)),)
    assert only(doubtful(made, "local-memory")).beside == ()
    assert only(undecided(made, "local-memory")).beside == ((None, pytest.approx(20.0)),)


def test_spills_are_those_of_the_launch_that_spills_most() -> None:
    found = only(launches(("barrier", 99.0), ("local-memory", 1.0)))
    assert found.limiter == "barrier" and found.facts["local_sectors"] > 0


def outcomes(head: Snapshot | Report, gates: Gates) -> dict[str, tuple[str, str]]:
    made = check(head, None, Config(gates=gates), rules())
    return {one.gate: (one.result, one.text) for one in made.outcomes}


def test_a_gate_on_limiters_holds_for_every_launch_that_counts() -> None:
    made = launches(("barrier", 80.0), ("local-memory", 20.0))
    result, text = outcomes(made, Gates(limiters=("barrier",)))["limiters"]
    assert result == "violated"
    assert text.startswith("k: is limited by barrier, by local-memory in 20.0 % of its time; expected is barrier")
    assert outcomes(made, Gates(limiters=("barrier", "local-memory")))["limiters"][0] == "held"
    assert outcomes(made, Gates(limiters=("local-memory",)))["limiters"][0] == "violated"
    assert outcomes(launches(*ONE_LONG), Gates(limiters=("local-memory",)))["limiters"][0] == "held"


def test_what_is_undecided_in_part_cannot_be_judged_and_is_no_decided_kernel() -> None:
    made = undecided(launches(("barrier", 80.0), ("local-memory", 20.0)), "local-memory")
    assert outcomes(made, Gates(limiters=("barrier",)))["limiters"][1].endswith("(cannot be judged)")
    assert outcomes(made, Gates(limiters=("barrier", "undecided")))["limiters"][0] == "held"
    result, text = outcomes(made, Gates(undecided=True))["undecided"]
    assert result == "violated" and "in launches that take 20.0 % of its time" in text
    assert outcomes(launches(("barrier", 1.0)), Gates(undecided=True))["undecided"][0] == "held"


def test_launches_that_agree_have_nothing_beside() -> None:
    assert only(launches(("barrier", 5.0), ("barrier", 9.0))).beside == ()
