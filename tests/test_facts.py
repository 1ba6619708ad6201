"""Facts: alternatives in order, bounds from roll-ups, contradictions, and that the unknown stays unknown."""

from __future__ import annotations

import math

import pytest
from captures import labelled
from hypothesis import given
from hypothesis import strategies as st

from triage.facts import FactSet
from triage.model import Quantity, Verdict
from triage.rules import default_rulebook
from triage.rules.conditions import AllOf, AnyOf, Comparison, Not, Threshold

RULES = default_rulebook()
E = ".avg.pct_of_peak_sustained_elapsed"


def facts(cc: str | None = "9.0", **metrics: float) -> FactSet:
    return FactSet(RULES, {name.replace("__dot__", "."): Quantity(v) for name, v in metrics.items()}, cc)


def of(metrics: dict[str, float], cc: str | None = "9.0") -> FactSet:
    return FactSet(RULES, {name: Quantity(value) for name, value in metrics.items()}, cc)


def test_a_roll_up_bounds_its_constituents() -> None:
    low = of({"gpu__compute_memory_throughput" + E: 52})
    assert low.interval("dram_pct") == (0, 52)
    assert low.interval("l2_in_pct")[1] == 52
    assert RULES.limiters["dram-bandwidth"].when.judge(low) is Verdict.CLEAR
    assert (
        RULES.limiters["dram-bandwidth"].when.judge(of({"gpu__compute_memory_throughput" + E: 82})) is Verdict.UNKNOWN
    )


def test_a_roll_up_is_the_largest_of_its_constituents_and_says_what_is_missing() -> None:
    units = {
        "dram__cycles_active" + E: 70.0, "lts__xbar2lts_cycles_active" + E: 40.0,
        "lts__lts2xbar_cycles_active" + E: 30.0, "lts__t_sectors" + E: 20.0,
        "l1tex__data_pipe_lsu_wavefronts" + E: 10.0, "sm__inst_executed_pipe_lsu" + E: 5.0,
    }  # fmt: skip
    assert of(units).value("memory_pct") == 70
    del units["lts__t_sectors" + E]
    partial = of(units).fact("l2_pct")
    assert (partial.low, partial.high, partial.quantity) == (40, math.inf, Quantity(40, "%"))
    assert partial.missing == ("lts__t_sectors" + E,)
    assert "not every constituent" in partial.how


def test_two_equal_roll_ups_are_one_unit() -> None:
    same = of({"sm__throughput" + E: 97.0, "gpu__compute_memory_throughput" + E: 97.1,
               "l1tex__data_pipe_lsu_wavefronts" + E: 97.0})  # fmt: skip
    assert same.value("lsu_wavefronts_per_instruction") == 1


def test_stall_shares_come_from_counts_else_from_enough_samples() -> None:
    samples = {f"smsp__pcsamp_warps_issue_stalled_{name}": 10.0 for name in ("selected", "not_selected")}
    samples |= {"smsp__pcsamp_sample_count": 1020.0, "smsp__pcsamp_warps_issue_stalled_barrier": 500.0}
    assert of(samples).value("stall_barrier_pct") == 50
    few = samples | {"smsp__pcsamp_sample_count": 110.0}
    assert of(few).value("stall_barrier_pct") is None


def test_a_stall_that_was_not_collected_is_bounded_by_what_is_left() -> None:
    ratio = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"
    known = of({"smsp__average_warp_latency_per_inst_issued.ratio": 11.0, ratio.format("selected"): 1.0,
                ratio.format("not_selected"): 0.0, ratio.format("long_scoreboard"): 8.0})  # fmt: skip
    assert known.value("stall_long_scoreboard_pct") == 80
    assert known.interval("stall_barrier_pct")[1] == pytest.approx(20)
    assert RULES.limiters["barrier"].when.judge(known) is Verdict.CLEAR


def test_sectors_per_request_of_no_loads_says_so() -> None:
    none = of(
        {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": 0, "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": 0}
    )
    assert none.value("load_sectors_per_request") == 0
    assert RULES.facts["load_sectors_per_request"].when_nothing == "no global loads"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -3.0, 300.0])
def test_impossible_values_are_left_out_and_told(value: float) -> None:
    strange = of({"dram__cycles_active" + E: value})
    assert strange.value("dram_pct") is None
    assert "dram__cycles_active" + E in strange.doubtful


def test_chips_have_their_own_names() -> None:
    assert "sm__inst_executed_pipe_fp16" + E in of({}, "8.0").missing("pipe_fp16_pct")
    assert "sm__inst_executed_pipe_fma_type_fp16" + E in of({}, "9.0").missing("pipe_fp16_pct")
    assert any(name.startswith("syslts__") for name in of({}, "12.0").missing("host_share_pct"))
    assert of({"sm__sol_pct": 40.0}, "6.1").value("sm_throughput_pct") == 40


def test_launch_geometry_stands_in_for_launch_metrics() -> None:
    block = next(entry for entry in labelled() if entry.name == "block_33")
    metrics = {name: value for name, value in block.metrics.items() if name != "launch__block_size"}
    assert FactSet(RULES, metrics, "9.0").value("lanes_launched") is None
    from triage.facts import of_kernel

    assert of_kernel(block.kernel, RULES).value("lanes_launched") == 16.5


class Known:
    def __init__(self, **intervals: tuple[float, float]) -> None:
        self.intervals = intervals

    def interval(self, fact: str) -> tuple[float, float]:
        return self.intervals[fact]


@given(
    st.sampled_from(["at_least", "above", "below", "at_most"]),
    st.floats(0, 100), st.floats(0, 100), st.floats(0, 100), st.floats(0, 1),
)  # fmt: skip
def test_an_interval_decides_only_what_every_value_in_it_decides(
    op: str, limit: float, a: float, b: float, u: float
) -> None:
    low, high = min(a, b), max(a, b)
    point = min(high, low + u * (high - low))
    node = Comparison("x", op, Threshold(limit))
    verdict = node.judge(Known(x=(low, high)))
    if verdict is not Verdict.UNKNOWN:
        assert node.judge(Known(x=(point, point))) is verdict
    assert node.judge(Known(x=(point, point))) is not Verdict.UNKNOWN


def test_three_valued_logic() -> None:
    yes, no, what = (Comparison(name, "at_least", Threshold(1)) for name in ("yes", "no", "what"))
    known = Known(yes=(2, 2), no=(0, 0), what=(0, 2))
    assert AllOf((yes, what)).judge(known) is Verdict.UNKNOWN
    assert AllOf((no, what)).judge(known) is Verdict.CLEAR
    assert AnyOf((no, what)).judge(known) is Verdict.UNKNOWN
    assert AnyOf((yes, what)).judge(known) is Verdict.FIRES
    assert Not(what).judge(known) is Verdict.UNKNOWN
    assert Not(no).judge(known) is Verdict.FIRES


def test_no_shared_memory_means_no_conflicts_whatever_they_are_computed_from() -> None:
    """One minus nothing over nothing is not all."""
    none = of({"memory_l1_wavefronts_shared": 0, "memory_l1_wavefronts_shared_ideal": 0})
    assert none.value("shared_conflict_pct") == 0
    assert of({"sm__cycles_active.avg": 0, "sm__cycles_active.max": 0}).value("sm_spread_pct") == 0
