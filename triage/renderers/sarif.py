"""SARIF 2.1.0 (OASIS): findings on source lines, for code scanning in a pull request.

A report gives one note for each kernel whose limiter has a source line; a check gives one error for each violated gate
(a warning where a gate could not be judged).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from triage.model import Report
from triage.numerals import whole
from triage.renderers import wording
from triage.renderers.escape import clean, shorten

if TYPE_CHECKING:
    from triage.gates.model import Outcome, Result
    from triage.gates.places import Places

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_ROOT = "%SRCROOT%"
# GitHub shows at most 5,000 results of a run and cuts messages at 1,000 characters or so.
_RESULTS = 5_000
_TEXT = 1_000
# Where a gate is set; a colon may also stand in the name of a folder.
_PLACE = re.compile(r"(.+?):([0-9]+)(?::[0-9]+)?")
_LEVELS = {"violated": "error", "unknown": "warning"}


def render(report: Report, *, width: int = 80, color: bool = False) -> str:
    """A report: a ``note`` for each kernel with a limiter and a source line; ``width`` and ``color`` have no effect."""
    from triage.gates.places import Places

    places = Places(Path())
    titles: dict[str, str] = {}
    results = []
    for finding in report.findings:
        diagnosis = finding.diagnosis
        if diagnosis.limiter is None or not diagnosis.lines:
            continue
        limiter = clean(diagnosis.limiter)
        titles.setdefault(limiter, clean(diagnosis.title) or limiter)
        line = diagnosis.lines[0]
        name = wording.label(finding.kernel)
        fix = f" Try first: {diagnosis.fixes[0].text}" if diagnosis.fixes else ""
        location = _location(places.shown(line.file), line.line, name, finding.kernel.name)
        text = f"{name} is limited by {wording.lowered(titles[limiter])}: {diagnosis.summary}{fix}"
        results.append(_result(limiter, "note", text, location, finding.kernel.name, {}))
    return _document(titles, _unique(results), report.version, "triage/report/")


def render_check(result: Result, root: Path) -> str:
    """A check: an ``error`` for each violated gate, on the source line where the kernel's limiter shows, else where the
    gate is set, else the report; paths are those of the files under ``root``."""
    from triage.gates.model import GATES
    from triage.gates.places import Places

    places = Places(root)
    results = []
    for outcome in result.outcomes:
        if outcome.result == "held":
            continue
        results.append(
            _result(
                outcome.gate,
                _LEVELS[outcome.result],
                outcome.text,
                _where(outcome, result, places),
                outcome.kernel,
                _numbers(outcome),
            )
        )
    asked = {gate: text for gate, text in GATES.items() if any(one.gate == gate for one in result.outcomes)}
    return _document(asked, results, result.version, "triage/check/")


def _where(outcome: Outcome, result: Result, places: Places) -> dict[str, Any]:
    name = outcome.text.split(":", 1)[0]
    if outcome.file is not None:
        return _location(places.shown(outcome.file), outcome.line, name, outcome.kernel)
    found = _PLACE.fullmatch(outcome.place)
    known = places.relative(found[1]) if found is not None else None
    if found is not None and known is not None:
        return _location(known, whole(found[2]), name, outcome.kernel)
    return _location(places.shown(result.head.path), None, name, outcome.kernel)


def _numbers(outcome: Outcome) -> dict[str, Any]:
    """What a machine may want of it."""
    pair = outcome.pair
    if pair is None:
        return {}
    timing = pair.time
    found = {
        "base_ns": timing.base_ns if timing else None,
        "head_ns": timing.head_ns if timing else (pair.head.median_ns if pair.head else None),
        "base_limiter": pair.base.limiter if pair.base else None,
        "head_limiter": pair.head.limiter if pair.head else None,
    }
    return {key: value for key, value in found.items() if value is not None}


def _location(file: str, line: int | None, name: str, full: str) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": {"uri": _uri(file), "uriBaseId": _ROOT}}
    if line is not None and line >= 1:
        place["region"] = {"startLine": line}
    logical = {"name": clean(name), "fullyQualifiedName": shorten(clean(full), _TEXT), "kind": "function"}
    return {"physicalLocation": place, "logicalLocations": [logical]}


def _result(
    rule: str, level: str, text: str, location: dict[str, Any], kernel: str, properties: dict[str, Any]
) -> dict[str, Any]:
    # Not the line: it moves with every edit above it, the finding does not.
    identity = "\0".join((rule, kernel, location["physicalLocation"]["artifactLocation"]["uri"]))
    made: dict[str, Any] = {
        "ruleId": rule,
        "level": level,
        "message": {"text": shorten(clean(text), _TEXT)},
        "locations": [location],
        "partialFingerprints": {"triage/v1": hashlib.sha256(identity.encode("utf-8", "replace")).hexdigest()[:32]},
    }
    if properties:
        made["properties"] = properties
    return made


def _unique(results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Repeated launches of a kernel are one finding."""
    return list({one["partialFingerprints"]["triage/v1"]: one for one in reversed(results)}.values())[::-1]


def _document(rules: dict[str, str], results: Sequence[dict[str, Any]], version: str, category: str) -> str:
    ids = list(rules)
    places = {rule: place for place, rule in enumerate(ids)}
    driver = {
        "name": "triage",
        "version": version,
        "rules": [
            {
                "id": rule,
                "name": "".join(part.capitalize() for part in rule.replace("_", "-").split("-")),
                "shortDescription": {"text": rules[rule]},
            }
            for rule in ids
        ],
    }
    run = {
        "tool": {"driver": driver},
        "automationDetails": {"id": category},
        "columnKind": "unicodeCodePoints",
        "results": [{**one, "ruleIndex": places[one["ruleId"]]} for one in results[:_RESULTS]],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1, ensure_ascii=True) + "\n"


def _uri(path: str) -> str:
    """A relative path as a URI reference; a colon in its first part would read as a scheme."""
    from urllib.parse import quote

    return quote(clean(path).replace("\\", "/").lstrip("/"), safe="/@!$&'()*+,;=~-._") or "unknown"
