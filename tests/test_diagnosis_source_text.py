"""triage.diagnosis.source_text: source from disk, and only from the folder that was mapped."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import reports

from triage.diagnosis.source_text import read_map, with_source
from triage.errors import UsageError
from triage.model import LineFinding, Report


def about(*lines: LineFinding) -> Report:
    diagnosis = replace(reports.CONFLICTS, lines=lines)
    return reports.report(reports.finding(0, "k(int)", diagnosis, 1.0))


def texts(report: Report) -> list[str | None]:
    return [line.text for line in report.findings[0].diagnosis.lines]


def line(file: str, number: int = 2, text: str | None = None) -> LineFinding:
    return LineFinding(file, number, 50.0, "inst_executed", text)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "src" / "deep").mkdir(parents=True)
    (tmp_path / "src" / "a.cu").write_bytes(b"one\r\n  two\r\nthree \xff\n")
    (tmp_path / "src" / "deep" / "b.cu").write_text("first\nsecond\n")
    (tmp_path / "secret.txt").write_text("hidden\nhidden\n")
    return tmp_path / "src"


@pytest.mark.parametrize("file", ["/build/x/a.cu", "/build/./x/a.cu", "/build/x//a.cu"])
def test_text_comes_from_the_mapped_folder(folder: Path, file: str) -> None:
    made = with_source(about(line(file), line("/build/x/deep/b.cu", 1)), [read_map(f"/build/x={folder}")])
    assert texts(made) == ["  two", "first"] and made.warnings == ()


def test_windows_paths_and_a_slash_at_the_end(folder: Path) -> None:
    made = with_source(about(line(r"C:\build\deep\b.cu")), [read_map(f"C:\\build\\={folder}")])
    assert texts(made) == ["second"]


def test_what_the_report_imported_stays(folder: Path) -> None:
    made = with_source(about(line("/build/a.cu", 2, "imported")), [read_map(f"/build={folder}")])
    assert texts(made) == ["imported"]


@pytest.mark.parametrize("file", ["/build/../secret.txt", "/build/deep/../../secret.txt", "/build", "/build/deep"])
def test_never_outside_the_folder(folder: Path, file: str) -> None:
    made = with_source(about(line(file)), [read_map(f"/build={folder}")])
    assert texts(made) == [None] and made.warnings == (f"no source for {file} in the source maps",)


def test_a_link_that_leads_outside_is_not_followed(folder: Path) -> None:
    (folder / "link.cu").symlink_to(folder.parent / "secret.txt")
    (folder / "loop.cu").symlink_to(folder / "loop.cu")
    made = with_source(about(line("/build/link.cu"), line("/build/loop.cu")), [read_map(f"/build={folder}")])
    assert texts(made) == [None, None]
    assert made.warnings == ("no source for /build/link.cu and 1 more in the source maps",)


def test_lines_beyond_the_file_files_elsewhere_and_odd_names(folder: Path) -> None:
    maps = [read_map(f"/build={folder}")]
    assert texts(with_source(about(line("/build/a.cu", 99), line("/build/a.cu", 0)), maps)) == [None, None]
    assert texts(with_source(about(line("/other/a.cu"), line("a\0b"), line("/build/\0"), line("")), maps)) == [None] * 4


def test_the_first_map_that_has_the_file_counts(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.cu").write_text("x\ny\n")
    made = with_source(about(line("/b/a.cu")), [read_map(f"/b={other}"), read_map(f"/b={folder}")])
    assert texts(made) == ["y"]
    made = with_source(about(line("/b/deep/b.cu")), [read_map(f"/b={other}"), read_map(f"/b={folder}")])
    assert texts(made) == ["second"]


@pytest.mark.parametrize("text", ["", "no-sign", "=here", "there=", "/a=/no/such/folder"])
def test_a_map_that_is_none_is_a_usage_error(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_map(text)
    assert "FROM=TO" in caught.value.hint
