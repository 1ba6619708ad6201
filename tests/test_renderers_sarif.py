"""SARIF: valid against the published schema, on the right line, harmless with hostile names."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import compared
import jsonschema
import pytest
import reports
from compared import side, state

from triage.gates import Config, Gates, check
from triage.gates.model import Scope
from triage.renderers import sarif


@cache
def validator() -> Any:
    schema = json.loads((compared.DATA / "compare_sarif-2.1.0.json").read_text(encoding="utf-8"))
    return jsonschema.Draft4Validator(schema, format_checker=jsonschema.FormatChecker())


def valid(text: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(text)
    assert [error.message for error in validator().iter_errors(document)] == []
    return document["runs"][0]


def checked(base: list, head: list, root: Path, config: Config | None = None) -> dict[str, Any]:
    result = check(side(*head), side(*base), config or Config(), compared.rules())
    return valid(sarif.render_check(result, root))


def test_the_schema_can_fail() -> None:
    assert list(validator().iter_errors({"version": "2.1.0"}))


def test_a_violated_gate_is_an_error_on_the_line(tmp_path: Path) -> None:
    (tmp_path / "lib" / "src").mkdir(parents=True)
    (tmp_path / "lib" / "src" / "copy.cu").write_text("")
    run = checked([state(line=9)], [state(durations=(150_000.0,), line=9)], tmp_path)
    (result,) = run["results"]
    assert (result["ruleId"], result["level"]) == ("slower_than", "error")
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "lib/src/copy.cu", "uriBaseId": "%SRCROOT%"}
    assert place["region"] == {"startLine": 9}
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == "slower_than"


def test_without_a_file_of_the_repository_the_bare_name_stays(tmp_path: Path) -> None:
    run = checked([state(line=9)], [state(durations=(150_000.0,), line=9)], tmp_path)
    assert run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "copy.cu"


def test_without_a_source_line_it_stands_where_the_gate_is_set(tmp_path: Path) -> None:
    (tmp_path / "triage.yaml").write_text("")
    config = Config(kernels=(Scope("copy", (("slower_than", 0.01),), "triage.yaml:4:5"),), source="triage.yaml")
    run = checked([state()], [state(durations=(150_000.0,))], tmp_path, config)
    place = run["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "triage.yaml" and place["region"] == {"startLine": 4}
    bare = checked([state()], [state(durations=(150_000.0,))], tmp_path)
    assert bare["results"][0]["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "report.ncu-rep", "uriBaseId": "%SRCROOT%"}
    }


def test_what_could_not_be_judged_is_a_warning(tmp_path: Path) -> None:
    config = Config(gates=Gates(unknown="held"))
    run = checked([state()], [state(durations=())], tmp_path, config)
    assert [result["level"] for result in run["results"]] == ["warning"]


def test_all_held_is_an_empty_list(tmp_path: Path) -> None:
    assert checked([state()], [state()], tmp_path)["results"] == []


def test_the_fingerprint_does_not_move_with_the_line(tmp_path: Path) -> None:
    first, second = (
        checked([state()], [state(durations=(150_000.0,), line=line)], tmp_path)["results"][0] for line in (9, 12)
    )
    assert first["partialFingerprints"] == second["partialFingerprints"]
    other = checked([state("b")], [state("b", durations=(150_000.0,), line=9)], tmp_path)["results"][0]
    assert other["partialFingerprints"] != first["partialFingerprints"]


@pytest.mark.parametrize("name", reports.HOSTILE)
def test_hostile_names(name: str, tmp_path: Path) -> None:
    text = reports.HOSTILE[name]
    bad = state(text, durations=(150_000.0,), line=3, function=text)
    bad = replace(bad, lines=tuple(replace(line, file=f"/x/{text}") for line in bad.lines))
    assert len(checked([state(text, function=text)], [bad], tmp_path)["results"]) == 1


@pytest.mark.parametrize("name", reports.ALL)
def test_every_report_is_valid(name: str) -> None:
    report = reports.ALL[name]()
    run = valid(sarif.render(report))
    expected = {f.diagnosis.limiter for f in report.findings if f.diagnosis.limiter and f.diagnosis.lines}
    assert {rule["id"] for rule in run["tool"]["driver"]["rules"]} == expected
    assert all(result["level"] == "note" for result in run["results"])


def test_a_report_notes_each_kernel_once() -> None:
    from triage import commands

    report = commands.diagnosed([compared.PR_BASE], compared.rules(), command="")
    run = valid(sarif.render(replace(report, findings=report.findings * 3)))
    places = [
        (result["ruleId"], result["locations"][0]["physicalLocation"]["region"]["startLine"])
        for result in run["results"]
    ]
    assert sorted(places) == [("memory-latency", 32), ("uncoalesced-global", 26)]
