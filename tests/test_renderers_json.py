"""triage.renderers.json: the layout of DESIGN section 6, under its JSON Schema, without NaN."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from copy import deepcopy
from dataclasses import replace
from typing import Any

import jsonschema
import pytest
import reports

from triage.model import Report
from triage.renderers import json as renderer
from triage.renderers import render


def strict(schema: Any) -> Any:
    """The schema with every object closed: nothing may be written that it does not describe."""
    if isinstance(schema, list):
        return [strict(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {key: strict(value) for key, value in schema.items()}
    if "properties" in closed:
        closed.setdefault("additionalProperties", False)
    return closed


def refuse(constant: str) -> None:
    raise AssertionError(f"{constant} in a JSON report")


def parse(report: Report) -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads(render(report, "json"), parse_constant=refuse)
    return parsed


@pytest.mark.parametrize("name", reports.ALL)
def test_every_report_fits_the_schema(name: str) -> None:
    schema = renderer.schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(strict(schema)).validate(parse(reports.ALL[name]()))


def test_the_schema_refuses_what_is_wrong() -> None:
    validator = jsonschema.Draft202012Validator(renderer.schema())
    good = parse(reports.one())
    for spoil in (
        lambda document: document.pop("kernels"),
        lambda document: document.update(schema="triage/report/2"),
        lambda document: document["kernels"][0].update(grid=[1, 2]),
        lambda document: document["kernels"][0]["diagnosis"].update(confidence="certain"),
        lambda document: document["kernels"][0]["diagnosis"]["steps"][0].update(verdict="maybe"),
    ):
        bad = deepcopy(good)
        spoil(bad)
        assert not validator.is_valid(bad)


def test_layout() -> None:
    document = parse(reports.one())
    assert list(document)[:3] == ["schema", "triage", "sources"]
    assert document["schema"] == "triage/report/1"
    assert document["triage"]["version"] == "0.1.0" and document["triage"]["rulebook"] == "3f9a1c0b7d2e"
    assert document["sources"][0]["path"] == "transpose.ncu-rep" and document["sources"][0]["ncu"] == "2025.3.1"
    (kernel,) = document["kernels"]
    assert (kernel["index"], kernel["source"], kernel["grid"], kernel["block"]) == (0, 0, [128, 128, 1], [32, 8, 1])
    assert kernel["duration_ns"] == 91_648.0 and kernel["share"] == 100.0
    diagnosis = kernel["diagnosis"]
    assert (diagnosis["limiter"], diagnosis["family"]) == ("bank-conflicts", "memory")
    assert diagnosis["evidence"][0]["fact"] == "shared_conflict_share"
    assert diagnosis["evidence"][0]["value"] == 94.1 and diagnosis["evidence"][0]["text"] == "94.1 %"
    assert diagnosis["lines"][0]["line"] == 31
    assert diagnosis["facts"]["dram_pct"] == {"value": 28.1, "unit": "%", "how": "measured"}


def test_what_holds_across_kernels() -> None:
    document = parse(reports.few())
    assert [hint["kind"] for hint in document["hints"]] == ["fuse", "tensor-cores"]
    assert document["hints"][0]["kernels"] == [2, 3]
    (roof,) = document["roofs"]
    assert roof["bytes_per_s"] == 4.22e12 and roof["measured"] is False and roof["device"]["name"] == "NVIDIA H200"


def test_undecided_is_null_and_says_what_is_missing() -> None:
    diagnosis = parse(reports.undecided())["kernels"][0]["diagnosis"]
    assert diagnosis["limiter"] is None and diagnosis["family"] is None
    assert len(diagnosis["missing"]) == 3 and diagnosis["collect"].startswith("ncu --metrics")


def test_numbers_that_json_cannot_say_are_null() -> None:
    first, second = parse(reports.partial())["kernels"]
    assert first["duration_ns"] is None and second["duration_ns"] is None
    facts = second["diagnosis"]["facts"]
    assert facts["unknown"]["low"] is None and facts["unknown"]["high"] is None
    assert facts["not_a_number"]["value"] is None
    assert second["diagnosis"]["evidence"][0]["value"] is None
    assert second["diagnosis"]["bars"][1]["parts"][0]["value"] is None


def test_names_are_kept_exactly_and_the_text_is_ascii() -> None:
    text = render(reports.hostile(), "json")
    assert text.isascii() and "\x1b" not in text
    names = [kernel["name"] for kernel in json.loads(text)["kernels"]]
    assert names[:-1] == list(reports.HOSTILE.values())


def test_what_fits_on_a_line_stands_on_one() -> None:
    text = render(reports.one(), "json")
    assert '\n   "grid": [128, 128, 1],\n' in text
    assert '{"value": 28.1, "unit": "%", "how": "measured"}' in text


def test_a_kernel_is_one_line_where_they_are_many() -> None:
    text = render(reports.many(501, metric_count=1), "json")
    assert len(json.loads(text)["kernels"]) == 501
    assert sum(line.startswith('  {"index":') for line in text.splitlines()) == 501


def test_numbers_of_a_library_are_taken_by_value() -> None:
    numpy = pytest.importorskip("numpy")
    assert renderer._plain(numpy.float32(0.5)) == 0.5
    assert renderer._plain(numpy.int64(3)) == 3
    assert renderer._plain(numpy.float64(math.nan)) is None


def test_json_needs_neither_jinja_nor_rich() -> None:
    code = (
        "import sys; sys.path.insert(0, 'tests'); import reports; from triage.renderers import render;"
        "render(reports.one(), 'json'); print(sorted({'jinja2', 'rich', 'pandas'} & set(sys.modules)))"
    )
    root = renderer.folder("templates").parent
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_headroom_is_that_of_the_kernel_in_the_time_that_shares_are_of() -> None:
    made = reports.repeated(12)
    document = parse(made)
    assert document["share_of"] == "profiled"
    shares = [kernel["share"] for kernel in document["kernels"][::2]]
    for kernel in document["kernels"][::2]:
        speedup = kernel["diagnosis"]["bound"]["speedup"]
        found = kernel["headroom"]
        assert found["share"] == pytest.approx(sum(shares))
        assert found["saves"] == pytest.approx(sum(shares) * (1 - 1 / speedup))
        assert found["speedup"] == pytest.approx(1 / (1 - found["saves"] / 100))
    assert parse(replace(made, surveyed=True))["share_of"] == "program"
    assert all(kernel["headroom"] is None for kernel in parse(reports.partial())["kernels"])
