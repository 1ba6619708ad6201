"""The metric sets of ``rules/sets.yaml`` and of a team's own file; faults are reported all at once with their line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from triage.errors import FaultyRules, UsageError
from triage.paths import exists, is_dir, real
from triage.resources import folder
from triage.rules.yamlfile import Document, List, Map, read
from triage.suggest import STRICT, closest

_KEYS = ("title", "about", "metrics", "sections", "set", "from")
_NAME = re.compile(r"[a-z][a-z0-9_-]*")
_METRIC = re.compile(r"(?:(?:regex|group|breakdown|pmsampling):)?[\w.^$|*+?()\[\]\\:-]+")
_IDENTIFIER = re.compile(r"[\w:.^$|*+-]+")


@dataclass(frozen=True, slots=True)
class Wanted:
    """One entry of a set: metric names of which the first that the chip has is collected, and where it stands."""

    any_of: tuple[str, ...]
    place: str


@dataclass(frozen=True, slots=True)
class MetricSet:
    """One named set. ``ncu_set`` is the name of one of ncu's own sets; ``from_rules`` adds what the rules ask for."""

    name: str
    title: str
    about: str
    metrics: tuple[Wanted, ...] = ()
    sections: tuple[str, ...] = ()
    ncu_set: str | None = None
    from_rules: bool = False
    place: str = ""


def load_sets(folders: Iterable[Path] = ()) -> dict[str, MetricSet]:
    """The built-in sets and those of ``folders`` (each a folder with a ``sets.yaml``, or such a file); later ones
    replace earlier ones of the same name. Raises ``FaultyRules`` with every fault of every file."""
    sets: dict[str, MetricSet] = {}
    faults: list[str] = []
    files = [folder("rules") / "sets.yaml"]
    files += [path / "sets.yaml" if is_dir(path) else path for path in folders]
    for file in files:
        if file is not files[0] and not exists(file):
            continue
        document = read(file) if file is files[0] else _of(file)
        sets |= _sets(document)
        faults += map(str, sorted(document.faults))
    if faults:
        raise FaultyRules(
            f"{len(faults)} fault{'s' if len(faults) > 1 else ''} in the metric sets: {faults[0]}",
            "mend the lines named; the head of rules/sets.yaml describes the file",
            details=tuple(faults),
        )
    return sets


def choose(sets: Mapping[str, MetricSet], name: str) -> MetricSet:
    """The set called ``name``. Raises ``UsageError`` that names the sets there are."""
    if name in sets:
        return sets[name]
    raise UsageError(
        f"there is no metric set {name!r}{closest(name, sets, STRICT)}", f"the sets are: {', '.join(sets)}"
    )


def _of(file: Path) -> Document:
    """The file's document; a link that leads out of the folder is a fault, as it is for every other file of rules."""
    if Path(real(file)).is_relative_to(real(file.parent)):
        return read(file)
    document = Document(file, str(file))
    document.at((1, 1), "outside", "points to a file outside of its folder")
    return document


def _sets(document: Document) -> dict[str, MetricSet]:
    root = document.root
    if document.faults:
        return {}
    if not isinstance(root, Map) or not isinstance(root.get("sets"), Map):
        document.fault(None, None, "sets", "a file of sets holds a map named 'sets'")
        return {}
    for key in root:
        if key != "sets":
            document.fault(root, key, "unknown-key", f"unknown key {key!r}{closest(key, ['sets'], STRICT)}")
    table: Map = root["sets"]
    return {name: _one(document, table, name, body) for name, body in table.items()}


def _one(document: Document, table: Map, name: str, body: Any) -> MetricSet:
    line = table.places[name][0]
    place = f"{document.shown}:{line}"
    if not _NAME.fullmatch(name):
        document.fault(table, name, "name", f"{name!r} is no name for a set: lower-case letters, digits, - and _")
    if not isinstance(body, Map):
        document.fault(table, name, "set", f"the set {name!r} must be a map with title, about and what to collect")
        return MetricSet(name, "", "", place=place)
    for key in body:
        if key not in _KEYS:
            document.fault(body, key, "unknown-key", f"unknown key {key!r}{closest(key, _KEYS, STRICT)}")
    texts = {key: _text(document, body, table, name, key) for key in ("title", "about")}
    if body.get("from") not in (None, "rules"):
        document.fault(body, "from", "from", f"'from' can only be rules, not {body['from']!r}")
    if not any(body.get(key) for key in ("metrics", "sections", "set", "from")):
        document.fault(table, name, "empty", f"the set {name!r} collects nothing: give metrics, sections, set or from")
    return MetricSet(
        name,
        texts["title"],
        texts["about"],
        _metrics(document, body),
        _words(document, body, "sections"),
        _set(document, body),
        body.get("from") == "rules",
        place,
    )


def _text(document: Document, body: Map, table: Map, name: str, key: str) -> str:
    value = body.get(key)
    if isinstance(value, str) and value.strip():
        return " ".join(value.split())
    where, at = (body, key) if key in body else (table, name)
    document.fault(where, at, key, f"the set {name!r} needs {'a' if key == 'title' else 'an'} {key!r} text")
    return ""


def _set(document: Document, body: Map) -> str | None:
    value = body.get("set")
    if value is None or (isinstance(value, str) and _IDENTIFIER.fullmatch(value)):
        return value
    document.fault(body, "set", "set", "'set' is the name of one of ncu's own sets")
    return None


def _items(document: Document, body: Map, key: str) -> list[tuple[Any, tuple[int, int]]]:
    value = body.get(key)
    if value is None:
        return []
    if not isinstance(value, List) or not value:
        document.fault(body, key, key, f"{key!r} must be a list with at least one entry")
        return []
    return list(zip(value, value.places, strict=True))


def _words(document: Document, body: Map, key: str) -> tuple[str, ...]:
    found = []
    for item, place in _items(document, body, key):
        if isinstance(item, str) and _IDENTIFIER.fullmatch(item):
            found.append(item)
        else:
            document.at(place, key, f"{item!r} is no section identifier")
    return tuple(found)


def _metrics(document: Document, body: Map) -> tuple[Wanted, ...]:
    found = []
    for item, place in _items(document, body, "metrics"):
        names = item.get("any") if isinstance(item, Map) and set(item) == {"any"} else [item]
        if not isinstance(names, list) or not names:
            document.at(place, "metrics", "an entry is a metric name, or {any: [names]}")
            continue
        for name in names:
            if not isinstance(name, str) or not _METRIC.fullmatch(name):
                document.at(place, "metrics", f"{name!r} is no metric name")
        found.append(Wanted(tuple(str(name) for name in names), f"{document.shown}:{place[0]}"))
    return tuple(found)
