"""``limiters/<id>.yaml``: a limiter is documentation, rule and test in one file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from triage.model import Fix
from triage.rules import checks
from triage.rules.checks import ConditionReader
from triage.rules.guidefile import read_guide
from triage.rules.rulebook import FactDef, Headroom, LimiterDef, RuleCase, shown
from triage.rules.shapes import CASE, FIX, HEADROOM, LIMITER_FILE, LIMITER_ID, LINK, URL
from triage.rules.yamlfile import Document, List, Map

FAMILIES = ("launch", "latency", "memory", "compute", "balance")
KINDS = ("fires", "clear", "unknown")
PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_ID = re.compile(LIMITER_ID)
_URL = re.compile(URL)


def read_limiter(
    document: Document, root: Any, facts: Mapping[str, FactDef], conditions: ConditionReader, *, stem: str = ""
) -> LimiterDef | None:
    """The limiter that ``root`` holds (of a file called ``stem``.yaml, where it has a file to itself), or ``None`` when
    its faults leave nothing to use; all faults are noted."""
    if not isinstance(root, Map):
        if not document.faults:
            document.at((1, 1), "type", "a limiter is a map with the keys " + ", ".join(LIMITER_FILE.required))
        return None
    checks.keys(document, root, LIMITER_FILE)
    name = checks.text(document, root, "id")
    if "id" in root and not _ID.fullmatch(name):
        document.fault(root, "id", "id", f"{name!r} is no limiter id: words of a-z and 0-9 joined by -")
    elif "id" in root and stem and stem != name:
        document.fault(root, "id", "id", f"the file {stem}.yaml must be called {name}.yaml")
    when = conditions.read(document, root, "when") if "when" in root else None
    veto = conditions.read(document, root, "veto") if "veto" in root else None
    contributes = conditions.read(document, root, "contributes") if "contributes" in root else None
    strength = checks.text(document, root, "strength")
    if "strength" in root and strength not in facts:
        document.fault(
            root, "strength", "unknown-fact", f"no fact is called {strength!r}{checks.suggestion(strength, facts)}"
        )
    evidence = checks.text(document, root, "evidence")
    for placeholder in PLACEHOLDER.findall(evidence):
        if placeholder not in facts:
            document.fault(
                root,
                "evidence",
                "placeholder",
                f"{{{placeholder}}} is no fact{checks.suggestion(placeholder, facts)}",
            )
    # Everything is read before a faulty file is given up, so that all its faults are noted.
    made: dict[str, Any] = {
        "title": checks.text(document, root, "title"),
        "family": checks.choice(document, root, "family", FAMILIES, FAMILIES[0]),
        "status": checks.choice(document, root, "status", ("draft", "stable", "retired"), "draft"),
        "because": checks.text(document, root, "because"),
        "fixes": _fixes(document, root),
        "unless": checks.texts(document, root, "unless"),
        "see": _see(document, root),
        "tests": _tests(document, root, facts),
        "experiment": checks.text(document, root, "experiment"),
        "lines": checks.texts(document, root, "lines"),
        "headroom": _headroom(document, root, facts),
        "guide": read_guide(document, root),
    }
    if when is None or strength not in facts:
        return None
    return LimiterDef(
        id=name,
        when=when,
        veto=veto,
        contributes=contributes,
        strength=strength,
        evidence=evidence,
        place=document.shown if stem else shown(document.spot(root)),
        spots={key: document.spot(root, key) for key in root} | {"": document.spot(root)},
        **made,
    )


def _fixes(document: Document, root: Map) -> tuple[Fix, ...]:
    value = root.get("fixes", List())
    if not isinstance(value, List):
        document.fault(root, "fixes", "type", "'fixes' must be a list")
        return ()
    found: list[Fix] = []
    for item, place in zip(value, value.places, strict=True):
        if isinstance(item, str):
            found.append(Fix(" ".join(item.split())))
        elif isinstance(item, Map):
            checks.keys(document, item, FIX)
            effort = ""
            if "effort" in item:
                effort = checks.choice(document, item, "effort", ("small", "medium", "large"), "medium")
            found.append(Fix(checks.text(document, item, "try"), effort))
        else:
            document.at(place, "type", "a fix is a text, or {try: ..., effort: small | medium | large}")
    if "fixes" in root and not found:
        document.fault(root, "fixes", "value", "a limiter needs at least one fix to try first")
    return tuple(found)


def _see(document: Document, root: Map) -> tuple[tuple[str, str], ...]:
    value = root.get("see", List())
    if not isinstance(value, List):
        document.fault(root, "see", "type", "'see' must be a list of {title: ..., url: ...}")
        return ()
    found: list[tuple[str, str]] = []
    for item, place in zip(value, value.places, strict=True):
        if not isinstance(item, Map):
            document.at(place, "type", "an entry of 'see' is {title: ..., url: ...}")
            continue
        checks.keys(document, item, LINK)
        url = checks.text(document, item, "url")
        if "url" in item and not _URL.fullmatch(url):
            message = "a link begins with https:// and a host, and holds no spaces, quotes, < or >"
            document.fault(item, "url", "url", message)
        found.append((checks.text(document, item, "title"), url))
    return tuple(found)


def _headroom(document: Document, root: Map, facts: Mapping[str, FactDef]) -> Headroom | None:
    value = root.get("headroom")
    if value is None:
        return None
    if not isinstance(value, Map):
        document.fault(root, "headroom", "type", "'headroom' is {at_most: formula, because: ...}")
        return None
    checks.keys(document, value, HEADROOM)
    formula = checks.formula(document, value, "at_most", value["at_most"], facts) if "at_most" in value else None
    return Headroom(formula, checks.text(document, value, "because"))


def _tests(document: Document, root: Map, facts: Mapping[str, FactDef]) -> tuple[RuleCase, ...]:
    value = root.get("tests", List())
    if not isinstance(value, List):
        document.fault(root, "tests", "type", "'tests' must be a list")
        return ()
    cases: list[RuleCase] = []
    for item, place in zip(value, value.places, strict=True):
        if not isinstance(item, Map):
            document.at(place, "type", "a test is {name: ..., facts: {...}, expect: fires | clear | unknown}")
            continue
        checks.keys(document, item, CASE)
        expect = checks.choice(document, item, "expect", KINDS, "unknown")
        given = item.get("facts")
        if not isinstance(given, Map):
            document.fault(item, "facts", "type", "'facts' must be a map of fact ids to numbers")
            continue
        numbers: dict[str, float] = {}
        for fact in given:
            if fact not in facts:
                document.fault(
                    given, fact, "unknown-fact", f"no fact is called {fact!r}{checks.suggestion(fact, facts)}"
                )
                continue
            number = checks.number(document, given, fact)
            if number is not None:
                numbers[fact] = number
        name, spot = checks.text(document, item, "name"), (document.shown, *place)
        cases.append(RuleCase(name, numbers, expect, shown(spot), spot))
    if "tests" in root:
        _kinds(document, root, cases)
    return tuple(cases)


def _kinds(document: Document, root: Map, cases: list[RuleCase]) -> None:
    """Every rule shows that it fires, that it does not, what it does at its threshold, and without its counters."""
    found = {case.expect for case in cases}
    for kind in KINDS:
        if kind not in found:
            document.fault(root, "tests", "missing-test", f"no test expects {kind!r}")
    if not any("threshold" in case.name for case in cases):
        document.fault(root, "tests", "missing-test", "no test stands at a threshold (say 'threshold' in its name)")
