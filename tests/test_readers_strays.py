"""Tables that other software had in its hands: cells without their number, rows of another length, odd spaces."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from triage.readers import load, pieces, raw_table
from triage.readers.strays import Strays, is_number, total

DATA = Path(__file__).parent / "data"
RAW = DATA / "readers_raw_base.csv"
DETAILS = DATA / "readers_details.csv"
TEXT = DATA / "readers_details.txt"
TIME = "gpu__time_duration.sum"
Table = list[list[str]]


def triage(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "triage", *map(str, words)], capture_output=True, text=True, check=False, timeout=60
    )


def table(source: Path = RAW) -> Table:
    with source.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def saved(path: Path, rows: Iterable[list[str]], quoting: int = csv.QUOTE_ALL) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, quoting=quoting).writerows(rows)  # type: ignore[arg-type]  # the stub wants its literals
    return path


def warnings(path: Path) -> list[str]:
    done = triage("report", path, "-f", "json")
    assert done.returncode == 0, done.stderr
    return [text for source in json.loads(done.stdout)["sources"] for text in source["warnings"]]


def verdicts(path: Path) -> list[str | None]:
    return [one["diagnosis"]["limiter"] for one in json.loads(triage("report", path, "-f", "json").stdout)["kernels"]]


def with_cell(text: str, name: str, row: int = 2) -> Table:
    rows = table()
    rows[row][rows[0].index(name)] = text
    return rows


@pytest.mark.parametrize("text", ["#REF!", "####", "#N/A", "Feb 01", "2026-02-01", "abc", "12 of 30"])
def test_a_cell_without_its_number_is_told(tmp_path: Path, text: str) -> None:
    path = saved(tmp_path / "r.csv", with_cell(text, TIME))
    assert f"1 cell holds no number where ncu writes one ({text!r}): these values are unknown" in warnings(path)


@pytest.mark.parametrize(
    "text", ["", "n/a", "nan", "-nan(ind)", "(!) nan", "no data", "1,234", "95.8%", "7 (1; 6)", "1; 6", "3e5"]
)
def test_what_ncu_writes_is_not(tmp_path: Path, text: str) -> None:
    assert not any("no number" in said for said in warnings(saved(tmp_path / "r.csv", with_cell(text, TIME))))


def test_once_a_file_how_many_and_three_examples(tmp_path: Path) -> None:
    rows = table()
    at = rows[0].index("sm__throughput.avg.pct_of_peak_sustained_elapsed")
    for row, text in zip(rows[2:], ("#REF!", "####", "####"), strict=False):
        row[at] = text
    rows[2][rows[0].index(TIME)] = "####"
    # A column without a unit holds text by right, but no spreadsheet's error.
    rows[2][rows[0].index("launch__func_cache_config")] = "CachePreferShared"
    rows[3][rows[0].index("launch__grid_dim_x")] = "#NAME?"
    said = [text for text in warnings(saved(tmp_path / "r.csv", rows)) if "no number" in text]
    # In the order of the metrics within each row.
    assert len(said) == 1 and said[0].startswith("5 cells hold no number where ncu writes one (")
    assert all(repr(text) in said[0] for text in ("#REF!", "####", "#NAME?"))


def test_a_reader_of_every_metric_is_told_the_same(tmp_path: Path) -> None:
    path = saved(tmp_path / "r.csv", with_cell("####", TIME))
    whole, chosen = load(path), load(path, metrics=[TIME])
    assert whole.warnings == chosen.warnings and any("'####'" in text for text in whole.warnings)
    assert load(path, metrics=["dram__bytes_read.sum"]).warnings == ()


def test_details_and_text_pages_are_told_too(tmp_path: Path) -> None:
    rows = table(DETAILS)
    at = next(n for n, row in enumerate(rows) if n and row[rows[0].index("Metric Name")] == "Duration")
    rows[at][rows[0].index("Metric Value")] = "#VALUE!"
    assert any("1 cell holds no number" in text and "#VALUE!" in text for text in warnings(saved(tmp_path / "d", rows)))
    page = tmp_path / "page.txt"
    line = next(line for line in TEXT.read_text().splitlines() if line.strip().startswith("Duration "))
    value = line.split()[-1]
    page.write_text(TEXT.read_text().replace(line, line.replace(value, "#" * len(value)), 1))
    assert any("1 cell holds no number" in text for text in warnings(page))


def test_intact_tables_say_nothing_of_it() -> None:
    for path in (RAW, DETAILS, TEXT, *sorted(DATA.glob("*h200*.csv"))):
        said = load(path).warnings
        assert not [text for text in said if "no number" in text or "cells than" in text], path


@pytest.mark.parametrize("cells", [["", "", ""], [" ", "\t"]])
def test_trailing_empty_cells_are_read(tmp_path: Path, cells: list[str]) -> None:
    path = saved(tmp_path / "r.csv", [row + cells for row in table()[:1]] + [row + cells for row in table()[1:]])
    rows_only = saved(tmp_path / "s.csv", table()[:1] + [row + cells for row in table()[1:]])
    assert verdicts(path) == verdicts(rows_only) == verdicts(RAW)
    assert warnings(path) == warnings(rows_only) == warnings(RAW)


def refused(path: Path) -> list[str]:
    done = triage("report", path)
    assert done.returncode == 3 and done.stdout == ""
    return done.stderr.splitlines()


def test_longer_rows_are_the_reason(tmp_path: Path) -> None:
    rows = table()
    wide = len(rows[0])
    message, hint = refused(saved(tmp_path / "r.csv", [rows[0], *([*row, "1", "2", "3"] for row in rows[1:])]))
    assert f"its rows have more cells than the header ({wide + 3:,}, not {wide:,})" in message and "column" in message
    assert hint.startswith("hint: export it again")


def test_lost_quotes_are_the_reason(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text(RAW.read_text(encoding="utf-8").replace('"', ""), encoding="utf-8")
    message, hint = refused(path)
    assert "more cells than the header" in message and "without quotes, a ',' in a name or number parts it" in message
    assert hint.startswith("hint: export it again")


def test_one_longer_row_is_left_out_and_told(tmp_path: Path) -> None:
    rows = table()
    rows[3] = [*rows[3], "1"]
    path = saved(tmp_path / "r.csv", rows)
    wide = len(rows[0])
    said = f"1 row has more cells than the header ({wide + 1:,}, not {wide:,}) and was left out"
    assert said in warnings(path) and len(verdicts(path)) == len(rows) - 3


def test_lines_that_are_no_results_are_the_reason(tmp_path: Path) -> None:
    rows = table()
    at = rows[0].index("ID")
    for number, row in enumerate(rows[2:]):
        row[at] = f"{number}.0"
    message, _ = refused(saved(tmp_path / "r.csv", rows))
    assert message.endswith(f"none of the {len(rows) - 2} lines below its header is a result of ncu")
    message, _ = refused(saved(tmp_path / "s.csv", rows[:2]))
    assert message.endswith("the table has a header but no kernel")


@pytest.mark.parametrize("source", [RAW, DETAILS, TEXT])
@pytest.mark.parametrize(
    "spoil",
    [lambda text: text.replace(" ", "\u00a0"), lambda text: text.replace("  ", "\u00a0 ").replace("l N", "l\u00a0N")],
)
def test_no_break_spaces_of_a_mail_are_spaces(tmp_path: Path, source: Path, spoil: Callable[[str], str]) -> None:
    path = tmp_path / source.name
    path.write_text(spoil(source.read_text(encoding="utf-8")), encoding="utf-8")
    one, other = load(path), load(source)
    assert [(k.name, k.launch, dict(k.metrics)) for k in one.kernels] == [
        (k.name, k.launch, dict(k.metrics)) for k in other.kernels
    ]
    assert one.warnings == other.warnings and verdicts(path) == verdicts(source)


def test_a_no_break_space_of_ncu_itself_stays(tmp_path: Path) -> None:
    """Thousands in some locales, and names that have one."""
    path = saved(tmp_path / "r.csv", with_cell("na\u00a0me<1>()", "Kernel Name"))
    assert load(path).kernels[0].name == "na\u00a0me<1>()"


def test_a_divided_table_adds_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "_SMALL", 0)
    monkeypatch.setattr(raw_table, "_BATCH", 1)
    rows = with_cell("####", TIME)
    rows[3][rows[0].index(TIME)] = "#REF!"
    rows[4] = [*rows[4], "1"]
    rows.append([*rows[2], ""])
    rows[-1][rows[0].index("ID")] = "9"
    path = saved(tmp_path / "r.csv", rows)
    source = pieces.divide(path)
    assert isinstance(source, raw_table.RawTable)
    tallies = []
    for piece in source.pieces():
        try:
            tallies.append(piece.read([TIME], keep=False)[1])
        except Exception as fault:
            assert "more cells than the header" in str(fault)
    said = source.close(tallies).warnings
    assert "3 cells hold no number where ncu writes one ('####', '#REF!'): these values are unknown" in said


def test_counts_add_up() -> None:
    one, two = Strays(short=1), Strays(odd=2)
    two.too_long(9, 7)
    two.too_long(12, 7)
    for text in "abcd":
        two.no_number(text)
    whole = total([one, two, two])
    assert (whole.short, whole.odd, whole.long, whole.sizes, whole.illegible) == (1, 4, 4, (9, 7), 8)
    assert list(whole.examples) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("metric", "unit", "number"),
    [
        ("gpu__time_duration.sum", "", True),
        ("smsp__inst_executed.avg.per_cycle_active", "", True),
        ("launch__registers_per_thread", "register/thread", True),
        ("launch__func_cache_config", "", False),
        ("device__attribute_display_name", " ", False),
        ("breakdown:sm__throughput.avg.pct_of_peak_sustained_elapsed", "%", False),
    ],
)
def test_which_metrics_are_numbers(metric: str, unit: str, number: bool) -> None:
    assert is_number(metric, unit) is number


PIPE = "sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_elapsed"


@pytest.mark.parametrize("name", [PIPE.replace("cycles", "cxcles"), PIPE.replace("alu", "alou"), PIPE[:-1]])
def test_a_column_nearly_named_like_a_missing_counter_is_told(tmp_path: Path, name: str) -> None:
    rows = table(DATA / "validate_h200.csv")
    rows[0][rows[0].index(PIPE)] = name
    said = warnings(saved(tmp_path / "r.csv", rows))
    assert said == [f"the file may be damaged: column {name!r} is no counter, and {PIPE} is missing"]


def test_a_callers_own_names_are_not_blamed_on_the_file() -> None:
    assert load(RAW, metrics=["gpu__cycles_elapsed.max", "gpu__time_durations.sum"]).warnings == load(RAW).warnings


def test_two_letters_apart_or_beside_the_counter_is_another_one(tmp_path: Path) -> None:
    rows = table(DATA / "validate_h200.csv")
    at = rows[0].index(PIPE)
    beside = [
        [*row, cell] for row, cell in zip(rows, [PIPE.replace("cycles", "cxcles")] + ["1"] * len(rows), strict=False)
    ]
    assert warnings(saved(tmp_path / "r.csv", beside)) == []
    # A chip's own unit (address divergence) and a counter that is two characters away.
    for other in (PIPE.replace("alu", "adu"), PIPE.replace("alu", "uao")):
        rows[0][at] = other
        assert warnings(saved(tmp_path / "r.csv", rows)) == []


def test_a_range_has_no_size_and_that_is_no_damage(tmp_path: Path) -> None:
    for capture in ("readers_raw_base.csv", "readers_details.csv"):
        rows = table(DATA / capture)
        for column in ("Block Size", "Grid Size"):
            at = rows[0].index(column)
            for row in rows[1:]:
                row[at] = "(0, 0, 0)" if row[at] else ""
        path = saved(tmp_path / "r.csv", rows)
        assert not any("no number" in said for said in warnings(path))
        assert load(path).kernels[0].launch.block in (None, (32, 8, 1))


@pytest.mark.parametrize("capture", ["readers_raw_base.csv", "readers_details.csv"])
@pytest.mark.parametrize("text", ["(0, 8, 1)", "(32, 0, 1)", "(32, 8)", "(1, 1, 65536)", "32x8"])
def test_a_size_that_no_launch_has_is_told_and_unknown(tmp_path: Path, capture: str, text: str) -> None:
    rows = table(DATA / capture)
    at = rows[0].index("Block Size")
    for row in rows[1:]:
        if row[at]:
            row[at] = text
    path = saved(tmp_path / "r.csv", rows)
    assert any("no number where ncu writes one" in said and repr(text) in said for said in warnings(path))
    told = {str(kernel.launch.block) for kernel in load(path).kernels}
    assert text not in told and "(32, 0, 1)" not in told


def test_a_run_of_letters_in_a_name_is_damage(tmp_path: Path) -> None:
    rows = table(DATA / "validate_h200.csv")
    at = rows[0].index(PIPE)
    rows[0][at] = PIPE.replace("__pipe", f"_{'e9' * 41}_pipe")
    assert any("the header is damaged" in said for said in warnings(saved(tmp_path / "r.csv", rows)))
