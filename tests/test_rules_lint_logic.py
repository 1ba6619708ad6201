"""What the linter knows about conditions, units and counters, each by itself."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.model import Verdict
from triage.rules import default_rulebook
from triage.rules.conditions import OPERATORS, AllOf, AnyOf, Comparison, Node, Not, Threshold
from triage.rules.lint.counters import _problem, known
from triage.rules.lint.logic import boxes
from triage.rules.lint.units import FLEX, Mismatch, unit_of

LEAVES = st.builds(
    lambda fact, op, value: Comparison(fact, op, Threshold(float(value))),
    st.sampled_from("xyz"), st.sampled_from(OPERATORS), st.integers(0, 3),
)  # fmt: skip
NODES: st.SearchStrategy[Node] = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds(lambda parts: AllOf(tuple(parts)), st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda parts: AnyOf(tuple(parts)), st.lists(inner, min_size=1, max_size=3)),
        st.builds(Not, inner),
    ),
    max_leaves=6,
)


class Point:
    def __init__(self, **values: float) -> None:
        self.values = values

    def interval(self, fact: str) -> tuple[float, float]:
        return (self.values[fact], self.values[fact])


COORDINATES = st.sampled_from([-0.5, 0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5])


@given(NODES, COORDINATES, COORDINATES, COORDINATES)
def test_a_condition_holds_exactly_in_its_boxes(node: Node, x: float, y: float, z: float) -> None:
    point = Point(x=x, y=y, z=z)
    inside = any(
        all(box.interval(fact)[0] <= point.values[fact] <= box.interval(fact)[1] for fact in "xyz")
        for box in boxes(node)
    )
    assert inside is (node.judge(point) is Verdict.FIRES)


def test_touching_ends_are_told_apart() -> None:
    def both(first: str, second: str) -> Node:
        return AllOf((Comparison("x", first, Threshold(5)), Comparison("x", second, Threshold(5))))

    assert boxes(both("at_least", "at_most"))[0].interval("x") == (5, 5)
    for first, second in (("at_least", "below"), ("above", "at_most"), ("above", "below")):
        assert boxes(both(first, second)) == []


def test_a_condition_with_too_many_ways_is_left_alone() -> None:
    pair = AnyOf((Comparison("x", "above", Threshold(1)), Comparison("y", "above", Threshold(1))))
    with pytest.raises(OverflowError):
        boxes(AllOf((pair,) * 12))


UNITS = {"pct": "%", "share": "", "ns": "ns", "bytes": "byte", "sectors": "sector"}


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("pct", "%"), ("100 - pct", "%"), ("max(pct, 1)", "%"), ("pct / pct", ""), ("100 * share", FLEX),
        ("100 * pct / pct", None), ("32 * sectors", None), ("bytes / ns", None), ("pct * share", "%"), ("-pct", "%"),
        ("bytes + bytes", "byte"), ("dram__bytes_read.sum", "byte"), ("gpu__time_duration.sum", "ns"), ("7", FLEX),
        ("sm__cycles_active.avg", None), ("ceil(share)", ""), ("ns / share", "ns"),
    ],
)  # fmt: skip
def test_units_of_formulas(text: str, unit: str | None) -> None:
    assert unit_of(text, UNITS) == unit


@pytest.mark.parametrize("text", ["bytes + pct", "min(ns, bytes)", "pct - share", "dram__bytes_read.sum + pct"])
def test_different_units_do_not_add(text: str) -> None:
    with pytest.raises(Mismatch, match="meets"):
        unit_of(text, UNITS)


@pytest.mark.parametrize(
    ("metric", "word"),
    [
        ("lts__t_sectors.sum", ""), ("lts__t_sectors.avg.pct_of_peak_sustained_elapsed", ""),
        ("launch__anything_at_all", ""), ("device__attribute_x", ""), ("lts__t_sektors.sum", "lts__t_sectors"),
        ("lts__t_sectors.mean", "no roll-up"), ("lts__t_sectors.sum.per_minute", "no roll-up"),
        ("zzz__nothing.sum", "no supported chip"),
    ],
)  # fmt: skip
def test_counters(metric: str, word: str) -> None:
    assert word in _problem(metric, known())
    assert bool(_problem(metric, known())) is bool(word)


def test_every_counter_of_the_shipped_rules_is_known() -> None:
    for definition in default_rulebook().facts.values():
        for way in definition.alternatives:
            assert not [_problem(metric, known()) for metric in way.formula.metrics if _problem(metric, known())]


def test_numbers_next_to_a_threshold_are_numbers() -> None:
    box = boxes(Comparison("x", "above", Threshold(60)))[0]
    assert box.interval("x") == (math.nextafter(60, math.inf), math.inf)
