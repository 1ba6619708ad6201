"""Counters that Python code gives as numbers, texts and pairs, read as a reader reads the cells of a report."""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Decimal
from numbers import Real
from typing import Any

from triage import arguments
from triage.model import Quantity
from triage.readers.cells import Convention
from triage.readers.units import to_base
from triage.rules.chips import ARCHITECTURES, chip_number
from triage.rules.loader import default_rulebook
from triage.rules.rulebook import Rulebook

_CELLS = Convention()
_WHAT = "a number, a text, a (value, unit) pair or a Quantity"


def counters(metrics: Mapping[str, Any]) -> dict[str, Quantity | str]:
    """What is known of ``metrics``, in base units. ``None``, NaN, infinity, a number that no float holds and a cell
    that says so (``n/a``) count as not collected. Raises ``TypeError`` and ``ValueError`` that name the metric."""
    if not isinstance(metrics, Mapping):
        raise TypeError(arguments.wrong("metrics", "a map from names of ncu's metrics to their values", metrics))
    found: dict[str, Quantity | str] = {}
    for metric, given in metrics.items():
        arguments.text(metric, "a name in metrics")
        value = _value(f"metrics[{arguments.quoted(metric)}]", given)
        if value is not None:
            found[metric] = value
    return found


def capability(cc: str | float | None) -> str | None:
    """A compute capability as text. The number that YAML makes of ``9.0`` without quotes is one. Raises ``TypeError``
    and ``ValueError``."""
    what = 'a compute capability such as "9.0"'
    if cc is None:
        return None
    number = isinstance(cc, Real) and not isinstance(cc, bool)
    told = chip_number(str(cc) if number else arguments.text(cc, "cc", what))
    if told is None or told >= ARCHITECTURES:
        raise ValueError(arguments.wrong("cc", what, cc))
    return f"{told:.1f}"


def rules(rulebook: Rulebook | None) -> Rulebook:
    """The rules given, the shipped ones for ``None``. Raises ``TypeError`` for anything else, such as a folder."""
    what = "what load_rulebook(...) returns, or None for the shipped rules"
    return default_rulebook() if rulebook is None else arguments.instance(rulebook, Rulebook, "rulebook", what)


def _value(name: str, given: Any) -> Quantity | str | None:
    if isinstance(given, Quantity):
        number = _number(name, given.value)
        return None if number is None else Quantity(number, given.unit)
    unit: Any = ""
    if isinstance(given, tuple | list):
        if len(given) != 2:
            raise ValueError(f"{name} must be {_WHAT}; a pair has two parts, not {len(given)}")
        given, unit = given
        unit = "" if unit is None else arguments.text(unit, f"the unit of {name}")
    if isinstance(given, str):
        cell = _CELLS.value(given)
        if not isinstance(cell, float):
            return cell
        given = cell
    number = None if given is None else _number(name, given)
    if number is None:
        return None
    factor, base = to_base(unit)
    scaled = number * factor
    return Quantity(scaled, base) if math.isfinite(scaled) else None


def _number(name: str, value: Any) -> float | None:
    """A number of any type that Python or numpy has as a float; ``None`` where no finite float is near it."""
    if isinstance(value, bool) or not isinstance(value, Real | Decimal):
        raise TypeError(arguments.wrong(name, _WHAT, value))
    try:
        number = float(value)
    except (OverflowError, ValueError):
        return None
    return number if math.isfinite(number) else None
