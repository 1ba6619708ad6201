"""Every gate: held, violated, and what cannot be judged."""

from __future__ import annotations

from dataclasses import replace

import compared
import pytest
from compared import COLLECTED, side, state

from triage.compare.model import State
from triage.gates import Config, Gates, Outcome, check, effective_bandwidth
from triage.gates.model import GATES, Scope
from triage.gates.peaks import dram_peak
from triage.gates.values import Bandwidth

OFF = Gates(slower_than=None, limiter_changed="never", spills=False, comparable=False)


def asked(base: list | None, head: list, config: Config | Gates) -> tuple[Outcome, ...]:
    chosen = config if isinstance(config, Config) else Config(gates=config)
    return check(side(*head), None if base is None else side(*base), chosen, compared.rules()).outcomes


def one(base: list | None, head: list, gates: Gates) -> tuple[str, str]:
    (outcome,) = asked(base, head, gates)
    return outcome.gate, outcome.result


def test_slower_than() -> None:
    gates = replace(OFF, slower_than=0.05)
    assert one([state()], [state(durations=(120_000.0,))], gates) == ("slower_than", "violated")
    assert one([state()], [state(durations=(104_000.0,))], gates) == ("slower_than", "held")
    assert one([state()], [state(durations=(50_000.0,))], gates) == ("slower_than", "held")
    # Slower beyond noise, and still within what is allowed.
    assert one([state()], [state(durations=(120_000.0,))], replace(OFF, slower_than=0.3)) == ("slower_than", "held")
    # Without a baseline it cannot be asked.
    assert asked(None, [state()], gates) == ()


def test_what_was_not_timed_is_violated_unless_unknown_is_allowed() -> None:
    gates = replace(OFF, slower_than=0.05)
    (outcome,) = asked([state()], [state(durations=())], gates)
    assert outcome.result == "violated" and "cannot be judged" in outcome.text and "not timed" in outcome.text
    assert one([state()], [state(durations=())], replace(gates, unknown="held")) == ("slower_than", "unknown")


def test_limiter_changed() -> None:
    old, new = state(limiter="dram-bandwidth"), state(limiter="bank-conflicts")
    unless = replace(OFF, limiter_changed="unless_faster")
    assert one([old], [new], unless) == ("limiter_changed", "violated")
    assert one([old], [replace(new, durations=(50_000.0,))], unless) == ("limiter_changed", "held")
    always = replace(OFF, limiter_changed="always")
    assert one([old], [replace(new, durations=(50_000.0,))], always) == ("limiter_changed", "violated")
    assert one([old], [old], always) == ("limiter_changed", "held")
    # From a limiter to undecided is not known; from undecided nothing can have moved.
    assert one([old], [state(limiter=None)], unless) == ("limiter_changed", "violated")
    assert one([old], [state(limiter=None)], replace(unless, unknown="held")) == ("limiter_changed", "unknown")
    assert one([state(limiter=None)], [new], unless) == ("limiter_changed", "held")


def test_a_kernel_between_two_answers_has_not_changed_its_limiter() -> None:
    """Plain copies of 64 MB on an H200: 64 to 67 % of DRAM's peak from run to run, and 65 % parts two answers there."""
    gates = replace(OFF, limiter_changed="always")
    old = state(limiter="memory-latency", confidence="low", near=("dram-bandwidth",))
    new = state(limiter="dram-bandwidth", confidence="low")
    (outcome,) = asked([old], [new], gates)
    assert outcome.result == "held" and "between memory-latency and dram-bandwidth" in outcome.text
    # A baseline does not say what was near; then what was measured now does.
    assert one([replace(old, near=())], [replace(new, near=("memory-latency",))], gates) == ("limiter_changed", "held")
    # Unsure for another reason (a short kernel) and of other things.
    assert one([old], [replace(new, limiter="host-memory")], gates) == ("limiter_changed", "violated")
    # One sure answer, another time or no time at all: then it moved.
    assert one([old], [replace(new, confidence="medium")], gates) == ("limiter_changed", "violated")
    assert one([replace(old, confidence="high")], [new], gates) == ("limiter_changed", "violated")
    assert one([old], [replace(new, durations=(150_000.0,))], gates) == ("limiter_changed", "violated")
    assert one([old], [replace(new, durations=())], gates) == ("limiter_changed", "violated")


def test_limiters() -> None:
    gates = replace(OFF, limiters=("dram-bandwidth",))
    assert one(None, [state()], gates) == ("limiters", "held")
    assert one(None, [state(limiter="divergence")], gates) == ("limiters", "violated")
    assert one(None, [state(limiter=None)], replace(gates, unknown="held")) == ("limiters", "unknown")
    assert one(None, [state(limiter=None)], replace(gates, limiters=("undecided",))) == ("limiters", "held")


def test_max_duration() -> None:
    gates = replace(OFF, max_duration=100_000)
    assert one(None, [state(durations=(99_000.0, 300_000.0, 98_000.0))], gates) == ("max_duration", "held")
    assert one(None, [state(durations=(100_001.0,))], gates) == ("max_duration", "violated")
    assert one(None, [state(durations=())], replace(gates, unknown="held")) == ("max_duration", "unknown")


def test_min_effective_bandwidth() -> None:
    # 1000 sectors of 32 bytes in 100 us are 320 MB/s.
    moved = state(facts={"ideal_sectors": 1000.0, "dram_peak_bytes_per_s": 400e6})
    assert effective_bandwidth(moved) == pytest.approx(320e6)
    assert effective_bandwidth(moved, 64_000) == pytest.approx(640e6)
    for asked_for, result in (
        (Bandwidth(300e6), "held"),
        (Bandwidth(330e6), "violated"),
        (Bandwidth(79, percent=True), "held"),
        (Bandwidth(81, percent=True), "violated"),
    ):
        gates = replace(OFF, min_effective_bandwidth=asked_for)
        assert one(None, [moved], gates) == ("min_effective_bandwidth", result)
    gates = replace(OFF, min_effective_bandwidth=Bandwidth(1.0), unknown="held")
    assert one(None, [state()], gates)[1] == "unknown"
    assert one(None, [state()], replace(gates, ideal_bytes=1000.0))[1] == "held"
    percent = replace(gates, min_effective_bandwidth=Bandwidth(50, percent=True))
    assert one(None, [state(facts={"ideal_sectors": 1.0})], percent)[1] == "unknown"


def test_spills() -> None:
    gates = replace(OFF, spills=True)
    clean, spilled = state(facts={"spill_requests": 0.0}), state(facts={"spill_requests": 64.0})
    assert one([clean], [spilled], gates) == ("spills", "violated")
    assert one([spilled], [spilled], gates) == ("spills", "held")
    assert one([spilled], [clean], gates) == ("spills", "held")
    assert one(None, [spilled], gates) == ("spills", "violated")
    # The baseline does not say: what it was is unknown, and nothing appeared.
    assert one([state()], [spilled], gates) == ("spills", "held")
    # Not collected is neither yes nor no.
    assert asked([clean], [state()], gates) == ()


def test_new_and_removed_kernels() -> None:
    new = replace(OFF, new_kernels=True)
    assert one([], [state("a")], new) == ("new_kernels", "violated")
    assert asked([], [state("a")], OFF) == ()
    gone = replace(OFF, removed_kernels=True)
    assert one([state("a")], [], gone) == ("removed_kernels", "violated")
    assert asked([state("a")], [], OFF) == ()


def test_undecided() -> None:
    gates = replace(OFF, undecided=True)
    assert one(None, [state(limiter=None)], gates) == ("undecided", "violated")
    assert one(None, [state()], gates) == ("undecided", "held")


def test_what_cannot_be_compared() -> None:
    other = state(durations=(200_000.0,), collection=replace(COLLECTED, clocks="controlled"))
    (outcome,) = asked([state()], [other], replace(OFF, slower_than=0.05, comparable=True))
    assert (outcome.gate, outcome.result) == ("comparable", "violated")
    assert "clock control: free against controlled" in outcome.text
    assert asked([state()], [other], replace(OFF, slower_than=0.05)) == ()


def test_entries_for_single_kernels_change_the_general_gates_and_later_ones_win() -> None:
    config = Config(
        gates=replace(OFF, max_duration=1.0),
        kernels=(
            Scope("copy*", (("max_duration", 200_000.0),), "triage.yaml:4:5"),
            Scope("copy_b", (("max_duration", 50_000.0),), "triage.yaml:6:5"),
            Scope("warm*", (("skip", True),), "triage.yaml:8:5"),
        ),
        source="triage.yaml",
    )
    outcomes = asked(None, [state("copy_a"), state("copy_b"), state("warmup"), state("other")], config)
    assert [(outcome.kernel, outcome.result, outcome.place) for outcome in outcomes] == [
        ("copy_a", "held", "triage.yaml:4:5"),
        ("copy_b", "violated", "triage.yaml:6:5"),
        ("other", "violated", "triage.yaml"),
    ]


def test_one_line_each_that_names_kernel_finding_limit_and_source_line() -> None:
    (outcome,) = asked([state()], [state(durations=(120_000.0,), line=7)], replace(OFF, slower_than=0.05))
    assert outcome.text == "copy: is 20.0 % slower (100 us to 120 us); allowed are 5 % more [copy.cu:7]"
    assert (outcome.file, outcome.line) == ("/build/src/copy.cu", 7)


def test_without_a_source_line_the_line_names_the_place_of_the_gate() -> None:
    config = Config(
        gates=replace(OFF, max_duration=1.0, spills=True),
        kernels=(Scope("copy", (("limiters", ("barrier",)),), "perf/triage.yaml:9:5"),),
        source="perf/triage.yaml",
        places=(("max_duration", "perf/triage.yaml:3:3"),),
    )
    spilled = {"spill_requests": 8.0}
    outcomes = {one.gate: one for one in asked(None, [state(facts=spilled)], config)}
    assert outcomes["limiters"].text.endswith("; expected is barrier [perf/triage.yaml:9]")
    assert outcomes["max_duration"].text.endswith(" [perf/triage.yaml:3]")
    # A default was set nowhere.
    assert outcomes["spills"].text == "copy: spills: 8 spill requests"
    assert [outcomes[gate].place for gate in ("limiters", "max_duration", "spills")] == [
        "perf/triage.yaml:9:5",
        "perf/triage.yaml:3:3",
        "perf/triage.yaml",
    ]
    for outcome in asked(None, [state(facts=spilled, line=7)], config):
        assert outcome.text.endswith(" [copy.cu:7]"), outcome


def test_an_entry_that_is_about_no_kernel_is_violated() -> None:
    scope = Scope("cpoy*", (("max_duration", 1.0),), "triage.yaml:7:5")
    (outcome,) = asked(None, [state()], Config(gates=OFF, kernels=(scope,)))
    assert (outcome.gate, outcome.kernel, outcome.result) == ("unmatched", "cpoy*", "violated")
    assert outcome.text == "cpoy*: triage.yaml:7: the gate matches no kernel of the report (did you mean 'copy'?)"
    assert (outcome.place, outcome.state, outcome.pair) == ("triage.yaml:7:5", None, None)
    far = [state(f"k{number}") for number in range(7)]
    (outcome,) = asked(None, far, Config(gates=OFF, kernels=(replace(scope, match="gemm"),)))
    assert outcome.text.endswith("of the report; kernels: k0, k1, k2, k3, k4 and 2 more")
    (outcome,) = asked(None, [], Config(gates=OFF, kernels=(scope,)))
    assert outcome.text.endswith("; kernels: none")


def test_an_entry_without_a_kernel_may_be_allowed() -> None:
    scope = Scope("gemm", (("max_duration", 1.0),), "triage.yaml:7:5")
    quiet = replace(OFF, unmatched=False)
    assert asked(None, [state()], Config(gates=quiet, kernels=(scope,))) == ()
    for changes in (
        (*scope.changes, ("unmatched", False)),
        (("skip", True),),
        (),
    ):
        assert asked(None, [state()], Config(gates=OFF, kernels=(replace(scope, changes=changes),))) == (), changes
    # One entry may insist where the others need not.
    strict = replace(scope, changes=(*scope.changes, ("unmatched", True)))
    (outcome,) = asked(None, [state()], Config(gates=quiet, kernels=(scope, strict)))
    assert outcome.gate == "unmatched"


def test_a_kernel_of_the_baseline_only_is_told_by_one_gate() -> None:
    scope = Scope("gone", (("max_duration", 1e9),), "triage.yaml:7:5")
    base, head = [state("gone"), state("copy")], [state("copy")]
    outcomes = asked(base, head, Config(gates=OFF, kernels=(scope,)))
    assert [one.gate for one in outcomes] == ["unmatched"]
    outcomes = asked(base, head, Config(gates=replace(OFF, removed_kernels=True), kernels=(scope,)))
    assert [one.gate for one in outcomes] == ["removed_kernels"]


def used(name: str, percent: float, peak: float, **more: object) -> State:
    """A kernel of 100 us that uses so much of a DRAM with that peak, in byte/s."""
    moved = percent / 100 * peak * 100e-6
    return state(name, facts={"dram_bytes": moved, "dram_pct": percent, "duration_ns": 100_000.0}, **more)


def test_the_peak_is_told_or_worked_out_from_bytes_time_and_use() -> None:
    told = state("told", facts={"dram_peak_bytes_per_s": 4.8e12})
    assert dram_peak(told, [used("a", 50, 4e12)]) == 4.8e12
    assert dram_peak(used("a", 50, 4e12), ()) == pytest.approx(4e12)
    # What another kernel on the same GPU tells comes before anything worked out, the busiest one before the others.
    assert dram_peak(used("a", 50, 4e12), [told]) == 4.8e12
    assert dram_peak(used("a", 2, 5e12), [used("b", 80, 4e12), used("c", 40, 6e12)]) == pytest.approx(4e12)
    assert dram_peak(state("x"), [used("b", 80, 4e12)]) == pytest.approx(4e12)
    other = replace(compared.H200, name="NVIDIA A100")
    assert dram_peak(state("x"), [used("b", 80, 4e12, device=other)]) is None


@pytest.mark.parametrize("missing", ["dram_bytes", "dram_pct", "duration_ns"])
def test_a_peak_needs_bytes_time_and_use(missing: str) -> None:
    full = used("a", 50, 4e12)
    part = replace(full, facts={fact: value for fact, value in full.facts.items() if fact != missing})
    assert dram_peak(part, [part]) is None
    # And more use than what the two passes differ by.
    assert dram_peak(used("a", 0.9, 4e12), ()) is None


def test_a_percentage_is_of_the_peak_that_was_worked_out() -> None:
    moved = used("a", 50, 400e6)
    moved = replace(moved, facts={**moved.facts, "ideal_sectors": 1000.0})
    for percent, result in ((79, "held"), (81, "violated")):
        gates = replace(OFF, min_effective_bandwidth=Bandwidth(percent, percent=True))
        assert one(None, [moved], gates) == ("min_effective_bandwidth", result)


def test_every_gate_has_its_sentence() -> None:
    seen = {"slower_than", "limiter_changed", "limiters", "max_duration", "min_effective_bandwidth", "spills"}
    seen |= {"new_kernels", "removed_kernels", "undecided", "comparable", "unmatched"}
    assert seen == set(GATES)
