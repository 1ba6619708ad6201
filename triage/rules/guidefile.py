"""The part of a limiter file that is for people alone: example, library, what it is confused with, what proves it."""

from __future__ import annotations

from triage.rules import checks
from triage.rules.rulebook import Confusion, Guide
from triage.rules.shapes import CONFUSION, EXAMPLE
from triage.rules.yamlfile import Document, List, Map


def read_guide(document: Document, root: Map) -> Guide:
    """The guide of a limiter; faults are noted in the document."""
    before, after = _example(document, root)
    return Guide(
        before,
        after,
        checks.text(document, root, "library"),
        _confused(document, root),
        checks.texts(document, root, "proof"),
    )


def _example(document: Document, root: Map) -> tuple[str, str]:
    if "example" not in root:
        return "", ""
    value = root["example"]
    if not isinstance(value, Map):
        document.fault(root, "example", "type", "'example' is {before: code, after: code}")
        return "", ""
    checks.keys(document, value, EXAMPLE)
    return _code(document, value, "before"), _code(document, value, "after")


def _code(document: Document, where: Map, key: str) -> str:
    """Code keeps its lines."""
    value = where.get(key, "")
    if not isinstance(value, str):
        document.fault(where, key, "type", f"{key!r} must be text")
        return ""
    return value.strip("\n")


def _confused(document: Document, root: Map) -> tuple[Confusion, ...]:
    value = root.get("confused_with", List())
    if not isinstance(value, List):
        document.fault(root, "confused_with", "type", "'confused_with' must be a list of {limiter: ..., tell: ...}")
        return ()
    found: list[Confusion] = []
    for item, place in zip(value, value.places, strict=True):
        if not isinstance(item, Map):
            document.at(place, "type", "an entry of 'confused_with' is {limiter: ..., tell: ...}")
            continue
        checks.keys(document, item, CONFUSION)
        limiter, tell = checks.text(document, item, "limiter"), checks.text(document, item, "tell")
        found.append(Confusion(limiter, tell, document.spot(item, "limiter")))
    return tuple(found)
