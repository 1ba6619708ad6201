"""All metrics of the kernels on a page: a plain table where they are few, else one small block that the script expands.

Most of the hundreds of metrics of a kernel are device attributes or zero, the same for every kernel: those are
stored once.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from triage import quantities
from triage.model import Finding, Quantity
from triage.renderers.escape import clean, shorten
from triage.renderers.meanings import meaning

# A plain row takes about 100 bytes: up to here the whole page stays small without the script.
_PLAIN_ROWS = 2_000
# Reports also hold what a group or a breakdown consists of, thousands of characters of names: no measurement.
_LISTS = ("group:", "breakdown:")
_TEXT = 300

Row = tuple[str, str, str, str]


@dataclass(frozen=True, slots=True)
class MetricTables:
    """``block`` is for the page's script, ``None`` where ``plain`` (rows by place) serves."""

    block: dict[str, object] | None
    plain: dict[int, tuple[Row, ...]] = field(default_factory=dict)
    places: frozenset[int] = frozenset()

    def rows(self, place: int) -> tuple[Row, ...] | None:
        """The rows (name, value, unit, meaning) of one kernel, or ``None`` where the script makes the table."""
        return self.plain.get(place)

    def has(self, place: int) -> bool:
        """Whether the kernel has any metric."""
        return place in self.places


def collect(findings: Sequence[tuple[int, Finding]], glossary: Mapping[str, str]) -> MetricTables:
    """Tables for the kernels at these places of a report; facts stand before the metrics. ``glossary`` is the
    report's."""
    values = {place: _values(finding) for place, finding in findings}
    places = frozenset(place for place, table in values.items() if table)
    if sum(len(table) for table in values.values()) <= _PLAIN_ROWS:
        plain = {
            place: tuple(
                (clean(name), _text(value), clean(unit), clean(meaning(name, glossary)))
                for name, (value, unit) in table.items()
            )
            for place, table in values.items()
            if table
        }
        return MetricTables(None, plain, places)
    return MetricTables(block(values, glossary), {}, places)


def block(values: dict[int, dict[str, tuple[float | str, str]]], glossary: Mapping[str, str]) -> dict[str, object]:
    """``names``, ``units`` and ``said`` (a place in ``says``) by column; ``same`` and each of ``kernels`` are a list of
    columns and one of values."""
    columns: dict[tuple[str, str], int] = {}
    for table in values.values():
        for name, (_, unit) in table.items():
            columns.setdefault((name, unit), len(columns))
    packed = {
        place: {columns[name, unit]: _packed(value) for name, (value, unit) in table.items()}
        for place, table in values.items()
    }
    first = next(iter(packed.values()))
    same = {
        column: value
        for column, value in first.items()
        if len(packed) > 1 and all(column in table and table[column] == value for table in packed.values())
    }
    own = {
        # Two parallel lists: shorter than an object, and the order of the report survives.
        str(place): [
            [column for column in table if column not in same],
            [value for column, value in table.items() if column not in same],
        ]
        for place, table in packed.items()
    }
    says: dict[str, int] = {}
    said = [says.setdefault(clean(meaning(name, glossary)), len(says)) for name, _ in columns]
    return {
        "names": [clean(name) for name, _ in columns],
        "units": [clean(unit) for _, unit in columns],
        "says": list(says),
        "said": said,
        "same": [list(same), list(same.values())],
        "kernels": own,
    }


def _values(finding: Finding) -> dict[str, tuple[float | str, str]]:
    table: dict[str, tuple[float | str, str]] = {}
    for name, fact in finding.diagnosis.facts.items():
        if fact.quantity is not None:
            table[name] = (fact.quantity.value, fact.quantity.unit)
    for name, metric in finding.kernel.metrics.items():
        if name.startswith(_LISTS):
            continue
        table[name] = (metric.value, metric.unit) if isinstance(metric, Quantity) else (metric, "")
    return table


def _text(value: float | str) -> str:
    return shorten(clean(value), _TEXT) if isinstance(value, str) else quantities.exact(value)


def _packed(value: float | str) -> float | int | str | None:
    if isinstance(value, str):
        return _text(value)
    if not math.isfinite(value):
        return None
    return int(value) if float(value).is_integer() and abs(value) < 1e15 else float(f"{value:.6g}")
