"""What the public functions say to wrong arguments: which one, what it must be, what it was."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy
import pytest
from captures import DATA

import triage
from triage import arguments
from triage.diagnosis.given import capability
from triage.errors import TriageError
from triage.model import Kernel, Quantity
from triage.rules import default_rulebook
from triage.team import load as load_team
from triage.team import rulebook_for

CAPTURE = DATA / "limiters_h200.csv"
GIVEN = triage.diagnose_metrics


@pytest.mark.parametrize(
    ("call", "kind", "expected"),
    [
        (lambda: triage.load(3), TypeError, "path must be a path: text or pathlib.Path, not 3 (int)"),
        (lambda: triage.load(None), TypeError, "path must be a path: text or pathlib.Path, not None"),
        (lambda: triage.load(b"x.csv"), TypeError, "path must be a path: text or pathlib.Path, not b'x.csv' (bytes)"),
        (lambda: triage.load(""), ValueError, "path must be a path, and is empty"),
        (lambda: triage.load(CAPTURE, metrics="x"), TypeError, "metrics must be a list of names of metrics, or None"),
        (lambda: triage.load(CAPTURE, metrics=[3]), TypeError, "a name in metrics must be text, not 3 (int)"),
        (lambda: triage.load(CAPTURE, metrics=3), TypeError, "metrics must be a list of names of metrics"),
        (lambda: triage.load(CAPTURE, timeout_s="9"), TypeError, "timeout_s must be a number of seconds above 0, not"),
        (lambda: triage.load(CAPTURE, timeout_s=0), ValueError, "timeout_s must be a number of seconds above 0, not 0"),
        (lambda: triage.load(CAPTURE, timeout_s=10**400), ValueError, "timeout_s must be a number of seconds above 0"),
        (lambda: triage.load(CAPTURE, timeout_s=float("nan")), ValueError, "timeout_s must be"),
        (lambda: triage.load(CAPTURE, memory_bytes="2G"), TypeError, "memory_bytes must be a number of bytes above 0"),
        (lambda: triage.load(CAPTURE, progress=3), TypeError, "progress must be a function of two numbers, or None"),
        (lambda: triage.report("x.csv"), TypeError, "profile must be what load(...) returns, or a list of such"),
        (lambda: triage.report(None), TypeError, "profile must be what load(...) returns"),
        (lambda: triage.report(["x.csv"]), TypeError, "profile[0] must be a Profile, not 'x.csv' (str)"),
        (lambda: triage.report([], ["rules"]), TypeError, "rulebook must be what load_rulebook(...) returns, or None"),
        (lambda: triage.report([], ""), TypeError, "rulebook must be what load_rulebook(...) returns, or None"),
        (lambda: triage.diagnose("x"), TypeError, "kernel must be a Kernel of a profile, not 'x' (str)"),
        (lambda: triage.diagnose(Kernel(0, "x", "x"), "rules"), TypeError, "rulebook must be what load_rulebook(...)"),
        (lambda: triage.to_frame("x.csv"), TypeError, "profile must be what load(...) returns, not 'x.csv' (str)"),
        (lambda: triage.load_rulebook(3), TypeError, "paths must be a list of paths, not 3 (int)"),
        (lambda: triage.load_rulebook(b"rules"), TypeError, "paths must be a list of paths, not b'rules' (bytes)"),
        (lambda: triage.load_rulebook(["rules", 3]), TypeError, "paths[1] must be a path: text or pathlib.Path, not 3"),
        (lambda: triage.load_rulebook(profile=3), TypeError, "profile must be the name of a threshold profile, not 3"),
        (lambda: load_team(3), TypeError, "start must be a path: text or pathlib.Path, not 3 (int)"),
        (lambda: rulebook_for([3]), TypeError, "folders[0] must be a path: text or pathlib.Path, not 3 (int)"),
        (lambda: GIVEN(None), TypeError, "metrics must be a map from names of ncu's metrics to their values, not None"),
        (lambda: GIVEN([("x", 1)]), TypeError, "metrics must be a map from names of ncu's metrics to their values"),
        (lambda: GIVEN({3: 1}), TypeError, "a name in metrics must be text, not 3 (int)"),
        (lambda: GIVEN({"x": {}}), TypeError, "metrics['x'] must be a number, a text, a (value, unit) pair or a"),
        (lambda: GIVEN({"x": True}), TypeError, "metrics['x'] must be a number, a text, a (value, unit) pair or a"),
        (lambda: GIVEN({"x": (1,)}), ValueError, "a pair has two parts, not 1"),
        (lambda: GIVEN({"x": [1, "ns", 3]}), ValueError, "a pair has two parts, not 3"),
        (lambda: GIVEN({"x": (1, 2)}), TypeError, "the unit of metrics['x'] must be text, not 2 (int)"),
        (lambda: GIVEN({"x": ({}, "ns")}), TypeError, "metrics['x'] must be a number"),
        (lambda: GIVEN({"x": Quantity("1")}), TypeError, "metrics['x'] must be a number"),
        (lambda: GIVEN({}, cc=90), ValueError, 'cc must be a compute capability such as "9.0", not 90'),
        (lambda: GIVEN({}, cc="9.05"), ValueError, 'cc must be a compute capability such as "9.0", not'),
        (lambda: GIVEN({}, cc="90"), ValueError, 'cc must be a compute capability such as "9.0", not'),
        (lambda: GIVEN({}, cc=True), TypeError, 'cc must be a compute capability such as "9.0", not True'),
        (lambda: GIVEN({}, cc=9.05), ValueError, 'cc must be a compute capability such as "9.0", not 9.05'),
        (lambda: GIVEN({}, cc="nan"), ValueError, 'cc must be a compute capability such as "9.0", not'),
        (lambda: GIVEN({}, cc="9" * 5000), ValueError, 'cc must be a compute capability such as "9.0"'),
        (lambda: GIVEN({}, name=3), TypeError, "name must be the name of the kernel, not 3 (int)"),
        (lambda: GIVEN({}, rulebook="rules"), TypeError, "rulebook must be what load_rulebook(...) returns, or None"),
    ],
)
def test_a_wrong_argument_is_named_with_what_it_must_be(call: Callable[[], Any], kind: type, expected: str) -> None:
    with pytest.raises(kind, match=re.escape(expected)) as caught:
        call()
    assert len(str(caught.value)) < 200 and str(caught.value).isprintable()


def test_one_path_is_a_list_of_one(tmp_path: Path) -> None:
    (tmp_path / "thresholds.yaml").write_text("thresholds: {}\n", encoding="utf-8")
    for given in (str(tmp_path), tmp_path, [tmp_path], (str(tmp_path),), iter([tmp_path])):
        rules = triage.load_rulebook(given)
        assert len(rules.layers) == 2
    assert len(rulebook_for(tmp_path, start=tmp_path).layers) == 2
    assert load_team(str(tmp_path)).path is None
    with pytest.raises(TriageError, match="the rules folder gone does not exist"):
        triage.load_rulebook("gone")


UNKNOWN = [
    *(10**400, -(10**400), float("inf"), float("nan"), Decimal("1e999"), Decimal("nan"), Decimal("sNaN")),
    *(Fraction(10**400), Quantity(10**400), (10**400, "ns"), (None, "ns"), ("inf", ""), (1e300, "Tbyte")),
    *(None, "n/a", "nan", ""),
]
NUMBERS = [
    *(40_000, 40_000.0, "40000", "40000.0", Decimal("4e4"), Fraction(40_000), Quantity(40_000.0, "ns")),
    *(numpy.int64(40_000), numpy.float32(40_000), (40_000, ""), (40_000, None), (40, "us"), ["40", "usecond"]),
]


@pytest.mark.parametrize("value", UNKNOWN, ids=lambda value: repr(value)[:20])
def test_what_no_float_holds_was_not_collected(value: Any) -> None:
    """As in a report: such a cell is no value, and never 0."""
    facts = GIVEN({"gpu__time_duration.sum": value}, cc="9.0").facts
    assert "duration_ns" not in facts or facts["duration_ns"].quantity is None


@pytest.mark.parametrize("value", NUMBERS, ids=repr)
def test_a_number_of_any_type_is_a_number_in_base_units(value: Any) -> None:
    fact = GIVEN({"gpu__time_duration.sum": value}, cc="9.0").facts["duration_ns"]
    assert fact.quantity is not None and fact.quantity.value == pytest.approx(40_000)


def test_a_value_that_cannot_be_shown_is_told_by_its_type() -> None:
    class Odd:
        def __repr__(self) -> str:
            raise RuntimeError

    assert arguments.wrong("x", "text", Odd()).startswith("x must be text, not <Odd instance")
    assert arguments.wrong("x", "text", 10**5000) == "x must be text, not a value (int)"
    assert "\x1b" not in arguments.wrong("x", "text", ["\x1b[31m\u202e"])


def test_what_is_right_stands() -> None:
    assert arguments.paths(["a", Path("b")], "x") == ("a", "b")
    assert arguments.words(["./a", 3, 1.5, Path("b"), ""], "x") == ("./a", "3", "1.5", "b", "")
    profile = triage.load(
        str(CAPTURE), metrics=["gpu__time_duration.sum"], timeout_s=numpy.float64(5), memory_bytes=2**31
    )
    assert len(triage.report([profile], default_rulebook()).findings) == len(profile.kernels)
    assert len(triage.to_frame(profile)) == len(profile.kernels)


@pytest.mark.parametrize("cc", [9.0, 9, "9.0"])
def test_a_compute_capability_may_be_the_number_that_yaml_makes_of_it(cc: str | float) -> None:
    assert capability(cc) == "9.0" and capability(12.1) == "12.1" and capability(None) is None
