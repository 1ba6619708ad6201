"""Where rules come from: folders of rule files and the rules in a team's file, laid over one another in order."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from triage.paths import real
from triage.rules import checks
from triage.rules.casefile import CASE_FILE
from triage.rules.shapes import FACTS_FILE, PATH_FILE, THRESHOLDS_FILE
from triage.rules.yamlfile import Document, List, Map, read

# How messages call the folder of the rules that come with triage.
SHIPPED = "rules"
FILES = ("thresholds.yaml", "facts.yaml", "path.yaml")
# Read by other parts of the program.
SETS, TEAM = "sets.yaml", "triage.yaml"
OTHERS = (SETS, "metrics.yaml", "roofs.yaml", TEAM)
FOLDERS = ("limiters", "cases")
_SHAPES = {"thresholds.yaml": THRESHOLDS_FILE, "facts.yaml": FACTS_FILE, "path.yaml": PATH_FILE}


@dataclass(frozen=True, slots=True)
class Part:
    """One thing to read: ``kind`` is thresholds, facts, limiter, path, cases, overrides or retire; ``root`` the map
    that holds it; ``stem`` the name of a file that holds this alone."""

    kind: str
    document: Document
    root: Map
    stem: str = ""


@dataclass(slots=True)
class Layer:
    """Rules that come together: ``kind`` is shipped, pack, team (``triage.yaml``) or command (``--rules``)."""

    name: str
    kind: Literal["shipped", "pack", "team", "command"]
    documents: list[Document] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)
    folder: Path | None = None


def folder_layer(folder: Path, kind: Literal["shipped", "pack", "command"], shown: str = "") -> Layer:
    """The rule files of ``folder``, which must exist; ``shown`` is how messages call it."""
    name = shown or Path(os.path.relpath(folder)).as_posix()
    if kind != "shipped" and name == SHIPPED:
        name = f"./{name}"  # a place must tell a team's folder from the rules that ship
    layer = Layer(name, kind, folder=folder)
    inside = None if kind == "shipped" else Path(real(folder))
    for name in FILES:
        if (folder / name).exists():
            document = _read(folder / name, f"{layer.name}/{name}", inside)
            layer.documents.append(document)
            root = document.root if isinstance(document.root, Map) else Map()
            if document.root is not None:
                checks.keys(document, root, _SHAPES[name], what=name)
                checks.texts(document, root, "counters")
                layer.parts.append(Part(name.removesuffix(".yaml"), document, root))
    for file in sorted((folder / "limiters").glob("*.yaml")):
        document = _read(file, f"{layer.name}/limiters/{file.name}", inside)
        layer.documents.append(document)
        if isinstance(document.root, Map):
            layer.parts.append(Part("limiter", document, document.root, file.stem))
        elif not document.faults:
            document.at((1, 1), "type", "a limiter file is a map: id, title, family, ...")
    for file in sorted((folder / "cases").glob("*.yaml")):
        document = _read(file, f"{layer.name}/cases/{file.name}", inside)
        layer.documents.append(document)
        if isinstance(document.root, Map):
            checks.keys(document, document.root, CASE_FILE)
            layer.parts.append(Part("cases", document, document.root))
    if not layer.documents and not (folder / SETS).exists():
        layer.documents.append(_nothing(folder, layer.name))
    layer.documents += _ignored(folder, layer.name)
    return layer


def team_parts(document: Document, root: Map) -> list[Part]:
    """The rules that a team's own file holds."""
    kinds = {"thresholds": "thresholds", "profiles": "thresholds", "facts": "facts", "questions": "path"}
    kinds |= {"overrides": "overrides", "retire": "retire", "tests": "cases"}
    parts = [Part(kind, document, root) for kind in dict.fromkeys(kinds[key] for key in kinds if key in root)]
    limiters = root.get("limiters", List())
    if not isinstance(limiters, List):
        document.fault(root, "limiters", "type", "'limiters' must be a list of limiters")
        return parts
    for item, place in zip(limiters, limiters.places, strict=True):
        if isinstance(item, Map):
            parts.append(Part("limiter", document, item))
        else:
            document.at(place, "type", "a limiter is a map: id, title, family, ...")
    return parts


def _read(file: Path, shown: str, inside: Path | None) -> Document:
    if inside is not None and not Path(real(file)).is_relative_to(inside):
        document = Document(file, shown)
        document.at((1, 1), "outside", "points to a file outside of its folder")
        return document
    return read(file, shown)


def _nothing(folder: Path, name: str) -> Document:
    """The fault of a folder without any rule file: a misspelt one must not leave the rules out in silence."""
    document = Document(folder, name)
    if (folder / TEAM).exists():
        message = f"holds no rule file; name its {TEAM} itself"
    else:
        files = ", ".join((*FILES, SETS, *(f"{name}/*.yaml" for name in FOLDERS)))
        message = f"holds no rule file; they are called {files}"
    document.at((1, 1), "no-rules", message)
    return document


def _ignored(folder: Path, name: str) -> list[Document]:
    """Files that look like rules but lie where no rule is read: a misspelt name must not go unnoticed."""
    found: list[Document] = []
    for file in sorted([*folder.glob("*.y*ml"), *folder.glob("*/*.y*ml")]):
        place = file.relative_to(folder)
        good = place.name in (*FILES, *OTHERS) if len(place.parts) == 1 else place.parts[0] in FOLDERS
        if good and file.suffix == ".yaml":
            continue
        document = Document(file, f"{name}/{place.as_posix()}")
        hint = checks.suggestion(place.parts[0], (*FILES, *FOLDERS))
        document.advise(None, None, "ignored", f"this file is not read{hint}")
        found.append(document)
    return found
