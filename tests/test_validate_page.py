"""Labelled captures judged anew, ncu's own advice beside them, and the page that is made of both."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
import yaml

from triage.errors import NothingProfiled, UnreadableReport
from triage.rules import default_rulebook
from triage.validate import advice, captures, jsonform, manifest, page, textform
from triage.validate.model import Advice, Round, Skipped, Validation, faults, merged, pairs
from triage.validate.scores import count_pairs, outcomes, score_advice

DATA = Path(__file__).parent / "data"
PAGE = Path(__file__).parents[1] / "docs" / "accuracy.md"
FILES = ("tests/data/validate_h200_run.json", "tests/data/limiters_h200.yaml")
COMMAND = "triage validate " + " ".join(f"--from {file}" for file in FILES) + " -o docs/accuracy.md"
RULES = default_rulebook()
KNOWN = {entry.kernel: entry for entry in manifest.load(limiters=RULES.limiters)}


@cache
def committed() -> Validation:
    run, labels = (DATA / Path(file).name for file in FILES)
    return merged([jsonform.parse(run.read_text(encoding="utf-8"), run.name), captures.load(labels, RULES, KNOWN)])


def test_the_page_is_the_one_that_the_command_makes() -> None:
    made = page.render(committed(), tuple(RULES.limiters), COMMAND)
    assert PAGE.read_text(encoding="utf-8") == made, f"make it anew: {COMMAND}"


def test_the_captures_hold_every_promise() -> None:
    assert faults(committed()) == ()
    assert len(committed().judged) == outcomes(committed())["right"] == 200
    count = count_pairs(pairs(committed()))
    assert count.first >= 25 and count.bounded >= 25 and count.beaten == 0
    assert committed().skipped == ()
    sizes = [one.scale for one in committed().rounds if len(one.answers) == 170]
    assert sorted(sizes) == [0.5, 1, 1, 2]


def test_the_rules_of_today_judge_the_capture_as_the_run_did() -> None:
    capture = captures.load(DATA / "validate_h200.yaml", RULES, KNOWN)
    run = {one.entry.kernel: one for one in committed().judged if one.entry.kernel in KNOWN}
    assert len(capture.judged) == 170
    for one in capture.judged:
        kernel = one.entry.kernel
        assert one.outcome == "right" and (kernel, one.limiter) == (kernel, run[kernel].limiter)


def test_an_interrupted_run_and_the_run_of_its_rest_are_a_whole_one() -> None:
    whole = committed()
    base = next(one for one in whole.rounds if one.scale == 2)
    names = sorted(base.answers)
    parts = [replace(base, answers={name: base.answers[name] for name in some}) for some in (names[:9], names[9:])]
    stopped = tuple(Skipped(name, "p", "interrupted", scale=2.0) for name in names[9:])
    first = replace(
        whole, rounds=(parts[0],), skipped=(*stopped, Skipped("no_such", "p", "no tensor cores", lacking=True))
    )
    found = merged([first, replace(whole, rounds=(parts[1],))])
    assert [dict(one.answers) for one in found.rounds] == [dict(base.answers)]
    assert [one.kernel for one in found.skipped] == ["no_such"]
    assert {one.kernel for one in merged([first]).skipped} == {"no_such", *names[9:]}
    # What both profiled stays two rounds, to be compared.
    assert len(merged([first, first]).rounds) == 2


def test_ncus_advice_is_scored_on_the_capture_that_holds_it() -> None:
    score = score_advice(committed().judged)
    assert (score.kernels, score.ours) == (30, 30)
    assert 15 <= score.theirs < 30


def test_a_page_without_rule_results_says_so() -> None:
    without = replace(committed(), judged=tuple(replace(one, advice=None) for one in committed().judged))
    made = page.render(without, tuple(RULES.limiters), "x")
    assert "None of the 200 reports behind this page holds rule results" in made


def test_a_page_of_repeated_rounds_says_what_moved() -> None:
    base = committed().rounds[0]
    name = next(iter(base.answers))
    other = Round(2.0, {**base.answers, name: None}, base.source)
    made = page.render(replace(committed(), rounds=(base, other)), tuple(RULES.limiters), "x")
    assert "Profiled again at the sizes 2 (" in made
    assert f"- `{name}` at 2: {base.answers[name]}, then undecided" in made
    assert "What did not hold:" in made
    same = page.render(replace(committed(), rounds=(base, replace(base, scale=0.5))), tuple(RULES.limiters), "x")
    assert "every verdict stayed" in same


def test_no_table_row_is_broken() -> None:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    for before, line in pairwise(lines):
        if line.startswith("|") and before.startswith("|"):
            assert line.count("|") == before.count("|"), line


def test_the_terminal_shows_the_walk_of_what_is_wrong() -> None:
    broken = replace(KNOWN["dram_copy"], accept=("barrier",))
    known = replace(committed(), judged=())
    one = next(one for one in committed().judged if one.entry.kernel == "dram_copy")
    text = textform.render(replace(known, judged=(replace(one, entry=broken, walk="the walk"),)))
    assert "MISS: dram_copy is dram-bandwidth, expected barrier" in text and "the walk" in text
    assert "0 of 1 kernels are named right" in text


def test_labels_say_what_is_right_and_the_manifest_the_rest(tmp_path: Path) -> None:
    labels = yaml.safe_load((DATA / "calibration_h200.yaml").read_text(encoding="utf-8"))
    chosen = next(one for one in labels["labels"] if one["kernel"] == "conflicts_in_tile")
    chosen["accept"] = ["barrier"]
    path = tmp_path / "some.yaml"
    path.write_text(yaml.safe_dump({"gpu": "A GPU", "labels": [chosen]}), encoding="utf-8")
    shutil.copy(DATA / "calibration_h200.csv", tmp_path / "some.csv")
    found = captures.load(path, RULES, KNOWN)
    (one,) = found.judged
    assert one.entry.accept == ("barrier",) and one.entry.fix == "Pad the fastest dimension"
    assert one.outcome == "miss" and "Verdict: bank-conflicts" in one.walk
    assert found.about[0].gpu == "A GPU" and found.about[0].driver == ""
    assert "date not recorded" in textform.about(found.about[0])


@pytest.mark.parametrize(
    "text", ["", "labels: 3", "labels: [{index: 0}]", "a: [", "labels: [{index: 9, kernel: a, accept: []}]"]
)
def test_labels_that_are_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.yaml").write_text(text, encoding="utf-8")
    shutil.copy(DATA / "readers_raw_base.csv", tmp_path / "a.csv")
    with pytest.raises(UnreadableReport):
        captures.load(tmp_path / "a.yaml", RULES, KNOWN)


def test_rule_results_are_read_from_a_report() -> None:
    kernels = advice.load(DATA / "readers_pr.ncu-rep")
    assert [one.index for one in kernels] == list(range(len(kernels)))
    results = [result for one in kernels for result in one.results]
    assert {"CPIStall", "UncoalescedGlobalAccess"} <= {result.rule for result in results}
    assert all(0 < result.speedup <= 100 and result.kind in ("global", "local") for result in results)
    naive = next(one for one in kernels if any(result.rule == "UncoalescedGlobalAccess" for result in one.results))
    found = advice.first(naive)
    assert found is not None and found.kind == "global" and found.limiters == ("uncoalesced-global",)


def test_a_digest_holds_no_text_of_ncus_and_reads_back() -> None:
    made = json.loads(advice.digest(DATA / "readers_pr.ncu-rep"))
    committed_digest = json.loads((DATA / "limiters_h200.advice.json").read_text(encoding="utf-8"))
    for content in (made, committed_digest):
        assert content["schema"] == advice.SCHEMA
        for kernel in content["kernels"]:
            for rule in kernel["rules"]:
                assert set(rule) == {"rule", "focus", "speedup", "kind"}
                assert all(" " not in word for word in (rule["rule"], *rule["focus"]))


def test_reports_without_rule_results_and_other_files(tmp_path: Path) -> None:
    with pytest.raises(NothingProfiled, match="holds no rule results"):
        advice.load(DATA / "ncu_hello.ncu-rep")
    with pytest.raises(UnreadableReport, match="only those hold rule results"):
        advice.load(DATA / "readers_raw_base.csv")
    (tmp_path / "a.json").write_text('{"schema": "other"}')
    with pytest.raises(UnreadableReport, match="no digest"):
        advice.load(tmp_path / "a.json")


def test_a_whole_kernel_estimate_comes_before_a_larger_one_of_a_part() -> None:
    part, small, large = (Advice("a", 90.0, "local"), Advice("b", 10.0, "global"), Advice("c", 20.0, "global"))
    assert advice.first(advice.Advised(0, "k", (part, small, large))) == large
    assert advice.first(advice.Advised(0, "k", (part,))) == part
    assert advice.first(advice.Advised(0, "k", ())) is None
    assert advice.first(advice.Advised(0, "k", (Advice("a", 0.0, "global"),))) is None


@pytest.mark.parametrize(
    ("rule", "focus", "limiters"),
    [
        ("CPIStall", ("smsp__issue_active", "smsp_average_long_scoreboard"), ("memory-latency",)),
        ("CPIStall", ("smsp_average_not_selected",), ()),
        ("CPIStall", ("smsp__average_warps_issue_stalled_wait_per_issue_active.ratio",), ("instruction-dependency",)),
        (
            "MemoryCacheAccessPattern",
            ("smsp__sass_average_data_bytes_per_sector_mem_local_op_ld.ratio",),
            ("local-memory",),
        ),
        ("LaunchConfiguration", ("launch__grid_size",), ("grid-too-small",)),
        ("AchievedOccupancy", (), ("low-occupancy",)),
        ("SomethingNew", ("a",), ()),
    ],
)
def test_the_mapping(rule: str, focus: tuple[str, ...], limiters: tuple[str, ...]) -> None:
    assert advice.limiters(rule, focus) == limiters


def test_the_mapping_names_limiters_that_exist_and_no_entry_is_hidden() -> None:
    seen: list[advice.Reading] = []
    for reading in advice.mapping():
        assert set(reading.limiters) <= set(RULES.limiters), reading
        assert not any(one.rule == reading.rule and one.focus in reading.focus for one in seen), reading
        seen.append(reading)


def leaves(value: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The places of all values of a JSON document, lists and tables included."""
    if path:
        yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in items:
        yield from leaves(part, (*path, key))


def test_a_validation_of_other_types_is_read_or_refused_in_one_line() -> None:
    names = [one.entry.kernel for one in committed().judged[:2]]
    small = replace(
        committed(),
        judged=tuple(replace(one, advice=Advice("r", 3.0, "global")) for one in committed().judged[:2]),
        rounds=tuple(replace(one, answers={n: one.answers.get(n) for n in names}) for one in committed().rounds[:2]),
        checks={(names[0], names[1]): True},
        skipped=(Skipped("k", "p", "why"),),
    )
    text = jsonform.render(small)
    refused = 0
    for path in leaves(json.loads(text)):
        for odd in (None, True, 3, -1.5, "\x1b[31mx", [], {}, [None]):
            changed = json.loads(text)
            part = changed
            for key in path[:-1]:
                part = part[key]
            part[path[-1]] = odd
            try:
                read = jsonform.parse(json.dumps(changed), "v.json")
            except UnreadableReport:
                refused += 1
                continue
            # What was read can be shown in every form.
            assert textform.render(read) and page.render(read, tuple(RULES.limiters), "x") and jsonform.render(read)
    assert refused > 300
