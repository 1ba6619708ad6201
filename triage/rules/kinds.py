"""Kinds of values in a rule file, from which the loader's checks, the JSON Schemas and the reference are made.

A :class:`Shape` is a map with known keys; everything else is text, numbers, flags, lists, maps of names, or a choice
between kinds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Text:
    """A text; one of ``choices``, or matching ``pattern``, where they are given. ``lines`` keeps its line breaks."""

    says: str = "text"
    choices: tuple[str, ...] = ()
    pattern: str = ""
    lines: bool = False


@dataclass(frozen=True, slots=True)
class Number:
    """A number; at least ``least`` where it is given."""

    least: float | None = None
    says: str = "number"


@dataclass(frozen=True, slots=True)
class Flag:
    """``true`` or ``false``."""

    says: str = "true or false"


@dataclass(frozen=True, slots=True)
class Anything:
    """A value that another part of the program checks."""

    says: str = "anything"


@dataclass(frozen=True, slots=True)
class Many:
    """A list of ``of``; with ``alone`` one of them may stand without the list."""

    of: Kind
    alone: bool = False
    least: int = 0


@dataclass(frozen=True, slots=True)
class Named:
    """A map from names to ``of``."""

    of: Kind
    pattern: str = ""


@dataclass(frozen=True, slots=True)
class Either:
    """One of several kinds."""

    kinds: tuple[Kind, ...]


@dataclass(frozen=True, slots=True)
class Ref:
    """The shape called ``name``; how a condition can hold conditions."""

    name: str


@dataclass(frozen=True, slots=True)
class Key:
    """One key of a shape: what stands there, one sentence about it, whether it must be there."""

    kind: Kind
    says: str
    required: bool = False


@dataclass(frozen=True, slots=True)
class Shape:
    """A map with known keys. ``name`` is how schemas call it, ``what`` how messages do; ``extra`` is the kind of
    keys that another part of the file declares (the profiles of a threshold)."""

    name: str
    what: str
    keys: Mapping[str, Key] = field(hash=False)
    extra: Kind | None = None

    @property
    def required(self) -> list[str]:
        return [name for name, key in self.keys.items() if key.required]


Kind: TypeAlias = "Text | Number | Flag | Anything | Many | Named | Either | Ref | Shape"
