"""The DRAM rate that a program can reach: measured where a roofs file is given, else a documented share of the peak."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from triage import resources
from triage.errors import UnreadableReport
from triage.magnitude import plausible
from triage.model import Device, Finding, Report, Roof
from triage.paths import read

SCHEMA = "triage/roofs/1"
_PEAK = "dram_peak_bytes_per_s"
# A roofs file takes a few hundred bytes; what is much larger is something else.
_LARGEST = 1_000_000


@dataclass(frozen=True, slots=True)
class Share:
    """What a kind of memory reaches: ``share`` (0 to 1) of its datasheet peak, by ``source``; ``gpus`` are parts of
    the names of GPUs that have it, none for the entry that stands for all others."""

    memory: str
    share: float
    source: str
    gpus: tuple[str, ...] = ()


def read_roofs(path: str | Path) -> Roof:
    """The measured roof in a file that ``triage kernels bench`` wrote (schema ``triage/roofs/1``).

    Raises :class:`UnreadableReport` for anything else, naming what is wrong with it.
    """
    path = Path(path)
    hint = "give the triage-roofs.json that `triage kernels bench` writes"
    try:
        content = read(path, _LARGEST + 1)
        found = json.loads(content[:_LARGEST])
    except OSError as fault:
        raise UnreadableReport(f"cannot read the roofs file {path}: {fault.strerror}", hint) from None
    except (ValueError, RecursionError):
        raise UnreadableReport(f"{path} is no roofs file: it holds no JSON", hint) from None
    if not isinstance(found, dict) or found.get("schema") != SCHEMA:
        raise UnreadableReport(f"{path} is no roofs file: its schema is not {SCHEMA}", hint)
    rate, device = found.get("dram_bytes_per_s"), found.get("device")
    if isinstance(rate, bool) or not isinstance(rate, (int, float)) or not plausible(rate) or rate <= 0:
        raise UnreadableReport(f"{path}: dram_bytes_per_s is no positive number", hint)
    if not isinstance(device, str) or not device:
        raise UnreadableReport(f"{path}: it does not say on which device it was measured", hint)
    said = ", ".join(str(found[key]) for key in ("how", "measured_at") if found.get(key))
    cc = found.get("cc")
    return Roof(Device(name=device, cc=cc if isinstance(cc, str) else None), float(rate), True, said or path.name)


def attainable(findings: Iterable[Finding]) -> tuple[Roof, ...]:
    """For each GPU whose DRAM peak the report tells, the documented share of that peak, in bytes per second."""
    peaks: dict[Device, float] = {}
    for finding in findings:
        fact = finding.diagnosis.facts.get(_PEAK)
        peak = fact.quantity.value if fact is not None and fact.quantity is not None else 0.0
        device = finding.kernel.device
        # The peak follows the memory's clock of a run: the highest one seen is the roof.
        if math.isfinite(peak) and peak > peaks.get(device, 0.0):
            peaks[device] = peak
    made = []
    for device, peak in peaks.items():
        entry = share_of(device)
        text = f"{100 * entry.share:.0f} % of the datasheet peak of {entry.memory} ({entry.source})"
        made.append(Roof(device, entry.share * peak, False, text))
    return tuple(made)


def with_roofs(report: Report, measured: Sequence[Roof]) -> Report:
    """The report with measured roofs in place of documented ones, where the GPU's name is the same; a warning says
    which measurement fits no kernel."""
    names = {(finding.kernel.device.name or "").lower() for finding in report.findings}
    fitting = {(roof.device.name or "").lower(): roof for roof in measured}
    devices = dict.fromkeys(finding.kernel.device for finding in report.findings)
    documented = {roof.device: roof for roof in report.roofs}
    roofs = []
    for device in devices:
        found = fitting.get((device.name or "").lower())
        if found is not None:
            roofs.append(replace(found, device=device))
        elif device in documented:
            roofs.append(documented[device])
    unused = [
        f"the measured roof of {roof.device.name} was not used: no kernel of this report ran there"
        for name, roof in fitting.items()
        if name not in names
    ]
    return replace(report, roofs=tuple(roofs), warnings=(*report.warnings, *unused))


def share_of(device: Device) -> Share:
    """The entry of ``rules/roofs.yaml`` for a GPU, by its name."""
    name = device.name or ""
    shares, other = _shares()
    return next((entry for entry in shares if any(_names(part, name) for part in entry.gpus)), other)


def _names(part: str, name: str) -> bool:
    # As whole words: an A3000 is no A30.
    return re.search(rf"(?<![a-z0-9]){re.escape(part)}(?![a-z0-9])", name, re.IGNORECASE) is not None


@lru_cache(maxsize=1)
def _shares() -> tuple[tuple[Share, ...], Share]:
    import yaml

    text = (resources.folder("rules") / "roofs.yaml").read_text(encoding="utf-8")
    data: dict[str, Any] = yaml.safe_load(text)
    shares = tuple(
        Share(entry["memory"], float(entry["share"]), entry["source"], tuple(entry["gpus"]))
        for entry in data["memories"]
    )
    other = data["other"]
    return shares, Share("an unknown memory", float(other["share"]), other["source"])
