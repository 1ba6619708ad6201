"""YAML with positions: reads a rule file into plain values that remember where each key stands.

Rule files are untrusted (a pull request may change them): anchors, aliases, tags, duplicate keys, tabs, several
documents, characters that nobody sees and files over 1 MB are refused, with their line; nothing is ever constructed but
maps, lists and scalars.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from triage.rules import hidden

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# What PowerShell puts before the text that it redirects into a file.
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
# What git leaves in a file until somebody has decided.
_CONFLICT = re.compile(r"^(?:<{7}|>{7}|\|{7}) .*|^={7}$", re.M)
MAX_BYTES = 1_000_000
MAX_DEPTH = 40
# Longer digits are no measurement, and Python would need long to turn them into a number.
MAX_NUMBER = 40


@dataclass(frozen=True, slots=True, order=True)
class Fault:
    """One fault of a rule file, with the place it stands at (1-based)."""

    file: str
    line: int
    column: int
    code: str
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}: {self.code} {self.message}"


class Map(dict[str, Any]):
    """A mapping that knows the (line, column) of itself and of each key."""

    __slots__ = ("at", "places")

    def __init__(self) -> None:
        super().__init__()
        self.at: tuple[int, int] = (1, 1)
        self.places: dict[str, tuple[int, int]] = {}


class List(list[Any]):
    """A sequence that knows the (line, column) of each item."""

    __slots__ = ("places",)

    def __init__(self) -> None:
        super().__init__()
        self.places: list[tuple[int, int]] = []


@dataclass(slots=True)
class Document:
    """One file: its root value, the faults found while reading it, and helpers to add more.

    ``faults`` keep the file from being used; ``advice`` is what only the linter reports. ``names`` says that it quotes
    names of kernels as they are: characters that nobody sees may stand in its values, written as escapes.
    """

    path: Path
    shown: str
    root: Any = None
    text: str = ""
    faults: list[Fault] = field(default_factory=list)
    advice: list[Fault] = field(default_factory=list)
    names: bool = False

    def fault(self, where: Map | None, key: str | None, code: str, message: str) -> None:
        """Note a fault at ``key`` of ``where`` (at the map itself when the key is ``None`` or absent)."""
        line, column = (1, 1) if where is None else where.places.get(key or "", where.at)
        self.faults.append(Fault(self.shown, line, column, code, message))

    def advise(self, where: Map | None, key: str | None, code: str, message: str) -> None:
        """Note what works but should not stay, at ``key`` of ``where``."""
        self.advice.append(Fault(*self.spot(where, key), code, message))

    def spot(self, where: Map | None, key: str | None = None) -> tuple[str, int, int]:
        """The file, line and column of ``key`` of ``where``, or of the map itself."""
        line, column = (1, 1) if where is None else where.places.get(key or "", where.at)
        return (self.shown, line, column)

    def at(self, place: tuple[int, int], code: str, message: str) -> None:
        """Note a fault at a (line, column)."""
        self.faults.append(Fault(self.shown, place[0], place[1], code, message))


def read(path: Path, shown: str | None = None, *, names: bool = False) -> Document:
    """Read one YAML file. Never raises for what the file holds: the faults are in the document. ``names`` lets its
    values hold characters that nobody sees, written as escapes."""
    document = Document(path, shown or str(path), names=names)
    try:
        if path.exists() and not path.is_file():
            # Reading a pipe or a device might never end.
            document.at((1, 1), "unreadable", "cannot be read: not a file")
            return document
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
        if len(raw) > MAX_BYTES:
            document.at((1, 1), "too-large", f"the file has more than {MAX_BYTES} bytes, which is all that is read")
            return document
        document.text = raw.decode("utf-16" if raw.startswith(_UTF16) else "utf-8-sig")
    except OSError as fault:
        document.at((1, 1), "unreadable", f"cannot be read: {fault.strerror}")
        return document
    except UnicodeDecodeError as fault:
        said = "is damaged UTF-16" if raw.startswith(_UTF16) else "is not UTF-8"
        document.at((raw[: fault.start].count(b"\n") + 1, 1), "encoding", said)
        return document
    for place, message in hidden.in_file(document.text):
        document.at(place, "hidden", message)
    if not document.faults:
        _parse(document)
    return document


def _parse(document: Document) -> None:
    loader = _LOADER(document.text)
    try:
        if not _plain(document):
            return
        node = loader.get_single_node()
        document.root = _value(document, node, 0) if node is not None else Map()
    except yaml.MarkedYAMLError as fault:
        if conflict := _CONFLICT.search(document.text):
            line = document.text.count("\n", 0, conflict.start()) + 1
            document.at((line, 1), "conflict", "holds a merge conflict that was not resolved")
            return
        mark = fault.problem_mark or fault.context_mark
        place = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        document.at(place, "yaml", (fault.problem or "not valid YAML").replace("\n", " "))
    except (yaml.YAMLError, RecursionError, ValueError) as fault:
        reason = str(fault).splitlines()[0] if str(fault) else "nested too deeply"
        document.at((1, 1), "yaml", f"not valid YAML: {reason}")
    finally:
        loader.dispose()


def _plain(document: Document) -> bool:
    """Refuse anchors, aliases and tags before anything is composed: aliases are how YAML bombs grow."""
    event: Any
    for event in yaml.parse(document.text, Loader=_LOADER):
        place = (event.start_mark.line + 1, event.start_mark.column + 1)
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            document.at(place, "anchor", "anchors and aliases are not allowed in rule files")
            return False
        if getattr(event, "tag", None) and not isinstance(event, yaml.DocumentStartEvent):
            document.at(place, "tag", f"the tag {event.tag} is not allowed in rule files")
            return False
    return True


def _value(document: Document, node: yaml.Node, depth: int) -> Any:
    place = (node.start_mark.line + 1, node.start_mark.column + 1)
    if depth > MAX_DEPTH:
        document.at(place, "yaml", "nested too deeply")
        return None
    if isinstance(node, yaml.MappingNode):
        result = Map()
        result.at = place
        for key_node, value_node in node.value:
            key_place = (key_node.start_mark.line + 1, key_node.start_mark.column + 1)
            key = str(key_node.value) if isinstance(key_node, yaml.ScalarNode) else ""
            if not key:
                document.at(key_place, "key", "a key must be a plain word")
                continue
            key = _seen(document, key, key_place)
            if key in result:
                document.at(key_place, "duplicate-key", f"the key {key!r} stands twice")
                continue
            result.places[key] = key_place
            result[key] = _value(document, value_node, depth + 1)
        return result
    if isinstance(node, yaml.SequenceNode):
        items = List()
        for child in node.value:
            items.places.append((child.start_mark.line + 1, child.start_mark.column + 1))
            items.append(_value(document, child, depth + 1))
        return items
    node.value = _seen(document, str(node.value), place)
    return _scalar(node)


def _seen(document: Document, text: str, place: tuple[int, int]) -> str:
    """The text without the characters that nobody sees; a fault where there are some."""
    if document.names or not (message := hidden.in_value(text)):
        return text
    document.at(place, "hidden", message)
    return hidden.without(text)


def _scalar(node: yaml.Node) -> Any:
    tag, text = node.tag, str(node.value)
    if tag == "tag:yaml.org,2002:null":
        return None
    if tag == "tag:yaml.org,2002:bool":
        return text.lower() in ("true", "yes", "on")
    if tag in ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float"):
        if len(text) > MAX_NUMBER:
            return text
        try:
            return float(text) if tag.endswith("float") else int(text)
        except ValueError:
            return text
    return text
