"""Deleting or misspelling a key of a shipped rule file never passes the linter silently."""

from __future__ import annotations

import copy
import json
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from triage import resources
from triage.rules.layers import folder_layer
from triage.rules.lint import lint
from triage.rules.lint.lock import NAME
from triage.rules.yamlfile import Fault, read

# All mutations take some minutes (they were run: none is silent); each run of the tests takes another sample.
SAMPLE = 25
Key = tuple[str | int, ...]


def plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list) else value


def keys(value: Any, before: Key = ()) -> Iterator[Key]:
    if isinstance(value, dict):
        for key in value:
            yield (*before, key)
            yield from keys(value[key], (*before, key))
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from keys(item, (*before, place))


def mutated(root: Any, key: Key, kind: str) -> str:
    """The file without the key, or with it misspelt; as JSON, which is YAML."""
    changed = copy.deepcopy(root)
    where = changed
    for part in key[:-1]:
        where = where[part]
    value = where.pop(key[-1])
    if kind == "misspell":
        where[f"{key[-1]}x"] = value
    return json.dumps(changed)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(shutil.copytree(resources.folder("rules"), tmp_path_factory.mktemp("rules") / "rules"))


def faults(folder: Path) -> list[Fault]:
    return lint([folder_layer(folder, "shipped", "rules")])


def mutations(folder: Path) -> list[tuple[Path, Key, str]]:
    files = sorted(folder.rglob("*.yaml"))
    return [(file, key, kind) for file in files for key in keys(read(file).root) for kind in ("delete", "misspell")]


def silent(folder: Path, chosen: list[tuple[Path, Key, str]]) -> list[tuple[str, Key, str]]:
    passed = []
    for file, key, kind in chosen:
        text = file.read_bytes()
        file.write_text(mutated(plain(read(file).root), key, kind), encoding="utf-8")
        try:
            if not faults(folder):
                passed.append((file.name, key, kind))
        finally:
            file.write_bytes(text)
    return passed


def test_no_key_of_a_sample_is_lost_silently(folder: Path) -> None:
    assert faults(folder) == []
    chosen = random.Random().sample(mutations(folder), SAMPLE)
    assert silent(folder, chosen) == []


def test_most_are_found_without_the_lock(folder: Path) -> None:
    """The lock is for what has a meaning either way; a misspelt key and a missing one are found by what they are."""
    lock = (folder / NAME).read_bytes()
    (folder / NAME).unlink()
    try:
        rules = [each for each in mutations(folder) if each[0].name not in ("metrics.yaml", "roofs.yaml")]
        chosen = random.Random(8).sample(rules, SAMPLE)
        assert len(silent(folder, chosen)) < 0.2 * SAMPLE
    finally:
        (folder / NAME).write_bytes(lock)


def test_the_lock_says_where_and_what_to_do(folder: Path) -> None:
    path = folder / "path.yaml"
    text = path.read_text(encoding="utf-8")
    changed = text.replace("    pick: largest\n", "", 1)
    assert changed != text
    path.write_text(changed, encoding="utf-8")
    try:
        found = faults(folder)
    finally:
        path.write_text(text, encoding="utf-8")
    assert [(fault.file, fault.code) for fault in found] == [("rules/path.yaml", "lock")]
    assert found[0].line == text[: text.index("  - id: pipes")].count("\n") + 1
    assert "triage rules lint --lock" in found[0].message


def test_what_is_gone_is_named_in_the_lock(folder: Path) -> None:
    path = folder / "facts.yaml"
    text = path.read_text(encoding="utf-8")
    start = text.index("  l1_hit_pct:")
    end = text.index("  l2_hit_pct:")
    path.write_text(text[:start] + text[end:], encoding="utf-8")
    try:
        found = faults(folder)
    finally:
        path.write_text(text, encoding="utf-8")
    assert [(fault.file, fault.code) for fault in found if "facts/l1_hit_pct" in fault.message] == [
        ("rules/rules.lock", "lock")
    ]
