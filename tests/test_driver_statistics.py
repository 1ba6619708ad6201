"""Times become medians, spreads, bandwidths and sentences."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.driver import advice, statistics
from triage.driver.shapes import Shape

L2 = 60_000_000


def test_median_and_deciles_of_known_times() -> None:
    sample = statistics.summarise([float(t) for t in range(1, 12)])
    assert (sample.count, sample.median, sample.p10, sample.p90, sample.least) == (11, 6.0, 2.0, 10.0, 1.0)
    assert sample.spread == pytest.approx(8 / 6)


def test_one_time_has_no_spread() -> None:
    sample = statistics.summarise([5.0])
    assert sample.spread == 0.0
    assert sample.median == 5.0


@pytest.mark.parametrize("times", [[], [1.0, 0.0], [1.0, -2.0], [math.nan], [math.inf]])
def test_times_that_cannot_be(times: list[float]) -> None:
    with pytest.raises(ValueError, match="time"):
        statistics.summarise(times)


@given(st.lists(st.floats(0.001, 1e7), min_size=1, max_size=200))
def test_the_numbers_are_in_order(times: list[float]) -> None:
    sample = statistics.summarise(times)
    close = 1e-9 * sample.p90
    assert sample.least <= sample.p10 + close
    assert sample.p10 <= sample.median + close
    assert sample.median <= sample.p90 + close
    assert sample.p90 <= max(times) + close


def test_an_outlier_moves_neither_median_nor_the_ninetieth_percentile() -> None:
    assert statistics.summarise([10.0] * 50 + [10_000.0]).spread == 0.0


def test_bandwidth_is_bytes_over_time() -> None:
    # 4096 x 4096 floats, read and written, in 36.4 us: the device copy of an H200
    assert statistics.bandwidth(Shape(4096, 4096).moved_bytes(4), 36.4) == pytest.approx(3.687e12, rel=1e-3)


def test_datasheet_peak_counts_both_clock_edges() -> None:
    assert statistics.datasheet_bandwidth(3_201_000, 6144) == pytest.approx(4.917e12, rel=1e-3)
    assert statistics.datasheet_bandwidth(9_751_000, 384) == pytest.approx(936.1e9, rel=1e-3)


@pytest.mark.parametrize(("clock", "bus"), [(None, 384), (0, 384), (1, None), (1, 0)])
def test_an_unknown_peak_is_unknown_and_not_zero(clock: int | None, bus: int | None) -> None:
    assert statistics.datasheet_bandwidth(clock, bus) is None


@pytest.mark.parametrize(
    ("footprint", "state"),
    [(L2, "in L2"), (L2 + 1, "partly in L2"), (134_217_728, "partly in L2"), (10 * L2, "not in cache")],
)
def test_what_l2_can_answer(footprint: int, state: str) -> None:
    assert statistics.cache_state(footprint, L2) == state


@given(st.integers(1, 4 * 10**9), st.integers(1, 2 * 10**8))
def test_rotating_leaves_l2_when_memory_allows(set_bytes: int, l2_bytes: int) -> None:
    sets = statistics.buffer_sets(set_bytes, l2_bytes, free_bytes=10**13)
    assert sets >= 2
    assert statistics.cache_state(sets * set_bytes, l2_bytes) == "not in cache" or set_bytes >= 10 * l2_bytes


def test_rotating_stays_within_the_memory_that_is_free() -> None:
    assert statistics.buffer_sets(100, 10**6, free_bytes=1000) == 9
    assert statistics.buffer_sets(100, 10**6, free_bytes=50) == 1


def test_the_stop_rule_says_stop_from_ninety_per_cent_on() -> None:
    said = advice.stop_rule("best", 0.90, 134_217_728)
    assert "134.2 MB at 90.0% of the rate of a device copy" in said
    assert "stop tuning" in said
    assert "Triton" in said
    assert "cuBLAS" in said


def test_the_stop_rule_says_what_is_left_below() -> None:
    said = advice.stop_rule("padded_32", 0.5, 1_000_000)
    assert "at most 2.00x is left" in said
    assert "stop tuning" not in said


def test_the_stop_rule_names_a_library_that_is_as_fast() -> None:
    assert "cuBLAS geam already does it as fast: call that." in advice.stop_rule("best", 0.95, 1, "cuBLAS geam")
    assert "cuBLAS geam is faster in this run." in advice.stop_rule("best", 0.5, 1, "cuBLAS geam")


def good(**changes: object) -> tuple[str, ...]:
    arguments: dict[str, object] = {
        "copy_us": 500.0,
        "blocks": 65_536,
        "sms": 132,
        "cache": "not in cache",
        "rotated": False,
        "debug_build": False,
        "noisy": (),
    }
    return advice.measurement_warnings(Shape(16_384, 16_384), **{**arguments, **changes})  # type: ignore[arg-type]


def test_a_good_measurement_has_no_warning() -> None:
    assert good() == ()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"debug_build": True}, "debug build (-G)"),
        ({"copy_us": 3.1}, "N is too small: a copy of 16384 x 16384 takes 3.1 us"),
        ({"blocks": 200}, "200 blocks do not fill 132 multiprocessors twice"),
        ({"cache": "partly in L2"}, "--rotate"),
        ({"cache": "in L2"}, "All of the matrices stays in L2"),
        ({"cache": "partly in L2", "rotated": True}, "too few buffers"),
        ({"noisy": ("naive_32",)}, "more than 10% for naive_32"),
    ],
)
def test_each_doubt_is_said(changes: dict[str, object], words: str) -> None:
    (said,) = good(**changes)
    assert words in said


def test_noise_starts_above_ten_per_cent() -> None:
    assert not advice.is_noisy(0.10)
    assert advice.is_noisy(0.11)
