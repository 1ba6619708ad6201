"""From a set, rules and a chip to what is collected."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from triage.errors import FaultyRules
from triage.ncu.chip import Chip
from triage.ncu.plan import STALL_GROUP, SURVEY_METRIC, plan
from triage.ncu.sets import MetricSet, Wanted, load_sets


@dataclass(frozen=True)
class Need:
    fact: str
    alternatives: tuple[tuple[str, ...], ...]


RULES = MetricSet("triage", "", "", from_rules=True, place="sets.yaml:1")
CHIP = Chip(
    "X", frozenset(["gpu__time_duration", "dram__bytes_read", "dram__bytes_write", "a__x", "b__x", STALL_GROUP])
)


def test_the_first_alternative_that_the_chip_has_in_full_wins() -> None:
    needs = [
        Need("bytes", (("dram__bytes_op_read.sum",), ("dram__bytes_read.sum", "dram__bytes_write.sum"), ("a__x",)))
    ]
    made = plan(RULES, needs, CHIP)
    assert made.metrics == (SURVEY_METRIC, "dram__bytes_read.sum", "dram__bytes_write.sum") and not made.absent


def test_what_the_chip_lacks_is_left_out_and_named() -> None:
    made = plan(RULES, [Need("misspelt", (("a__y.sum",),)), Need("ok", (("a__x.sum",),))], CHIP)
    assert made.metrics == (SURVEY_METRIC, "a__x.sum")
    (absent,) = made.absent
    assert str(absent) == "a__y.sum (for fact misspelt) (did you mean 'a__x'?)"


def test_no_metric_is_asked_for_twice_and_free_ones_not_at_all() -> None:
    needs = [Need("one", (("a__x.sum", "launch__grid_size"),)), Need("two", (("a__x.sum",),))]
    assert plan(RULES, needs, CHIP, ["a__x.sum", "b__x.avg"]).metrics == (SURVEY_METRIC, "a__x.sum", "b__x.avg")


def test_sampled_stalls_are_asked_for_as_their_group() -> None:
    needs = [Need("s", (("smsp__pcsamp_warps_issue_stalled_wait", "smsp__pcsamp_warps_issue_stalled_drain"),))]
    known = Chip(
        "X", CHIP.metrics | {"smsp__pcsamp_warps_issue_stalled_wait", "smsp__pcsamp_warps_issue_stalled_drain"}
    )
    assert plan(RULES, needs, known).metrics == (SURVEY_METRIC, STALL_GROUP)
    without = Chip("X", known.metrics - {STALL_GROUP})
    assert "smsp__pcsamp_warps_issue_stalled_wait" in plan(RULES, needs, without).metrics


def test_alternatives_of_a_set_entry() -> None:
    mine = MetricSet("m", "", "", metrics=(Wanted(("zzz__q.sum", "a__x.sum"), "f:3"), Wanted(("zzz__r.sum",), "f:4")))
    made = plan(mine, [Need("ignored", (("b__x.sum",),))], CHIP)
    assert made.metrics == (SURVEY_METRIC, "a__x.sum")
    assert [one.asked_by for one in made.absent] == ["f:4"]


def test_a_metric_that_ncu_lists_but_refuses_is_explained() -> None:
    known = Chip("X", CHIP.metrics | {"derived__y"})
    (absent,) = plan(RULES, [Need("f", (("a__x.sum",),))], known, ["derived__y"]).absent
    assert "part of a section" in str(absent)


def test_a_set_with_nothing_left_is_an_error_with_its_place() -> None:
    mine = MetricSet("m", "", "", metrics=(Wanted(("zzz__q.sum",), "team.yaml:4"),), place="team.yaml:2")
    with pytest.raises(FaultyRules, match=r"team\.yaml:2: the set 'm' has no metric"):
        plan(mine, [], CHIP)


def test_an_unknown_chip_takes_everything() -> None:
    made = plan(RULES, [Need("f", (("x__y.sum",), ("z__y.sum",)))], Chip())
    assert made.metrics == (SURVEY_METRIC, "x__y.sum")


def test_the_full_set_is_ncus_own() -> None:
    made = plan(load_sets()["full"], [], CHIP)
    assert made.ncu_set == "full" and made.metrics == (SURVEY_METRIC,)


def test_the_triage_set_of_the_rules_asks_for_constituents_and_samples() -> None:
    from triage.rules import default_rulebook, needed

    made = plan(load_sets()["triage"], needed(default_rulebook()), Chip())
    assert not [metric for metric in made.metrics if metric.startswith(("sm__throughput", "lts__throughput"))]
    assert not [metric for metric in made.metrics if "average_warps_issue_stalled" in metric]
    assert STALL_GROUP in made.metrics and 20 < len(made.metrics) < 70
