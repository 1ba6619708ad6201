"""The manifest of the calibration kernels: which limiter each has by construction, and its repaired twin."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from triage import resources
from triage.errors import FaultyRules, UsageError
from triage.rules.yamlfile import Document, List, Map, read

_REQUIRED = ("kernel", "file", "accept", "forbid", "twin", "why")
_OPTIONAL = ("fix", "at", "keeps", "trap", "min_cc")
_OLDEST_CC = 75
_SCALE = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})?")


@dataclass(frozen=True, slots=True)
class Calibration:
    """One calibration kernel.

    ``accept`` are the limiter ids that are right, ``forbid`` those that are plainly wrong; ``twin`` the kernel that
    does the same job without the limiter, ``fix`` the beginning of the text of the limiter's fix that it makes
    (``None`` where the limiter lists no such fix). ``keeps`` marks a twin that only has less to do, ``trap`` a kernel
    whose most striking counter is not its limiter. ``at`` maps a scale of the problem (1 is the normal size) to the ids
    that are right there, where the limiter truly changes. ``min_cc`` is the lowest compute capability times ten.
    """

    kernel: str
    file: str
    accept: tuple[str, ...]
    forbid: tuple[str, ...] = ()
    twin: str | None = None
    why: str = ""
    fix: str | None = None
    at: Mapping[float, tuple[str, ...]] = field(default_factory=dict)
    keeps: bool = False
    trap: bool = False
    min_cc: int = _OLDEST_CC

    @property
    def program(self) -> str:
        """The program that launches it: its source file without ``.cu``."""
        return self.file.removesuffix(".cu")


def load(path: Path | None = None, *, limiters: Collection[str] = ()) -> tuple[Calibration, ...]:
    """The calibration kernels, in the order in which the programs launch them.

    ``path`` is the manifest (default: that of this installation); ``limiters`` are the ids that may be named, all when
    it is empty. Raises FaultyRules with every fault of the file.
    """
    file = path or resources.folder("kernels") / "limiters" / "manifest.yaml"
    document = read(file, f"{file.parent.name}/{file.name}")
    entries = _entries(document, limiters) if not document.faults else ()
    if document.faults:
        faults = tuple(map(str, sorted(document.faults)))
        raise FaultyRules(
            f"the manifest of the calibration kernels has {len(faults)} fault{'s' if len(faults) > 1 else ''}",
            "mend the lines named; the head of the file describes its keys",
            details=faults,
        )
    return entries


def select(names: Sequence[str], entries: Sequence[Calibration]) -> tuple[Calibration, ...]:
    """The entries that ``names`` ask for, all for none: a program (``tail_wave``), a limiter id (``tail-wave``: the
    programs with a kernel that has it), or a kernel. Programs come whole, so that twins are there.

    Raises UsageError for a name that fits nothing.
    """
    wanted: set[str] = set()
    for name in names:
        word = name.removesuffix(".cu")
        # A program may be called like the limiter that it is about: then it is the program that is meant.
        found = {entry.program for entry in entries if word == entry.program} or {
            entry.program for entry in entries if name == entry.kernel or entry.accept == (name,)
        }
        if not found:
            known = {word for entry in entries for word in (entry.program, entry.kernel, *entry.accept)}
            near = difflib.get_close_matches(name, sorted(known), n=1)
            programs = ", ".join(dict.fromkeys(entry.program for entry in entries))
            hint = f"did you mean {near[0]}?" if near else f"the programs are {programs}"
            raise UsageError(f"no calibration program, kernel or limiter is called {name!r}", hint)
        wanted |= found
    return tuple(entry for entry in entries if not names or entry.program in wanted)


def _entries(document: Document, limiters: Collection[str]) -> tuple[Calibration, ...]:
    root = document.root
    kernels = root.get("kernels") if isinstance(root, Map) else None
    if not isinstance(kernels, List) or not kernels:
        document.fault(None, None, "kernels", "the manifest holds a list named 'kernels'")
        return ()
    found = [_entry(document, body, place, limiters) for body, place in zip(kernels, kernels.places, strict=True)]
    entries = tuple(entry for entry in found if entry is not None)
    names = [entry.kernel for entry in entries]
    for entry, body in zip(found, kernels, strict=True):
        if entry is None:
            continue
        if names.count(entry.kernel) > 1:
            document.fault(body, "kernel", "duplicate", f"the kernel {entry.kernel!r} stands twice")
        if entry.twin is not None and entry.twin not in names:
            document.fault(body, "twin", "twin", f"the twin {entry.twin!r} is not in the manifest")
        if entry.fix is not None and entry.twin is None:
            document.fault(body, "fix", "fix", "a fix is what the twin makes, and there is no twin")
    return entries


def _entry(document: Document, body: Any, place: tuple[int, int], limiters: Collection[str]) -> Calibration | None:
    if not isinstance(body, Map):
        document.at(place, "kernel", "an entry is a map with kernel, file, accept, forbid, twin and why")
        return None
    before = len(document.faults)
    for key in body:
        if key not in _REQUIRED + _OPTIONAL:
            near = difflib.get_close_matches(key, _REQUIRED + _OPTIONAL, n=1)
            document.fault(body, key, "unknown-key", f"unknown key {key!r}" + (f", {near[0]}?" if near else ""))
    for key in _REQUIRED:
        if key not in body:
            document.fault(body, None, key, f"{key!r} is missing")
    for key in ("kernel", "file", "why"):
        if key in body and not isinstance(body[key], str):
            document.fault(body, key, key, f"{key!r} must be text")
    if body.get("twin") is not None and not isinstance(body["twin"], str):
        document.fault(body, "twin", "twin", "'twin' is the name of a kernel, or null")
    if not isinstance(body.get("min_cc", _OLDEST_CC), int):
        document.fault(body, "min_cc", "min_cc", "'min_cc' is a compute capability times ten, as 75")
    accept = _ids(document, body, "accept", limiters)
    if not accept and "accept" in body:
        document.fault(body, "accept", "accept", "at least one limiter must be right")
    forbid = _ids(document, body, "forbid", limiters)
    for both in set(accept) & set(forbid):
        document.fault(body, "forbid", "forbid", f"{both!r} cannot be right and wrong")
    at = _sizes(document, body, limiters)
    if len(document.faults) > before:
        return None
    fix = body.get("fix")
    return Calibration(
        kernel=body["kernel"],
        file=body["file"],
        accept=accept,
        forbid=forbid,
        twin=body["twin"],
        why=body["why"],
        fix=None if fix is None else str(fix),
        at=at,
        keeps=bool(body.get("keeps", False)),
        trap=bool(body.get("trap", False)),
        min_cc=body.get("min_cc", _OLDEST_CC),
    )


def _ids(document: Document, body: Map, key: str, limiters: Collection[str]) -> tuple[str, ...]:
    value = body.get(key, List())
    if not isinstance(value, List) or not all(isinstance(item, str) for item in value):
        document.fault(body, key, key, f"{key!r} is a list of limiter ids")
        return ()
    for item in value:
        if limiters and item not in limiters:
            near = difflib.get_close_matches(item, limiters, n=1)
            document.fault(body, key, key, f"no limiter is called {item!r}" + (f", {near[0]}?" if near else ""))
    return tuple(value)


def _sizes(document: Document, body: Map, limiters: Collection[str]) -> dict[float, tuple[str, ...]]:
    value = body.get("at", Map())
    if not isinstance(value, Map):
        document.fault(body, "at", "at", "'at' maps a scale to a list of limiter ids, as {0.5: [tail-wave]}")
        return {}
    found = {}
    for key in value:
        if _SCALE.fullmatch(key) and float(key) > 0:
            found[float(key)] = _ids(document, value, key, limiters)
        else:
            document.fault(value, key, "at", f"{key!r} is no scale of the problem")
    return found
