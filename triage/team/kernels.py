"""The ``kernels:`` section: which kernels, and what the team expects of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from triage.errors import TriageError
from triage.gates import values
from triage.paths import is_file
from triage.rules import checks
from triage.rules.formulas import FormulaError, parse
from triage.rules.selecting import fault_of
from triage.rules.yamlfile import Document, List, Map
from triage.team.model import Expectation, Select, Shape3
from triage.team.shapes import KERNEL

T = TypeVar("T")


def read_kernels(document: Document, root: Map) -> list[Expectation]:
    """The entries under the key ``kernels`` of ``root``."""
    entries = root.get("kernels", List())
    if not isinstance(entries, List):
        document.fault(root, "kernels", "type", "'kernels' must be a list of {match: ..., expect: ...}")
        return []
    found: list[Expectation] = []
    for entry, place in zip(entries, entries.places, strict=True):
        if isinstance(entry, Map):
            found.append(_entry(document, root, entry))
        else:
            document.at(place, "type", "an entry of 'kernels' is {match: ..., expect: ...}")
    return found


def check_expected(document: Document, limiters: list[str]) -> None:
    """Note limiters that a team's file expects and no rule can say."""
    entries = document.root.get("kernels", List()) if isinstance(document.root, Map) else List()
    known = [*limiters, "undecided"]
    for entry in entries if isinstance(entries, List) else ():
        expected = entry.get("expect", List()) if isinstance(entry, Map) else List()
        for name in [expected] if isinstance(expected, str) else expected if isinstance(expected, List) else ():
            if name not in known:
                hint = checks.suggestion(str(name), known)
                document.fault(entry, "expect", "unknown-limiter", f"no limiter is called {name!r}{hint}")


def _entry(document: Document, root: Map, entry: Map) -> Expectation:
    checks.keys(document, entry, KERNEL)
    select = Select(
        _patterns(document, entry, "match"),
        _patterns(document, entry, "nvtx"),
        _sizes(document, entry, "grid"),
        _sizes(document, entry, "block"),
        checks.chips(document, entry),
    )
    if not any(key in entry for key in ("match", "nvtx", "grid", "block")):
        document.fault(entry, None, "missing-key", "an entry of 'kernels' says which: match, nvtx, grid or block")
    parameters = _parameters(document, entry)
    bandwidth = _value(document, entry, "min_effective_bandwidth", values.positive(values.bandwidth))
    ceiling = _ceiling(document, root, entry)
    share = bandwidth.value / 100 if bandwidth is not None and bandwidth.percent else None
    absolute = bandwidth.value if bandwidth is not None and not bandwidth.percent else None
    if share is not None and ceiling is not None:
        absolute, share = share * ceiling, None
    return Expectation(
        select=select,
        limiters=checks.texts(document, entry, "expect"),
        ideal_bytes=_ideal(document, entry, parameters),
        parameters=parameters,
        max_duration=_value(document, entry, "max_duration", values.positive(values.duration)),
        min_bandwidth=absolute,
        min_bandwidth_share=share,
        ceiling=ceiling,
        spot=document.spot(entry),
    )


def _patterns(document: Document, entry: Map, key: str) -> tuple[str, ...]:
    found = checks.texts(document, entry, key)
    for pattern in found:
        fault = fault_of(pattern)
        if fault:
            document.fault(entry, key, "pattern", fault)
    return found


def _sizes(document: Document, entry: Map, key: str) -> Shape3:
    value = entry.get(key, List())
    sizes = value if isinstance(value, List) else [value]
    good = len(sizes) <= 3 and all(
        size == "*" or (isinstance(size, int) and not isinstance(size, bool) and size > 0) for size in sizes
    )
    if not good:
        document.fault(entry, key, "value", f"{key!r} is up to three sizes, '*' for any: [4096, '*', 1]")
        return ()
    return tuple(None if size == "*" else int(size) for size in sizes)


def _parameters(document: Document, entry: Map) -> dict[str, float]:
    value = entry.get("parameters", Map())
    if not isinstance(value, Map):
        document.fault(entry, "parameters", "type", "'parameters' must be a map of names to numbers")
        return {}
    found = {name: checks.number(document, value, name) for name in value}
    return {name: number for name, number in found.items() if number is not None}


def _ideal(document: Document, entry: Map, parameters: dict[str, float]) -> float | None:
    if "ideal_bytes" not in entry:
        return None
    text = entry["ideal_bytes"]
    try:
        formula = parse(str(text), parameters)
        if formula.metrics:
            raise FormulaError(f"{formula.metrics[0]!r} is no parameter")
        low, high = formula.evaluate(_nothing, lambda name: (parameters[name], parameters[name]))
    except FormulaError as fault:
        hint = checks.suggestion(str(text), parameters)
        message = str(fault).replace("a declared fact nor the name of an ncu metric", "a parameter nor a number")
        document.fault(entry, "ideal_bytes", "formula", f"{message}{hint}")
        return None
    if low != high or not 0 < low < float("inf"):
        document.fault(entry, "ideal_bytes", "value", f"{text!r} makes no number of bytes")
        return None
    return low


def _nothing(name: str) -> tuple[float, float]:
    return (0.0, float("inf"))


def _value(document: Document, entry: Map, key: str, reader: Callable[[object], T]) -> T | None:
    if key not in entry:
        return None
    try:
        return reader(entry[key])
    except ValueError as fault:
        document.fault(entry, key, "value", f"{key!r}: {fault}")
        return None


def _ceiling(document: Document, root: Map, entry: Map) -> float | None:
    if entry.get("ceiling") == "measured":
        if not isinstance(root.get("roofs"), str):
            document.fault(entry, "ceiling", "value", "a measured ceiling needs the file of measurements: 'roofs'")
            return None
        from triage.diagnosis.roofs import read_roofs

        path = document.path.parent / root["roofs"]
        try:
            return read_roofs(path).bytes_per_s if is_file(path) else None
        except TriageError:
            return None  # noted where 'roofs' is read
    found = _value(document, entry, "ceiling", values.positive(values.bandwidth))
    if found is not None and found.percent:
        document.fault(entry, "ceiling", "value", "'ceiling' is a bandwidth such as 4.2 TB/s, or 'measured'")
        return None
    return found.value if found is not None else None
