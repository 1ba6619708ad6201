"""One device has one number of SMs: results of a file that say otherwise about the same one."""

from __future__ import annotations

from collections import Counter
from pathlib import PurePath

from triage.diagnosis.ranks import odd_ones
from triage.model import Quantity, Report

_SHOWN = 3


def across(report: Report) -> tuple[str, ...]:
    """What is said of all kernels of a report together: contradictions first, then the odd one among ranks."""
    return (*contradictions(report), *odd_ones(report))


def contradictions(report: Report) -> tuple[str, ...]:
    """A sentence for each device of a file whose results give it different numbers of SMs, the usual one first. Waves,
    tails and idle SMs are counted with that number."""
    found: dict[tuple[int, str | None, str | None, str | None, str | None], Counter[float]] = {}
    for finding in report.findings:
        device = finding.kernel.device
        # Not what the launch was given (launch__sm_count): a green context has a part of them.
        sms = finding.kernel.metrics.get("device__attribute_multiprocessor_count")
        if isinstance(sms, Quantity):
            place = (finding.source, finding.kernel.process, device.index, device.name, device.cc)
            found.setdefault(place, Counter())[sms.value] += 1
    said = []
    for (source, _, index, name, _), counts in found.items():
        if len(counts) > 1:
            many = ", ".join(f"{sms:,g} in {times:,}" for sms, times in counts.most_common(_SHOWN))
            more = " and others" if len(counts) > _SHOWN else ""
            what = name or (f"device {index}" if index is not None else "the device")
            file = PurePath(report.sources[source].path).name if len(report.sources) > 1 else "the file"
            said.append(
                f"{file} may be damaged: {what} has {many}{more} of its results (SMs); the rarer ones are doubtful"
            )
    return tuple(dict.fromkeys(said))
