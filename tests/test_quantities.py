"""triage.quantities: three significant digits and a unit, with nothing turned into 0."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage import quantities


@pytest.mark.parametrize(
    ("nanoseconds", "expected"),
    [
        (0, "0 ns"),
        (0.5, "0.500 ns"),
        (812, "812 ns"),
        (999.4, "999 ns"),
        (999.6, "1.00 us"),
        (1_000, "1.00 us"),
        (91_648, "91.6 us"),
        (999_499, "999 us"),
        (999_500, "1.00 ms"),
        (1_204_000, "1.20 ms"),
        (999_999_999, "1.00 s"),
        (12.5e9, "12.5 s"),
        (3.6e12, "3,600 s"),
        (None, "n/a"),
        (math.nan, "n/a"),
        (math.inf, "n/a"),
    ],
)
def test_duration(nanoseconds: float | None, expected: str) -> None:
    assert quantities.duration(nanoseconds) == expected


@pytest.mark.parametrize(
    ("count", "expected"),
    [(0, "0 B"), (512, "512 B"), (999.9, "1.00 kB"), (67_108_864, "67.1 MB"), (2.5e12, "2.50 TB"), (None, "n/a")],
)
def test_size(count: float | None, expected: str) -> None:
    assert quantities.size(count) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0, "0 %"),
        (0.004, "<0.01 %"),
        (0.217, "0.22 %"),
        (0.999, "1.00 %"),
        (6.888, "6.89 %"),
        (38, "38.0 %"),
        (84.23, "84.2 %"),
        (99.96, "100 %"),
        (100, "100 %"),
        (131.4, "131 %"),
        (None, "n/a"),
        (math.nan, "n/a"),
    ],
)
def test_percent(value: float | None, expected: str) -> None:
    assert quantities.percent(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0, "0 %"), (0.3, "<1 %"), (90.6, "91 %"), (99.4, "99 %"), (99.7, ">99 %"), (100, "100 %"), (None, "n/a")],
)
def test_whole_percent_never_claims_all_or_nothing(value: float | None, expected: str) -> None:
    assert quantities.whole_percent(value) == expected


@pytest.mark.parametrize(
    ("value", "unit", "expected"),
    [
        (2.5e9, "byte/s", "2.50 GB/s"),
        (4.8e12, "byte/s", "4.80 TB/s"),
        (1.98e9, "hz", "1.98 GHz"),
        (3.35e13, "flop/s", "33.5 TFLOP/s"),
        (4.0, "", "4"),
        (15.515, "", "15.5"),
        (4_194_304, "sector", "4.19 M sectors"),
        (4_096, "inst", "4,096 instructions"),
        (1, "cycle", "1 cycle"),
        (1, "inst", "1 instruction"),
        (12_000, "ns", "12.0 us"),
        (40, "register/thread", "40 registers per thread"),
        (7.25, "furlong", "7.25 furlong"),
        (math.inf, "byte", "n/a"),
        (None, "%", "n/a"),
    ],
)
def test_quantity(value: float | None, unit: str, expected: str) -> None:
    assert quantities.quantity(value, unit) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [(84.23, "84.2"), (0.01234, "0.0123"), (-0.5, "-0.500"), (123_456.7, "123,000"), (1e-7, "1.00e-07"), (0, "0")],
)
def test_significant(value: float, expected: str) -> None:
    assert quantities.significant(value) == expected


def test_exact_keeps_whole_counters_in_full() -> None:
    assert quantities.exact(16_777_216.0) == "16777216"
    assert quantities.exact(1 / 3) == "0.333333"
    assert quantities.exact(math.nan) == "n/a"


def test_factor() -> None:
    assert quantities.factor(2.178) == "2.18x"
    assert quantities.factor(None) == "n/a"


@pytest.mark.parametrize("unit", ["", "%", "byte", "ns", "hz", "inst"])
@pytest.mark.parametrize("value", [1.7976931348623157e308, -1.795e308, 3.2e200, 5e-324])
def test_values_that_no_counter_reaches_stay_short(value: float, unit: str) -> None:
    assert 0 < len(quantities.quantity(value, unit)) < 30


@given(st.floats(min_value=1e-3, max_value=1e15))
def test_a_duration_reads_back_to_half_a_percent(nanoseconds: float) -> None:
    text, unit = quantities.duration(nanoseconds).split()
    scale = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[unit]
    assert float(text.replace(",", "")) * scale == pytest.approx(nanoseconds, rel=0.0051)


@given(st.floats(allow_nan=True, allow_infinity=True), st.sampled_from(["", "%", "byte", "byte/s", "ns", "hz", "inst"]))
def test_every_quantity_is_ascii_and_never_nan(value: float, unit: str) -> None:
    text = quantities.quantity(value, unit)
    assert text.isascii()
    assert not re.search(r"nan|inf(?!o)", text.replace("inst", ""))
    assert (text == "n/a") == (not math.isfinite(value))
