"""How sure a verdict says that it is, where the kernel lies near another answer."""

from __future__ import annotations

from dataclasses import replace

import pytest
from captures import labelled

import triage
from triage.model import Diagnosis, Quantity

PROFILED = {entry.name: entry.kernel for entry in labelled("validate_h200.csv", "validate_h200.yaml")}


def with_dram(name: str, percent: float) -> Diagnosis:
    """A captured kernel, had DRAM been so busy; the bytes, which would contradict that, left out."""
    metrics = {
        metric: value for metric, value in PROFILED[name].metrics.items() if not metric.startswith("dram__bytes")
    }
    found = [metric for metric in metrics if metric.startswith("dram__cycles_active.")]
    assert found
    return triage.diagnose(replace(PROFILED[name], metrics={**metrics, **dict.fromkeys(found, Quantity(percent, "%"))}))


@pytest.mark.parametrize(
    ("percent", "limiter", "other", "confidence"),
    [
        (63.9, "memory-latency", "dram-bandwidth", "low"),
        (66.2, "dram-bandwidth", "memory-latency", "low"),
        (58.0, "memory-latency", "dram-bandwidth", "medium"),
        (72.0, "dram-bandwidth", "memory-latency", "medium"),
    ],
)
def test_on_either_side_of_a_threshold_the_other_answer_is_named(
    percent: float, limiter: str, other: str, confidence: str
) -> None:
    """A copy of 64 MB on an H200 is on both sides from run to run; 65 % parts the two answers."""
    found = with_dram("conflicts_in_tile_padded", percent)
    assert (found.limiter, found.confidence) == (limiter, confidence)
    (why,) = [reason for reason in found.confidence_why if "DRAM" in reason]
    assert why.endswith(other) and found.near == (other,)


@pytest.mark.parametrize("percent", [40.0, 85.0])
def test_far_from_a_threshold_no_other_answer_is_named(percent: float) -> None:
    found = with_dram("conflicts_in_tile_padded", percent)
    assert found.confidence == "high" and not any("would be" in reason for reason in found.confidence_why)
    assert found.near == ()


@pytest.mark.parametrize(("spread", "confidence"), [(21.5, "low"), (19.5, "medium"), (10.0, "high")])
def test_an_answer_that_was_nearly_given_before_makes_it_less_sure(spread: float, confidence: str) -> None:
    """A spread over SMs of 22 % would be uneven work, which is asked about before the stalls."""
    kernel = PROFILED["chase_one_list"]
    mean = kernel.metrics["sm__cycles_active.avg"]
    assert isinstance(mean, Quantity)
    busiest = Quantity(mean.value / (1 - spread / 100), mean.unit)
    found = triage.diagnose(replace(kernel, metrics={**kernel.metrics, "sm__cycles_active.max": busiest}))
    assert (found.limiter, found.confidence) == ("memory-latency", confidence)
    assert any(reason.endswith("imbalance") for reason in found.confidence_why) == (confidence != "high")


def test_answers_of_one_strength_are_told_apart_by_their_order() -> None:
    """Few warps and long waits are one share of the stalls: that both hold says nothing about noise."""
    found = triage.diagnose(PROFILED["occupancy_by_registers"])
    assert (found.limiter, found.confidence) == ("low-occupancy", "high")


def test_a_second_answer_that_is_nearly_as_strong_makes_it_less_sure() -> None:
    """Layer norm in PyTorch: 36.8 % of the stalls for memory, 37.4 % for results; the next run turns that round."""
    kernel = PROFILED["chase_one_list"]
    stalls = {name: value for name, value in kernel.metrics.items() if "pcsamp_warps_issue_stalled" in name}
    total = sum(value.value for value in stalls.values() if isinstance(value, Quantity))
    moved = dict.fromkeys(stalls, Quantity(0.0))
    for name in stalls:
        if name.endswith("stalled_long_scoreboard"):
            moved[name] = Quantity(0.51 * total)
        elif name.endswith("stalled_wait"):
            moved[name] = Quantity(0.49 * total)
    found = triage.diagnose(replace(kernel, metrics={**kernel.metrics, **moved}))
    assert (found.limiter, found.confidence) == ("memory-latency", "low")
    assert "instruction-dependency is within 4 % of being as strong" in found.confidence_why
