"""Captured kernels with a few counters altered: what else could explain the same numbers must not be overlooked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from captures import labelled

import triage
from triage.model import Diagnosis, Quantity

KERNELS = {
    entry.name: entry.kernel
    for capture in ("validate_h200", "blind_h200")
    for entry in labelled(f"{capture}.csv", f"{capture}.yaml")
}
HOT = "lts__d_atomic_input_cycles_active.max.pct_of_peak_sustained_elapsed"
TEX_DATA = "l1tex__data_pipe_tex_wavefronts.avg.pct_of_peak_sustained_elapsed"
TEX_FILTER = "l1tex__f_wavefronts.avg.pct_of_peak_sustained_elapsed"
TEX_PIPE = "sm__inst_executed_pipe_tex.avg.pct_of_peak_sustained_elapsed"
L2_SECTORS = "lts__t_sectors_srcunit_tex.sum"
LOCAL, GLOBAL = ("l1tex__t_sectors_pipe_lsu_mem_local_op_{}.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_{}.sum")
STALL = "smsp__pcsamp_warps_issue_stalled_"


def altered(name: str, values: Mapping[str, float | None]) -> Diagnosis:
    """The kernel with other values; ``None`` takes a counter away. Other roll-ups of a changed counter go too."""
    kernel = KERNELS[name]
    counters = {metric.split(".")[0] for metric in values if "pct_of_peak" in metric}
    metrics = {
        metric: value
        for metric, value in kernel.metrics.items()
        if metric not in values and metric.split(".")[0] not in counters
    }
    metrics |= {metric: Quantity(value, "") for metric, value in values.items() if value is not None}
    return triage.diagnose(replace(kernel, metrics=metrics))


def stalls(name: str, shares: Mapping[str, float]) -> dict[str, float | None]:
    """The kernel's stall samples, dealt out anew by percent."""
    held = {m: v.value for m, v in KERNELS[name].metrics.items() if m.startswith(STALL) and isinstance(v, Quantity)}
    assert set(shares) <= {metric.removeprefix(STALL) for metric in held}
    total = sum(held.values())
    return {metric: total * shares.get(metric.removeprefix(STALL), 0.0) / 100 for metric in held}


def test_local_memory_is_not_blamed_for_what_textures_ask_of_l2() -> None:
    local = {
        LOCAL.format("ld"): 3000.0,
        LOCAL.format("st"): 3000.0,
        GLOBAL.format("ld"): 2000.0,
        GLOBAL.format("st"): 2000.0,
    }
    found = altered("texture_box_by_texel", {**local, TEX_DATA: 40.0, TEX_FILTER: 40.0})
    assert found.limiter == "memory-latency"


@pytest.mark.parametrize(("spread", "hot"), [(25.0, 9.0), (35.0, 11.5), (38.0, 20.0)])
def test_uneven_work_with_some_atomics_is_still_uneven(spread: float, hot: float) -> None:
    mean = KERNELS["imbalance_long_rows"].metrics["sm__cycles_active.avg"]
    assert isinstance(mean, Quantity)
    busiest = mean.value / (1 - 0.619)
    found = altered(
        "imbalance_long_rows",
        {"sm__cycles_active.avg": busiest * (1 - spread / 100), "sm__cycles_active.max": busiest, HOT: hot},
    )
    assert found.limiter == "imbalance"


@pytest.mark.parametrize("name", ["small_grid_compute", "small_grid_stream", "small_grid_batch"])
def test_an_empty_grid_is_not_explained_by_its_atomics(name: str) -> None:
    assert altered(name, {HOT: 39.6}).limiter == "grid-too-small"


def test_few_blocks_are_named_before_what_their_warps_wait_for() -> None:
    found = altered("small_grid_batch", stalls("small_grid_batch", {"barrier": 85, "long_scoreboard": 15}))
    assert found.limiter == "grid-too-small"


def test_between_the_thresholds_of_memory_a_bad_layout_comes_before_a_full_pipe() -> None:
    ideal = {
        metric: value.value / 3
        for metric, value in KERNELS["fa_dropout_philox_shared"].metrics.items()
        if metric.endswith("_ideal") and isinstance(value, Quantity)
    }
    assert ideal
    assert altered("fa_dropout_philox_shared", ideal).limiter != "pipe-fma"
    assert altered("fa_dropout_philox_shared", {}).limiter == "pipe-fma"


TEXTURED = stalls("texture_box_by_texel", {"long_scoreboard": 30, "tex_throttle": 60, "wait": 10})


def test_a_texture_stage_that_was_not_counted_is_not_taken_for_idle() -> None:
    found = altered("texture_box_by_texel", {**TEXTURED, TEX_DATA: None})
    assert found.limiter is None and TEX_DATA in found.missing
    found = altered("texture_box_by_texel", {**TEXTURED, TEX_DATA: 40.0})
    assert found.limiter is None and TEX_FILTER in found.missing
    assert altered("texture_box_by_texel", {**TEXTURED, TEX_DATA: 40.0, TEX_FILTER: 95.0}).limiter == "l1-wavefronts"
    assert altered("texture_box_by_texel", {**TEXTURED, TEX_DATA: 40.0, TEX_FILTER: 30.0}).limiter == "memory-latency"


def test_a_texture_queue_that_was_not_counted_is_not_taken_for_empty() -> None:
    without = {**TEXTURED, f"{STALL}tex_throttle": None, TEX_DATA: None}
    assert altered("texture_box_by_texel", without).limiter is None


def test_contended_atomics_without_their_share_are_undecided_and_say_what_is_missing() -> None:
    requests = [name for name in KERNELS["atomic_one_bin"].metrics if name.startswith("lts__t_requests_srcunit_tex")]
    found = altered("atomic_one_bin", dict.fromkeys(requests))
    assert requests and found.limiter is None and set(found.missing) == set(requests)
    assert "Contended atomics could hide behind it" in found.summary


def test_the_hottest_atomic_unit_stands_first_in_the_evidence() -> None:
    assert altered("atomic_one_bin", {}).summary.startswith("The hottest atomic unit is 79.9 % busy; ")


def test_what_would_settle_idle_sms_is_named_though_no_run_collects_it_for_that() -> None:
    """Whether SMs idle is computed by ways that are never worth a pass; their counters can be named all the same."""
    gone = [
        name for name in KERNELS["atomic_few_bins_private"].metrics if name.startswith(("sm__cycles_", "gpc__cycles"))
    ]
    found = altered("atomic_few_bins_private", {**dict.fromkeys(gone), HOT: 30.0})
    assert found.limiter is None and "sm__cycles_active.avg" in found.missing
    assert "has no counter" not in found.summary
