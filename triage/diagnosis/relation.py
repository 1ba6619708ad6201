"""One thing that must hold between counters of a kernel, and the numbers that it is asked of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from triage.model import Quantity

Metrics = Mapping[str, Quantity | str]


class Relation(NamedTuple):
    """Something that must hold between ``names``; ``text`` says what is wrong where it does not.

    An ``exact`` one fixes each of its values by the others; a bound does not, so that it confirms none.
    """

    names: tuple[str, ...]
    holds: bool
    text: str = ""
    exact: bool = True


def number(metrics: Metrics, name: str) -> float | None:
    """The value of a metric, ``None`` where it is absent or text."""
    found = metrics.get(name)
    return found.value if isinstance(found, Quantity) else None
