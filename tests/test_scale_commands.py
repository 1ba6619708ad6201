"""Large and partial runs through the command line: interrupted reading, ranks and devices of one run."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from captures import DATA
from test_cli import triage

from triage import cli, commands

CAPTURE = DATA / "limiters_h200.csv"


def _rows() -> tuple[list[str], list[str], list[list[str]]]:
    with CAPTURE.open(encoding="utf-8", newline="") as file:
        header, units, *rows = csv.reader(file)
    return header, units, rows[:6]


def _write(path: Path, rows: Sequence[Sequence[str]]) -> Path:
    header, units, _ = _rows()
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows((header, units, *rows))
    return path


def _slower(row: Sequence[str], header: Sequence[str]) -> list[str]:
    """The same launch at two thirds of the clock: times and rates agree with it."""
    made = list(row)
    for place, name in enumerate(header):
        factor = 1.5 if "time_duration" in name else 1 / 1.5 if name.endswith("cycles_elapsed.avg.per_second") else None
        if factor is not None and made[place]:
            made[place] = f"{round(float(made[place].replace(',', '')) * factor):,}"
    return made


def test_of_several_ranks_the_odd_one_is_named(tmp_path: Path) -> None:
    header, _, rows = _rows()
    for rank in range(4):
        _write(tmp_path / f"app.rank{rank}.csv", [_slower(row, header) for row in rows] if rank == 2 else rows)
    words = " ".join(triage("report", tmp_path).stdout.split())
    assert "Warning: app.rank2.csv is the odd one out: " in words and "on the 3 others (50 % longer)" in words


@pytest.mark.parametrize(("column", "place"), [("Device", "device 2"), ("Process ID", "process limiters [2]")])
def test_of_several_devices_or_processes_in_one_file_the_odd_one_is_named(
    column: str, place: str, tmp_path: Path
) -> None:
    header, _, rows = _rows()
    made = []
    for number in range(4):
        for row in rows:
            one = _slower(row, header) if number == 2 else list(row)
            one[header.index("ID")], one[header.index(column)] = str(len(made)), str(number)
            made.append(one)
    document = json.loads(triage("report", _write(tmp_path / "run.csv", made), "-f", "json").stdout)
    assert any(text.startswith(f"{place} is the odd one out: ") for text in document["warnings"])


def test_an_interrupted_report_shows_what_was_read_and_ends_with_130(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def stop(done: int, _: int) -> None:
        if done >= 30:
            raise KeyboardInterrupt

    monkeypatch.setattr(commands, "_progress", lambda: stop)
    files = [str(CAPTURE), str(DATA / "limiters_h200_auto.csv")]
    target = tmp_path / "part.json"
    for more in ([], ["-o", str(target)]):
        monkeypatch.setattr(sys, "argv", ["triage", "report", *files, *more])
        assert cli.run() == 130
        printed = capsys.readouterr()
        assert "triage: interrupted" in printed.err and "Traceback" not in printed.err
        if not more:
            assert "Warning: interrupted: 30 of about 60 kernels were read" in " ".join(printed.out.split())
    assert len(json.loads(target.read_text(encoding="utf-8"))["kernels"]) == 30
