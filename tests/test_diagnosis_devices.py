"""Results of one device that give it different numbers of SMs."""

from __future__ import annotations

from dataclasses import replace

from captures import DATA

from triage.diagnosis.devices import across, contradictions
from triage.diagnosis.reporting import report
from triage.model import Profile, Quantity
from triage.readers import load

PROFILE = load(DATA / "validate_h200.csv")
ATTRIBUTE = "device__attribute_multiprocessor_count"


def changed(sms: float | None, **fields: object) -> Profile:
    """The capture with the device of its first kernel changed."""
    first, *rest = PROFILE.kernels
    device = replace(first.device, **fields)  # type: ignore[arg-type]  # one field of each test
    metrics = {name: value for name, value in first.metrics.items() if name != ATTRIBUTE}
    if sms is not None:
        metrics[ATTRIBUTE] = Quantity(sms)
    return replace(PROFILE, kernels=(replace(first, device=device, metrics=metrics), *rest))


def test_one_number_of_sms_says_nothing() -> None:
    assert contradictions(report(PROFILE)) == ()
    assert contradictions(report(Profile(path="", kind="csv-raw", kernels=()))) == ()
    # Of a kernel whose number is unknown nothing can be said.
    assert contradictions(report(changed(None))) == ()


def test_the_usual_number_comes_first_and_the_rarer_is_doubted() -> None:
    (said,) = contradictions(report(changed(1132)))
    assert "132 in 11, 1,132 in 1 of its results" in said and said.startswith("the file may be damaged")
    assert said in report(changed(1132)).warnings and said in across(report(changed(1132)))


def test_two_devices_may_differ() -> None:
    assert contradictions(report(changed(1132, index="7"))) == ()
    assert contradictions(report([PROFILE, replace(changed(66), kernels=changed(66).kernels[:1])])) == ()


def test_of_several_files_the_one_is_named() -> None:
    both = report([replace(PROFILE, path="a.csv"), replace(changed(1132), path="b.csv")])
    (said,) = contradictions(both)
    assert said.startswith("b.csv may be damaged")


def test_a_launch_on_some_of_the_sms_is_no_contradiction() -> None:
    """A green context: launch__sm_count is smaller than the device's."""
    first, *rest = PROFILE.kernels
    green = replace(first, device=replace(first.device, sms=16))
    assert contradictions(report(replace(PROFILE, kernels=(green, *rest)))) == ()
