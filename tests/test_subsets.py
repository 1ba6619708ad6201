"""Thinner reports: what smaller metric sets carry gives the right answer or an undecided one, never a wrong one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from captures import DATA, Labelled, labelled

import triage
from triage.readers import load

ELAPSED = ".avg.pct_of_peak_sustained_elapsed"
EVERYTHING = (*labelled(), *labelled("calibration_h200.csv", "calibration_h200.yaml"))
DETAILS = {name for kernel in load(DATA / "readers_details_names.csv").kernels for name in kernel.metrics}
QUICK = {
    "gpu__time_duration.sum",
    "sm__throughput" + ELAPSED,
    "gpu__compute_memory_throughput" + ELAPSED,
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "sm__warps_active.avg.pct_of_peak_sustained_active",
}


def launch(name: str) -> bool:
    return name.startswith(("launch__", "device__", "gpu__time_duration"))


def basic(name: str) -> bool:
    """SpeedOfLight with its constituents, LaunchStats, Occupancy, WorkloadDistribution."""
    constituent = name.endswith((ELAPSED, ".max.pct_of_peak_sustained_elapsed"))
    return (
        launch(name)
        or constituent
        or name.startswith(("sm__warps", "sm__maximum", "smsp__maximum"))
        or ("__cycles_" in name)
    )


def detailed(name: str) -> bool:
    """Basic, ComputeWorkloadAnalysis, MemoryWorkloadAnalysis without its tables, SourceCounters."""
    return basic(name) or name.startswith(
        ("smsp__issue_active", "memory_l", "smsp__pcsamp", "inst_executed", "thread_inst", "dram__bytes", "smsp__sass")
    )


SUBSETS: dict[str, Callable[[str], bool]] = {
    "details page": lambda name: name in DETAILS or launch(name),
    "quick": lambda name: name in QUICK or launch(name),
    "basic": basic,
    "detailed": detailed,
    "no stalls": lambda name: "pcsamp" not in name and "issue_stalled" not in name,
    "no source counters": lambda name: not name.startswith(("memory_l", "inst_executed", "thread_inst")),
    "no L2 tables": lambda name: not (name.startswith("lts__t_") and name.endswith(".sum")),
    "no L1 tables": lambda name: not name.startswith("l1tex__t_"),
    "launch alone": launch,
}


def thinned(entry: Labelled, keep: Callable[[str], bool]) -> str | None:
    metrics = {name: value for name, value in entry.kernel.metrics.items() if keep(name)}
    diagnosis = triage.diagnose(replace(entry.kernel, metrics=metrics))
    assert diagnosis.limiter is not None or diagnosis.missing
    return diagnosis.limiter


@pytest.mark.parametrize("subset", SUBSETS)
def test_a_thinner_report_is_never_plainly_wrong(subset: str) -> None:
    answers = {entry.name: (entry, thinned(entry, SUBSETS[subset])) for entry in EVERYTHING}
    assert {name: answer for name, (entry, answer) in answers.items() if entry.judge(answer) == "wrong"} == {}


def test_the_naive_transpose_stays_open_without_store_counters_and_names_them() -> None:
    naive = next(entry for entry in labelled() if entry.name == "t32_naive")
    metrics = {name: value for name, value in naive.kernel.metrics.items() if SUBSETS["quick"](name)}
    diagnosis = triage.diagnose(replace(naive.kernel, metrics=metrics))
    assert diagnosis.limiter is None
    assert "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum" in diagnosis.missing
