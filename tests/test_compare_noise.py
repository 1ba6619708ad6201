"""What is noise in a duration: the captured repeats tell, and a stated default where there are none."""

from __future__ import annotations

import csv
import itertools

import compared
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from triage.compare.noise import Noise, judge


def repeats() -> dict[str, list[float]]:
    """Durations in ns of ten launches of each of the six captured kernels."""
    with compared.REPEATS.open(encoding="utf-8", newline="") as file:
        header, _, *rows = csv.reader(file)
    at, name = header.index("gpu__time_duration.sum"), header.index("Kernel Name")
    found: dict[str, list[float]] = {}
    for row in rows:
        found.setdefault(row[name], []).append(float(row[at].replace(",", "")))
    return found


def test_the_capture_has_six_kernels_of_ten_launches() -> None:
    assert [len(durations) for durations in repeats().values()] == [10] * 6


@pytest.mark.parametrize("kernel", repeats())
def test_halves_of_the_repeats_do_not_differ(kernel: str) -> None:
    durations = repeats()[kernel]
    assert judge(durations[:5], durations[5:], Noise()).change == "same"
    assert judge(durations[::2], durations[1::2], Noise()).change == "same"


@pytest.mark.parametrize("kernel", repeats())
def test_five_percent_more_is_slower_and_less_is_faster(kernel: str) -> None:
    durations = repeats()[kernel]
    slow = [1.05 * value for value in durations]
    for first, second in ((slice(0, 5), slice(5, 10)), (slice(0, 10), slice(0, 10)), (slice(5, 10), slice(0, 4))):
        assert judge(durations[first], slow[second], Noise()).change == "slower"
        assert judge(slow[second], durations[first], Noise()).change == "faster"


def test_almost_no_split_of_the_repeats_is_called_a_change_and_every_five_percent_is_seen() -> None:
    splits = wrong = seen = 0
    for durations in repeats().values():
        for chosen in itertools.combinations(range(10), 5):
            first = [durations[place] for place in chosen]
            second = [durations[place] for place in range(10) if place not in chosen]
            splits += 1
            wrong += judge(first, second, Noise()).change != "same"
            seen += judge(first, [1.05 * value for value in second], Noise()).change == "slower"
    assert splits == 1512 and seen == splits
    assert wrong <= 3


def test_one_slow_launch_is_no_change() -> None:
    base = [100_000.0, 100_100, 100_050, 99_950, 100_000]
    assert judge(base, [180_000.0, 100_000, 100_100, 99_900, 100_050], Noise()).change == "same"


def test_below_the_floor_nothing_is_a_change_however_sure() -> None:
    base = [100_000.0 + step for step in range(10)]
    timing = judge(base, [1.015 * value for value in base], Noise())
    assert timing.change == "same" and "below 2.00 %" in timing.why
    assert judge(base, [1.025 * value for value in base], Noise()).change == "slower"


def test_the_default_for_single_launches() -> None:
    assert judge([100_000.0], [104_900.0], Noise()).change == "same"
    assert judge([100_000.0], [105_100.0], Noise()).change == "slower"
    assert judge([105_100.0], [100_000.0], Noise()).change == "faster"
    assert "5.00 %" in judge([100_000.0], [100_000.0], Noise()).why
    assert judge([100_000.0], [103_000.0], Noise(single=0.02)).change == "slower"


def test_a_short_kernel_needs_more() -> None:
    assert judge([10_000.0], [10_900.0], Noise()).change == "same"
    assert judge([10_000.0], [11_100.0], Noise()).change == "slower"


def test_repeats_on_one_side_tell_the_noise_of_the_other() -> None:
    quiet = [100_000.0, 100_100, 99_900, 100_050, 99_950]
    assert judge(quiet, [103_000.0], Noise()).change == "slower"
    loud = [100_000.0, 110_000, 92_000, 104_000, 96_000]
    assert judge(loud, [108_000.0], Noise()).change == "same"
    assert judge(loud, [150_000.0], Noise()).change == "slower"


def test_launches_of_unlike_length_are_held_against_each_other_in_order() -> None:
    base = [10_000.0 * (1 + step) for step in range(12)]
    slower = [1.1 * value for value in base]
    assert judge(base, slower, Noise()).change == "slower"
    assert judge(base, base, Noise()).change == "same"
    # Out of order only the whole of them can be compared, and there a tenth is lost in the spread.
    assert judge(base, slower, Noise(), in_order=False).change == "same"


def test_what_was_not_timed_is_unknown_and_never_zero() -> None:
    for base, head, side in (([], [1.0], "the base"), ([1.0], [], "the head"), ([], [], "neither side")):
        timing = judge(base, head, Noise())
        assert timing.change == "unknown" and timing.ratio is None and timing.why.startswith(side)
    assert judge([0.0, float("nan")], [5.0], Noise()).change == "unknown"


@given(
    st.lists(st.floats(min_value=100, max_value=1e9), min_size=1, max_size=12),
    st.lists(st.floats(min_value=100, max_value=1e9), min_size=1, max_size=12),
)
@example([5e6], [5e6, 225986533.578125, 225986533.578125])
def test_the_two_directions_agree(base: list[float], head: list[float]) -> None:
    there, back = judge(base, head, Noise()), judge(head, base, Noise())
    assert there.ratio is not None and back.ratio is not None
    assert there.ratio * back.ratio == pytest.approx(1)
    assert {there.change, back.change} in ({"same"}, {"slower", "faster"})
