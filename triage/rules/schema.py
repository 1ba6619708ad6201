"""JSON Schemas of every YAML file, made from the shapes that the loader checks keys against."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from triage import output
from triage.errors import UsageError
from triage.rules.casefile import CASE_FILE
from triage.rules.checks import suggestion
from triage.rules.kinds import Anything, Either, Flag, Key, Kind, Many, Named, Number, Ref, Shape, Text
from triage.rules.shapes import CONDITION_KIND, FACTS_FILE, LIMITER_FILE, PATH_FILE, THRESHOLDS_FILE

DRAFT = "https://json-schema.org/draft/2020-12/schema"
_WANTED = Either((Text(), Shape("any_of", "a choice", {"any": Key(Many(Text()), "The first that the GPU has.", True)})))
_SET = Shape(
    "set",
    "a metric set",
    {
        "title": Key(Text(), "A noun phrase.", required=True),
        "about": Key(Text(), "What it answers and what it leaves open.", required=True),
        "metrics": Key(Many(_WANTED), "Metric names of ncu."),
        "sections": Key(Many(Text()), "Section identifiers of ncu."),
        "set": Key(Text(), "The name of one of ncu's own sets."),
        "from": Key(Text(choices=("rules",)), "rules: the metrics that the rules in force ask for."),
    },
)
SETS_FILE = Shape("sets", "sets.yaml", {"sets": Key(Named(_SET), "Metric sets by name.", required=True)})


def shapes() -> dict[str, Shape]:
    """The shape of each kind of file, by the name of its schema."""
    from triage.team.shapes import TEAM

    return {
        "triage": TEAM,
        "limiter": LIMITER_FILE,
        "facts": FACTS_FILE,
        "thresholds": THRESHOLDS_FILE,
        "path": PATH_FILE,
        "cases": CASE_FILE,
        "sets": SETS_FILE,
    }


def schema(name: str) -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of a kind of file. Raises :class:`UsageError` for a name that is none."""
    known = shapes()
    if name not in known:
        raise UsageError(f"there is no schema {name!r}{suggestion(name, known)}", f"choose one of {', '.join(known)}")
    definitions: dict[str, Any] = {}
    root = _shape(known[name], definitions)
    made = {"$schema": DRAFT, "title": f"triage: {known[name].what}", **root}
    return made | ({"$defs": dict(sorted(definitions.items()))} if definitions else {})


def text(name: str) -> str:
    """The same as text."""
    return json.dumps(schema(name), indent=2) + "\n"


def write_all(folder: Path) -> int:
    """Write every schema as ``NAME.schema.json`` below ``folder``; how many there are."""
    output.folder(folder)
    for name in shapes():
        output.write(folder / f"{name}.schema.json", text(name))
    return len(shapes())


def _shape(shape: Shape, definitions: dict[str, Any]) -> dict[str, Any]:
    properties = {name: {"description": key.says, **_kind(key.kind, definitions)} for name, key in shape.keys.items()}
    made: dict[str, Any] = {"type": "object", "properties": properties}
    if shape.required:
        made["required"] = shape.required
    made["additionalProperties"] = _kind(shape.extra, definitions) if shape.extra is not None else False
    return made


def _kind(kind: Kind, definitions: dict[str, Any]) -> dict[str, Any]:
    if isinstance(kind, Text):
        made: dict[str, Any] = {"type": "string"}
        if kind.choices:
            made["enum"] = list(kind.choices)
        if kind.pattern:
            made["pattern"] = kind.pattern
        return made
    if isinstance(kind, Number):
        return {"type": "number"} | ({"minimum": kind.least} if kind.least is not None else {})
    if isinstance(kind, Flag):
        return {"type": "boolean"}
    if isinstance(kind, Anything):
        return {}
    if isinstance(kind, Many):
        item = _kind(kind.of, definitions)
        listed: dict[str, Any] = {"type": "array", "items": item}
        if kind.least:
            listed["minItems"] = kind.least
        return {"anyOf": [listed, item]} if kind.alone else listed
    if isinstance(kind, Named):
        made = {"type": "object", "additionalProperties": _kind(kind.of, definitions)}
        return made | ({"propertyNames": {"pattern": kind.pattern}} if kind.pattern else {})
    if isinstance(kind, Either):
        return {"anyOf": [_kind(one, definitions) for one in kind.kinds]}
    name = kind.name
    if name not in definitions:
        definitions[name] = {}
        definitions[name] = _kind(CONDITION_KIND, definitions) if isinstance(kind, Ref) else _shape(kind, definitions)
    return {"$ref": f"#/$defs/{name}"}
