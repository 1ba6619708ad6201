"""``--kernel GLOB`` of a report: only those kernels, with their shares of all, whatever the size of the report."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest
import reports
from captures import DATA
from test_cli import fails, triage

from triage import collection, commands
from triage.choosing import narrowed
from triage.errors import UsageError
from triage.model import Hint

CAPTURE = DATA / "limiters_h200.csv"


@pytest.fixture(scope="module")
def distinct(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """150 launches, each of a kernel with a name of its own."""
    with CAPTURE.open(encoding="utf-8", newline="") as file:
        header, units, *rows = csv.reader(file)
    place, name = header.index("ID"), header.index("Kernel Name")
    target = tmp_path_factory.mktemp("distinct") / "distinct.csv"
    with target.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL)
        writer.writerows((header, units))
        for number in range(150):
            row = list(rows[number % len(rows)])
            bare, _, rest = row[name].partition("(")
            row[place], row[name] = str(number), f"{bare}_{number}({rest}"
            writer.writerow(row)
    return target


def test_shares_stay_those_of_all_and_hints_those_of_the_kernels_left() -> None:
    made = reports.few()
    kept = narrowed(made, "t_*")
    assert [finding.kernel.index for finding in kept.findings] == [0, 1, 2, 3]
    assert [finding.share for finding in kept.findings] == [finding.share for finding in made.findings[:4]]
    assert kept.hints == (made.hints[0],), "the hint about sgemm_tiled is about another kernel"
    assert kept.warnings[-1] == "only kernels named 't_*': 4 of 8 launches; shares are of the time of all"
    later = narrowed(replace(made, hints=(Hint("fuse", "x", (2, 3)),)), "t_[sc]*")
    assert later.hints == (Hint("fuse", "x", (1, 2)),), "places are those of what is left"
    assert narrowed(made, None) is made


def test_a_pattern_that_matches_nothing_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="no kernel 'gone' in transpose") as caught:
        narrowed(reports.few(), "gone")
    assert "sgemm_tiled" in caught.value.hint


def test_through_the_command_line() -> None:
    result = triage("report", CAPTURE, "--kernel", "t_*", "-f", "json")
    document = json.loads(result.stdout)
    assert {kernel["function"] for kernel in document["kernels"]} == {"t_naive", "t_copy", "t_shared"}
    assert sum(kernel["share"] for kernel in document["kernels"]) < 2
    assert "there is no kernel 'gone'" in fails(triage("report", CAPTURE, "-k", "gone"), 2)[0]


def test_of_many_distinct_kernels_the_text_shows_those_that_take_most_time(distinct: Path) -> None:
    words = " ".join(triage("report", distinct).stdout.split())
    assert "50 more kernels, <1 % of the time together, are left out here" in words
    assert "--kernel GLOB chooses kernels by name, -f json holds all" in words


def test_a_kernel_that_was_told_by_its_verdict_only_is_told_in_full_when_chosen(
    distinct: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collection, "IN_FULL", 100)
    monkeypatch.setattr(collection, "DETAILED", 10)
    rules = commands.rulebook([], "guide")
    made = commands.diagnosed([distinct], rules, command="")
    least = min(made.findings, key=lambda finding: finding.duration_ns or 0.0)
    assert not least.diagnosis.evidence
    (found,) = commands.diagnosed([distinct], rules, command="", kernel=least.kernel.function).findings
    assert found.diagnosis.evidence and found.diagnosis.limiter == least.diagnosis.limiter
    assert found.share == least.share
