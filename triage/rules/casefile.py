"""Case files: kernels, by facts, by counters or by a capture, and what the rules should say of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from triage.paths import is_file, real
from triage.rules import checks
from triage.rules.kinds import Either, Key, Many, Named, Number, Shape
from triage.rules.rulebook import FactDef, LimiterDef, WalkCase, shown
from triage.rules.shapes import CHIP, FACT_ID, LIMITER, TEXT
from triage.rules.yamlfile import Document, List, Map

VERDICTS = ("fires", "clear", "unknown")
UNDECIDED = "undecided"
WALK_CASE = Shape(
    "walk_case",
    "a case",
    {
        "name": Key(TEXT, "What the case shows.", required=True),
        "facts": Key(Named(Number(), FACT_ID), "Facts of the kernel; what is left out was not collected."),
        "metrics": Key(Named(Number()), "Or its counters, by ncu's names, in base units."),
        "cc": Key(CHIP, "The compute capability of the case."),
        "capture": Key(TEXT, "Or a report inside the pack (or below triage.yaml), by its path from this file."),
        "kernel": Key(Either((TEXT, Number())), "Which kernel of the report: its index, or a pattern of its name."),
        "limiter": Key(LIMITER, "Ask the rule of this limiter alone."),
        "expect": Key(
            Many(TEXT, alone=True),
            "The limiter that is named, 'undecided', or several of them; with 'limiter': fires, clear or unknown.",
            required=True,
        ),
    },
)
CASE_FILE = Shape("cases", "a case file", {"tests": Key(Many(WALK_CASE, least=1), "The cases.", required=True)})


def read_cases(
    document: Document, root: Map, facts: Mapping[str, FactDef], limiters: Mapping[str, LimiterDef], inside: Path
) -> tuple[WalkCase, ...]:
    """The cases under the key ``tests`` of ``root``; captures must lie in the folder ``inside``."""
    entries = root.get("tests")
    if not isinstance(entries, List):
        document.fault(root, "tests", "type", "'tests' must be a list of cases")
        return ()
    found: list[WalkCase] = []
    for entry, place in zip(entries, entries.places, strict=True):
        if not isinstance(entry, Map):
            document.at(place, "type", "a case is {name: ..., facts: {...}, expect: ...}, or with a capture")
            continue
        checks.keys(document, entry, WALK_CASE)
        given = [key for key in ("facts", "metrics", "capture") if key in entry]
        if len(given) != 1:
            document.at(place, "case", "a case has one of facts, metrics and capture")
            continue
        spot = (document.shown, *place)
        capture, fault = _capture(document, entry, inside)
        found.append(
            WalkCase(
                name=checks.text(document, entry, "name"),
                expect=_expected(document, entry, limiters),
                limiter=_limiter(document, entry, limiters),
                facts=_numbers(document, entry, "facts", facts),
                metrics=_numbers(document, entry, "metrics", None),
                cc=checks.chip(document, entry),
                capture=capture,
                kernel=_kernel(document, entry),
                place=shown(spot),
                spot=spot,
                fault=fault,
            )
        )
    return tuple(found)


def _expected(document: Document, entry: Map, limiters: Mapping[str, LimiterDef]) -> tuple[str, ...]:
    words = checks.texts(document, entry, "expect")
    allowed = VERDICTS if "limiter" in entry else (*limiters, UNDECIDED)
    for word in words:
        if word not in allowed:
            what = "one of fires, clear and unknown" if "limiter" in entry else "a limiter or 'undecided'"
            hint = checks.suggestion(word, allowed)
            document.fault(entry, "expect", "value", f"'expect' is {what}, not {word!r}{hint}")
    return words


def _limiter(document: Document, entry: Map, limiters: Mapping[str, LimiterDef]) -> str:
    name = checks.text(document, entry, "limiter")
    if name and name not in limiters:
        hint = checks.suggestion(name, limiters)
        document.fault(entry, "limiter", "unknown-limiter", f"no limiter is called {name!r}{hint}")
        return ""
    return name


def _numbers(document: Document, entry: Map, key: str, known: Mapping[str, Any] | None) -> Mapping[str, float] | None:
    if key not in entry:
        return None
    value = entry[key]
    if not isinstance(value, Map):
        document.fault(entry, key, "type", f"{key!r} must be a map of names to numbers")
        return None
    found: dict[str, float] = {}
    for name in value:
        if known is not None and name not in known:
            hint = checks.suggestion(name, known)
            document.fault(value, name, "unknown-fact", f"no fact is called {name!r}{hint}")
            continue
        number = checks.number(document, value, name)
        if number is not None:
            found[name] = number
    return found


def _capture(document: Document, entry: Map, inside: Path) -> tuple[Path | None, str]:
    """The report of a case, and why it cannot be had. The rules are whole without it, so that stops nothing but the
    case: it fails, and the linter names it."""
    if "capture" not in entry:
        return None, ""
    text = checks.text(document, entry, "capture")
    path = document.path.parent / text
    if Path(text).is_absolute() or not Path(real(path)).is_relative_to(real(inside)):
        document.advise(entry, "capture", "outside", f"{text!r} points outside of {inside.name}")
        return None, f"{text!r} points outside of {inside.name}"
    if not is_file(path):
        document.advise(entry, "capture", "missing-file", f"there is no file {text!r}")
        return None, f"there is no file {text!r}"
    return path, ""


def _kernel(document: Document, entry: Map) -> str:
    value = entry.get("kernel", "0")
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        document.fault(entry, "kernel", "type", "'kernel' is an index or a pattern of the name")
        return "0"
    return str(value)
