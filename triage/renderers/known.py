"""Facts as plain numbers, for pictures and sentences that leave out what is not known."""

from __future__ import annotations

import math

from triage.model import Diagnosis


def known_fact(diagnosis: Diagnosis, name: str) -> float | None:
    """The value of a fact in its own unit; ``None`` where it could not be had or is not a finite number."""
    found = diagnosis.facts.get(name)
    if found is None or found.quantity is None or not math.isfinite(found.quantity.value):
        return None
    return found.quantity.value
