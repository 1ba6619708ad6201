"""The linter: one fault of each kind, all found in one run, each at its line; and nothing where nothing is wrong."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from captures import DATA
from test_cli import fails, triage

from triage import resources
from triage.rules import default_rulebook
from triage.rules.layers import folder_layer
from triage.rules.lint import lint
from triage.rules.loader import shipped_layer
from triage.rules.yamlfile import Fault

LIMITER = """\
id: {id}
title: A title
family: {family}
status: draft
when: {when}
strength: {strength}
evidence: "{evidence}"
because: It is so because it is so.
fixes: [{{try: something, effort: small}}]
see: []
tests:
  - {{name: fires, facts: {{dram_pct: 90}}, expect: fires}}
  - {{name: clear, facts: {{dram_pct: 1}}, expect: clear}}
  - {{name: at the threshold, facts: {{dram_pct: 80}}, expect: {at}}}
  - {{name: unknown, facts: {{}}, expect: unknown}}
"""
GOOD = {
    "id": "mine",
    "family": "memory",
    "when": "{fact: dram_pct, at_least: high_pct}",
    "strength": "dram_pct",
    "evidence": "DRAM {dram_pct}",
    "at": "fires",
}
PATH = "questions:\n  - {{to: level, answers: [{}], at: first}}\n"


def pack(folder: Path, files: dict[str, str]) -> list[Fault]:
    """The faults of a pack, linted over the shipped rules."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return lint([shipped_layer(), folder_layer(folder, "pack", "pack")])


def found(faults: list[Fault]) -> set[tuple[str, int, str]]:
    return {(fault.file.removeprefix("pack/"), fault.line, fault.code) for fault in faults}


def test_a_pack_without_a_rule_file(tmp_path: Path) -> None:
    (tmp_path / "labels.yaml").write_text("a: 1\n", encoding="utf-8")
    assert found(pack(tmp_path, {})) == {("pack", 1, "no-rules"), ("labels.yaml", 1, "ignored")}
    assert found(pack(tmp_path, {"sets.yaml": "sets: {}\n"})) == {("labels.yaml", 1, "ignored")}


def test_the_shipped_rules_have_no_fault() -> None:
    assert [str(fault) for fault in lint([shipped_layer()])] == [], "if meant: triage rules lint --lock"


def test_a_good_pack_has_no_fault(tmp_path: Path) -> None:
    # `dram-bandwidth` needs more than this rule, so a rule before it may take its place.
    files = {"limiters/mine.yaml": LIMITER.format(**GOOD), "path.yaml": PATH.format("mine")}
    assert pack(tmp_path, files) == []


FACTS = """\
facts:
  good_pct: {label: A, unit: "%", says: A., from: [dram_pct]}
  mistyped: {label: A, unit: "%", says: A., form: [dram_pct]}
  no_unit: {label: A, says: A., from: [dram_pct]}
  bytes_and_percent: {label: A, unit: byte, says: A., from: [dram_bytes + dram_pct]}
  ratio_as_percent: {label: A, unit: "%", says: A., from: [l2_pct / dram_pct]}
  no_such_fact: {label: A, unit: "%", says: A., from: [dram_percent]}
  a_call: {label: A, unit: "%", says: A., from: ["__import__('os')"]}
  a_power: {label: A, unit: "%", says: A., from: [dram_pct ** 2]}
  round_one: {label: A, unit: "%", says: A., from: [round_two]}
  round_two: {label: A, unit: "%", says: A., from: [round_one]}
  no_counter: {label: A, unit: "%", says: A., from: [lts__t_sektors.avg.pct_of_peak_sustained_elapsed]}
  no_rollup: {label: A, unit: sector, says: A., from: [lts__t_sectors.total]}
  wrong_chips: {label: A, unit: "", says: A., from: [sm__inst_executed_pipe_fma_type_fp16.sum]}
  bad_chips: {label: A, unit: "%", says: A., from: [{use: dram_pct, cc: newest}]}
  constant: {label: A, unit: "", says: A., from: [{use: "1"}, waves]}
  twice: {label: A, unit: "%", says: A., from: [dram_pct, dram_pct]}
  half_collected: {label: A, unit: sector, says: A., collect: false, from: [lts__t_sectors.sum]}
  flagged: {label: A, unit: "%", says: A., from: [{use: dram_pct, collect: perhaps}]}
  useless: {label: A, unit: "%", says: A., from: [{cc: "9.0"}]}
  twice: {label: B, unit: "%", says: A., from: [dram_pct]}
"""
THRESHOLDS = """\
thresholds:
  nobody_asks: {value: 3, unit: "%", source: none}
  no_value: {unit: "%", source: none}
  in_ns: {value: 3, unit: ns, source: a stopwatch}
  high_pct: {value: 3, unit: ns, source: another unit than before}
  bare_number: {value: 3, source: none}
"""


def test_facts_and_thresholds_one_fault_of_each_kind(tmp_path: Path) -> None:
    assert found(pack(tmp_path, {"facts.yaml": FACTS, "thresholds.yaml": THRESHOLDS})) >= {
        ("facts.yaml", 3, "unknown-key"), ("facts.yaml", 3, "missing-key"), ("facts.yaml", 4, "missing-key"),
        ("facts.yaml", 7, "formula"), ("facts.yaml", 8, "formula"), ("facts.yaml", 9, "formula"),
        ("facts.yaml", 11, "cycle"), ("facts.yaml", 15, "chips"), ("facts.yaml", 19, "type"),
        ("facts.yaml", 20, "missing-key"), ("facts.yaml", 21, "duplicate-key"),
        ("thresholds.yaml", 3, "missing-key"), ("thresholds.yaml", 5, "unit"), ("thresholds.yaml", 6, "no-unit"),
    }  # fmt: skip


def test_what_loads_but_cannot_be_meant(tmp_path: Path) -> None:
    bad = ("mistyped", "no_unit", "no_such", "a_call", "a_power", "round_", "bad_chips", "flagged", "useless")
    kept = [line if not line.strip().startswith((*bad, "twice: {label: B")) else "" for line in FACTS.splitlines()]
    thresholds = "thresholds:\n  nobody_asks: {value: 3, unit: '%', source: none}\n"
    assert found(pack(tmp_path, {"facts.yaml": "\n".join(kept) + "\n", "thresholds.yaml": thresholds})) == {
        ("facts.yaml", 5, "unit"), ("facts.yaml", 6, "unit"), ("facts.yaml", 12, "counter"),
        ("facts.yaml", 13, "counter"), ("facts.yaml", 14, "chip"), ("facts.yaml", 16, "constant"),
        ("facts.yaml", 16, "shadowed"), ("facts.yaml", 17, "shadowed"), ("facts.yaml", 18, "collect"),
        ("thresholds.yaml", 2, "unused"),
    }  # fmt: skip


BROKEN = """\
id: broken
titel: A title
family: memroy
status: draft
when:
  all:
    - {fact: dram_prc, at_least: 80}
    - {fact: dram_pct, at_least: hihg_pct}
    - {fact: dram_pct, at_least: tiny_ns}
    - {fact: dram_pct}
strength: drampct
evidence: "{dram_pct} and {nothing_of_the_kind}"
because: It is so.
fixes: []
see: [{title: x, url: "http://example.org"}]
lines: 3
headroom: {at_most: "1 + open(dram_pct)", because: x}
confused_with: [{limiter: dram-bandwith, tell: x}]
tests:
  - {name: fires, facts: {dram_pc: 90}, expect: fires}
  - {name: clear, facts: {dram_pct: 1}, expect: claer}
"""


def test_a_limiter_one_fault_of_each_kind(tmp_path: Path) -> None:
    assert found(pack(tmp_path, {"limiters/broken.yaml": BROKEN})) == {
        ("limiters/broken.yaml", line, code)
        for line, code in (
            (1, "missing-key"), (2, "unknown-key"), (3, "value"), (7, "unknown-fact"), (8, "unknown-threshold"),
            (9, "unit"), (10, "condition"), (11, "unknown-fact"), (12, "placeholder"), (14, "value"), (15, "url"),
            (16, "type"), (17, "formula"), (19, "missing-test"), (20, "unknown-fact"), (21, "value"),
        )
    }  # fmt: skip


@pytest.mark.parametrize(
    ("change", "path", "expected"),
    [
        ({"when": "{fact: dram_pct, at_least: 80}"}, "mine", ("limiters/mine.yaml", 5, "no-source")),
        ({"when": "{fact: dram_pct, at_least: 180, source: x}"}, "mine", ("limiters/mine.yaml", 5, "range")),
        (
            {"when": "{all: [{fact: dram_pct, at_least: high_pct}, {fact: dram_pct, below: busy_pct}]}"},
            "mine", ("limiters/mine.yaml", 5, "contradiction"),
        ),
        (
            {"when": "{any: [{fact: dram_pct, at_least: high_pct}, {fact: dram_pct, below: high_pct}]}"},
            "mine", ("limiters/mine.yaml", 5, "always"),
        ),
        (
            {
                "when": "{any: [{fact: dram_pct, at_least: high_pct}, "
                "{all: [{fact: l2_pct, above: high_pct}, {fact: l2_pct, below: high_pct}]}]}"
            },
            "mine", ("limiters/mine.yaml", 5, "contradiction"),
        ),
        ({"at": "clear"}, "mine", ("limiters/mine.yaml", 14, "test")),
        ({}, "dram-bandwidth", ("limiters/mine.yaml", 1, "unreachable")),
        ({}, "mine}, {limiter: mnie", ("path.yaml", 2, "unknown-limiter")),
        ({}, "{limiter: mine}", ("path.yaml", 2, "bare")),
        ({"id": "other"}, "other", ("limiters/mine.yaml", 1, "id")),
        ({"family": "memory\nfamily: memory"}, "mine", ("limiters/mine.yaml", 4, "duplicate-key")),
    ],
)  # fmt: skip
def test_one_more_fault(tmp_path: Path, change: dict[str, str], path: str, expected: tuple[str, int, str]) -> None:
    files = {"limiters/mine.yaml": LIMITER.format(**GOOD | change), "path.yaml": PATH.format(path)}
    if "mnie" in path:
        files["path.yaml"] = "questions:\n  - {to: level, answers: [mine, mnie]}\n"
    faults = pack(tmp_path, files)
    assert expected in found(faults), [str(fault) for fault in faults]


def test_an_answer_behind_one_that_always_holds_first_is_shadowed(tmp_path: Path) -> None:
    first = LIMITER.format(**GOOD)
    stricter = {
        "id": "stricter",
        "when": "{all: [{fact: dram_pct, at_least: high_pct}, {fact: l2_pct, below: busy_pct}]}",
    }
    second = LIMITER.format(**GOOD | stricter).replace("dram_pct: 1}", "dram_pct: 1, l2_pct: 0}")
    question = (
        "questions:\n  - {id: new, decision: '5', ask: x, before: level,\n     answers: [mine,\n     stricter]}\n"
    )
    files = {"limiters/mine.yaml": first, "limiters/stricter.yaml": second, "path.yaml": question}
    assert ("path.yaml", 4, "shadowed") in found(pack(tmp_path, files))


def test_a_gate_that_contradicts_its_answer(tmp_path: Path) -> None:
    question = (
        "questions:\n  - id: new\n    decision: '5'\n    ask: x\n    before: level\n"
        "    gate: {fact: dram_pct, below: busy_pct}\n    answers:\n      - mine\n"
    )
    files = {"limiters/mine.yaml": LIMITER.format(**GOOD), "path.yaml": question}
    assert ("path.yaml", 8, "contradiction") in found(pack(tmp_path, files))


def test_questions_name_what_there_is(tmp_path: Path) -> None:
    questions = (
        "questions:\n  - {to: levle, answers: [dram-bandwidth]}\n"
        "  - {id: a, decision: '1', ask: x, after: nowhere}\n  - {id: b, decision: '1', ask: x}\n"
        "  - {id: size, decision: '1', ask: x, after: trust}\n  - {to: level, answers: 3, at: middle}\n"
    )
    assert found(pack(tmp_path, {"path.yaml": questions})) == {
        ("path.yaml", 2, "unknown-question"), ("path.yaml", 3, "unknown-question"), ("path.yaml", 4, "missing-key"),
        ("path.yaml", 5, "duplicate-id"), ("path.yaml", 6, "type"), ("path.yaml", 6, "value"),
    }  # fmt: skip


def test_two_packs_with_one_id_clash(tmp_path: Path) -> None:
    files = {
        "limiters/mine.yaml": LIMITER.format(**GOOD),
        "path.yaml": PATH.format("mine"),
        "facts.yaml": 'facts:\n  own: {label: A, unit: "%", says: A., from: [dram_pct]}\n',
    }
    for name in ("one", "two"):
        pack(tmp_path / name, files)
    layers = [shipped_layer(), *(folder_layer(tmp_path / name, "pack", name) for name in ("one", "two"))]
    clashes = [fault for fault in lint(layers) if fault.code == "clash"]
    assert {(fault.file, fault.line) for fault in clashes} == {("two/facts.yaml", 2), ("two/limiters/mine.yaml", 1)}


def test_files_that_are_never_read_and_files_from_outside(tmp_path: Path) -> None:
    outside = tmp_path / "secret.yaml"
    outside.write_text("password: hunter2\n", encoding="utf-8")
    folder = tmp_path / "pack"
    (folder / "limiters").mkdir(parents=True)
    (folder / "limiters" / "leak.yaml").symlink_to(outside)
    (folder / "limiter").mkdir()
    (folder / "limiter" / "mine.yaml").write_text("id: mine\n", encoding="utf-8")
    (folder / "fact.yaml").write_text("facts: {}\n", encoding="utf-8")
    faults = lint([shipped_layer(), folder_layer(folder, "pack", "pack")])
    assert found(faults) == {
        ("limiters/leak.yaml", 1, "outside"), ("limiter/mine.yaml", 1, "ignored"), ("fact.yaml", 1, "ignored"),
    }  # fmt: skip
    assert "hunter2" not in "".join(map(str, faults))


def test_a_counter_can_be_declared(tmp_path: Path) -> None:
    facts = (
        "counters: [sm__new_unit_cycles]\n"
        'facts:\n  new_pct: {label: A, unit: "", says: A., from: [sm__new_unit_cycles.sum]}\n'
    )
    assert pack(tmp_path, {"facts.yaml": facts}) == []
    assert [
        fault.code
        for fault in pack(tmp_path, {"facts.yaml": facts.replace("counters: [sm__new", "counters: [sm__other")})
    ] == ["counter"]


def test_the_command_reports_all_faults_and_ends_with_3(tmp_path: Path) -> None:
    (tmp_path / "perf" / "limiters").mkdir(parents=True)
    (tmp_path / "perf" / "limiters" / "broken.yaml").write_text(BROKEN, encoding="utf-8")
    (tmp_path / "perf" / "thresholds.yaml").write_text(THRESHOLDS, encoding="utf-8")
    result = triage("rules", "lint", "perf", cwd=tmp_path)
    assert "faults" in fails(result, 3)[0]
    lines = result.stdout.splitlines()
    assert len(lines) > 15
    assert all(re.match(r"perf/[\w./-]+:\d+:\d+: [a-z-]+ \S", line) for line in lines)
    assert any("did you mean 'dram_pct'" in line for line in lines)
    assert triage("rules", "lint", cwd=tmp_path).stdout == "no fault in rules\n"
    assert "does not exist" in fails(triage("rules", "lint", "nowhere", cwd=tmp_path), 3)[0]


def test_a_folder_called_rules_is_not_taken_for_the_shipped_one(tmp_path: Path) -> None:
    (tmp_path / "rules" / "limiters").mkdir(parents=True)
    (tmp_path / "rules" / "limiters" / "barrier.yaml").write_text(
        LIMITER.format(**GOOD | {"id": "barrier", "family": "memroy"}), encoding="utf-8"
    )
    (tmp_path / "triage.yaml").write_text("rules: [rules]\n", encoding="utf-8")
    expected = "./rules/limiters/barrier.yaml:3:1: value "
    for arguments in ((), ("rules",), ("triage.yaml",), ("rules/limiters/barrier.yaml",)):
        result = triage("rules", "lint", *arguments, cwd=tmp_path)
        assert (result.returncode, result.stdout.startswith(expected)) == (3, True), (arguments, result.stdout)
    assert expected in triage("report", DATA / "limiters_h200.csv", cwd=tmp_path).stderr


def test_a_copy_of_the_shipped_rules_is_linted_by_itself(tmp_path: Path) -> None:
    import shutil

    folder = Path(shutil.copytree(resources.folder("rules"), tmp_path / "copy"))
    assert triage("rules", "lint", folder).returncode == 0
    facts = folder / "facts.yaml"
    text = facts.read_text(encoding="utf-8")
    start = text.index("  dram_over_l2:")
    end = text.index("\n  # ---", start)
    facts.write_text(text[:start] + text[end:], encoding="utf-8")
    # Over the shipped rules the fact would come back from below.
    assert triage("rules", "lint", folder).returncode == 3


RATE = "lts__t_sector_hit_rate.pct"


@pytest.mark.parametrize(
    ("way", "when", "faulty"),
    [
        ("100 - l2_hit_pct", "{fact: miss_pct, at_least: 70, source: ours}", True),
        (f"100 - {RATE}", "{fact: miss_pct, at_least: 70, source: ours}", False),
        ("100 - l2_hit_pct", "{not: {fact: miss_pct, at_least: 70, source: ours}}", True),
        (
            "100 - l2_hit_pct",
            "{all: [{fact: dram_pct, at_least: high_pct}, {fact: miss_pct, at_least: 70, source: ours}]}",
            True,
        ),
        # The rule fires without it as well: the fact only adds to it where a report holds it.
        (
            "100 - l2_hit_pct",
            "{any: [{fact: dram_pct, at_least: high_pct}, {fact: miss_pct, at_least: 70, source: ours}]}",
            False,
        ),
        ("100 - grid_idle_pct", "{fact: miss_pct, at_least: 70, source: ours}", False),
    ],
)
def test_a_rule_that_needs_what_is_never_collected(tmp_path: Path, way: str, when: str, faulty: bool) -> None:
    files = {
        "facts.yaml": f'facts:\n  miss_pct: {{label: A, unit: "%", says: A., from: ["{way}"]}}\n',
        "limiters/mine.yaml": LIMITER.format(**GOOD | {"when": when}),
        "path.yaml": PATH.format("mine"),
    }
    faults = [fault for fault in pack(tmp_path, files) if fault.code == "collect"]
    assert [(fault.file, fault.line) for fault in faults] == [("pack/limiters/mine.yaml", 5)] * faulty
    if faulty:
        assert faults[0].message == (
            "'when' of 'mine' compares 'miss_pct' (it needs 'l2_hit_pct'), which is never collected; name the metric "
            "itself or drop 'collect: false'"
        )


def test_without_a_team_file_the_linter_says_what_it_checks(tmp_path: Path) -> None:
    result = triage("rules", "lint", cwd=tmp_path)
    assert (result.returncode, result.stdout) == (0, "no fault in rules\n")
    assert result.stderr == "no triage.yaml here or above, so the shipped rules are checked\n"
    (tmp_path / "triage.yaml").write_text("retire: [sleep]\n", encoding="utf-8")
    assert triage("rules", "lint", cwd=tmp_path).stderr == ""


def test_an_unknown_question_is_answered_with_those_there_are(tmp_path: Path) -> None:
    faults = pack(tmp_path, {"path.yaml": "questions:\n  - {to: levle, answers: [dram-bandwidth]}\n"})
    names = ", ".join(question.id for question in default_rulebook().path)
    assert faults[0].message == f"no question is called 'levle' (did you mean 'level'?); there are {names}"


@pytest.mark.parametrize(
    ("overrides", "lines"),
    [
        (["threshold: busy_pct, value: 60"], [2]),
        (["threshold: busy_pct, value: 61"], []),
        (["threshold: busy_pct, value: 60, when: {cc: '9.*'}"], [2]),
        # On these chips it keeps the number that another override changes everywhere, whichever stands first.
        (["threshold: busy_pct, value: 60, when: {cc: '9.*'}", "threshold: busy_pct, value: 61"], []),
        (["threshold: busy_pct, value: 61", "threshold: busy_pct, value: 60, when: {cc: '9.*'}"], []),
        (["threshold: busy_pct, value: 61", "threshold: busy_pct, value: 61, when: {cc: '9.*'}"], [3]),
        (["threshold: busy_pct, value: 61", "threshold: busy_pct, value: 61"], [3]),
        (["threshold: busy_pct, value: 61", "threshold: busy_pct, value: 60"], []),
        (["threshold: conflict_pct, value: 10, limiter: bank-conflicts"], [2]),
    ],
)
def test_an_override_that_sets_what_is_in_force(tmp_path: Path, overrides: list[str], lines: list[int]) -> None:
    text = "overrides:\n" + "".join(f"  - {{{override}, source: ours}}\n" for override in overrides)
    (tmp_path / "triage.yaml").write_text(text, encoding="utf-8")
    said = triage("rules", "lint", cwd=tmp_path).stdout.splitlines()
    assert [line for line in said if "no-effect" in line] == [
        f"triage.yaml:{line}:5: no-effect {overrides[line - 2].split('value: ')[1].split(',')[0]} is in force already"
        for line in lines
    ]
    # The rules load all the same.
    assert triage("rules", "list", cwd=tmp_path).returncode == 0


def test_what_is_in_force_follows_the_profile_of_the_team(tmp_path: Path) -> None:
    override = "overrides:\n  - {threshold: busy_pct, value: 60, source: ours}\n"
    (tmp_path / "triage.yaml").write_text(f"profile: playbook\n{override}", encoding="utf-8")
    assert triage("rules", "lint", cwd=tmp_path).stdout == "no fault in triage.yaml\n"


def test_what_was_read_is_checked_although_something_else_does_not_load(tmp_path: Path) -> None:
    """A counter that no chip has, a unit and a failing test are told in the run that tells of a misspelt operator."""
    shipped = (resources.folder("rules") / "limiters" / "barrier.yaml").read_text(encoding="utf-8")
    folder = tmp_path / "perf"
    (folder / "limiters").mkdir(parents=True)
    (folder / "facts.yaml").write_text(
        "facts:\n  warm_pct:\n    label: Warm\n    unit: '%'\n    says: Something warm enough to be a fact of ours.\n"
        "    from: [lts__t_sectors_op_reed.sum]\n",
        encoding="utf-8",
    )
    misspelt = shipped.replace("id: barrier", "id: mine").replace("at_least: stall_lead_pct", "abov: 3")
    failing = shipped.replace("id: barrier", "id: other").replace(
        "stall_barrier_pct: 69}, expect: fires", "stall_barrier_pct: 6}, expect: fires"
    )
    (folder / "limiters" / "mine.yaml").write_text(misspelt, encoding="utf-8")
    (folder / "limiters" / "other.yaml").write_text(failing, encoding="utf-8")
    found = lint([shipped_layer(), folder_layer(folder, "pack", "pack")])
    codes = {(fault.file.rsplit("/", 1)[-1], fault.code) for fault in found}
    assert {
        ("facts.yaml", "counter"),
        ("facts.yaml", "unit"),
        ("mine.yaml", "unknown-key"),
        ("other.yaml", "unreachable"),
        ("other.yaml", "test"),
    } <= codes
