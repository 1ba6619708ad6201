"""The ``gates:`` section of ``triage.yaml``: found, read, and checked with all faults at once."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from dataclasses import fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from triage.compare.noise import Noise
from triage.errors import FaultyRules, UsageError
from triage.gates import values
from triage.gates.model import GATES, Config, Gates, Scope
from triage.gates.values import Bandwidth
from triage.rules import checks
from triage.rules.yamlfile import Document, List, Map

if TYPE_CHECKING:
    from triage.team.model import Expectation, Select

_ID = re.compile(r"[a-z][a-z0-9-]*")
_FAIL = {"fail": True, "allow": False}
_CHANGES = ("never", "unless_faster", "always")


def find(start: Path | None = None) -> Path | None:
    """``triage.yaml`` in ``start`` (the working directory) or a folder above it, within the repository."""
    from triage import team

    start = start if start is not None else team.here()
    return team.find(start) if start is not None else None


def load(path: Path | None, limiters: Iterable[str] | None = None) -> Config:
    """The gates of a ``triage.yaml``, and what its ``kernels:`` expect; the defaults without a file. ``limiters`` are
    those that the rules in force can say: any other one is a fault. ``None`` takes every id.

    Raises :class:`FaultyRules` with every fault of the file as ``file:line:column: code message``.
    """
    from triage import team

    if path is None:
        return Config()
    if not os.path.lexists(path):
        raise UsageError(f"there is no file {path}", "name a triage.yaml with --config")
    read = team.examine(path)
    document = read.document
    if document is None:
        raise UsageError(f"there is no triage.yaml in {path}", "name a triage.yaml with --config")
    root = document.root if isinstance(document.root, Map) else None
    config = parse(document, read.gates, root, limiters)
    if document.faults:
        lines = tuple(str(fault) for fault in sorted(set(document.faults)))
        raise FaultyRules(f"{path} has {len(lines)} fault{'s' if len(lines) > 1 else ''}", "mend them", details=lines)
    # A gate for one kernel is more than what is expected of it, so it comes later and wins.
    return replace(config, kernels=(*(_expected(entry) for entry in read.expectations), *config.kernels))


def _expected(entry: Expectation) -> Scope:
    """What a team expects of a kernel, as gates."""
    found: list[tuple[str, object]] = []
    if entry.limiters:
        found.append(("limiters", entry.limiters))
    if entry.max_duration is not None:
        found.append(("max_duration", entry.max_duration))
    if entry.ideal_bytes is not None:
        found.append(("ideal_bytes", entry.ideal_bytes))
    if entry.min_bandwidth is not None:
        found.append(("min_effective_bandwidth", Bandwidth(entry.min_bandwidth)))
    elif entry.min_bandwidth_share is not None:
        found.append(("min_effective_bandwidth", Bandwidth(100 * entry.min_bandwidth_share, percent=True)))
    file, line, column = entry.spot
    return Scope(_described(entry.select), tuple(found), f"{file}:{line}:{column}", entry.select)


def _described(select: Select) -> str:
    """Which kernels, in words: the patterns, then what else is asked of them."""
    parts = [", ".join(select.match) or "*"]
    if select.nvtx:
        parts.append(f"nvtx {', '.join(select.nvtx)}")
    for key, sizes in (("grid", select.grid), ("block", select.block)):
        if sizes:
            parts.append(f"{key} {' x '.join('*' if size is None else str(size) for size in sizes)}")
    if select.chips is not None:
        parts.append(f"cc {select.chips.text}")
    return "; ".join(parts)


def parse(document: Document, section: Any, root: Map | None = None, limiters: Iterable[str] | None = None) -> Config:
    """A ``gates:`` section as it stands in ``document`` (plain data with positions). Faults go to the document; with
    ``limiters``, those that rules can say, a gate that names another one is a fault too."""
    base = Config(source=document.shown)
    if section is None:
        return base
    if not isinstance(section, Map):
        document.fault(root, "gates", "gates", "gates must be a map of gates")
        return base
    _unknown_keys(document, section, (*_READERS, "kernels", "noise", "baseline", "unknown"), "gate")
    if limiters is not None:
        check_limiters(document, section, limiters)
    set_here = _gates(document, section)
    general = changed(Gates(), set_here)
    unknown = section.get("unknown")
    if unknown is not None:
        if unknown in _FAIL:
            general = replace(general, unknown="violated" if _FAIL[unknown] else "held")
        else:
            document.fault(section, "unknown", "value", f"unknown must be fail or allow, not {unknown!r}")
    baseline = section.get("baseline")
    if baseline is not None and not isinstance(baseline, str):
        document.fault(section, "baseline", "value", "baseline must be a path")
        baseline = None
    return Config(
        gates=general,
        kernels=tuple(_kernels(document, section)),
        noise=_noise(document, section),
        baseline=str(document.path.parent / baseline) if baseline else None,
        source=document.shown,
        places=tuple((gate, _spot(document, section, gate)) for gate, _ in set_here),
    )


def check_limiters(document: Document, section: Map, limiters: Iterable[str]) -> None:
    """Note limiters that a ``gates:`` section accepts and no rule can say."""
    known = [*limiters, "undecided"]
    entries = section.get("kernels")
    for where in (section, *(entries if isinstance(entries, List) else ())):
        accepted = where.get("limiters") if isinstance(where, Map) else None
        if accepted == "allow":
            continue
        for name in accepted if isinstance(accepted, List) else [accepted]:
            # Anything that is no id at all has its fault already.
            if isinstance(name, str) and _ID.fullmatch(name) and name not in known:
                message = f"no limiter is called {name!r}{checks.suggestion(name, known)}"
                document.fault(where, "limiters", "unknown-limiter", message)


def _spot(document: Document, where: Map, key: str | None = None) -> str:
    file, line, column = document.spot(where, key)
    return f"{file}:{line}:{column}"


def changed(gates: Gates, changes: Iterable[tuple[str, object]]) -> Gates:
    """``gates`` with other values; each was checked by its reader, whose type only this module knows."""
    new: dict[str, Any] = dict(changes)
    return replace(gates, **new)


def _gates(document: Document, section: Map) -> list[tuple[str, object]]:
    found: list[tuple[str, object]] = []
    for key, value in section.items():
        reader = _READERS.get(key)
        if reader is None:
            continue
        try:
            found.append((key, reader(value)))
        except ValueError as fault:
            document.fault(section, key, "value", f"{key}: {fault}")
    return found


def _kernels(document: Document, section: Map) -> list[Scope]:
    entries = section.get("kernels")
    if entries is None:
        return []
    if not isinstance(entries, List):
        document.fault(section, "kernels", "value", "kernels must be a list; each entry names its kernels with match")
        return []
    scopes = []
    for place, entry in zip(entries.places, entries, strict=True):
        if not isinstance(entry, Map):
            document.at(place, "value", "an entry of kernels must be a map with the key match")
            continue
        _unknown_keys(document, entry, (*_READERS, "match", "skip"), "key")
        pattern = entry.get("match")
        if not isinstance(pattern, str) or not pattern:
            document.fault(entry, "match", "match", 'match must name kernels, as in match: "transpose*"')
            continue
        changes = _gates(document, entry)
        if "skip" in entry:
            if isinstance(entry["skip"], bool):
                changes.append(("skip", entry["skip"]))
            else:
                document.fault(entry, "skip", "value", "skip must be true or false")
        scopes.append(Scope(pattern, tuple(changes), _spot(document, entry)))
    return scopes


def _noise(document: Document, section: Map) -> Noise:
    entry = section.get("noise")
    if entry is None:
        return Noise()
    if not isinstance(entry, Map):
        document.fault(section, "noise", "value", "noise must be a map with floor, single, short, short_below")
        return Noise()
    readers: dict[str, tuple[str, Callable[[object], float]]] = {
        "floor": ("floor", values.share),
        "single": ("single", values.share),
        "short": ("short", values.share),
        "short_below": ("short_ns", values.duration),
    }
    _unknown_keys(document, entry, tuple(readers), "key")
    found: dict[str, Any] = {}
    for key, (name, reader) in readers.items():
        if key in entry:
            try:
                found[name] = reader(entry[key])
            except ValueError as fault:
                document.fault(entry, key, "value", f"noise.{key}: {fault}")
    return Noise(**found)


def _unknown_keys(document: Document, section: Map, known: tuple[str, ...], what: str) -> None:
    for key in section:
        if key not in known:
            close = get_close_matches(key, known, 1)
            hint = f"; did you mean {close[0]}?" if close else f"; known are {', '.join(sorted(known))}"
            document.fault(section, key, "unknown-key", f"{what} {key!r} is not known{hint}")


def _optional(reader: Callable[[object], object]) -> Callable[[object], object]:
    """``allow`` (or nothing) switches a gate off."""
    return lambda value: None if value in (None, "allow") else reader(value)


def _fail(value: object) -> bool:
    if isinstance(value, str) and value in _FAIL:
        return _FAIL[value]
    raise ValueError(f"must be fail or allow, not {value!r}")


def _change(value: object) -> object:
    if value in _CHANGES:
        return value
    raise ValueError(f"must be never, unless_faster or always, not {value!r}")


def _limiters(value: object) -> tuple[str, ...]:
    found = [value] if isinstance(value, str) else list(value) if isinstance(value, list) else []
    if not found or not all(isinstance(each, str) and _ID.fullmatch(each) for each in found):
        raise ValueError(f"must be a list of limiter ids, not {value!r}")
    return tuple(found)


_READERS: dict[str, Callable[[object], object]] = {
    "slower_than": _optional(values.share),
    "limiter_changed": _change,
    "limiters": _optional(_limiters),
    "max_duration": _optional(values.positive(values.duration)),
    "min_effective_bandwidth": _optional(values.positive(values.bandwidth)),
    "ideal_bytes": _optional(values.size),
    **dict.fromkeys(("spills", "new_kernels", "removed_kernels", "undecided", "comparable", "unmatched"), _fail),
}
assert set(_READERS) <= {each.name for each in fields(Gates)}
assert set(GATES) <= set(_READERS)
