"""A profile to a report: every kernel diagnosed, its share of the time, where it came from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from triage import arguments
from triage.diagnosis import given
from triage.diagnosis.devices import across
from triage.diagnosis.glossary import glossary
from triage.diagnosis.hints import hints
from triage.diagnosis.roofs import attainable
from triage.diagnosis.verdict import diagnose
from triage.model import Device, Finding, Kernel, Profile, Report, Source
from triage.rules.rulebook import Rulebook


def report(profile: Profile | Sequence[Profile], rulebook: Rulebook | None = None, *, command: str = "") -> Report:
    """Diagnose every kernel of one or several profiles; shares are of the summed duration of all of them. Raises
    ``TypeError`` that names the argument."""
    profiles = _profiles(profile)
    rules = given.rules(rulebook)
    findings = [finding(kernel, rules, place) for place, one in enumerate(profiles) for kernel in one.kernels]
    made = assembled(findings, tuple(_source(one) for one in profiles), rules, command)
    return replace(made, warnings=across(made))


def _profiles(given: object) -> list[Profile]:
    what = "what load(...) returns, or a list of such profiles"
    if isinstance(given, Profile):
        return [given]
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise TypeError(arguments.wrong("profile", what, given))
    return [arguments.instance(one, Profile, f"profile[{place}]", "a Profile") for place, one in enumerate(given)]


def finding(kernel: Kernel, rules: Rulebook, source: int = 0) -> Finding:
    """One kernel diagnosed; its share is not known yet."""
    diagnosis = diagnose(kernel, rules)
    fact = diagnosis.facts.get("duration_ns")
    return Finding(kernel, diagnosis, source, fact.quantity.value if fact is not None and fact.quantity else None)


def assembled(findings: Sequence[Finding], sources: tuple[Source, ...], rules: Rulebook, command: str) -> Report:
    """The report over findings: shares of their summed duration, and what is said of all of them together."""
    from triage import __version__

    shared = tuple(_shared(findings))
    return Report(
        findings=shared,
        sources=sources,
        rulebook=rules.identity,
        version=__version__,
        command=command,
        hints=hints(shared),
        roofs=attainable(shared),
        glossary=glossary(rules),
    )


def _shared(findings: Sequence[Finding]) -> list[Finding]:
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
    device = device_of(list(dict.fromkeys(kernel.device for kernel in profile.kernels)))
    return Source(profile.path, profile.kind, profile.ncu_version, device, len(profile.kernels), profile.warnings)


def device_of(devices: Sequence[Device]) -> Device:
    """One device for all kernels of a file; of several, the fields they agree on."""
    if len(devices) <= 1:
        return devices[0] if devices else Device()
    names, chips, sms = ({getattr(device, key) for device in devices} for key in ("name", "cc", "sms"))
    return Device(
        name=names.pop() if len(names) == 1 else f"{len(devices)} devices",
        cc=chips.pop() if len(chips) == 1 else None,
        sms=sms.pop() if len(sms) == 1 else None,
    )
