"""ncu's own highest estimated advice, read from a report that holds rule results and put into our vocabulary.

Only identifiers, metric names and estimates are read: never the text of the advice, which is NVIDIA's.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from triage.errors import NothingProfiled, UnreadableReport
from triage.paths import read
from triage.renderers.escape import clean
from triage.validate.model import Advice

SCHEMA = "triage/ncu-advice/1"
_CHILD = Path(__file__).with_name("advice_child.py")
_MAPPING = Path(__file__).with_name("ncu_rules.yaml")
_TIMEOUT_S = 300
_LARGEST = 256 << 20
# What a file ends in whose values are not what they should be.
_ODD = (OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError)


@dataclass(frozen=True, slots=True)
class Reading:
    """How one rule result reads in our vocabulary: see the head of ``ncu_rules.yaml``."""

    rule: str
    focus: str
    limiters: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Advised:
    """The rule results of one kernel that carry an estimate. ``index`` is its 0-based place in the report."""

    index: int
    function: str
    results: tuple[Advice, ...]


@cache
def mapping() -> tuple[Reading, ...]:
    """The mapping from ncu's rules to our limiter ids, in order: the first that fits counts."""
    import yaml

    entries = yaml.safe_load(_MAPPING.read_text(encoding="utf-8"))["rules"]
    return tuple(Reading(e["rule"], e.get("focus", ""), tuple(e["limiters"])) for e in entries)


def limiters(rule: str, focus: Sequence[str]) -> tuple[str, ...]:
    """The limiters that a result of ``rule`` names which points at the metrics ``focus``; none for an unknown rule."""
    for reading in mapping():
        if reading.rule == rule and (not reading.focus or any(reading.focus in metric for metric in focus)):
            return reading.limiters
    return ()


def first(advised: Advised) -> Advice | None:
    """The advice with the highest estimate: of those for the whole kernel where there are any, else of those for a part
    of it, since ncu itself says that only the former speak of the kernel's run time. ``None`` without an estimate."""
    for kind in ("global", "local"):
        found = [one for one in advised.results if one.kind == kind and one.speedup > 0]
        if found:
            return max(found, key=lambda one: one.speedup)
    return None


def load(path: Path) -> tuple[Advised, ...]:
    """The advice of every kernel in a report (``.ncu-rep``, ``.ncu-repz``), or in a file that :func:`digest` made.

    Raises UnreadableReport for anything else, NothingProfiled for a report whose kernels have no rule results.
    """
    if path.suffix == ".json":
        digested = _digested(path)
        try:
            return _records(digested)
        except _ODD as fault:
            raise _no_digest(path, fault) from fault
    try:
        records = _records(_from_report(path))
    except _ODD as fault:
        raise UnreadableReport(f"the rule results of {path} cannot be read", "the file may be damaged") from fault
    if not any(one.results for one in records):
        raise NothingProfiled(
            f"{path} holds no rule results with an estimate", "collect it with `ncu --set full --apply-rules yes`"
        )
    return records


def digest(path: Path, source: str = "") -> str:
    """The advice of a report as JSON (``triage/ncu-advice/1``): identifiers, metric names and estimates."""
    kernels = [
        {
            "index": one.index,
            "function": one.function,
            "rules": [
                {"rule": r.rule, "focus": list(r.focus), "speedup": round(r.speedup, 2), "kind": r.kind}
                for r in one.results
            ],
        }
        for one in load(path)
    ]
    return json.dumps({"schema": SCHEMA, "source": source or path.name, "kernels": kernels}, indent=1) + "\n"


def _records(kernels: Sequence[dict[str, Any]]) -> tuple[Advised, ...]:
    return tuple(
        Advised(
            int(one["index"]),
            str(one["function"]),
            tuple(
                Advice(
                    str(r["rule"]),
                    float(r["speedup"]),
                    str(r["kind"]),
                    tuple(map(str, r["focus"])),
                    limiters(str(r["rule"]), tuple(map(str, r["focus"]))),
                )
                for r in one["rules"]
                if math.isfinite(float(r["speedup"]))
            ),
        )
        for one in kernels
    )


def _digested(path: Path) -> list[dict[str, Any]]:
    try:
        content = json.loads(read(path, _LARGEST).decode())
        if content["schema"] != SCHEMA:
            raise ValueError(f"its schema is {content['schema']!r}")
        return list(content["kernels"])
    except _ODD as fault:
        raise _no_digest(path, fault) from fault


def _no_digest(path: Path, fault: Exception) -> UnreadableReport:
    why = f"{type(fault).__name__} {clean(str(fault))[:80]}"
    return UnreadableReport(f"{path} is no digest of ncu's advice: {why}", "give a report or a digest")


def _from_report(path: Path) -> list[dict[str, Any]]:
    """Read in a process of its own: the library aborts or hangs on some damaged files."""
    from triage.readers import sniff
    from triage.readers.ncu_rep import readable

    kind = sniff.content(path).kind
    if kind == "text":
        raise UnreadableReport(f"{path} is no .ncu-rep: only those hold rule results", "give the report that ncu wrote")
    with readable(path, f".ncu-{kind}") as known:
        command = [sys.executable, "-I", "-S", str(_CHILD), _library(), str(known)]
        try:
            done = subprocess.run(
                command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_TIMEOUT_S, check=False
            )
        except subprocess.TimeoutExpired:
            raise UnreadableReport(f"reading {path} took more than {_TIMEOUT_S} s", "the file may be damaged") from None
    try:
        found = json.loads(done.stdout)
    except (ValueError, RecursionError):
        raise UnreadableReport(f"the rule results of {path} cannot be read", "the file may be damaged") from None
    return list(found)


def _library() -> str:
    """The folder that holds NVIDIA's reading library, found without importing it."""
    found = find_spec("ncu_report")
    if found is None or found.origin is None:
        raise UnreadableReport("reading rule results needs the package ncu-report", "pip install 'ncu-triage[rep]'")
    home = Path(found.origin).parent
    return str(home.parent if found.submodule_search_locations else home)
