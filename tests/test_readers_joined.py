"""Exports that somebody put together in one file: nothing is dropped, counted twice or mixed without a word."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path

import pytest

from triage.model import Quantity
from triage.readers import load, pieces, raw_table
from triage.readers.strays import total

DATA = Path(__file__).parent / "data"
RAW, DETAILS, TEXT = (DATA / name for name in ("readers_raw_base.csv", "readers_details.csv", "readers_details.txt"))
TIME = "gpu__time_duration.sum"


def joined(path: Path, *parts: str) -> Path:
    path.write_text("".join(parts), encoding="utf-8")
    return path


def content(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize("order", [(TEXT, RAW), (RAW, TEXT), (DETAILS, TEXT), (TEXT, DETAILS)])
def test_a_text_page_beside_a_table_is_told(tmp_path: Path, order: tuple[Path, Path]) -> None:
    profile = load(joined(tmp_path / "both.csv", *map(content, order)))
    (said,) = [text for text in profile.warnings if "mixes layouts" in text]
    assert "3 results of its text pages are left out" in said
    assert len(profile.kernels) == 3
    assert not any("mixes" in text for text in load(RAW).warnings + load(DETAILS).warnings)


def test_so_it_is_in_a_table_that_is_read_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "_SMALL", 10)
    source = pieces.divide(joined(tmp_path / "both.csv", content(RAW), content(TEXT)))
    assert isinstance(source, raw_table.RawTable)
    tally = source.close([piece.read(None, keep=True)[1] for piece in source.pieces()])
    assert any("3 results of its text pages are left out" in text for text in tally.warnings)


def doubled(change: Callable[[str], str]) -> str:
    """The raw page with its duration a second time behind the last column, each cell changed."""
    rows = list(csv.reader(io.StringIO(content(RAW))))
    at = rows[0].index(TIME)
    for place, row in enumerate(rows):
        row.append(row[at] if place < 2 else change(row[at]))
    made = io.StringIO()
    csv.writer(made, quoting=csv.QUOTE_ALL).writerows(rows)
    return made.getvalue()


def test_columns_of_one_name_that_differ_are_unknown(tmp_path: Path) -> None:
    profile = load(joined(tmp_path / "t.csv", doubled(lambda text: text + "0")), metrics=frozenset({TIME}))
    assert all(TIME not in kernel.metrics for kernel in profile.kernels)
    assert "3 values are unknown: columns of the same name contradict each other" in profile.warnings


def test_columns_of_one_name_that_agree_are_one(tmp_path: Path) -> None:
    profile = load(joined(tmp_path / "t.csv", doubled(lambda text: text)))
    for kernel, intact in zip(profile.kernels, load(RAW).kernels, strict=True):
        assert kernel.metrics[TIME] == intact.metrics[TIME]
    assert profile.warnings == load(RAW).warnings


def test_what_columns_dispute_adds_up_over_the_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "_SMALL", 10)
    monkeypatch.setattr(raw_table, "_BATCH", 10)
    source = pieces.divide(joined(tmp_path / "t.csv", doubled(lambda text: text + "0")))
    tallies = [piece.read(frozenset({TIME}), keep=False)[1] for piece in source.pieces()]
    assert len(tallies) == 3 and total(tally.strays for tally in tallies).disputed == 3


def test_a_table_without_its_header_whose_ids_start_over_is_more_results(tmp_path: Path) -> None:
    head, *rows = content(DETAILS).splitlines(keepends=True)
    begins = next(place for place, row in enumerate(rows) if row.startswith('"2"'))
    last = [row.replace('"2"', '"0"', 1) for row in rows[begins:]]
    profile = load(joined(tmp_path / "t.csv", head, *rows[:begins], *last))
    names = [kernel.name for kernel in profile.kernels]
    assert names == [kernel.name for kernel in load(DETAILS).kernels] and len(set(names)) == 3
    assert dict(profile.kernels[2].metrics) == dict(load(DETAILS).kernels[2].metrics)
    assert not any("contradict" in text for text in profile.warnings)


def test_noise_in_a_name_is_no_new_result(tmp_path: Path) -> None:
    rows = content(DETAILS).splitlines(keepends=True)
    name = load(DETAILS).kernels[0].name
    rows[5] = rows[5].replace(name, name.replace("_", "~", 1))
    profile = load(joined(tmp_path / "t.csv", *rows))
    assert len(profile.kernels) == 3 and len(profile.kernels[0].metrics) == len(load(DETAILS).kernels[0].metrics)


def test_a_text_page_twice_in_one_file_counts_once(tmp_path: Path) -> None:
    profile = load(joined(tmp_path / "t.txt", content(TEXT), content(TEXT)))
    assert [kernel.name for kernel in profile.kernels] == [kernel.name for kernel in load(TEXT).kernels]
    assert any("3 results are copies, to the digit" in text for text in profile.warnings)


def test_a_changed_second_page_is_other_results(tmp_path: Path) -> None:
    times = {kernel.metrics[TIME] for kernel in load(TEXT).kernels}
    first = next(value for value in times if isinstance(value, Quantity))
    printed = next(line for line in content(TEXT).splitlines() if line.strip().startswith("Duration"))
    assert first.value > 0
    other = content(TEXT).replace(printed, printed[:-1] + ("1" if printed[-1] != "1" else "2"), 1)
    profile = load(joined(tmp_path / "t.txt", content(TEXT), other))
    assert len(profile.kernels) == 4 and any("2 results are copies" in text for text in profile.warnings)


@pytest.mark.parametrize("source", [RAW, DETAILS])
def test_a_last_row_cut_within_its_first_cell_is_told(tmp_path: Path, source: Path) -> None:
    rows = list(csv.reader(io.StringIO(content(source))))
    made = io.StringIO()
    csv.writer(made).writerows(rows)
    whole = made.getvalue()
    assert not any("cut" in text for text in load(joined(tmp_path / "whole.csv", whole)).warnings)
    start = whole.rstrip().rfind("\n") + 1
    profile = load(joined(tmp_path / "t.csv", whole[: start + 1]))
    assert any("the file is cut or damaged" in text for text in profile.warnings)
