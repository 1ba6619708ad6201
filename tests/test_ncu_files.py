"""Names and places of a run's files."""

from __future__ import annotations

from pathlib import Path

import pytest

from triage.errors import UsageError
from triage.ncu.files import Files, program_name, reserve
from triage.ncu.ranks import Rank


@pytest.mark.parametrize(
    ("program", "name"),
    [
        (["./transpose", "4096"], "transpose"),
        (["python3", "-u", "dir/train.py", "--x"], "train"),
        (["python3.12", "-m", "pkg.tool"], "pkg.tool"),
        (["python3", "-c", "1"], "python3"),
        (["sh", "-c", "./a; ./b"], "sh"),
        (["bash", "run.sh"], "run"),
        (["./a.out"], "a"),
        (["./odd name%p"], "odd_name_p"),
    ],
)
def test_program_name(program: list[str], name: str) -> None:
    assert program_name(program) == name


def test_no_report_is_overwritten(tmp_path: Path) -> None:
    names = []
    for _ in range(3):
        files = reserve(tmp_path / "new", ["./app"], None)
        files.report.write_text("kept")
        names.append(files.report.name)
    assert names == ["app.ncu-rep", "app.2.ncu-rep", "app.3.ncu-rep"]


def test_ranks_are_in_the_name(tmp_path: Path) -> None:
    files = reserve(tmp_path, ["./app"], Rank(1, 2))
    assert (files.report.name, files.log.name) == ("app.rank1.ncu-rep", "app.rank1.ncu.log")
    assert files.page("html").name == "app.rank1.html" and files.base.name == "app"


def test_pages_have_the_usual_endings() -> None:
    files = Files(Path("o"), "app")
    assert [files.page(name).name for name in ("html", "md", "json", "text")] == [
        "app.html", "app.md", "app.json", "app.txt",
    ]  # fmt: skip


def test_an_unwritable_folder(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(UsageError) as caught:
        reserve(blocked / "out", ["./app"], None)
    assert caught.value.exit_code == 2 and "--output" in caught.value.hint


def test_a_percent_sign_would_be_replaced_by_ncu(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="%"):
        reserve(tmp_path / "50%p", ["./app"], None)


@pytest.mark.parametrize("name", ["app.survey.log", "app.ncu-rep", "app.html", "app.csv"])
def test_a_name_is_free_only_if_nothing_stands_in_the_way_of_any_file(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    assert reserve(tmp_path, ["app"], None).stem == "app.2"
