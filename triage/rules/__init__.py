"""Rules as data: YAML to a rulebook, conditions, and the walk along the decision path."""

from __future__ import annotations

from triage.rules.loader import default_rulebook, load_rulebook
from triage.rules.needs import needed
from triage.rules.rulebook import Need, Rulebook

__all__ = ["Need", "Rulebook", "default_rulebook", "load_rulebook", "needed"]
