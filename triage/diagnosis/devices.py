"""One device has one number of SMs: results of a file that say otherwise about the same one."""

from __future__ import annotations

from collections import Counter

from triage.diagnosis.ranks import odd_ones
from triage.model import Report

_SHOWN = 3


def across(report: Report) -> tuple[str, ...]:
    """What is said of all kernels of a report together: contradictions first, then the odd one among ranks."""
    return (*contradictions(report), *odd_ones(report))


def contradictions(report: Report) -> tuple[str, ...]:
    """A sentence for each device of a file whose results give it different numbers of SMs, the usual one first. Waves,
    tails and idle SMs are counted with that number."""
    found: dict[tuple[object, ...], Counter[int]] = {}
    for finding in report.findings:
        device = finding.kernel.device
        if device.sms is not None:
            place = (finding.source, finding.kernel.process, device.index, device.name, device.cc)
            found.setdefault(place, Counter())[device.sms] += 1
    said = []
    for (_, _, index, name, _), counts in found.items():
        if len(counts) > 1:
            many = ", ".join(f"{sms:,} in {times:,}" for sms, times in counts.most_common(_SHOWN))
            more = " and others" if len(counts) > _SHOWN else ""
            what = name or (f"device {index}" if index is not None else "the device")
            said.append(
                f"the file may be damaged: {what} has {many}{more} of its results (SMs); the rarer ones are doubtful, "
                "unless those launches were given a part of the device"
            )
    return tuple(said)
