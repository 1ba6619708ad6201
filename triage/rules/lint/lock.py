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

from triage.errors import UsageError
from triage.output import write
from triage.paths import exists, is_file, real
from triage.paths import read as read_bytes
from triage.rules.layers import OTHERS, Layer
from triage.rules.rulebook import Spot
from triage.rules.yamlfile import MAX_BYTES, Document, Fault, Map, read

NAME = "rules.lock"
_HEAD = "# What these rules say. Written by `triage rules lint --lock`; a change here is a change of meaning.\n"


def check_lock(layer: Layer) -> Iterator[Fault]:
    """What differs from the lock of the layer's folder, each at its place; a lock that cannot be read is a fault, since
    nothing would be locked by it."""
    if layer.folder is None or not exists(layer.folder / NAME):
        return
    shown = f"{layer.name}/{NAME}"
    fault = _unusable(layer.folder)
    if fault:
        yield Fault(shown, 1, 1, *fault)
        return
    try:
        expected, lines = _read(layer.folder / NAME)
    except OSError as error:
        yield Fault(shown, 1, 1, "unreadable", f"cannot be read: {error.strerror}")
        return
    except UnicodeDecodeError:
        yield Fault(shown, 1, 1, "encoding", "is not UTF-8: write it again with `triage rules lint --lock`")
        return
    found = definitions(layer)
    if found and not expected:
        yield Fault(shown, 1, 1, "lock", "holds no entry: write it with `triage rules lint --lock`")
        return
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
    """Write the lock of a folder; its path. Raises :class:`UsageError` where something else stands there: a pipe would
    be waited for, and a link that leads out of the folder overwrites what nobody named."""
    fault = _unusable(folder) if exists(folder / NAME) else None
    if fault:
        raise UsageError(f"{folder / NAME} {fault[1]}", "remove it, and lock again")
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


def _unusable(folder: Path) -> tuple[str, str] | None:
    """Code and message where what is called like the lock is no file of the folder."""
    path = folder / NAME
    if not Path(real(path)).is_relative_to(real(folder)):
        return "outside", "points to a file outside of its folder"
    return None if is_file(path) else ("unreadable", "cannot be read: not a file")


def _read(path: Path) -> tuple[dict[str, str], dict[str, int]]:
    digests: dict[str, str] = {}
    lines: dict[str, int] = {}
    for number, line in enumerate(read_bytes(path, MAX_BYTES).decode("utf-8-sig").splitlines(), 1):
        if line and not line.startswith("#"):
            name, _, digest = line.rpartition(" ")
            digests[name], lines[name] = digest, number
    return digests, lines
