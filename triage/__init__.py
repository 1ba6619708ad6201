"""Names what limits a CUDA kernel, from any report that Nsight Compute wrote.

``load(path)`` reads a report, ``report(profile)`` diagnoses every kernel of it, ``diagnose(kernel)`` one kernel and
``diagnose_metrics(metrics, cc=...)`` a handful of counters; ``to_frame(profile)`` gives a pandas table. Names are
imported when they are used, so that the command starts quickly.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from triage.diagnosis import diagnose as diagnose
    from triage.diagnosis import diagnose_metrics as diagnose_metrics
    from triage.diagnosis import report as report
    from triage.readers import load as load
    from triage.rules import default_rulebook as default_rulebook
    from triage.rules import load_rulebook as load_rulebook
    from triage.tables import to_frame as to_frame

__version__ = "0.1.0"

_HOMES = {
    "load": "triage.readers",
    "diagnose": "triage.diagnosis",
    "diagnose_metrics": "triage.diagnosis",
    "report": "triage.diagnosis",
    "to_frame": "triage.tables",
    "default_rulebook": "triage.rules",
    "load_rulebook": "triage.rules",
}
__all__ = ["__version__", *sorted(_HOMES)]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'triage' has no attribute {name!r}")
