"""``triage.yaml``: found upwards, every fault at its place, packs that stay inside, kernels as a team says."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from triage.errors import FaultyRules, UsageError
from triage.model import Device, Kernel, Launch
from triage.rules.selecting import base_name, fault_of, matches, names
from triage.team import Select, Team, examine, find, load, rulebook_for


def written(folder: Path, text: str | bytes) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "triage.yaml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def faults(folder: Path, text: str | bytes) -> list[str]:
    """``line code`` of each fault of a team's file and its rules."""
    try:
        rulebook_for(start=written(folder, text))
    except FaultyRules as error:
        found = [line.partition("triage.yaml:")[2] for line in error.details]
        return [f"{line.split(':')[0]} {line.split(': ')[1].split(' ')[0]}" for line in found if line]
    return []


def test_found_upwards_as_far_as_the_repository_goes(tmp_path: Path) -> None:
    path = written(tmp_path / "a", "profile: playbook\n")
    (tmp_path / "a" / "b" / "c").mkdir(parents=True)
    assert find(tmp_path / "a" / "b" / "c") == path.resolve()
    assert load(tmp_path / "a" / "b" / "c").profile == "playbook"
    (tmp_path / "a" / "b" / ".git").mkdir()
    assert find(tmp_path / "a" / "b" / "c") is None
    assert load(tmp_path / "a" / "b" / "c") == Team()


def test_without_a_file_the_shipped_rules_hold(tmp_path: Path) -> None:
    from triage.rules import default_rulebook

    assert rulebook_for(start=tmp_path).identity == default_rulebook().identity


def test_the_profile_of_the_command_line_wins(tmp_path: Path) -> None:
    written(tmp_path, "profile: playbook\n")
    assert rulebook_for(start=tmp_path).thresholds["busy_pct"].value == 30
    assert rulebook_for(profile="guide", start=tmp_path).thresholds["busy_pct"].value == 60


def test_a_profile_of_the_team(tmp_path: Path) -> None:
    written(
        tmp_path,
        "profile: strict\nprofiles:\n  strict:\n    says: ours\n"
        "    values:\n      busy_pct: {value: 70, source: our cards}\n",
    )
    made = rulebook_for(start=tmp_path)
    busy = made.thresholds["busy_pct"]
    assert (busy.value, busy.source, made.identity.profile) == (70, "our cards", "strict")
    assert busy.was is not None
    assert busy.was.value == 60
    with pytest.raises(UsageError, match=r"strikt.*did you mean 'strict'"):
        rulebook_for(profile="strikt", start=tmp_path)


EXPECTED = """\
kernels:
  - match: ["transpose*", copy]
    nvtx: "step *"
    grid: [512, "*"]
    block: 256
    cc: "9.*"
    expect: [dram-bandwidth, undecided]
    parameters: {N: 4096}
    ideal_bytes: 2 * N * N * 4
    max_duration: 1.5 ms
    min_effective_bandwidth: 90%
    ceiling: 4 TB/s
  - {match: x, min_effective_bandwidth: 80 %}
  - {match: y, min_effective_bandwidth: 2.5 TB/s, ideal_bytes: 1024}
"""


def test_expectations_are_plain_numbers(tmp_path: Path) -> None:
    first, second, third = load(written(tmp_path, EXPECTED)).expectations
    assert first.limiters == ("dram-bandwidth", "undecided")
    assert (first.ideal_bytes, first.max_duration, first.min_bandwidth) == (2 * 4096**2 * 4, 1.5e6, 3.6e12)
    assert (first.min_bandwidth_share, first.ceiling) == (None, 4e12)
    assert (second.min_bandwidth, second.min_bandwidth_share) == (None, 0.8)
    assert (third.min_bandwidth, third.ideal_bytes) == (2.5e12, 1024)
    assert first.spot[1] == 2


def kernel(name: str = "void ns::transpose<float>(float *)", **changes: object) -> Kernel:
    function = name.removeprefix("void ").split("(")[0]
    values: dict[str, object] = {
        "launch": Launch((512, 8, 1), (256, 1, 1)), "device": Device(cc="9.0"), "nvtx": ("step 3",),
    }  # fmt: skip
    return Kernel(0, name, function, **{**values, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "takes"),
    [
        ({}, True),
        ({"name": "void other(int)"}, False),
        ({"nvtx": ()}, False),
        ({"nvtx": ("warm-up", "step 4")}, True),
        ({"launch": Launch((256, 8, 1), (256, 1, 1))}, False),
        ({"launch": Launch((512, 9, 7), (256, 4, 1))}, True),
        ({"launch": Launch()}, False),
        ({"device": Device(cc="8.6")}, False),
        ({"device": Device()}, False),
    ],
)
def test_a_selection_takes_what_fits_all_it_says(tmp_path: Path, changes: dict[str, object], takes: bool) -> None:
    team = load(written(tmp_path, EXPECTED))
    one = kernel(**changes)  # type: ignore[arg-type]
    assert (team.expectations[0] in team.expectations_for(one)) is takes


def test_an_empty_selection_takes_everything() -> None:
    assert Select().takes(kernel())


@pytest.mark.parametrize(
    ("pattern", "text", "fits"),
    [
        ("a*c", "abbc", True), ("a*c", "abbcd", False), ("*", "", True), ("?", "", False), ("a?c", "abc", True),
        ("**a**", "bab", True), ("", "", True), ("[ab]", "a", False), ("a.c", "abc", False), ("*ab*ab", "abxab", True),
        ("*ab", "abab", True), ("a*b*c", "axxbyybzzc", True),
    ],
)  # fmt: skip
def test_patterns(pattern: str, text: str, fits: bool) -> None:
    assert matches(pattern, text) is fits


def test_no_pattern_takes_for_ever() -> None:
    started = time.monotonic()
    assert not matches("a*" * 150 + "b", "a" * 5_000)
    assert time.monotonic() - started < 5


@pytest.mark.parametrize("pattern", ["^transpose", "(a+)+$", "regex:.*", "a.*b", "x" * 301, ""])
def test_regular_expressions_are_refused(tmp_path: Path, pattern: str) -> None:
    assert fault_of(pattern)
    assert faults(tmp_path, f"kernels:\n  - {{match: {pattern!r}}}\n") == ["2 pattern"]


def test_names_are_bare_or_whole() -> None:
    one = kernel("void a::b::sum<int, 3>(int *)")
    assert base_name(one) == "sum"
    assert names("sum", one)
    assert names("void a::b::sum<*", one)
    assert not names("su", one)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- 1\n", ["1 type"]),
        ("rulez: []\n", ["1 unknown-key"]),
        ("rules: [../elsewhere]\n", ["1 outside"]),
        ("rules: [/etc]\n", ["1 outside"]),
        ("rules:\n  - ./absent\n", ["2 missing-pack"]),
        ("rules:\n  - {package: no_such_package_here}\n", ["2 missing-pack"]),
        ("rules:\n  - {package: os.path}\n", ["2 value"]),
        ("rules:\n  - {package: jinja2}\n", ["2 missing-pack"]),
        ("rules: 3\n", ["1 type"]),
        ("retire: [sleeep]\n", ["1 unknown-limiter"]),
        ("kernels:\n  - {expect: [sleep]}\n", ["2 missing-key"]),
        ("kernels:\n  - {match: x, expect: [dram-bandwith]}\n", ["2 unknown-limiter"]),
        ("kernels:\n  - {match: x, ideal_bytes: 2 * M}\n", ["2 formula"]),
        ("kernels:\n  - {match: x, ideal_bytes: lts__t_sectors.sum}\n", ["2 formula"]),
        ("kernels:\n  - {match: x, ideal_bytes: 1 - 1}\n", ["2 value"]),
        ("kernels:\n  - {match: x, ideal_bytes: __import__('os')}\n", ["2 formula"]),
        ("kernels:\n  - {match: x, max_duration: 3}\n", ["2 value"]),
        ("kernels:\n  - {match: x, grid: [1, 2, 3, 4]}\n", ["2 value"]),
        ("kernels:\n  - {match: x, ceiling: measured, min_effective_bandwidth: 90%}\n", ["2 value"]),
        ("roofs: ../roofs.json\n", ["1 outside"]),
        ("roofs: absent.json\n", ["1 missing-file"]),
        ("report: {output: ../../x.html}\n", ["1 outside"]),
        ("report: {source_map: nowhere}\n", ["1 value"]),
        ("report: {source_map: '=src'}\n", ["1 value"]),
        ("report: {source_map: ['/build=src', '/=/']}\n", ["1 outside"]),
        ("report: {source_map: '/build=../src'}\n", ["1 outside"]),
        ("report: {output: Makefile}\n", ["1 value"]),
        ("report: {output: src/main.cu}\n", ["1 value"]),
        ("overrides:\n  - {threshold: busy_pc, value: 3, source: x}\n", ["2 unknown-threshold"]),
        ("overrides:\n  - {threshold: busy_pct, source: x}\n", ["2 override"]),
        ("overrides:\n  - {threshold: busy_pct, value: 3}\n", ["2 missing-key"]),
        ("overrides:\n  - {fact: dram_pct, below: 3, limiter: barrier, source: x}\n", ["2 no-effect"]),
        ("overrides:\n  - {threshold: busy_pct, value: 3, source: x, when: {cc: new}}\n", ["2 chips"]),
        ("tests:\n  - {name: x, expect: undecided}\n", ["2 case"]),
        ("tests:\n  - {name: x, facts: {}, expect: undecidd}\n", ["2 value"]),
        (b"profile: \xff\n", ["1 encoding"]),
        ("a: &a 1\nb: *a\n", ["1 anchor"]),
    ],
    ids=lambda value: str(value)[:40] if not isinstance(value, list) else "",
)
def test_one_fault_at_its_line(tmp_path: Path, text: str | bytes, expected: list[str]) -> None:
    assert faults(tmp_path, text) == expected


def test_all_faults_of_file_packs_and_rules_at_once(tmp_path: Path) -> None:
    text = "profil: x\nrules: [./perf, ./absent]\nretire: [sleeep]\nkernels:\n  - {match: x, expect: [nothing-known]}\n"
    (tmp_path / "perf").mkdir()
    (tmp_path / "perf" / "facts.yaml").write_text("facts:\n  x: {label: x}\n", encoding="utf-8")
    written(tmp_path, text)
    with pytest.raises(FaultyRules) as error:
        rulebook_for(start=tmp_path)
    said = "\n".join(error.value.details)
    for word in ("'profil'", "./absent", "'sleeep'", "'nothing-known'", "perf/facts.yaml:2"):
        assert word in said, word


@pytest.mark.parametrize("inside", ["", "notes.md", "limiters", "sub/limiters/mine.yaml", "thresholds.yml"])
def test_a_folder_without_a_rule_file_is_a_fault_wherever_it_is_named(tmp_path: Path, inside: str) -> None:
    folder = tmp_path / "pack"
    file = folder / (inside or "x")
    file.parent.mkdir(parents=True)
    if inside == "limiters":
        file.mkdir()
    elif inside:
        file.write_text("id: mine\n", encoding="utf-8")
    for layers in ({"start": written(tmp_path, "rules: [pack]\n")}, {"folders": [folder], "team": Team()}):
        with pytest.raises(FaultyRules) as refused:
            rulebook_for(**layers)  # type: ignore[arg-type]
        assert "pack:1:1: no-rules holds no rule file; they are called thresholds.yaml," in refused.value.details[0]


def test_a_team_file_in_a_folder_of_rules_is_to_be_named_itself(tmp_path: Path) -> None:
    file = written(tmp_path / "rules", "profile: playbook\n")
    with pytest.raises(FaultyRules) as refused:
        rulebook_for([file.parent], start=tmp_path)
    assert "name its triage.yaml itself" in refused.value.details[0]
    assert rulebook_for([file], start=tmp_path).identity.folders == (str(file),)


def test_a_pack_behind_a_link_that_leads_out_is_refused(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "team").mkdir()
    (tmp_path / "team" / "rules").symlink_to(tmp_path / "outside")
    assert faults(tmp_path / "team", "rules: [rules]\n") == ["1 outside"]


def test_a_pack_of_an_installed_package_is_read_and_not_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "site" / "acme_rules_for_tests"
    (package / "rules").mkdir(parents=True)
    (package / "__init__.py").write_text("raise SystemExit('imported')\n", encoding="utf-8")
    (package / "rules" / "thresholds.yaml").write_text(
        "thresholds:\n  busy_pct: {value: 66, source: acme}\n", encoding="utf-8"
    )
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    made = rulebook_for(start=written(tmp_path / "team", "rules:\n  - {package: acme_rules_for_tests}\n"))
    assert made.thresholds["busy_pct"].value == 66
    assert made.layers == ("rules", "acme_rules_for_tests/rules", made.layers[-1])
    assert "acme_rules_for_tests" not in sys.modules


def test_a_pipe_is_no_rule_file(tmp_path: Path) -> None:
    import os

    os.mkfifo(tmp_path / "facts.yaml")
    with pytest.raises(FaultyRules, match="1 fault"):
        rulebook_for([tmp_path], start=tmp_path)


def test_a_number_of_a_thousand_digits_is_no_number(tmp_path: Path) -> None:
    text = f"overrides:\n  - {{threshold: busy_pct, value: {'9' * 1000}, source: x}}\n"
    assert faults(tmp_path, text) == ["2 type"]
    assert faults(tmp_path, text.replace("9" * 1000, "1e999")) == ["2 type"]


def test_packs_may_bring_metric_sets(tmp_path: Path) -> None:
    from triage.ncu.sets import load_sets
    from triage.team import pack_folders

    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "sets.yaml").write_text(
        "sets:\n  ours: {title: Ours, about: Few., metrics: [gpu__time_duration.sum]}\n", encoding="utf-8"
    )
    written(tmp_path, "rules: [pack]\n")
    assert "ours" in load_sets(pack_folders(tmp_path))


def test_examine_never_raises(tmp_path: Path) -> None:
    team = examine(written(tmp_path, "rules: [absent]\n"))
    assert team.document is not None
    assert [fault.code for fault in team.document.faults] == ["missing-pack"]
    with pytest.raises(FaultyRules):
        load(team.path)


def chain(length: int, key: str) -> str:
    entry = '  f{}: {{label: A, unit: "%", says: A., {}: [{}]}}\n'
    links = "".join(entry.format(place, key, f"f{place + 1}") for place in range(length))
    return f"facts:\n{links}{entry.format(length, 'from', 'dram_pct')}"


def test_facts_in_a_long_row_are_refused_and_bounds_in_a_long_row_do_no_harm(tmp_path: Path) -> None:
    from triage.facts import FactSet
    from triage.model import Quantity

    assert [fault.split(" ")[1] for fault in faults(tmp_path / "a", chain(4_000, "from"))] == ["cycle"]
    made = rulebook_for(start=written(tmp_path / "b", chain(2_000, "at_most")))
    facts = FactSet(made, {"dram__cycles_active.avg.pct_of_peak_sustained_elapsed": Quantity(40.0, "%")}, "9.0")
    assert facts.interval("f1999") == (0.0, 40.0)
    assert facts.interval("f0")[0] == 0.0


def test_many_rivals_take_no_time(tmp_path: Path) -> None:
    started = time.monotonic()
    answer = "{limiter: barrier, blocked_by: [x, x, x, x]}"
    question = "  - {{id: q{}, decision: '1', ask: a, after: size, answers: [{}]}}\n"
    text = f"rivals: {{x: [{', '.join(['sleep'] * 5_000)}]}}\nquestions:\n"
    text += "".join(question.format(place, answer) for place in range(100))
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "path.yaml").write_text(text, encoding="utf-8")
    made = rulebook_for(start=written(tmp_path, "rules: [pack]\n"))
    added = next(question for question in made.path if question.id == "q7")
    assert [rival.limiter for rival in added.answers[0].blocked_by] == ["sleep"]
    assert time.monotonic() - started < 10
