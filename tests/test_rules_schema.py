"""JSON Schemas are made from what the loader checks: both agree about every shipped file and every kind of value."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from test_cli import fails, triage

from triage import resources
from triage.rules import schema
from triage.rules.casefile import WALK_CASE
from triage.rules.kinds import Anything, Shape
from triage.rules.loader import assemble, shipped_layer
from triage.rules.overrides import OVERRIDE
from triage.rules.shapes import ADDITION, LIMITER_FILE, PLACED
from triage.rules.yamlfile import read
from triage.team import examine
from triage.team.shapes import KERNEL, REPORT, TEAM

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "team-rules"


def plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list) else value


def files() -> list[tuple[str, Path]]:
    rules = resources.folder("rules")
    found = [("limiter", path) for path in sorted((rules / "limiters").glob("*.yaml"))]
    found += [(name, rules / f"{name}.yaml") for name in ("facts", "thresholds", "path", "sets")]
    pack = EXAMPLE / "perf-rules"
    found += [("limiter", path) for path in (pack / "limiters").glob("*.yaml")]
    found += [(name, pack / f"{name}.yaml") for name in ("facts", "thresholds", "path")]
    return [*found, ("cases", pack / "cases" / "nightly.yaml"), ("triage", EXAMPLE / "triage.yaml")]


@pytest.mark.parametrize("name", schema.shapes())
def test_the_committed_schemas_are_in_step(name: str) -> None:
    committed = (ROOT / "schemas" / f"{name}.schema.json").read_text(encoding="utf-8")
    assert committed == schema.text(name), "run `triage rules schema -o schemas`"
    jsonschema.Draft202012Validator.check_schema(json.loads(committed))


@pytest.mark.parametrize(("name", "path"), files(), ids=lambda value: value if isinstance(value, str) else value.name)
def test_every_file_follows_its_schema(name: str, path: Path) -> None:
    jsonschema.Draft202012Validator(schema.schema(name)).validate(plain(read(path).root))


def test_a_misspelt_key_a_wrong_word_and_a_missing_key_do_not_follow_it() -> None:
    validator = jsonschema.Draft202012Validator(schema.schema("limiter"))
    good = plain(read(resources.folder("rules") / "limiters" / "barrier.yaml").root)
    assert validator.is_valid(good)
    for change in (
        {"famly": "x"},
        {"family": "x"},
        {"when": {"fact": "a", "at_leest": 3}},
        {"see": [{"url": "http://x"}]},
    ):
        assert not validator.is_valid(good | change), change
    for key in LIMITER_FILE.required:
        assert not validator.is_valid({name: value for name, value in good.items() if name != key}), key


def test_sets_have_the_keys_that_their_reader_knows() -> None:
    from triage.ncu.sets import _KEYS

    definition = schema.schema("sets")["$defs"]["set"]
    assert set(definition["properties"]) == set(_KEYS)


# Read once: what the files hold does not change, only what is laid over them.
SHIPPED = shipped_layer()
# A value that is right nowhere: a list of a list of a map.
WRONG = [[{"no": "where"}]]


def faults_of_team(tmp_path: Path, content: dict[str, Any]) -> list[str]:
    path = tmp_path / "triage.yaml"
    path.write_text(json.dumps(content), encoding="utf-8")
    team = examine(path)
    assert team.document is not None
    for document in SHIPPED.documents:
        document.faults.clear()
    made = assemble([SHIPPED, *team.layers], "guide")
    return [str(fault) for fault in (*made.faults, *team.document.faults)]


@pytest.mark.parametrize("key", [name for name, key in TEAM.keys.items() if not isinstance(key.kind, Anything)])
def test_every_key_of_the_team_file_is_checked(tmp_path: Path, key: str) -> None:
    assert faults_of_team(tmp_path, {key: WRONG}), key


INNER: list[tuple[Shape, str, dict[str, Any]]] = [
    (KERNEL, "kernels", {"match": "x"}),
    (OVERRIDE, "overrides", {"threshold": "busy_pct", "value": 1, "source": "x"}),
    (WALK_CASE, "tests", {"name": "x", "facts": {}, "expect": "undecided"}),
    (ADDITION, "questions", {"to": "level", "answers": []}),
    (PLACED, "questions", {"id": "x", "decision": "1", "ask": "x", "after": "size"}),
]


@pytest.mark.parametrize(
    ("shape", "section", "good", "key"),
    [(shape, section, good, key) for shape, section, good in INNER for key in shape.keys],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_every_inner_key_is_checked(tmp_path: Path, shape: Shape, section: str, good: dict[str, Any], key: str) -> None:
    assert faults_of_team(tmp_path, {section: [good]}) == []
    assert faults_of_team(tmp_path, {section: [good | {key: WRONG}]}), key
    assert faults_of_team(tmp_path, {section: [good | {f"{key}x": 1}]}), key


@pytest.mark.parametrize("key", REPORT.keys)
def test_every_key_of_the_report_is_checked(tmp_path: Path, key: str) -> None:
    assert faults_of_team(tmp_path, {"report": {key: WRONG}})


@pytest.mark.parametrize("key", LIMITER_FILE.keys)
def test_every_key_of_a_limiter_is_checked(tmp_path: Path, key: str) -> None:
    good = plain(read(resources.folder("rules") / "limiters" / "bank-conflicts.yaml").root)
    assert faults_of_team(tmp_path, {"limiters": [good]}) == []
    assert faults_of_team(tmp_path, {"limiters": [good | {key: WRONG}]}), key


def inner_maps(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = []
    if isinstance(value, dict):
        for key, item in value.items():
            found += [(*path, key), *inner_maps(item, (*path, key))]
    elif isinstance(value, list):
        for place, item in enumerate(value):
            found += inner_maps(item, (*path, place))
    return found


def test_every_value_of_a_file_of_facts_is_checked(tmp_path: Path) -> None:
    import copy

    content = {
        "facts": {
            "x": {
                "label": "x", "unit": "%", "says": "x", "when_nothing": "none", "collect": True,
                "from": [{"use": "dram_pct", "cc": "9.0", "collect": False, "when": {"fact": "waves", "above": 1}}],
                "at_most": ["l2_pct"], "at_least": ["l2_pct"],
            },
            "y_{}": {"label": "{}", "unit": "%", "says": "{}", "each": ["dram"], "from": ["{}_pct"]},
            "z": {"label": "x", "unit": "%", "says": "", "largest_of": ["x"], "optional": ["x"], "sum_of_known": ["x"]},
        }
    }  # fmt: skip
    assert faults_of_team(tmp_path, content) == []
    for path in inner_maps(content):
        changed = copy.deepcopy(content)
        where: Any = changed
        for part in path[:-1]:
            where = where[part]
        where[path[-1]] = WRONG
        assert faults_of_team(tmp_path, changed), path


def test_the_command_prints_and_writes(tmp_path: Path) -> None:
    printed = json.loads(triage("rules", "schema", "limiter").stdout)
    assert printed["title"] == "triage: a limiter"
    assert "7 schemas" in triage("rules", "schema", "-o", tmp_path / "s").stdout
    assert len(list((tmp_path / "s").glob("*.schema.json"))) == 7
    assert "did you mean 'limiter'" in fails(triage("rules", "schema", "limitter"), 2)[0]
