"""`triage report --roofs` and `--source-map`: from the command line to the report."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import reports

from triage import cli, commands
from triage.driver.roofs import Roofs
from triage.model import LineFinding

DEMO = str(commands.demo_files())


def call(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["triage", *arguments])
    return cli.run()


def test_a_measured_roof_stands_in_the_report(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    roofs, out = tmp_path / "triage-roofs.json", tmp_path / "out.json"
    roofs.write_text(Roofs("NVIDIA H200", "9.0", 4.222e12, "2026-11-30T01:00:00+00:00", "device copy").as_json())
    assert call(monkeypatch, "report", DEMO, "--roofs", str(roofs), "-o", str(out)) == 0
    (roof,) = json.loads(out.read_text())["roofs"]
    assert roof["measured"] is True and roof["bytes_per_s"] == 4.222e12 and roof["source"].startswith("device copy")


def test_a_file_that_holds_no_roof_is_an_unreadable_report(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    roofs = tmp_path / "other.json"
    roofs.write_text("{}")
    assert call(monkeypatch, "report", DEMO, "--roofs", str(roofs)) == 3
    assert "no roofs file" in capsys.readouterr().err


def test_a_source_map_without_a_folder_is_a_usage_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(monkeypatch, "report", DEMO, "--source-map", "/src=/no/such/folder") == 2
    assert "does not exist" in capsys.readouterr().err


def test_source_comes_from_disk_where_the_report_has_none(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text("one\ntwo\n")
    diagnosis = replace(reports.CONFLICTS, lines=(LineFinding("/src/k.cu", 2, 100.0, "inst_executed"),))
    made = reports.report(reports.finding(0, "k(int)", diagnosis, 1.0))
    found = commands.completed(made, [], [f"/src={tmp_path}"])
    assert found.findings[0].diagnosis.lines[0].text == "two"
    assert commands.completed(made, [], []) is made


def test_a_source_map_of_the_team_is_seen_from_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels" / "k.cu").write_text("one\ntwo\n")
    (tmp_path / "triage.yaml").write_text("report: {source_map: /src=kernels}\n")
    (tmp_path / "deeper").mkdir()
    monkeypatch.chdir(tmp_path / "deeper")
    diagnosis = replace(reports.CONFLICTS, lines=(LineFinding("/src/k.cu", 2, 100.0, "inst_executed"),))
    made = reports.report(reports.finding(0, "k(int)", diagnosis, 1.0))
    assert commands.completed(made, [], []).findings[0].diagnosis.lines[0].text == "two"
