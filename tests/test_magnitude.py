"""Numbers from the ends of a float, in every place of a report: unknown, never an exception."""

from __future__ import annotations

import csv
import random
import sys
from pathlib import Path

import pytest

from triage import cli
from triage.compare.noise import Noise, judge
from triage.diagnosis.roofs import read_roofs
from triage.errors import UnreadableReport
from triage.facts import FactSet
from triage.gates.baseline_form import MAGIC
from triage.gates.baseline_load import load as load_baseline
from triage.magnitude import LARGEST, SMALLEST, plausible
from triage.model import Quantity
from triage.rules import default_rulebook

SOURCE = Path(__file__).parent / "data" / "limiters_h200.csv"
TIME = "gpu__time_duration.sum"
VALUES = ("1e308", "1e300", "-1e308", "1e-320", "0", "1e154", "5e-324", "1.7976931348623157e308", "1e16", "1e200")


def test_bounds() -> None:
    assert all(plausible(value) for value in (0, -3, 1e22, 2**63, SMALLEST, LARGEST, -LARGEST))
    assert not any(plausible(value) for value in (1e31, 1e-31, 10**400, float("nan"), float("inf")))


@pytest.mark.parametrize("value", [1e308, 5e-324])
def test_a_metric_or_fact_beyond_the_bounds_is_unknown(value: float) -> None:
    rules = default_rulebook()
    facts = FactSet(rules, {TIME: Quantity(value, "ns")}, "9.0")
    assert facts.value("duration_ns") is None and TIME in facts.doubtful
    # Each within the bounds, their quotient is not.
    dram = {"dram__bytes_read.sum": Quantity(1e29, "byte"), "dram__bytes_write.sum": Quantity(0, "byte")}
    work = {f"smsp__sass_thread_inst_executed_op_{op}_pred_on.sum": Quantity(1e-4) for op in ("fadd", "fmul", "ffma")}
    facts = FactSet(rules, {**dram, **work}, "9.0")
    assert facts.value("dram_bytes") == 1e29
    assert facts.value("arithmetic_intensity") is None


def test_durations_beyond_the_bounds_are_none() -> None:
    assert judge([1e308, 5e-324], [100.0], Noise()).change == "unknown"
    assert judge([100.0, 1e308], [100.0], Noise()).change == "same"


@pytest.mark.parametrize("rate", ["5e-324", "1e308", "1" + "0" * 400])
def test_a_roof_beyond_the_bounds_is_refused(tmp_path: Path, rate: str) -> None:
    path = tmp_path / "roofs.json"
    path.write_text(f'{{"schema": "triage/roofs/1", "device": "x", "dram_bytes_per_s": {rate}}}')
    with pytest.raises(UnreadableReport, match="no positive number"):
        read_roofs(path)


@pytest.mark.parametrize("value", ["1e308", "5e-324", ".nan"])
def test_a_baseline_beyond_the_bounds_is_refused(tmp_path: Path, value: str) -> None:
    path = tmp_path / "b.yaml"
    path.write_text(f"{MAGIC}\nkernels:\n- name: k\n  limiter: undecided\n  durations_ns: [{value}]\n")
    with pytest.raises(UnreadableReport) as refused:
        load_baseline(path)
    assert any("an entry of 'durations_ns' must be a number" in line for line in refused.value.details)


@pytest.mark.parametrize("seed", range(6))
def test_every_command_takes_them(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    chance = random.Random(seed)
    head, units, *rows = list(csv.reader(SOURCE.read_text(encoding="utf-8").splitlines()))
    rows = rows[:6]
    chosen = [*chance.sample(range(11, len(head)), (60, 150, 20)[seed % 3]), head.index(TIME)][
        : None if seed % 2 else -1
    ]
    for name, change in (("good", False), ("bad", True)):
        for row in rows if change else []:
            for column in chosen:
                row[column] = chance.choice(VALUES)
        with (tmp_path / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, quoting=csv.QUOTE_ALL).writerows([head, units, *rows])
    monkeypatch.chdir(tmp_path)
    for words in (
        "report bad.csv -f html -o r.html", "report bad.csv", "explain bad.csv", "diff good.csv bad.csv",
        "diff bad.csv good.csv -f html -o d.html", "check bad.csv --baseline good.csv --sarif s.sarif",
        "check good.csv --baseline bad.csv", "baseline bad.csv -o b.yaml", "check good.csv --baseline b.yaml",
    ):  # fmt: skip
        monkeypatch.setattr(sys, "argv", ["triage", *words.split()])
        assert cli.run() in (0, 10), words
        assert "unexpected" not in capsys.readouterr().err
