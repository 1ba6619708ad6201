"""From facts and walk to the diagnosis that a report shows."""

from __future__ import annotations

from triage.diagnosis.reporting import report
from triage.diagnosis.verdict import diagnose, diagnose_metrics

__all__ = ["diagnose", "diagnose_metrics", "report"]
