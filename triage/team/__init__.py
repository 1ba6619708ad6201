"""A team's own rules and expectations: ``triage.yaml``, its rule packs, and the rulebook that comes out of them.

``load(start)`` reads the file for a folder, ``rulebook_for(folders, profile)`` makes the rules in force for a command,
``Team.expectations_for(kernel)`` says what the team expects of a kernel.
"""

from __future__ import annotations

from triage.team.loading import NAME, examine, find, here, layers_of, load, pack_folders, rulebook_for
from triage.team.model import Expectation, ReportOptions, Select, Team

__all__ = [
    "NAME",
    "Expectation",
    "ReportOptions",
    "Select",
    "Team",
    "examine",
    "find",
    "here",
    "layers_of",
    "load",
    "pack_folders",
    "rulebook_for",
]
