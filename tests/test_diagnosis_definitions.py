"""Counters that are one quantity, parts of a whole or quotients by definition: what one altered value breaks."""

from __future__ import annotations

from dataclasses import replace

import pytest

from triage import diagnose
from triage.diagnosis.consistency import CONTRADICTION, check, read_by, wanted
from triage.diagnosis.definitions import rolled_up
from triage.model import Kernel, Quantity
from triage.rules import default_rulebook

NAMES = read_by(default_rulebook())
ELAPSED, ACTIVE = ".pct_of_peak_sustained_elapsed", ".pct_of_peak_sustained_active"
SHARED, CONFLICTS = "l1tex__data_pipe_lsu_wavefronts_mem_shared", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared"
L2, TEX = "memory_l2_theoretical_sectors_global", "lts__t_sectors_srcunit_tex"
# A tiled transpose on an H200: 132 SMs, 66 138 cycles.
INTACT: dict[str, float] = {
    "launch__sm_count": 132,
    "device__attribute_multiprocessor_count": 132,
    "launch__block_size": 256,
    "launch__occupancy_limit_blocks": 32,
    "launch__occupancy_limit_registers": 8,
    "launch__occupancy_limit_shared_mem": 19,
    "launch__occupancy_limit_warps": 8,
    "device__attribute_max_warps_per_multiprocessor": 64,
    "sm__maximum_warps_avg_per_active_cycle": 64,
    "sm__maximum_warps_per_active_cycle_pct": 100,
    f"sm__warps_active.avg{ACTIVE}": 90.64,
    "sm__warps_active.avg.per_cycle_active": 58.01,
    "sm__cycles_elapsed.max": 66138,
    "sm__cycles_active.avg": 60200,
    "sm__cycles_active.max": 61900,
    "l1tex__cycles_active.avg": 60200,
    "l1tex__cycles_active.max": 61900,
    "smsp__cycles_active.avg": 60010,
    "smsp__cycles_active.max": 61950,
    f"sm__pipe_alu_cycles_active.avg{ELAPSED}": 20.02,
    f"sm__pipe_alu_cycles_active.avg{ACTIVE}": 21.99,
    f"sm__inst_executed.avg{ELAPSED}": 19.48,
    f"sm__inst_executed.sum{ELAPSED}": 19.48,
    f"sm__inst_issued.avg{ELAPSED}": 19.60,
    f"smsp__issue_active.avg{ACTIVE}": 21.5,
    "smsp__warps_active.avg.per_cycle_active": 14.4,
    "smsp__average_warp_latency_per_inst_issued.ratio": 67.1,
    f"sm__inst_executed_pipe_lsu.avg{ELAPSED}": 26.94,
    f"l1tex__lsuin_requests.avg{ELAPSED}": 26.94,
    "inst_executed": 6_815_744,
    "thread_inst_executed": 218_103_808,
    "thread_inst_executed_true": 210_000_000,
    "smsp__thread_inst_executed_per_inst_executed.ratio": 32,
    "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio": 30.81,
    f"{L2}": 8_400_000,
    f"{L2}_ideal": 4_194_304,
    f"derived__{L2}_excessive": 4_205_696,
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": 524_288,
    "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum": 524_288,
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": 2_097_152,
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum": 6_290_000,
    f"{SHARED}.sum": 1_369_500,
    f"{SHARED}.sum{ELAPSED}": 15.69,
    f"{SHARED}_op_ld.sum": 546_435,
    f"l1tex__data_pipe_lsu_wavefronts.avg{ELAPSED}": 30.43,
    f"{CONFLICTS}.sum": 42_540,
    f"{CONFLICTS}_op_ld.sum": 22_147,
    f"{CONFLICTS}_op_st.sum": 20_100,
    f"{CONFLICTS}_op_atom.sum": 0,
    f"{CONFLICTS}_op_ldgsts.sum": 0,
    "lts__t_sectors.sum": 9_100_000,
    f"{TEX}.sum": 8_500_000,
    f"{TEX}_op_read.sum": 4_250_000,
    f"{TEX}_op_write.sum": 4_250_000,
    f"{TEX}_op_red.sum": 0,
    f"{TEX}_op_atom_dot_alu.sum": 0,
    f"{TEX}_op_atom_dot_cas.sum": 0,
    "lts__t_requests_srcunit_tex.sum": 3_000_000,
    "lts__t_requests_srcunit_tex_op_red.sum": 0,
    f"gpu__compute_memory_throughput.avg{ELAPSED}": 69.67,
    f"gpu__compute_memory_access_throughput.avg{ELAPSED}": 41.5,
    f"gpu__compute_memory_request_throughput.avg{ELAPSED}": 69.67,
    f"gpu__dram_throughput.avg{ELAPSED}": 69.67,
    f"dram__cycles_active.avg{ELAPSED}": 69.67,
    "dram__bytes.sum.per_second": 3.3458e12,
    "dram__bytes_read.sum.per_second": 2.0013e12,
    "dram__bytes_write.sum.per_second": 1.3445e12,
}


def altered(name: str, value: float) -> Kernel:
    metrics = {each: Quantity(number) for each, number in {**INTACT, name: value}.items()}
    return Kernel(0, "k", "k", metrics=metrics)


def test_an_intact_kernel_has_no_doubts() -> None:
    assert check(altered("launch__sm_count", 132), NAMES).warnings == ()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        # One counter under two names.
        ("sm__cycles_active.max", 261_900),
        ("sm__cycles_active.avg", 6_020),
        ("l1tex__cycles_active.avg", 602),
        (f"sm__inst_executed_pipe_lsu.avg{ELAPSED}", 2.694),
        # The share of the average is that of the sum.
        (f"sm__inst_executed.avg{ELAPSED}", 1.948),
        # Over all cycles and over active ones.
        (f"sm__pipe_alu_cycles_active.avg{ELAPSED}", 2.02),
        (f"sm__pipe_alu_cycles_active.avg{ACTIVE}", 61.99),
        # Parts of a whole.
        (f"{L2}_ideal", 419_430),
        (L2, 840_000),
        (f"{CONFLICTS}.sum", 425_400),
        (f"{CONFLICTS}.sum", 4_254),
        (f"{TEX}.sum", 850_000),
        (f"{TEX}.sum", 85_000_000),
        ("dram__bytes_read.sum.per_second", 2.0013e11),
        # The larger of two.
        (f"gpu__compute_memory_throughput.avg{ELAPSED}", 99.67),
        (f"gpu__compute_memory_request_throughput.avg{ELAPSED}", 9.67),
        # Quotients.
        ("smsp__average_warp_latency_per_inst_issued.ratio", 6.71),
        ("smsp__warps_active.avg.per_cycle_active", 1.44),
        (f"sm__warps_active.avg{ACTIVE}", 9.64),
        ("sm__maximum_warps_per_active_cycle_pct", 10),
        ("smsp__thread_inst_executed_per_inst_executed.ratio", 3),
        ("smsp__thread_inst_executed_pred_on_per_inst_executed.ratio", 3.08),
        (f"{SHARED}.sum{ELAPSED}", 5.69),
        (f"{SHARED}.sum", 13_695_000),
        # Bounds.
        ("lts__t_requests_srcunit_tex.sum", 30_000_000),
        ("lts__t_requests_srcunit_tex.sum", 300_000),
        ("lts__t_requests_srcunit_tex_op_red.sum", 3_400_000),
        (f"gpu__dram_throughput.avg{ELAPSED}", 6.967),
        (f"sm__inst_issued.avg{ELAPSED}", 89.6),
        ("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 5_242_880),
        # A kernel that ran had room for a block; and its warps follow from the blocks.
        ("launch__occupancy_limit_warps", 0),
        ("sm__maximum_warps_avg_per_active_cycle", 6),
    ],
)
def test_an_altered_value_is_found_and_left_out(name: str, value: float) -> None:
    broken = altered(name, value)
    doubts = check(broken, NAMES)
    assert name in doubts.doubtful, doubts
    assert doubts.warnings[0].startswith(CONTRADICTION)
    assert name not in doubts.trusted(broken).metrics


@pytest.mark.parametrize(
    ("name", "value"),
    [
        # Other passes of the kernel, and of microseconds: the widest seen in captures.
        ("smsp__cycles_active.max", 68_000),
        (f"sm__inst_issued.avg{ELAPSED}", 21.4),
        ("smsp__thread_inst_executed_per_inst_executed.ratio", 31.4),
        (f"{TEX}.sum", 8_410_000),
        (f"sm__inst_executed_pipe_lsu.avg{ELAPSED}", 28.4),
        ("smsp__average_warp_latency_per_inst_issued.ratio", 70.6),
    ],
)
def test_what_passes_differ_by_is_no_contradiction(name: str, value: float) -> None:
    assert check(altered(name, value), NAMES).warnings == ()


def test_what_was_not_collected_bears_no_witness() -> None:
    for name in INTACT:
        fewer = {each: Quantity(number) for each, number in INTACT.items() if each != name}
        assert check(Kernel(0, "k", "k", metrics=fewer), NAMES).warnings == (), name


def test_of_many_launches_no_occupancy_is_judged() -> None:
    many = replace(altered("sm__maximum_warps_avg_per_active_cycle", 6.0), workload="range")
    assert not any("block size" in text for text in check(many, NAMES).warnings)


def test_reading_asks_for_the_witnesses() -> None:
    names = wanted(NAMES)
    assert names >= NAMES
    assert {f"sm__inst_executed.sum{ELAPSED}", f"derived__{L2}_excessive", "l1tex__cycles_active.avg"} <= names
    assert rolled_up(["a.avg.pct_of_peak_sustained_elapsed", "a.avg", "a.avg.per_second", "b.max"]) == {
        "a.avg.pct_of_peak_sustained_elapsed": "a.sum.pct_of_peak_sustained_elapsed"
    }


def test_a_diagnosis_does_not_use_the_value() -> None:
    made = diagnose(altered("sm__cycles_active.max", 2_619_000))
    assert made.limiter != "imbalance"
    assert any(text.startswith(CONTRADICTION) for text in made.warnings)
