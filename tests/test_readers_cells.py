"""Numbers, conventions and units: every spelling ncu has printed, in every locale seen."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.readers.cells import Convention, decide
from triage.readers.units import to_base

POINT, COMMA = Convention("."), Convention(",")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("263,168", 263168.0),
        ("12,943,820,224.72", 12943820224.72),
        ("1,205.00", 1205.0),
        ("12,34,567.5", 1234567.5),
        ("-0.5", -0.5),
        ("1e-05", 1e-05),
        ("1 234.5", 1234.5),
        ("1\u202f234\u202f567", 1234567.0),
        ("1'234.5", 1234.5),
        ("256 (256)", 256.0),
        ("1,024 (1,024)", 1024.0),
        ("2,230 (100; 100; 2,030)", 2230.0),
        ("1 (NVIDIA H200)", 1.0),
        ("95.8%", 95.8),
        ("1,024 %", 1024.0),
        ("all (all)", "all"),
        ("0-15", "0-15"),
        ("0,1,2", "0,1,2"),
        ("NVIDIA RTX (MIG)", "NVIDIA RTX (MIG)"),
        ("PolicySpread", "PolicySpread"),
    ],
)
def test_point_decimal_cells(text: str, value: float | str) -> None:
    assert POINT.value(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("65,77", 65.77),
        ("27.595.520", 27595520.0),
        ("117.344", 117344.0),
        ("23 982 976", 23982976.0),
        ("1.234,5", 1234.5),
        ("95,8 %", 95.8),
    ],
)
def test_comma_decimal_cells(text: str, value: float) -> None:
    assert COMMA.value(text) == value


@pytest.mark.parametrize(
    "text", ["", "n/a", "nan", "-nan", "no data", "(!) n/a", "(!) nan", "inf", "nan (1; 2)", "1; 2; 3", "  "]
)
def test_what_has_no_value_is_absent(text: str) -> None:
    assert POINT.value(text) is None
    assert COMMA.value(text) is None


@pytest.mark.parametrize(
    ("cells", "decimal", "warned"),
    [
        ([("263,168", "ns"), ("56.49", "%")], ".", False),
        ([("117.344", "ns"), ("65,77", "%")], ",", False),
        ([("27.595.520", "byte")], ",", False),
        ([("114,525,952", "byte")], ".", False),
        ([("23 111 929,56", "cycle")], ",", False),
        ([("0.263", "ms")], ".", False),
        ([("1024", "")], ".", False),
        ([("117.344", "ns")], ",", True),
        ([("117,344", "ns")], ".", False),
        ([("117.344", "us")], ".", True),
        ([("117,344", "cycle")], ".", True),
        ([("65,77", "%"), ("56.49", "%"), ("12.5", "%")], ".", True),
        ([("117.344", "ns"), ("65,77 %", "%")], ",", False),
        ([], ".", False),
    ],
)
def test_one_convention_a_file(cells: list[tuple[str, str]], decimal: str, warned: bool) -> None:
    convention = decide(cells)
    assert convention.decimal == decimal
    assert bool(convention.warning) is warned


@given(st.floats(min_value=0, max_value=1e15, allow_nan=False), st.sampled_from([".", ","]), st.integers(1, 6))
def test_a_printed_number_comes_back(value: float, decimal: str, digits: int) -> None:
    text = f"{value:,.{digits}f}"
    if decimal == ",":
        text = text.translate(str.maketrans(".,", ",."))
    assert Convention(decimal).value(text) == float(f"{value:.{digits}f}")


@given(st.lists(st.floats(min_value=0, max_value=1e9), min_size=1), st.sampled_from([".", ","]))
def test_two_decimals_always_decide(values: list[float], decimal: str) -> None:
    texts = [f"{value:,.2f}" for value in values]
    if decimal == ",":
        texts = [text.translate(str.maketrans(".,", ",.")) for text in texts]
    assert decide((text, "") for text in texts) == Convention(decimal)


@given(st.text())
def test_no_cell_breaks_the_parser(text: str) -> None:
    for convention in (POINT, COMMA):
        value = convention.value(text)
        assert value is None or isinstance(value, (str, float))
    decide([(text, "")])


@pytest.mark.parametrize(
    ("unit", "factor", "base"),
    [
        ("ns", 1, "ns"), ("us", 1e3, "ns"), ("ms", 1e6, "ns"), ("s", 1e9, "ns"),
        ("nsecond", 1, "ns"), ("usecond", 1e3, "ns"), ("msecond", 1e6, "ns"), ("second", 1e9, "ns"),
        ("byte", 1, "byte"), ("Kbyte", 1e3, "byte"), ("Mbyte", 1e6, "byte"), ("Gbyte", 1e9, "byte"),
        ("byte/s", 1, "byte/s"), ("byte/second", 1, "byte/s"), ("Tbyte/s", 1e12, "byte/s"),
        ("Gbyte/second", 1e9, "byte/s"), ("Kbyte/block", 1e3, "byte/block"), ("Kbyte/cycle", 1e3, "byte/cycle"),
        ("hz", 1, "hz"), ("Ghz", 1e9, "hz"), ("cycle/second", 1, "hz"), ("cycle/nsecond", 1e9, "hz"),
        ("cycle/usecond", 1e6, "hz"), ("sector/ns", 1e9, "sector/s"), ("sector/us", 1e6, "sector/s"),
        ("sectors", 1, "sector"), ("%", 1, "%"), ("register/thread", 1, "register/thread"), ("", 1, ""),
        ("inst/cycle", 1, "inst/cycle"), ("SM", 1, "SM"), ("warp", 1, "warp"), ("%/Kbyte", 1e3, "%/byte"),
        ("furlong/fortnight", 1, "furlong/fortnight"),
    ],
)  # fmt: skip
def test_units_to_base(unit: str, factor: float, base: str) -> None:
    assert to_base(unit) == (factor, base)


@given(st.text(max_size=30))
def test_base_units_are_stable(unit: str) -> None:
    _, base = to_base(unit)
    if base != "ns":
        assert to_base(base) == (1.0, base) or "/" in base


@pytest.mark.parametrize("text", ["0,194,304", "1,2345", "00,123", "1,,234"])
def test_what_ncu_never_prints_is_no_number(text: str) -> None:
    assert isinstance(POINT.value(text), str)
    assert isinstance(COMMA.value(text.replace(",", ".")), str)
