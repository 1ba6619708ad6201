"""JUnit XML: valid against the published schema, one test case for each gate of each kernel."""

from __future__ import annotations

from functools import cache
from typing import Any
from xml.etree import ElementTree

import compared
import pytest
import reports
from compared import side, state

from triage.gates import Config, Gates, check
from triage.renderers import junit


@cache
def schema() -> Any:
    xmlschema = pytest.importorskip("xmlschema", reason="xmlschema is not installed")
    return xmlschema.XMLSchema(str(compared.DATA / "compare_junit-10.xsd"))


def rendered(base: list | None, head: list, config: Config | None = None) -> ElementTree.Element:
    result = check(side(*head), None if base is None else side(*base), config or Config(), compared.rules())
    text = junit.render(result)
    assert [str(error.reason) for error in schema().iter_errors(text)] == []
    return ElementTree.fromstring(text)


def test_the_schema_can_fail() -> None:
    assert list(schema().iter_errors("<testsuites><testsuite/></testsuites>"))


def test_a_case_for_each_gate_and_a_failure_for_each_violated_one() -> None:
    root = rendered([state(), state("b")], [state(durations=(150_000.0,), line=4), state("b")])
    suite = root.find("testsuite")
    assert suite is not None
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped"), suite.get("errors")) == (
        "4",
        "1",
        "0",
        "0",
    )
    cases = {(case.get("classname"), case.get("name")): case for case in suite.findall("testcase")}
    assert set(cases) == {
        ("copy", "slower_than"),
        ("copy", "limiter_changed"),
        ("b", "slower_than"),
        ("b", "limiter_changed"),
    }
    failure = cases["copy", "slower_than"].find("failure")
    assert failure is not None and failure.get("type") == "slower_than"
    assert "takes 1.50x the time (100 us to 150 us)" in (failure.get("message") or "") and "copy.cu:4" in (
        failure.text or ""
    )
    assert cases["copy", "slower_than"].get("time") == "0.000150000"


def test_what_could_not_be_judged_is_skipped() -> None:
    root = rendered([state()], [state(durations=())], Config(gates=Gates(unknown="held", limiter_changed="never")))
    assert root.find("testsuite/testcase/skipped") is not None
    assert root.find("testsuite").get("skipped") == "1"  # type: ignore[union-attr]


def test_no_gate_at_all() -> None:
    assert rendered(None, []).find("testsuite").get("tests") == "0"  # type: ignore[union-attr]


def test_the_time_stamp_is_the_one_of_reproducible_builds(monkeypatch: pytest.MonkeyPatch) -> None:
    for value, stamp in (
        ("1700000000", "2023-11-14T22:13:20"),
        ("x", "1970-01-01T00:00:00"),
        ("", "1970-01-01T00:00:00"),
    ):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", value)
        assert rendered(None, [state()]).find("testsuite").get("timestamp") == stamp  # type: ignore[union-attr]


@pytest.mark.parametrize("name", reports.HOSTILE)
def test_hostile_names(name: str) -> None:
    text = reports.HOSTILE[name]
    root = rendered([state(text, function=text)], [state(text, durations=(150_000.0,), function=text)])
    assert len(root.findall("testsuite/testcase/failure")) == 1
