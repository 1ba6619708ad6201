"""Formulas: what is allowed, what is refused, and that an interval always holds the true value."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.rules.formulas import UNKNOWN, FormulaError, Interval, parse

FACTS = {"a", "b", "c"}


def value(text: str, **known: float) -> Interval:
    def look(name: str) -> Interval:
        return (known[name], known[name]) if name in known else UNKNOWN

    return parse(text, FACTS).evaluate(look, look)


def test_operands_are_told_apart() -> None:
    formula = parse("100 * l1tex__t_sectors.sum / a + inst_executed", FACTS)
    assert formula.metrics == ("l1tex__t_sectors.sum", "inst_executed")
    assert formula.facts == ("a",)


@pytest.mark.parametrize(
    "text",
    [
        "a ** 2", "a.real", "a()", "__import__('os')", "open(a)", "a[0]", "lambda: 1", "a if b else c", "'text'",
        "a < b", "min(a)", "ceil(a, b)", "max(a, key=b)", "(a).b__c", "().__class__", "a.__class__", "unknown_name",
        "a := 3", "a; b", "", "a +", "True", "+".join(["a"] * 10_000), "(" * 500 + "a" + ")" * 500, "f(a)",
        "1" + "0" * 400, "9" * 1_990, "1e999", "a * 1e300",
    ],
)  # fmt: skip
def test_everything_but_arithmetic_is_refused(text: str) -> None:
    with pytest.raises(FormulaError):
        parse(text, FACTS)


def test_nothing_of_nothing_is_none_and_something_of_nothing_is_unknown() -> None:
    assert value("a / b", a=0.0, b=0.0) == (0.0, 0.0)
    assert value("a / b", a=1.0, b=0.0) == UNKNOWN


def test_a_quotient_too_large_for_a_float_is_unknown() -> None:
    assert value("a / b", a=1.0, b=2.2250738585e-313) == UNKNOWN


def test_an_unknown_operand_keeps_what_is_known() -> None:
    assert value("a + b", a=3.0) == (3.0, math.inf)
    assert value("min(a, b)", a=3.0) == (0.0, 3.0)
    assert value("max(a, b)", a=3.0) == (3.0, math.inf)
    assert value("a - b", a=3.0) == (-math.inf, 3.0)
    assert value("a * b", a=0.0) == (0.0, 0.0)
    assert value("ceil(a)", a=1.2) == (2.0, 2.0)


OPERATIONS = ["a + b", "a - b", "a * b", "a / b", "min(a, b)", "max(a, b)", "ceil(a)", "100 - a", "a / (a + b)"]
ENDS = st.floats(min_value=0, max_value=1e6, allow_nan=False)


@given(st.sampled_from(OPERATIONS), ENDS, ENDS, ENDS, ENDS, st.floats(0, 1), st.floats(0, 1))
def test_the_interval_holds_every_value_of_its_operands(
    text: str, a1: float, a2: float, b1: float, b2: float, u: float, v: float
) -> None:
    ends = {"a": (min(a1, a2), max(a1, a2)), "b": (min(b1, b2), max(b1, b2))}
    a = min(ends["a"][1], ends["a"][0] + u * (ends["a"][1] - ends["a"][0]))
    b = min(ends["b"][1], ends["b"][0] + v * (ends["b"][1] - ends["b"][0]))
    low, high = parse(text, FACTS).evaluate(ends.__getitem__, ends.__getitem__)
    points = {"a": (a, a), "b": (b, b)}
    exact = parse(text, FACTS).evaluate(points.__getitem__, points.__getitem__)
    if exact[0] != exact[1] or not math.isfinite(exact[0]) or (text == "a / (a + b)" and low > high):
        return
    slack = 1e-6 * max(1.0, abs(exact[0]))
    # A formula that names an operand twice may be wider than need be, never narrower.
    assert low - slack <= exact[0] <= high + slack
