"""Layers over the shipped rules: what wins, where every number comes from, and that verdicts follow."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest
from captures import DATA, labelled, verdict
from test_cli import triage

from triage.diagnosis import diagnose
from triage.facts import FactSet, Known
from triage.rules import default_rulebook, load_rulebook
from triage.rules.overrides import for_chip
from triage.rules.pages import page
from triage.rules.sharing import shared
from triage.rules.walk import walk
from triage.team import rulebook_for

CAPTURE = DATA / "limiters_h200.csv"
RULES = default_rulebook()


def team(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "triage.yaml").write_text(text, encoding="utf-8")
    return folder


def named(name: str, folder: Path) -> str | None:
    entry = next(entry for entry in labelled() if entry.name == name)
    return diagnose(entry.kernel, rulebook_for(start=folder)).limiter


OVERRIDE = "overrides:\n  - {threshold: conflict_pct, value: 95, source: 'our tiles never gained'}\n"


def test_an_override_changes_the_verdict_of_a_capture_and_explain_says_where_it_comes_from(tmp_path: Path) -> None:
    team(tmp_path, OVERRIDE)
    before = json.loads(triage("report", CAPTURE, "-f", "json").stdout)
    after = json.loads(triage("report", CAPTURE, "-f", "json", cwd=tmp_path).stdout)
    limiters = [made["kernels"][2]["diagnosis"]["limiter"] for made in (before, after)]
    assert limiters[0] == "bank-conflicts"
    assert limiters[1] != "bank-conflicts"
    assert before["triage"]["rulebook"] != after["triage"]["rulebook"]
    explained = triage("explain", CAPTURE, "--kernel", "2", cwd=tmp_path).stdout
    line = next(line for line in explained.splitlines() if "is not above 95.0 %" in line)
    assert line.endswith("[our tiles never gained (set in triage.yaml:2; was 10.0 %)]")


def test_show_says_where_every_number_comes_from_and_what_it_was(tmp_path: Path) -> None:
    team(tmp_path, OVERRIDE + "  - {threshold: busy_pct, value: 50, when: {cc: '9.*'}, source: ours}\n")
    shown = triage("rules", "show", "bank-conflicts", cwd=tmp_path).stdout
    origin = shown[shown.index("Where it comes from") :].splitlines()
    assert origin[1].startswith("  layers     rules < triage.yaml (profile guide, digest ")
    assert any(line.startswith("  rule       rules/limiters/bank-conflicts.yaml:") for line in origin)
    assert any(
        line.startswith("  number     conflict_pct: 95.0 %, triage.yaml:2; was 10.0 %, rules/thresholds.yaml:")
        for line in origin
    )
    assert any("busy_pct on cc 9.*: 50.0 %, triage.yaml:3; was 60.0 %" in line for line in origin)
    assert any(line.startswith("  question   mechanism, rules/path.yaml:") for line in origin)


def test_an_override_for_chips_holds_there_alone(tmp_path: Path) -> None:
    team(tmp_path, "overrides:\n  - {threshold: busy_pct, value: 50, when: {cc: '9.*'}, source: ours}\n")
    made = rulebook_for(start=tmp_path)
    assert made.thresholds["busy_pct"].value == 60
    assert for_chip(made, "9.0").thresholds["busy_pct"].value == 50
    assert for_chip(made, "9.0") is for_chip(made, "9.0")
    assert for_chip(made, "8.6") is made
    assert for_chip(made, None) is made
    gates = {leaf.threshold.value for question in for_chip(made, "9.0").path if question.gate
             for leaf in question.gate.leaves() if leaf.threshold.name == "busy_pct"}  # fmt: skip
    assert gates == {50}


@pytest.mark.parametrize("order", [1, -1])
def test_on_its_chips_an_override_wins_over_one_for_all_whatever_the_order(tmp_path: Path, order: int) -> None:
    lines = [
        "  - {threshold: busy_pct, value: 50, when: {cc: '9.*'}, source: ours}\n",
        "  - {threshold: busy_pct, value: 55, source: ours}\n",
    ]
    team(tmp_path, "overrides:\n" + "".join(lines[::order]))
    made = rulebook_for(start=tmp_path)
    assert for_chip(made, "9.0").thresholds["busy_pct"].value == 50
    assert for_chip(made, "8.6").thresholds["busy_pct"].value == 55


def test_an_override_of_a_fact_in_one_limiter_holds_there_alone(tmp_path: Path) -> None:
    team(
        tmp_path,
        "overrides:\n  - {fact: lsu_data_stage_pct, at_least: 99, limiter: bank-conflicts, source: ours}\n",
    )
    made = rulebook_for(start=tmp_path)

    def limits(limiter: str) -> set[float]:
        leaves = made.limiters[limiter].when.leaves()
        return {leaf.threshold.value for leaf in leaves if leaf.fact == "lsu_data_stage_pct"}

    assert limits("bank-conflicts") == {99}
    assert limits("uncoalesced-global") == {60}
    assert named(labelled()[2].name, tmp_path) != "bank-conflicts"


def test_a_retired_limiter_is_never_said(tmp_path: Path) -> None:
    team(tmp_path, "retire: [barrier]\n")
    entry = next(entry for entry in labelled() if entry.accept == ("barrier",))
    made = rulebook_for(start=tmp_path)
    found = diagnose(entry.kernel, made)
    assert found.limiter != "barrier"
    assert "barrier" not in {check.limiter for step in found.steps for check in step.checks}
    assert "retired    " in page(made, "barrier")
    assert made.identity.digest != RULES.identity.digest


FACT = "facts:\n  own_pct: {label: Own, unit: '%', says: Ours., from: [dram_pct]}\n"
LIMITER = """
limiters:
  - id: own
    title: Our own
    family: memory
    status: draft
    when: {fact: own_pct, at_least: 10, source: ours}
    strength: own_pct
    evidence: "{own_pct}"
    because: x
    fixes: [x]
    see: []
    tests:
      - {name: a, facts: {own_pct: 20}, expect: fires}
      - {name: b, facts: {own_pct: 1}, expect: clear}
      - {name: at the threshold, facts: {own_pct: 10}, expect: fires}
      - {name: d, facts: {}, expect: unknown}
"""


@pytest.mark.parametrize(
    ("question", "place"),
    [
        ("- {id: mine, decision: '1', ask: Ours?, before: size, answers: [own]}", ("mine", 0)),
        ("- {id: mine, decision: '1', ask: Ours?, after: serialised, answers: [own]}", ("mine", 0)),
        ("- {to: serialised, answers: [own], at: first}", ("serialised", 0)),
        ("- {to: serialised, answers: [own]}", ("serialised", -1)),
    ],
)
def test_own_facts_limiters_and_questions(tmp_path: Path, question: str, place: tuple[str, int]) -> None:
    team(tmp_path, f"{FACT}{LIMITER}questions:\n  {question}\n")
    made = rulebook_for(start=tmp_path)
    ids = [each.id for each in made.path]
    at = ids.index(place[0])
    assert made.path[at].answers[place[1]].limiter == "own"
    assert ids[at + (place[0] == "mine")] == "size" or place[0] == "serialised"
    assert named(labelled()[0].name, tmp_path) == "own" or place[0] == "serialised"
    from triage.rules.cases import run

    assert run(made)[1] == 0


def test_a_question_with_the_id_of_another_replaces_it_where_it_stands(tmp_path: Path) -> None:
    team(tmp_path, "questions:\n  - {id: lines, decision: '6', ask: Ours?}\n")
    made = rulebook_for(start=tmp_path)
    assert [each.id for each in made.path] == [each.id for each in RULES.path]
    assert next(each for each in made.path if each.id == "lines").ask == "Ours?"


def test_later_layers_win_and_the_command_line_last(tmp_path: Path) -> None:
    for name, value in (("pack", 61), ("given", 63)):
        (tmp_path / name).mkdir()
        text = f"thresholds:\n  busy_pct: {{value: {value}, source: {name}}}\n"
        (tmp_path / name / "thresholds.yaml").write_text(text, encoding="utf-8")
    team(tmp_path, "rules: [./pack]\n")
    assert rulebook_for(start=tmp_path).thresholds["busy_pct"].value == 61
    team(tmp_path, "rules: [./pack]\nthresholds:\n  busy_pct: {value: 62, source: team}\n")
    assert rulebook_for(start=tmp_path).thresholds["busy_pct"].value == 62
    made = rulebook_for([tmp_path / "given"], start=tmp_path)
    history, threshold = [], made.thresholds["busy_pct"]
    while threshold is not None:
        history.append((threshold.value, threshold.unit))
        threshold = threshold.was
    assert history == [(63, "%"), (62, "%"), (61, "%"), (60, "%")]


def test_a_worker_process_can_load_the_same_rules(tmp_path: Path) -> None:
    """Workers get the paths and the profile, not the rulebook."""
    team(tmp_path, OVERRIDE + "profile: playbook\n")
    made = rulebook_for(start=tmp_path)
    again = load_rulebook(made.identity.folders, profile=made.identity.profile)
    assert again.identity == made.identity
    assert again.thresholds["conflict_pct"].value == 95


def test_the_digest_is_the_same_from_every_folder_and_no_path_of_the_machine_shows(tmp_path: Path) -> None:
    team(tmp_path, OVERRIDE)
    (tmp_path / "below").mkdir()
    made = [
        json.loads(triage("report", CAPTURE, "-f", "json", cwd=folder).stdout)["triage"]
        for folder in (tmp_path, tmp_path / "below")
    ]
    assert made[0]["rulebook"] == made[1]["rulebook"]
    assert [each["rules"] for each in made] == [["triage.yaml"], ["../triage.yaml"]]


def test_report_options_hold_where_the_command_line_says_nothing(tmp_path: Path) -> None:
    team(tmp_path, "report: {format: html, output: perf.html}\n")
    assert triage("report", CAPTURE, cwd=tmp_path).returncode == 0
    assert "<!doctype html>" in (tmp_path / "perf.html").read_text(encoding="utf-8")
    (tmp_path / "perf.html").unlink()
    assert triage("report", CAPTURE, "-f", "md", cwd=tmp_path).stdout.startswith("#")
    assert not (tmp_path / "perf.html").exists()


def test_equal_conditions_are_one_object_and_judged_as_before() -> None:
    nodes: dict[object, int] = {}
    for limiter in RULES.limiters.values():
        for leaf in limiter.when.leaves():
            assert nodes.setdefault(leaf, id(leaf)) == id(leaf)
    entry = labelled()[0]
    twice = shared(shared(RULES))
    assert verdict(twice, entry.metrics, "9.0") == verdict(RULES, entry.metrics, "9.0")


def test_what_is_made_later_reads_compares_and_pickles_as_made_at_once() -> None:
    entry = labelled()[2]
    found = diagnose(entry.kernel)
    again = diagnose(entry.kernel)
    assert found.steps == again.steps
    assert found.steps == tuple(again.steps)
    assert found.ruled_out == again.ruled_out
    assert found.steps[0].id == "trust"
    assert found.steps[-1:] == (found.steps[len(found.steps) - 1],)
    copied = pickle.loads(pickle.dumps(found))
    assert type(copied.steps) is tuple
    assert type(copied.facts) is dict
    assert copied.steps == found.steps
    assert copied.facts == dict(found.facts)


def test_known_facts_are_those_that_can_be_said() -> None:
    entry = labelled()[2]
    facts = FactSet(RULES, entry.metrics, "9.0")
    known = Known(facts)
    assert set(known) == {name for name in RULES.facts if facts.sayable(name)}
    assert len(known) == len(set(known))
    assert known["dram_pct"] is known["dram_pct"]
    assert known.get("no_such_fact") is None
    assert "host_bytes" in known or not facts.known("host_bytes")
    with pytest.raises(KeyError):
        known["no_such_fact"]


def test_a_walk_is_the_same_whether_its_conditions_were_judged_before() -> None:
    entry = labelled()[5]
    facts = FactSet(RULES, entry.metrics, "9.0")
    assert walk(RULES, facts) == walk(RULES, facts)
