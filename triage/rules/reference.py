"""The reference of every YAML file as Markdown, made from the shapes that the loader checks keys against."""

from __future__ import annotations

from triage.rules.kinds import Anything, Either, Flag, Key, Kind, Many, Named, Number, Ref, Shape, Text
from triage.rules.schema import shapes
from triage.rules.shapes import ALL, ANY, COMPARISON, NOT

_FILES = {
    "triage": "`triage.yaml`: a team's own file",
    "limiter": "`limiters/<id>.yaml`: a limiter",
    "facts": "`facts.yaml`: facts",
    "thresholds": "`thresholds.yaml`: named numbers",
    "path": "`path.yaml`: the order of the questions",
    "cases": "`cases/*.yaml`: tests that walk the whole path",
    "sets": "`sets.yaml`: metric sets of `triage profile`",
}


def reference() -> str:
    """One section a file and one a map that several files hold."""
    seen: dict[str, Shape] = {}
    lines = [
        "# Keys of every file",
        "",
        "Bold keys must be there. `triage rules schema` prints the same as JSON Schema.",
        "",
    ]
    for name, shape in shapes().items():
        lines += [f'<a id="{shape.name}"></a>', f"## {_FILES[name]}", "", *_table(shape, seen)]
    lines += ["## A condition", "", "One of these maps.", ""]
    for shape in (COMPARISON, ALL, ANY, NOT):
        lines += _table(shape, seen)
    done: set[str] = {shape.name for shape in shapes().values()} | {"comparison", "all", "any", "not"}
    while waiting := [shape for name, shape in seen.items() if name not in done]:
        for shape in waiting:
            done.add(shape.name)
            lines += [
                f'<a id="{shape.name}"></a>',
                f"## {shape.what[0].upper()}{shape.what[1:]}",
                "",
                *_table(shape, seen),
            ]
    return "\n".join(lines)


def _table(shape: Shape, seen: dict[str, Shape]) -> list[str]:
    rows = [_row(name, key, seen) for name, key in shape.keys.items()]
    if shape.extra is not None:
        rows.append(f"| *a profile* | {_said(shape.extra, seen)} | Its value in a profile that the file declares. |")
    return ["| key | holds | |", "|---|---|---|", *rows, ""]


def _row(name: str, key: Key, seen: dict[str, Shape]) -> str:
    shown = f"**`{name}`**" if key.required else f"`{name}`"
    return f"| {shown} | {_said(key.kind, seen)} | {key.says} |".replace("|text", "text")


def _said(kind: Kind, seen: dict[str, Shape]) -> str:
    if isinstance(kind, Text):
        return " or ".join(f"`{choice}`" for choice in kind.choices) if kind.choices else kind.says
    if isinstance(kind, (Number, Flag, Anything)):
        return kind.says
    if isinstance(kind, Many):
        inner = _said(kind.of, seen)
        return f"{inner}, or a list of them" if kind.alone else f"list of: {inner}"
    if isinstance(kind, Named):
        return f"map from names to: {_said(kind.of, seen)}"
    if isinstance(kind, Either):
        return "; or ".join(_said(one, seen) for one in kind.kinds)
    if isinstance(kind, Ref):
        return "[a condition](#a-condition)"
    seen.setdefault(kind.name, kind)
    return f"[{kind.what}](#{kind.name})"
