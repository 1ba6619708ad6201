"""The file of measured roofs: what this GPU's memory reaches in practice, for reports to compare with."""

from __future__ import annotations

import json
from dataclasses import dataclass

SCHEMA = "triage/roofs/1"


@dataclass(frozen=True, slots=True)
class Roofs:
    """Attainable peaks of one GPU. ``cc`` like ``"9.0"``; ``dram_bytes_per_s`` the fastest measured traffic of reads
    and writes; ``measured_at`` an ISO 8601 time with its zone; ``how`` one sentence."""

    device: str
    cc: str
    dram_bytes_per_s: float
    measured_at: str
    how: str

    def as_json(self) -> str:
        return json.dumps(
            {
                "schema": SCHEMA,
                "device": self.device,
                "cc": self.cc,
                "dram_bytes_per_s": round(self.dram_bytes_per_s),
                "measured_at": self.measured_at,
                "how": self.how,
            },
            indent=2,
        )
