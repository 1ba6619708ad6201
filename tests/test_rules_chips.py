"""Ranges of compute capabilities: which chips each holds for, and what is refused when it is read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from triage.errors import FaultyRules
from triage.rules.chips import chip_number, parse_chips
from triage.rules.shapes import CHIP, CHIPS
from triage.team import rulebook_for

SUPPORTED = (7.0, 7.5, 8.0, 8.6, 8.7, 8.9, 9.0, 10.0, 10.3, 11.0, 12.0, 12.1)


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("9.0", (9.0,)),
        ("9", (9.0,)),
        (">=10.0", (10.0, 10.3, 11.0, 12.0, 12.1)),
        (">12.0", (12.1,)),
        ("<=7.5", (7.0, 7.5)),
        ("<7.5", (7.0,)),
        ("8.6-8.9", (8.6, 8.7, 8.9)),
        ("8.*", (8.0, 8.6, 8.7, 8.9)),
        (" 7.0  12.* ", (7.0, 12.0, 12.1)),
        ("<7.5 >=12.0", (7.0, 12.0, 12.1)),
        ("<12.0 >12.0", tuple(cc for cc in SUPPORTED if cc != 12.0)),
        ("<=7.0 >=7.2", tuple(cc for cc in SUPPORTED if cc != 7.1)),
    ],
)
def test_a_range_holds_for_its_chips(text: str, held: tuple[float, ...]) -> None:
    made = parse_chips(text)
    assert tuple(cc for cc in SUPPORTED if made.holds(cc)) == held
    assert made.holds(None), "an unknown chip lies in every range"
    assert re.search(CHIPS.pattern, text), "editors are told the same"


# What is none of the kinds at all, and what is one of them and holds for no chip, or for every one.
ODD = [
    ">=1e999", ">=9,0", ">= 9.0", ">= 9.0x", ">>9", ">=-1", ">=0x9", "1e1", "inf", "nan", ">=nan", "-inf", "1_0.0",
    "٣.٣", "9.0-", "-9.0", "9.0-inf", "9.*-10.*", ">=9.*", "9.0.*", "*", "=9.0", "==9.0", "9.0,10.0", "9.0 ,", "sm_90",
    "9.0\0", "", "  ", "9" * 5_000, ">=" + "9" * 5_000, "9.05",
]  # fmt: skip
EMPTY = ["9.0-8.0", "10.3-10.0", "<0", "<0.0"]
ARCHITECTURES = ["90", ">=90", "80-90", "90.*", "75 80"]
EVERY = [">=9.0 <10.0", "<=9.0 >9.0", ">=7.0 <=8.0 9.0"]


@pytest.mark.parametrize("text", [*ODD, *EMPTY, *ARCHITECTURES, *EVERY], ids=lambda text: ascii(text[:20]))
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"write|sm_90|holds for no chip") as refused:
        parse_chips(text)
    assert "\n" not in str(refused.value) and len(str(refused.value)) < 200


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (">=9,0", "'>=9,0' is none; write '9.0', '>=8.6'"),
        ("9.0-8.0", "'9.0-8.0' ends before it begins"),
        (">=90", "sm_90 is '9.0'"),
        ("<0.0", "'<0.0' holds for no chip"),
        (">=9.0 <10.0", "write what lies between two as '7.0-8.0'"),
    ],
)
@pytest.mark.parametrize(
    "file",
    [
        "kernels:\n  - {{match: x, cc: {0!r}}}\n",
        "overrides:\n  - {{threshold: busy_pct, value: 50, source: x, when: {{cc: {0!r}}}}}\n",
        "facts:\n  mine: {{label: m, unit: '', says: 'x.', from: [{{use: a__b.sum, cc: {0!r}}}]}}\n",
        "tests:\n  - {{name: x, facts: {{}}, cc: {0!r}, expect: undecided}}\n",
    ],
    ids=["kernels", "overrides", "facts", "tests"],
)
def test_it_is_one_fault_when_the_file_is_loaded(tmp_path: Path, file: str, text: str, words: str) -> None:
    (tmp_path / "triage.yaml").write_text(file.format(text), encoding="utf-8")
    with pytest.raises(FaultyRules) as refused:
        rulebook_for(start=tmp_path)
    (line,) = refused.value.details
    assert f" chips {text!r} is no range of compute capabilities: " in line and words in line


def test_a_case_is_about_one_chip(tmp_path: Path) -> None:
    case = "tests:\n  - {name: x, facts: {}, cc: '>=9.0', expect: undecided}\n"
    (tmp_path / "triage.yaml").write_text(case, encoding="utf-8")
    with pytest.raises(FaultyRules) as refused:
        rulebook_for(start=tmp_path)
    assert "'>=9.0' is no single compute capability: write '9.0'" in refused.value.details[0]
    assert re.search(CHIP.pattern, "9.0") and not re.search(CHIP.pattern, ">=9.0")


@pytest.mark.parametrize("text", [None, "", "nan", "inf", "1e1", "new", "1_0", "9.0.1", "-9.0", "9" * 5_000])
def test_a_chip_that_is_none_is_unknown(text: str | None) -> None:
    assert chip_number(text) is None
    assert chip_number("10.3") == 10.3
