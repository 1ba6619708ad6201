"""The example pack, through the command line, as a team would use it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from test_cli import fails, triage

EXAMPLE = Path(__file__).parents[1] / "examples" / "team-rules"
CAPTURE = Path("perf-rules") / "captures" / "nightly.csv"


@pytest.fixture
def here(tmp_path: Path) -> Path:
    return Path(shutil.copytree(EXAMPLE, tmp_path / "team"))


def test_it_lints_and_its_tests_hold(here: Path) -> None:
    assert triage("rules", "lint", cwd=here).stdout == "no fault in perf-rules, triage.yaml\n"
    assert triage("rules", "test", cwd=here).stdout.endswith("passed, 0 failed\n")
    assert triage("rules", "lint", "perf-rules", cwd=here).stdout == "no fault in perf-rules\n"


def test_its_own_limiter_is_named_listed_and_shown(here: Path) -> None:
    made = json.loads(triage("report", CAPTURE, "-f", "json", cwd=here).stdout)
    assert [kernel["diagnosis"]["limiter"] for kernel in made["kernels"]] == [
        "dram-bandwidth", "bank-conflicts", "short-launch", "dram-bandwidth", "short-launch", "short-launch",
    ]  # fmt: skip
    assert "short-launch" in triage("rules", "list", cwd=here).stdout
    assert "perf-rules/limiters/short-launch.yaml:2" in triage("rules", "show", "short-launch", cwd=here).stdout
    elsewhere = json.loads(triage("report", here / CAPTURE, "-f", "json", cwd=here.parent).stdout)
    assert "short-launch" not in {kernel["diagnosis"]["limiter"] for kernel in elsewhere["kernels"]}


def test_the_override_for_its_chip_is_explained(here: Path) -> None:
    explained = triage("explain", CAPTURE, "--kernel", "t_copy", cwd=here).stdout
    assert "dram-bandwidth: NAMED" in explained
    assert "(set in triage.yaml:6 on cc 9.*; was 65.0 %)" in explained


def test_its_gates_hold_and_refuse_what_they_should(here: Path) -> None:
    assert triage("check", CAPTURE, cwd=here).returncode == 0
    team = here / "triage.yaml"
    text = team.read_text(encoding="utf-8")
    team.write_text(text.replace("max_duration: 30 us", "max_duration: 20 us"), encoding="utf-8")
    assert "soa_update" in " ".join(fails(triage("check", CAPTURE, cwd=here), 10))
    team.write_text(text.replace("ceiling: 4.2 TB/s", "ceiling: 8.4 TB/s"), encoding="utf-8")
    assert "bw_copy4" in " ".join(fails(triage("check", CAPTURE, cwd=here), 10))
    team.write_text(text.replace("expect: [short-launch]", "expect: [barrier]"), encoding="utf-8")
    assert "soa_update" in " ".join(fails(triage("check", CAPTURE, cwd=here), 10))


def test_its_report_options_are_used(here: Path) -> None:
    assert triage("report", CAPTURE, cwd=here).returncode == 0
    assert "Too short to tune" in (here / "nightly.html").read_text(encoding="utf-8")


def test_a_lost_key_is_noticed_by_its_lock(here: Path) -> None:
    path = here / "perf-rules" / "facts.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace("at 3 micro", "at three micro"), encoding="utf-8")
    assert "perf-rules/facts.yaml:3:3: lock facts/launch_cost_pct" in triage("rules", "lint", cwd=here).stdout
    assert triage("rules", "lint", "--lock", cwd=here).returncode == 0
    assert "no fault" in triage("rules", "lint", cwd=here).stdout


def test_it_is_reported_in_a_pull_request_as_what_it_is(here: Path) -> None:
    limiter = here / "perf-rules" / "limiters" / "short-launch.yaml"
    text = limiter.read_text(encoding="utf-8")
    limiter.write_text(
        text.replace("launch_cost_pct, above: launch_cost_limit", "launch_cost_pc, above: 3"), encoding="utf-8"
    )
    lines = fails(triage("report", CAPTURE, cwd=here), 3)
    assert any("perf-rules/limiters/short-launch.yaml:8" in line and "did you mean" in line for line in lines)


def test_the_readme_names_every_file() -> None:
    text = (EXAMPLE / "README.md").read_text(encoding="utf-8")
    for path in EXAMPLE.rglob("*"):
        if path.is_file() and path.name != "README.md":
            assert path.name in text, path
