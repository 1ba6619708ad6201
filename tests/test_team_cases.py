"""Case files: kernels by facts, counters or captures, and what the whole path should say of them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from captures import DATA
from test_cli import fails, triage

from triage.rules.cases import run, walked
from triage.team import rulebook_for

CASES = [
    ("facts: {stall_barrier_pct: 69}, limiter: barrier, expect: fires", ""),
    ("facts: {stall_barrier_pct: 69}, limiter: barrier, expect: clear", "was fires"),
    ("facts: {}, expect: undecided", ""),
    ("facts: {}, expect: barrier", "was undecided"),
    ("capture: some.csv, kernel: bw_copy4, expect: dram-bandwidth", ""),
    ("capture: some.csv, kernel: 'bw_c*', expect: [dram-bandwidth, undecided]", ""),
    ("capture: some.csv, kernel: '2', expect: bank-conflicts", ""),
    ("capture: some.csv, kernel: 2, expect: bank-conflicts", ""),
    ("capture: some.csv, kernel: t_shared, expect: bank-conflicts", "3 kernels of some.csv match 't_shared'"),
    ("capture: some.csv, kernel: '99', expect: bank-conflicts", "0 kernels of some.csv match '99'"),
    ("capture: bad.csv, expect: bank-conflicts", "was "),
    ("metrics: {gpu__time_duration.sum: 3000}, cc: '9.0', expect: undecided", ""),
]


@pytest.mark.parametrize(("case", "failure"), CASES, ids=[case for case, _ in CASES])
def test_a_case(tmp_path: Path, case: str, failure: str) -> None:
    shutil.copy(DATA / "limiters_h200.csv", tmp_path / "some.csv")
    (tmp_path / "bad.csv").write_text("nothing\n", encoding="utf-8")
    (tmp_path / "triage.yaml").write_text(f"tests:\n  - {{name: one, {case}}}\n", encoding="utf-8")
    rules = rulebook_for(start=tmp_path)
    passed, failed, lines = run(rules)
    assert (failed, passed > 100) == (bool(failure), True)
    assert all(failure in line and "triage.yaml:2: 'one'" in line for line in lines), lines
    assert (walked(rules, rules.cases[0]) in rules.cases[0].expect) is not bool(failure)


def test_a_failing_case_ends_with_10_and_is_found_by_the_linter(tmp_path: Path) -> None:
    (tmp_path / "triage.yaml").write_text("tests:\n  - {name: one, facts: {}, expect: barrier}\n", encoding="utf-8")
    assert "triage.yaml:2: 'one': expected barrier, was undecided" in " ".join(
        fails(triage("rules", "test", cwd=tmp_path), 10)
    )
    assert "triage.yaml:2:5: test 'one'" in triage("rules", "lint", cwd=tmp_path).stdout


def test_an_override_for_a_chip_holds_for_a_case_on_it(tmp_path: Path) -> None:
    (tmp_path / "triage.yaml").write_text(
        "overrides:\n  - {threshold: stall_lead_pct, value: 90, when: {cc: '9.*'}, source: ours}\n"
        "tests:\n  - {name: there, cc: '9.0', limiter: barrier, facts: {stall_barrier_pct: 69}, expect: clear}\n"
        "  - {name: elsewhere, cc: '8.0', limiter: barrier, facts: {stall_barrier_pct: 69}, expect: fires}\n",
        encoding="utf-8",
    )
    assert run(rulebook_for(start=tmp_path))[1:] == (0, [])


@pytest.mark.parametrize(
    ("path", "code", "reason"),
    [
        ("absent.csv", "missing-file", "there is no file 'absent.csv'"),
        ("../outside.csv", "outside", "'../outside.csv' points outside of "),
    ],
)
def test_a_report_that_cannot_be_had_fails_its_case_and_stops_nothing_else(
    tmp_path: Path, path: str, code: str, reason: str
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    shutil.copy(DATA / "limiters_h200.csv", tmp_path / "outside.csv")
    (here / "triage.yaml").write_text(
        f"tests:\n  - {{name: one, capture: {path}, kernel: 2, expect: [bank-conflicts, undecided]}}\n",
        encoding="utf-8",
    )
    assert triage("report", DATA / "limiters_h200.csv", cwd=here).returncode == 0
    # Its gates do not hold, but they are asked: 10, not the 3 of faulty rules.
    assert triage("check", DATA / "limiters_h200.csv", cwd=here).returncode == 10
    linted = triage("rules", "lint", cwd=here)
    assert (linted.returncode, linted.stdout.count("\n")) == (3, 1)
    assert linted.stdout.startswith(f"triage.yaml:2:17: {code} {reason}")
    assert f"'one': expected bank-conflicts or undecided, was {reason}" in " ".join(
        fails(triage("rules", "test", cwd=here), 10)
    )
