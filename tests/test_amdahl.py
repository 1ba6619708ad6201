"""Amdahl's law, and the sentence that says it."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.amdahl import sentence, whole_program


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


def test_the_sentence_is_empty_where_something_is_unknown() -> None:
    assert sentence(40.0, 2.0) == "At 40.0 % of the kernel time that makes the whole at most 1.25x as fast."
    for share, speedup in ((None, 2.0), (40.0, None), (math.nan, 2.0), (140.0, 2.0), (40.0, 0.5)):
        assert sentence(share, speedup) == ""
