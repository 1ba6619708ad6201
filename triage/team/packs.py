"""Rule packs: folders beside ``triage.yaml``, and installed Python packages. Nothing of a package is executed."""

from __future__ import annotations

import re
from importlib.machinery import PathFinder
from pathlib import Path

from triage.paths import is_dir, real
from triage.rules import checks
from triage.rules.layers import Layer, folder_layer
from triage.rules.yamlfile import Document, List, Map
from triage.team.shapes import PACK

_PACKAGE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def read_packs(document: Document, root: Map) -> list[Layer]:
    """The packs under the key ``rules`` of ``root``, in order; what cannot be used is a fault at its place."""
    value = root.get("rules", List())
    if isinstance(value, str):
        items = [(value, root.places["rules"])]
    elif isinstance(value, List):
        items = list(zip(value, value.places, strict=True))
    else:
        document.fault(root, "rules", "type", "'rules' must be a list of folders and {package: ...}")
        return []
    layers: list[Layer] = []
    for item, place in items:
        if isinstance(item, str):
            folder = _folder(document, item, place)
        elif isinstance(item, Map):
            checks.keys(document, item, PACK)
            folder = _package(document, item, checks.text(document, item, "package"))
        else:
            document.at(place, "type", "a pack is a folder, or {package: name}")
            continue
        if folder is None:
            continue
        if any(layer.folder == folder for layer in layers):
            document.at(place, "duplicate", f"the pack {item if isinstance(item, str) else folder.name!r} stands twice")
            continue
        shown = item.removeprefix("./").rstrip("/") if isinstance(item, str) else f"{item.get('package')}/rules"
        layers.append(folder_layer(folder, "pack", shown))
    return layers


def _folder(document: Document, text: str, place: tuple[int, int]) -> Path | None:
    home = document.path.resolve().parent
    folder = Path(real(home / text))
    if Path(text).is_absolute() or not folder.is_relative_to(home):
        document.at(place, "outside", f"the pack {text!r} points outside of the folder of {document.path.name}")
        return None
    if not is_dir(folder):
        document.at(place, "missing-pack", f"there is no folder {text!r}")
        return None
    return folder


def _package(document: Document, item: Map, name: str) -> Path | None:
    """``rules/`` of an installed package, found without importing anything."""
    if not _PACKAGE.fullmatch(name):
        document.fault(item, "package", "value", f"{name!r} is no name of a Python package")
        return None
    found = PathFinder.find_spec(name)
    places = list(found.submodule_search_locations or ()) if found is not None else []
    for place in places:
        if (Path(place) / "rules").is_dir():
            return (Path(place) / "rules").resolve()
    if places:
        document.fault(item, "package", "missing-pack", f"the package {name!r} holds no folder rules/")
    else:
        document.fault(item, "package", "missing-pack", f"no package {name!r} is installed here")
    return None
