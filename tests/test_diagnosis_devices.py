"""Results of one device that give it different numbers of SMs."""

from __future__ import annotations

from dataclasses import replace

from captures import DATA

from triage.diagnosis.devices import across, contradictions
from triage.diagnosis.reporting import report
from triage.model import Profile
from triage.readers import load

PROFILE = load(DATA / "limiters_h200.csv")


def changed(**fields: object) -> Profile:
    """The capture with the device of its first kernel changed."""
    first, *rest = PROFILE.kernels
    device = replace(first.device, **fields)  # type: ignore[arg-type]  # one field of each test
    return replace(PROFILE, kernels=(replace(first, device=device), *rest))


def test_one_number_of_sms_says_nothing() -> None:
    assert contradictions(report(PROFILE)) == ()
    assert contradictions(report(Profile(path="", kind="csv-raw", kernels=()))) == ()
    # Of a kernel whose number is unknown nothing can be said.
    assert contradictions(report(changed(sms=None))) == ()


def test_the_usual_number_comes_first_and_the_rarer_is_doubted() -> None:
    (said,) = contradictions(report(changed(sms=1132)))
    assert "132 in 29, 1,132 in 1 of its results" in said and said.startswith("the file may be damaged")
    assert said in report(changed(sms=1132)).warnings and said in across(report(changed(sms=1132)))


def test_two_devices_may_differ() -> None:
    assert contradictions(report(changed(sms=1132, index="7"))) == ()
    assert contradictions(report([PROFILE, replace(changed(sms=66), kernels=changed(sms=66).kernels[:1])])) == ()
