"""Stated bounds against measured speed-ups: kernel over repaired twin, timed without the profiler on an H200."""

from __future__ import annotations

import pytest
import yaml
from captures import DATA

import triage
from triage.readers import load

PAIRS = [
    pytest.param(capture, entry, id=entry["kernel"])
    for capture in ("validate_h200", "calibration_h200", "limiters_h200")
    for entry in yaml.safe_load((DATA / f"{capture}.yaml").read_text(encoding="utf-8"))["labels"]
    if entry.get("fixed_twin")
]


@pytest.mark.parametrize(("capture", "entry"), PAIRS)
def test_no_measured_speedup_beats_a_stated_bound_by_more_than_a_tenth(capture: str, entry: dict) -> None:
    bound = triage.diagnose(load(DATA / f"{capture}.csv").kernels[entry["index"]]).bound
    measured = entry["time_us"] / entry["fixed_twin"]["time_us"]
    assert bound is None or bound.speedup is None or measured <= 1.1 * bound.speedup


def test_some_bounds_are_stated() -> None:
    stated = 0
    for parameter in PAIRS:
        capture, entry = parameter.values
        bound = triage.diagnose(load(DATA / f"{capture}.csv").kernels[entry["index"]]).bound
        stated += bound is not None and bound.speedup is not None
    assert stated >= 25
