"""``thresholds.yaml``: the numbers that rules compare with, in the column of the profile that is in force."""

from __future__ import annotations

from dataclasses import replace

from triage.rules import checks
from triage.rules.conditions import Threshold
from triage.rules.shapes import OTHER_VALUE, PROFILE, THRESHOLD
from triage.rules.yamlfile import Document, Map


def read_thresholds(document: Document, root: Map, thresholds: dict[str, Threshold], profile: str) -> list[str]:
    """Add the thresholds under the key ``thresholds`` of ``root``, with the values of ``profile``; their names."""
    profiles = declared(root)
    entries = root.get("thresholds")
    if not isinstance(entries, Map):
        document.fault(root, "thresholds", "type", "'thresholds' must be a map of names")
        return []
    held: dict[str, set[str]] = {name: set() for name in profiles}
    for name, entry in entries.items():
        if not isinstance(entry, Map):
            document.fault(entries, name, "type", "a threshold is a map: {value: ..., unit: ..., source: ...}")
            continue
        checks.keys(document, entry, THRESHOLD, profiles, f"the threshold {name!r}")
        value, source = checks.number(document, entry, "value"), checks.text(document, entry, "source")
        place = entry
        for column in profiles:
            other = entry.get(column)
            if other is None:
                continue
            held[column].add(name)
            if not isinstance(other, Map):
                document.fault(entry, column, "type", f"{column!r} must be {{value: ..., source: ...}}")
                continue
            checks.keys(document, other, OTHER_VALUE, what=f"the profile {column!r}")
            number, why = checks.number(document, other, "value"), checks.text(document, other, "source")
            if column == profile:
                value, source, place = number, why, other
        was = thresholds.get(name)
        unit = checks.text(document, entry, "unit", was.unit if was else "")
        if was is not None and was.unit != unit:
            expected, given = checks.said_unit(was.unit), checks.said_unit(unit)
            document.fault(entry, "unit", "unit", f"the threshold {name!r} is in {expected}, not in {given}")
        elif was is None and "unit" not in entry:
            document.advise(entry, None, "no-unit", f"the threshold {name!r} has no unit ('' for a plain number)")
        if value is not None:
            thresholds[name] = Threshold(value, source, name, unit, document.spot(place, "value"), was)
    _compare(document, root, held)
    return list(entries)


def declared(root: Map) -> list[str]:
    """The profiles that a file declares."""
    profiles = root.get("profiles", Map())
    return list(profiles) if isinstance(profiles, Map) else []


def read_profiles(document: Document, root: Map, thresholds: dict[str, Threshold], profile: str) -> None:
    """Check the key ``profiles`` of ``root``, and take the values that ``profile`` gives there."""
    profiles = root.get("profiles", Map())
    if not isinstance(profiles, Map):
        document.fault(root, "profiles", "type", "'profiles' must be a map of names")
        return
    for name, entry in profiles.items():
        if not isinstance(entry, Map):
            document.fault(profiles, name, "type", "a profile is a map: {says: ..., values: {...}}")
            continue
        checks.keys(document, entry, PROFILE, what=f"the profile {name!r}")
        checks.text(document, entry, "says")
        values = entry.get("values", Map())
        if not isinstance(values, Map):
            document.fault(entry, "values", "type", "'values' must be a map of thresholds to {value: ..., source: ...}")
            continue
        for threshold in values:
            _value(document, values, threshold, thresholds, use=name == profile)


def _value(document: Document, values: Map, name: str, thresholds: dict[str, Threshold], *, use: bool) -> None:
    was, value = thresholds.get(name), values[name]
    if was is None:
        hint = checks.suggestion(name, thresholds)
        document.fault(values, name, "unknown-threshold", f"no threshold is called {name!r}{hint}")
    if not isinstance(value, Map):
        document.fault(values, name, "type", "a value of a profile is {value: ..., source: ...}")
        return
    checks.keys(document, value, OTHER_VALUE)
    number, source = checks.number(document, value, "value"), checks.text(document, value, "source")
    if use and number is not None and was is not None:
        spot = document.spot(value, "value")
        thresholds[name] = replace(was, value=number, source=source, spot=spot, was=was)


def _compare(document: Document, root: Map, held: dict[str, set[str]]) -> None:
    """A profile that lists what it changes must change just that: a lost column would go unnoticed."""
    profiles = root.get("profiles")
    for name, found in held.items():
        entry = profiles.get(name) if isinstance(profiles, Map) else None
        if not isinstance(entry, Map):
            continue
        listed = set(checks.texts(document, entry, "changes"))
        if "changes" not in entry and found:
            document.advise(entry, None, "changes", f"the profile {name!r} does not list what it 'changes'")
        elif listed != found:
            names = ", ".join(sorted(listed ^ found))
            document.fault(entry, "changes", "changes", f"the profile {name!r} and its thresholds differ in: {names}")
