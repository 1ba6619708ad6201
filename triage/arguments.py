"""What Python code gives to the public functions: each check names the argument, what it must be, and what it was.

A wrong type is a ``TypeError`` and a wrong value a ``ValueError``, as in Python itself; the error family of
:mod:`triage.errors` is for files, rules and machines.
"""

from __future__ import annotations

import math
import os
import reprlib
from collections.abc import Collection, Iterable
from numbers import Real
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")


def instance(value: object, kind: type[T], name: str, what: str) -> T:
    """``value``, which must be of a type; ``what`` is that type in words. Raises ``TypeError``."""
    if not isinstance(value, kind):
        raise TypeError(wrong(name, what, value))
    return value


def text(value: object, name: str, what: str = "text") -> str:
    """``value``, which must be text. Raises ``TypeError``."""
    return instance(value, str, name, what)


def path(value: object, name: str) -> Path:
    """``value`` as a path: text, or what Python takes for a path. Raises ``TypeError``, ``ValueError`` for no text."""
    found = os.fspath(value) if isinstance(value, os.PathLike) else value
    if not isinstance(found, str):
        raise TypeError(wrong(name, "a path: text or pathlib.Path", value))
    if not found:
        raise ValueError(f"{name} must be a path, and is empty")
    return Path(found)


def paths(value: object, name: str) -> tuple[str, ...]:
    """``value`` as paths: one alone counts as a list of one. Raises ``TypeError`` and ``ValueError``."""
    if isinstance(value, str | os.PathLike):
        return (str(path(value, name)),)
    if isinstance(value, bytes | bytearray) or not isinstance(value, Iterable):
        raise TypeError(wrong(name, "a list of paths", value))
    return tuple(str(path(item, f"{name}[{place}]")) for place, item in enumerate(value))


def texts(value: object, name: str, what: str) -> tuple[str, ...]:
    """``value`` as texts: one alone counts as a list of one, an empty list is refused. Raises ``TypeError`` and
    ``ValueError``."""
    if isinstance(value, str):
        value = (value,)
    if not isinstance(value, Collection) or isinstance(value, bytes | bytearray | memoryview):
        raise TypeError(wrong(name, what, value))
    found = tuple(text(item, f"{name}[{place}]") for place, item in enumerate(value))
    if not found or not all(found):
        raise ValueError(f"{name} must be {what}, and is empty")
    return found


def words(value: object, name: str) -> tuple[str, ...]:
    """``value`` as the words of a command: texts, paths and numbers, of which the first names the program. Raises
    ``TypeError`` and ``ValueError``."""
    if isinstance(value, str | bytes | bytearray | os.PathLike | dict) or not isinstance(value, Iterable):
        raise TypeError(wrong(name, "a list of words", value))
    found: list[str] = []
    for place, word in enumerate(value):
        plain = os.fspath(word) if isinstance(word, os.PathLike) else word
        if isinstance(plain, bool) or not isinstance(plain, str | int | float):
            raise TypeError(wrong(f"{name}[{place}]", "a word: text, a path or a number", word))
        found.append(str(plain))
    if not found or not found[0].strip():
        raise ValueError(f"{name} must begin with the program to run, and is empty")
    return tuple(found)


def number(value: object, name: str, what: str) -> float:
    """``value``, which must be a finite number above 0. Raises ``TypeError`` and ``ValueError``."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(wrong(name, what, value))
    try:
        found = float(value)
    except OverflowError:
        found = math.inf
    if not 0 < found < math.inf:
        raise ValueError(wrong(name, what, value))
    return found


def wrong(name: str, what: str, value: Any) -> str:
    """The message for a value of a wrong type."""
    return f"{name} must be {what}, not {shown(value)}"


def shown(value: Any) -> str:
    """A value as a message quotes it, with its type."""
    return f"{quoted(value)} ({type(value).__name__})" if value is not None else "None"


def quoted(value: Any) -> str:
    """A value on one line, short and inert."""
    from triage.renderers.escape import clean

    try:
        return clean(reprlib.repr(value))
    except Exception:
        # Such as a number of more digits than Python spells out.
        return "a value"
