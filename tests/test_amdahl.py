"""Amdahl's law, and the sentence that says it."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.amdahl import headroom, sentence, whole_program


@pytest.mark.parametrize(
    ("share", "speedup", "whole"),
    [(50, 2, 4 / 3), (100, 3, 3), (0, 9, 1), (90, math.inf, 10), (95, 20, 1 / (0.05 + 0.0475)), (40, 0.5, 1 / 1.4)],
)
def test_known_values(share: float, speedup: float, whole: float) -> None:
    assert whole_program(share, speedup) == pytest.approx(whole)


@given(st.floats(0, 100), st.floats(1, 1e6))
def test_the_whole_gains_at_most_what_the_part_does(share: float, speedup: float) -> None:
    whole = whole_program(share, speedup)
    assert 1 - 1e-12 <= whole <= speedup * (1 + 1e-9)


def test_a_part_that_vanishes_altogether() -> None:
    assert whole_program(100, math.inf) == math.inf


@pytest.mark.parametrize(("share", "speedup"), [(-1, 2), (101, 2), (50, 0), (50, -1), (math.nan, 2), (50, math.nan)])
def test_what_is_no_share_or_speedup(share: float, speedup: float) -> None:
    with pytest.raises(ValueError):
        whole_program(share, speedup)


def test_there_is_no_headroom_where_something_is_unknown() -> None:
    for share, speedup in ((None, 2.0), (40.0, None), (math.nan, 2.0), (140.0, 2.0), (40.0, 0.5), (40.0, math.inf)):
        assert headroom(share, speedup) is None
    assert sentence(None) == ""


@given(st.floats(0, 100), st.floats(1, 1e6))
def test_what_is_saved_and_the_speedup_say_the_same(share: float, speedup: float) -> None:
    found = headroom(share, speedup)
    assert found is not None and 0 <= found.saves <= share
    assert found.speedup * (1 - found.saves / 100) == pytest.approx(1)


def test_shares_that_sum_to_a_hair_more_than_all() -> None:
    found = headroom(100 + 1e-11, 2.0)
    assert found is not None and (found.share, found.saves, found.speedup) == (100, 50, 2)


def test_the_sentence_says_whose_time_it_is() -> None:
    found = headroom(40.0, 2.0)
    assert sentence(found) == (
        "That saves at most 20.0 % of the profiled kernel time (1.25x as fast in all, host time aside)."
    )
    assert sentence(found, surveyed=True).startswith("That saves at most 20.0 % of the program's kernel time (")


def test_a_gain_that_does_not_show_has_no_factor() -> None:
    assert sentence(headroom(0.1, 2.0)) == "That saves at most 0.05 % of the profiled kernel time (host time aside)."


def test_the_only_profiled_kernel_is_not_the_program() -> None:
    assert sentence(headroom(100.0, 2.0)) == ""
    assert sentence(headroom(100.0, 2.0), surveyed=True) != ""
