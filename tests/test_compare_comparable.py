"""Two measurements that cannot be held against each other get the reason, and no verdict."""

from __future__ import annotations

from dataclasses import replace

import compared
import pytest
from compared import COLLECTED, H200, state

from triage.compare.model import Pair, State
from triage.model import Device


def pair(base: State, head: State) -> Pair:
    return compared.compared([base], [head]).pairs[0]


def test_like_with_like_has_no_reason() -> None:
    assert pair(state(), state(durations=(150_000.0,))).reasons == ()
    assert pair(state(), state(durations=(150_000.0,))).change == "slower"


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (
            {"device": replace(H200, name="NVIDIA A100", cc="8.0", sms=108)},
            "another GPU: NVIDIA H200 (CC 9.0, 132 SMs) against",
        ),
        ({"device": replace(H200, sms=66)}, "another GPU"),
        ({"collection": replace(COLLECTED, clocks="controlled")}, "clock control: free against controlled"),
        ({"collection": replace(COLLECTED, caches="kept")}, "cache control: flushed between passes against kept"),
        ({"collection": replace(COLLECTED, replay="application")}, "replay mode"),
        ({"collection": replace(COLLECTED, ncu="2026.1.0")}, "ncu generation: 2025.3.1 against 2026.1.0"),
        ({"grid": (2048, 1, 1)}, "problem size: 1,024 blocks of 256 threads against 2,048 blocks of 256 threads"),
    ],
)
def test_reasons(other: dict, said: str) -> None:
    found = pair(state(), state(durations=(200_000.0,), **other))
    assert len(found.reasons) == 1 and found.reasons[0].startswith(said)
    assert found.change == "unknown" and found.time is not None and found.time.ratio == pytest.approx(2)
    assert found.hypothesis == said.startswith("another GPU")


def test_what_is_unknown_is_no_reason() -> None:
    unknown = state(
        durations=(200_000.0,), device=Device(), collection=replace(COLLECTED, ncu=None, clocks=None, caches=None)
    )
    assert pair(state(), unknown).reasons == () and pair(unknown, state()).change == "faster"


def test_clocks_that_ran_apart() -> None:
    base = state(facts={"sm_frequency": 1.98e9})
    far = pair(base, state(facts={"sm_frequency": 1.2e9}))
    assert far.reasons == ("clocks: the SMs ran at 1.98 GHz against 1.20 GHz",)
    near = pair(base, state(facts={"sm_frequency": 1.88e9}))
    assert near.reasons == () and near.notes == ("the SM clock was 5.05 % lower in the head",)
    assert pair(base, state(facts={"sm_frequency": 1.96e9})).notes == ()


def test_another_grid_with_the_same_bytes_is_the_same_problem() -> None:
    base = state(facts={"ideal_sectors": 1000.0, "dram_bytes": 32000.0})
    split = pair(base, state(grid=(256, 1, 1), facts={"ideal_sectors": 1000.0}))
    assert split.reasons == () and "the same problem, split otherwise" in split.notes[0]
    other = pair(base, state(grid=(256, 1, 1), facts={"ideal_sectors": 4000.0}))
    assert other.reasons[0].endswith("it moves 4 times the bytes")


def test_the_same_number_of_threads_in_other_blocks_is_the_same_problem() -> None:
    assert pair(state(), state(grid=(512, 1, 1), block=(512, 1, 1))).reasons == ()


def test_work_that_scaled_as_a_whole_is_another_problem() -> None:
    work = {"ideal_sectors": 1000.0, "instructions": 5000.0, "dram_bytes": 32000.0}
    four = {name: 4 * value for name, value in work.items()}
    assert pair(state(facts=work), state(facts=four)).reasons == (
        "problem size: instructions and bytes all changed by a factor of 4",
    )
    assert pair(state(facts=four), state(facts=work)).reasons[0].endswith("a factor of 0.250")
    # Fewer bytes alone are what an optimisation looks like.
    assert pair(state(facts=work), state(facts={**work, "dram_bytes": 8000.0})).reasons == ()


def test_the_comparison_as_a_whole_is_refused_only_when_every_pair_is() -> None:
    other = replace(H200, name="NVIDIA A100")
    both = compared.compared([state("a"), state("b")], [state("a", device=other), state("b", device=other)])
    assert both.reasons and both.reasons[0].startswith("another GPU")
    one = compared.compared([state("a"), state("b")], [state("a", device=other), state("b")])
    assert one.reasons == ()


def test_other_rules_are_noted() -> None:
    base = compared.side(state(), rules=("abc", "guide"))
    head = compared.side(state(), rules=("def", "guide"))
    from triage.compare import compare

    assert "different rules (abc guide and def guide)" in compare(base, head, compared.rules()).notes[0]
    assert compare(base, base, compared.rules()).notes == ()
