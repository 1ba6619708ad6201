"""Gates: what a team allows a kernel to do, asked of a report and, where there is one, of its baseline.

Names are imported when they are used: reading a ``triage.yaml`` needs the values and not the comparison.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from triage.gates.judge import check as check
    from triage.gates.judge import effective_bandwidth as effective_bandwidth
    from triage.gates.model import Config as Config
    from triage.gates.model import Gates as Gates
    from triage.gates.model import Outcome as Outcome
    from triage.gates.model import Result as Result

_HOMES = {
    "check": "triage.gates.judge",
    "effective_bandwidth": "triage.gates.judge",
    "Config": "triage.gates.model",
    "Gates": "triage.gates.model",
    "Outcome": "triage.gates.model",
    "Result": "triage.gates.model",
}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'triage.gates' has no attribute {name!r}")
