"""Contradictions among the counters of a kernel: found where a value was altered, and nowhere else."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest
from captures import other_gpus
from hypothesis import given
from hypothesis import strategies as st

from triage import diagnose
from triage.diagnosis.consistency import CONTRADICTION, check, read_by
from triage.model import Device, Kernel, Launch, Quantity
from triage.readers import load
from triage.rules import default_rulebook

DATA = Path(__file__).parent / "data"
ELAPSED = "pct_of_peak_sustained_elapsed"
NAMES = read_by(default_rulebook())
INTACT: dict[str, Quantity | str] = {
    "launch__grid_size": Quantity(16384),
    "launch__grid_dim_x": Quantity(128),
    "launch__grid_dim_y": Quantity(128),
    "launch__grid_dim_z": Quantity(1),
    "launch__block_size": Quantity(256, "thread"),
    "launch__thread_count": Quantity(16384 * 256, "thread"),
    "launch__sm_count": Quantity(132),
    "device__attribute_multiprocessor_count": Quantity(132),
    "launch__waves_per_multiprocessor": Quantity(15.52),
    "launch__occupancy_limit_registers": Quantity(8),
    "launch__occupancy_limit_shared_mem": Quantity(32),
    "launch__occupancy_limit_blocks": Quantity(32),
    "launch__occupancy_limit_warps": Quantity(8),
    "gpu__time_duration.sum": Quantity(42000, "ns"),
    "sm__cycles_elapsed.max": Quantity(71400, "cycle"),
    "sm__cycles_elapsed.avg.per_second": Quantity(1.7e9, "hz"),
    "dram__bytes_read.sum": Quantity(67e6, "byte"),
    "dram__bytes_read.sum.per_second": Quantity(1.595e12, "byte/s"),
    "dram__bytes_write.sum": Quantity(40e6, "byte"),
    "dram__bytes_write.sum.per_second": Quantity(0.952e12, "byte/s"),
    f"sm__throughput.avg.{ELAPSED}": Quantity(30, "%"),
    f"breakdown:sm__throughput.avg.{ELAPSED}": f"sm__inst_executed.avg.{ELAPSED}, idc__a.avg.{ELAPSED}",
    f"sm__inst_executed.avg.{ELAPSED}": Quantity(30, "%"),
    f"idc__a.avg.{ELAPSED}": Quantity(4, "%"),
    f"gpu__compute_memory_throughput.avg.{ELAPSED}": Quantity(56, "%"),
    f"lts__t_sectors.avg.{ELAPSED}": Quantity(32, "%"),
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": Quantity(2e6, "sector"),
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": Quantity(5e5),
    "memory_l2_theoretical_sectors_global": Quantity(4e6),
    "memory_l2_theoretical_sectors_global_ideal": Quantity(4e6),
    "smsp__issue_active.avg.per_cycle_active": Quantity(0.25),
    "smsp__issue_active.avg.pct_of_peak_sustained_active": Quantity(25, "%"),
    "sm__cycles_active.min": Quantity(60000, "cycle"),
    "sm__cycles_active.avg": Quantity(64000, "cycle"),
    "sm__cycles_active.max": Quantity(68000, "cycle"),
    "smsp__average_warp_latency_per_inst_issued.ratio": Quantity(40),
    "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio": Quantity(36),
    "smsp__average_warps_issue_stalled_wait_per_issue_active.ratio": Quantity(3),
}


def altered(name: str, value: Quantity | str) -> Kernel:
    return Kernel(0, "k", "k", metrics={**INTACT, name: value})


def test_an_intact_kernel_has_no_doubts() -> None:
    assert check(Kernel(0, "k", "k", metrics=dict(INTACT)), NAMES).warnings == ()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("launch__grid_size", Quantity(1638)),
        ("launch__grid_dim_x", Quantity(129)),
        ("launch__block_size", Quantity(32)),
        ("launch__sm_count", Quantity(192)),
        ("launch__waves_per_multiprocessor", Quantity(0.5)),
        ("gpu__time_duration.sum", Quantity(4200, "ns")),
        ("gpu__time_duration.sum", Quantity(42000, "byte")),
        # The values and units of two columns exchanged.
        (f"lts__t_sectors.avg.{ELAPSED}", Quantity(32, "block")),
        ("sm__cycles_elapsed.max", Quantity(714000, "cycle")),
        ("dram__bytes_read.sum", Quantity(670e6, "byte")),
        (f"sm__throughput.avg.{ELAPSED}", Quantity(80, "%")),
        (f"sm__inst_executed.avg.{ELAPSED}", Quantity(90, "%")),
        (f"lts__t_sectors.avg.{ELAPSED}", Quantity(92, "%")),
        ("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", Quantity(2e9, "sector")),
        ("memory_l2_theoretical_sectors_global_ideal", Quantity(9e6)),
        ("smsp__issue_active.avg.per_cycle_active", Quantity(0.95)),
        ("sm__cycles_active.max", Quantity(6800, "cycle")),
        ("smsp__average_warps_issue_stalled_wait_per_issue_active.ratio", Quantity(300)),
        ("launch__block_size", Quantity(8192)),
        ("launch__waves_per_multiprocessor", Quantity(0)),
        ("launch__sm_count", Quantity(0)),
        ("device__attribute_multiprocessor_count", Quantity(0)),
        # Events and sizes are counted: neither a share nor a rate.
        ("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", Quantity(2e6, "byte/s")),
        ("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", Quantity(5e5, "%")),
        ("sm__cycles_elapsed.max", Quantity(71400, "ns")),
        ("launch__occupancy_limit_warps", Quantity(8, "byte")),
    ],
)
def test_an_altered_value_is_found_and_left_out(name: str, value: Quantity) -> None:
    doubts = check(altered(name, value), NAMES)
    assert name in doubts.doubtful
    (said,) = doubts.warnings
    assert said.startswith(CONTRADICTION) and len(said) > len(CONTRADICTION) + 20
    assert name not in doubts.trusted(altered(name, value)).metrics


def test_what_other_relations_confirm_is_kept() -> None:
    doubts = check(altered("dram__bytes_read.sum", Quantity(670e6, "byte")), NAMES)
    # Cycles and clock vouch for the duration.
    assert "gpu__time_duration.sum" not in doubts.doubtful
    doubts = check(altered("launch__grid_dim_x", Quantity(129)), NAMES)
    assert "launch__grid_size" not in doubts.doubtful


def test_the_launch_of_a_details_page_counts_too() -> None:
    told = Kernel(
        0, "k", "k", launch=Launch(grid=(128, 128, 1)), metrics={"launch__grid_size": Quantity(999)}
    )  # fmt: skip
    assert check(told, NAMES).doubtful == {"launch__grid_size"}
    # Of a range the sizes are those of many launches.
    assert check(replace(told, workload="range"), NAMES).warnings == ()


def test_barriers_bound_the_occupancy_too() -> None:
    barriers = {**INTACT, "launch__occupancy_limit_barriers": Quantity(2)}
    bound = {**barriers, "launch__waves_per_multiprocessor": Quantity(62.06)}
    assert check(Kernel(0, "k", "k", metrics=bound), NAMES).warnings == ()
    (said,) = check(Kernel(0, "k", "k", metrics=barriers), NAMES).warnings
    assert "launch__waves_per_multiprocessor" in said


def test_a_range_may_idle_between_its_launches() -> None:
    metrics = {"gpu__time_duration.sum": Quantity(2e9, "ns"), "sm__cycles_active.max": Quantity(67_621, "cycle")}
    for workload in ("range", "graph"):
        assert check(Kernel(0, "k", "k", metrics=metrics, workload=workload), NAMES).warnings == ()  # type: ignore[arg-type]


def test_two_compute_capabilities_of_one_result_contradict_each_other() -> None:
    attribute = "device__attribute_compute_capability_"
    told = {f"{attribute}major": Quantity(9), f"{attribute}minor": Quantity(0)}
    intact = Kernel(0, "k", "k", device=Device(cc="9.0"), metrics={**INTACT, **told})
    assert check(intact, NAMES).warnings == ()
    (said,) = check(replace(intact, device=Device(cc="7.0")), NAMES).warnings
    assert "the compute capability is 7.0 in one place and 9.0 in another" in said
    assert check(replace(intact, device=Device()), NAMES).warnings == ()


@pytest.mark.parametrize("nanoseconds", [36_352e9, 36_352e3, 6e3])
def test_a_duration_that_no_clock_fits_is_found(nanoseconds: float) -> None:
    """One flipped bit made seconds of nanoseconds, and of the cycles only the active ones had kept their name."""
    metrics = {
        "gpu__time_duration.sum": Quantity(nanoseconds, "ns"),
        "sm__cycles_active.max": Quantity(67_621, "cycle"),
    }
    kernel = Kernel(0, "k", "k", metrics=metrics)
    doubts = check(kernel, NAMES)
    assert "gpu__time_duration.sum" in doubts.doubtful and "no clock is that" in doubts.warnings[0]
    metrics["gpu__time_duration.sum"] = Quantity(36_352, "ns")
    assert check(replace(kernel, metrics=metrics), NAMES).warnings == ()


def test_percentages_that_cannot_be() -> None:
    name = "lts__t_sector_hit_rate.pct"
    assert check(altered(name, Quantity(103.6, "%")), NAMES | {name}).warnings == ()
    assert check(altered(name, Quantity(310.0, "%")), NAMES | {name}).doubtful == {name}
    # A curve over block sizes is called a percentage by ncu.
    curve = "derived__pct_occupancy_per_block_size"
    assert check(altered(curve, Quantity(5280, "%")), NAMES | {curve}).warnings == ()


def test_a_diagnosis_says_so_and_does_not_use_the_value() -> None:
    high = f"lts__t_sectors.avg.{ELAPSED}"
    made = diagnose(altered(high, Quantity(92, "%")))
    assert any(text.startswith(CONTRADICTION) for text in made.warnings)
    assert not any(high in fact.how for fact in made.facts.values() if fact.quantity)


def test_a_part_lost_from_what_ncu_writes_together_is_said() -> None:
    """With whole waves and one occupancy limit gone, a tail was called imbalance, and surely so."""
    name = "launch__occupancy_limit_blocks"
    kernel = altered("gpu__time_duration.sum", Quantity(42000, "ns"))
    rest = replace(kernel, metrics={key: value for key, value in kernel.metrics.items() if key != name})
    assert any(name in text and "damaged" in text for text in diagnose(rest).warnings)
    assert not any("come together" in text for text in diagnose(kernel).warnings)


@pytest.mark.parametrize("value", [math.nan, -5.0, 4000.0])
def test_impossible_values_are_said_and_not_used(value: float) -> None:
    made = diagnose(altered("dram__cycles_active.avg." + ELAPSED, Quantity(value, "%")))
    assert any("impossible" in text or "contradict" in text for text in made.warnings)
    fact = made.facts.get("dram_pct")
    assert fact is None or fact.quantity is None or fact.quantity.value <= 110


@given(st.sampled_from(sorted(INTACT)), st.floats(allow_nan=True, allow_infinity=True) | st.text(max_size=20))
def test_no_value_breaks_the_check(name: str, value: float | str) -> None:
    doubts = check(altered(name, value if isinstance(value, str) else Quantity(value)), NAMES)
    assert len(doubts.warnings) <= 1 and bool(doubts.warnings) == bool(doubts.doubtful)


@pytest.mark.parametrize("name", ["limiters_h200.csv", "limiters_h200_auto.csv", "calibration_h200.csv"])
def test_real_captures_contradict_nothing(name: str) -> None:
    for each in load(DATA / name).kernels:
        assert check(each, NAMES).warnings == ()


def test_other_generations_contradict_nothing() -> None:
    for capture in other_gpus():
        for entry in capture["kernels"]:
            metrics = {
                name: Quantity(v, u or "") for name, (v, u) in entry["metrics"].items() if not isinstance(v, str)
            }
            assert check(Kernel(0, "k", "k", metrics=metrics), NAMES).warnings == (), capture["gpu"]


@pytest.mark.parametrize("workload", ["graph", "range"])
def test_of_many_launches_no_launch_size_is_judged(workload: str) -> None:
    small = {"launch__grid_size": Quantity(1.0), "launch__block_size": Quantity(33.0)}
    one = Kernel(0, "k", "k", Launch((1, 1, 1), (33, 1, 1)), metrics={**INTACT, **small})
    many = replace(one, workload=workload)  # type: ignore[arg-type]
    kept = check(many, NAMES).trusted(many)
    assert kept.launch == Launch() and not any(name.startswith("launch__") for name in kept.metrics)
    assert diagnose(many).limiter not in ("block-shape", "grid-too-small", "tail-wave")
