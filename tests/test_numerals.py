"""Whole numbers in texts that users, files and environments bring: the same everywhere, and never an exception."""

from __future__ import annotations

import shutil
import sys
from dataclasses import replace
from pathlib import Path

import compared
import pytest
from captures import DATA
from compared import COLLECTED, state

from triage import cli
from triage.errors import UsageError
from triage.export import rank_of
from triage.ncu.ranks import this_rank
from triage.ncu.survey import function_name
from triage.numerals import LARGEST, whole
from triage.readers.columns import Columns

LONG = "9" * 5_000
# What str.isdigit, str.isdecimal or int take for numbers, each in its own way.
ODD = ("²", "٣", "1_0", " 1", "+1", "-1", "1.0", "", "0x1", LONG, str(LARGEST + 1))


@pytest.mark.parametrize(("text", "number"), [("0", 0), ("12", 12), ("007", 7), ("0" * 50 + "3", 3)])
def test_whole_numbers(text: str, number: int) -> None:
    assert whole(text) == number


def test_the_largest_is_that_of_64_bits_or_of_the_caller() -> None:
    assert whole(str(LARGEST)) == LARGEST
    assert whole("8", 8) == 8 and whole("9", 8) is None


@pytest.mark.parametrize("text", ODD, ids=ascii)
def test_what_is_no_whole_number(text: str) -> None:
    assert whole(text) is None


def test_no_part_of_triage_asks_python_whether_a_text_is_a_number() -> None:
    files = Path(cli.__file__).parent.rglob("*.py")
    asks = [f"{file}: {word}" for file in files for word in (".isdigit(", ".isdecimal(", ".isnumeric(")
            if word in file.read_text(encoding="utf-8")]  # fmt: skip
    assert asks == [], "triage.numerals.whole does not disagree with itself"


@pytest.mark.parametrize("text", ["²", "--5", "-1", LONG], ids=ascii)
def test_explain_finds_no_such_kernel(
    text: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["triage", "explain", str(DATA / "limiters_h200.csv"), f"--kernel={text}"])
    assert cli.run() == 2
    assert capsys.readouterr().err.startswith(f"triage: no kernel {text!r}"[:100])


@pytest.mark.parametrize("text", ["²", LONG], ids=ascii)
def test_a_case_finds_no_such_kernel(
    tmp_path: Path, text: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(DATA / "limiters_h200.csv", tmp_path / "some.csv")
    case = f'  - {{name: one, capture: some.csv, kernel: "{text}", expect: undecided}}\n'
    (tmp_path / "triage.yaml").write_text(f"tests:\n{case}", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for words, status in (("rules test", 10), ("rules lint", 3)):
        monkeypatch.setattr(sys, "argv", ["triage", *words.split()])
        assert cli.run() == status
        said = "".join(capsys.readouterr())
        assert "0 kernels of some.csv match" in said and "unexpected" not in said


@pytest.mark.parametrize("text", [LONG, f"0-{LONG}", f"{LONG}-", "²", "٣"], ids=ascii)
def test_launches_that_are_no_range(text: str) -> None:
    from triage.compare.selection import parse

    with pytest.raises(UsageError, match="is no range"):
        parse(text)


@pytest.mark.parametrize("release", [f"{LONG}.1.0", "².1.0"], ids=ascii)
def test_an_ncu_whose_year_is_no_year_is_unknown(release: str) -> None:
    odd = state(collection=replace(COLLECTED, ncu=release))
    assert compared.compared([odd], [state()]).pairs[0].reasons == ()


@pytest.mark.parametrize(
    "name", [f"run.rank{'9' * 20}.csv", "run_r20261130073010123456.csv", "run_r20261130.csv", "a.rank٣.csv"]
)
def test_a_time_stamp_is_no_rank(name: str) -> None:
    assert rank_of(name) is None


@pytest.mark.parametrize(("rank", "size"), [("0", LONG), ("٣", "٤"), ("0", "1_0"), ("0", "99999999"), ("-1", "2")])
def test_a_rank_that_no_launcher_gives(rank: str, size: str) -> None:
    assert this_rank({"RANK": rank, "WORLD_SIZE": size}) is None


def test_a_mangled_name_of_absurd_length_stays_as_it_is() -> None:
    assert function_name(f"_Z{LONG}f") == f"_Z{LONG}f"
    assert function_name("_ZN1a²bE") == "a"


def test_a_row_whose_id_is_no_number_is_no_result() -> None:
    columns = Columns.of(["ID", "Kernel Name"])
    assert columns.is_result(["3", "k"]) and not columns.is_result(["²", "k"])


def test_a_gate_that_is_set_in_a_folder_with_a_colon(tmp_path: Path) -> None:
    from triage.gates import Config, check
    from triage.gates.model import Scope
    from triage.renderers import sarif

    (tmp_path / "a:b").mkdir()
    (tmp_path / "a:b" / "triage.yaml").write_text("")
    (tmp_path / "a").write_text("")
    scope = Scope("copy", (("slower_than", 0.01),), "a:b/triage.yaml:4:5")
    slow = state(durations=(150_000.0,))
    result = check(compared.side(slow), compared.side(state()), Config(kernels=(scope,)), compared.rules())
    assert '"startLine": 4' in (text := sarif.render_check(result, tmp_path)) and "triage.yaml" in text


def test_faults_of_metric_sets_in_a_folder_with_blanks_stand_at_their_line(tmp_path: Path) -> None:
    from triage.rules.layers import folder_layer
    from triage.rules.lint import lint

    folder = tmp_path / "my rules: 2"
    folder.mkdir()
    (folder / "sets.yaml").write_text("sets:\n  mine: {title: Ours, metrics: [a__b.sum]}\n", encoding="utf-8")
    (fault,) = lint([folder_layer(folder, "pack", "my rules: 2")])
    assert str(fault).startswith("my rules: 2/sets.yaml:2:3: about ")
