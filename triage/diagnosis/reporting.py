"""A profile to a report: every kernel diagnosed, its share of the time, where it came from."""

from __future__ import annotations

from collections.abc import Sequence

from triage.diagnosis.glossary import glossary
from triage.diagnosis.hints import hints
from triage.diagnosis.roofs import attainable
from triage.diagnosis.verdict import diagnose
from triage.model import Device, Finding, Kernel, Profile, Report, Source
from triage.rules.loader import default_rulebook
from triage.rules.rulebook import Rulebook


def report(profile: Profile | Sequence[Profile], rulebook: Rulebook | None = None, *, command: str = "") -> Report:
    """Diagnose every kernel of one or several profiles; shares are of the summed duration of all of them."""
    from triage import __version__

    profiles = [profile] if isinstance(profile, Profile) else list(profile)
    rules = rulebook or default_rulebook()
    findings = [
        Finding(kernel, diagnosis, place, fact.quantity.value if fact is not None and fact.quantity else None)
        for place, one in enumerate(profiles)
        for kernel in one.kernels
        for diagnosis in (diagnose(kernel, rules),)
        for fact in (diagnosis.facts.get("duration_ns"),)
    ]
    shared = tuple(_shared(findings))
    return Report(
        findings=shared,
        sources=tuple(_source(one) for one in profiles),
        rulebook=rules.identity,
        version=__version__,
        command=command,
        hints=hints(shared),
        roofs=attainable(shared),
        glossary=glossary(rules),
    )


def _shared(findings: list[Finding]) -> list[Finding]:
    total = sum(finding.duration_ns or 0.0 for finding in findings)
    return [
        Finding(
            finding.kernel,
            finding.diagnosis,
            finding.source,
            finding.duration_ns,
            100 * finding.duration_ns / total if finding.duration_ns is not None and total > 0 else None,
        )
        for finding in findings
    ]


def _source(profile: Profile) -> Source:
    device = _device(profile.kernels)
    return Source(profile.path, profile.kind, profile.ncu_version, device, len(profile.kernels), profile.warnings)


def _device(kernels: Sequence[Kernel]) -> Device:
    """The device of the kernels; with several, the fields they agree on."""
    devices = list(dict.fromkeys(kernel.device for kernel in kernels))
    if len(devices) <= 1:
        return devices[0] if devices else Device()
    names, chips, sms = ({getattr(device, key) for device in devices} for key in ("name", "cc", "sms"))
    return Device(
        name=names.pop() if len(names) == 1 else f"{len(devices)} devices",
        cc=chips.pop() if len(chips) == 1 else None,
        sms=sms.pop() if len(sms) == 1 else None,
    )
