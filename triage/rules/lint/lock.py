"""``rules.lock``: what the rules of a folder said when somebody last meant it.

Every definition (a fact, a threshold, a limiter, a question, a set) has a digest in the lock. A key that is lost in an
edit or a merge changes the meaning of a rule without making it wrong; the lock is how the linter notices. A folder
without the file is not locked.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

from triage.output import write
from triage.rules.layers import OTHERS, Layer
from triage.rules.rulebook import Spot
from triage.rules.yamlfile import Document, Fault, Map, read

NAME = "rules.lock"
_HEAD = "# What these rules say. Written by `triage rules lint --lock`; a change here is a change of meaning.\n"


def check_lock(layer: Layer) -> Iterator[Fault]:
    """What differs from the lock of the layer's folder, each at its place."""
    if layer.folder is None or not (layer.folder / NAME).is_file():
        return
    shown = f"{layer.name}/{NAME}"
    expected, lines = _read(layer.folder / NAME)
    found = definitions(layer)
    for name, (digest, spot) in found.items():
        if name not in expected:
            yield Fault(*spot, "lock", f"{name} is not in {NAME}: if it is meant, run `triage rules lint --lock`")
        elif expected[name] != digest:
            yield Fault(
                *spot, "lock", f"{name} is not what {NAME} says: if it is meant, run `triage rules lint --lock`"
            )
    for name, line in lines.items():
        if name not in found:
            yield Fault(shown, line, 1, "lock", f"{name} is gone: if it is meant, run `triage rules lint --lock`")


def write_lock(layer: Layer, folder: Path) -> Path:
    """Write the lock of a folder; its path."""
    entries = "".join(f"{name} {digest}\n" for name, (digest, _) in sorted(definitions(layer).items()))
    write(folder / NAME, _HEAD + entries)
    return folder / NAME


def definitions(layer: Layer) -> dict[str, tuple[str, Spot]]:
    """Every definition of the layer's files: its name, its digest and its place."""
    documents = list(layer.documents)
    if layer.folder is not None:
        others = (name for name in OTHERS if name != "triage.yaml" and (layer.folder / name).is_file())
        documents += [read(layer.folder / name, f"{layer.name}/{name}") for name in others]
    found: dict[str, tuple[str, Spot]] = {}
    for document in documents:
        if isinstance(document.root, Map):
            for name, value, spot in _entries(document, document.root):
                text = json.dumps(value, sort_keys=True, ensure_ascii=True)
                found[name] = (hashlib.sha256(text.encode()).hexdigest()[:12], spot)
    return found


def _entries(document: Document, root: Map) -> Iterator[tuple[str, object, Spot]]:
    if document.path.parent.name == "limiters":
        yield f"limiters/{document.path.stem}", root, document.spot(root)
        return
    for key, value in root.items():
        if isinstance(value, Map):
            for name in value:
                yield f"{key}/{name}", value[name], document.spot(value, name)
        elif isinstance(value, list) and value and all(isinstance(item, Map) for item in value):
            for place, item in enumerate(value):
                yield f"{key}/{item.get('id', place)}", item, document.spot(item)
            # The order of questions is part of what they say.
            yield (
                f"{key}/order",
                [str(item.get("id", place)) for place, item in enumerate(value)],
                document.spot(root, key),
            )
        else:
            yield key, value, document.spot(root, key)


def _read(path: Path) -> tuple[dict[str, str], dict[str, int]]:
    digests: dict[str, str] = {}
    lines: dict[str, int] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line and not line.startswith("#"):
            name, _, digest = line.rpartition(" ")
            digests[name], lines[name] = digest, number
    return digests, lines
