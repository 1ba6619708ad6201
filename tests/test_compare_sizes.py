"""`same_limiter`: may a smaller problem stand for a larger one?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from compared import COLLECTED, H200, side, state

from triage.compare.model import State
from triage.compare.sizes import SameLimiter, same_limiter
from triage.errors import UsageError

SMALL, LARGE = (64, 1, 1), (4096, 1, 1)


def of(name: str, limiter: str | None, *durations: float, grid: tuple[int, int, int] = SMALL, **more: object) -> State:
    return state(name, durations, limiter=limiter, grid=grid, **more)  # type: ignore[arg-type]


def sizes(small: Sequence[State], large: Sequence[State]) -> SameLimiter:
    return same_limiter(side(*small), side(*large))


def test_the_same_limiter_everywhere_whatever_the_grids() -> None:
    result = sizes(
        [of("a", "barrier", 5), of("b", "sleep", 5)],
        [of("b", "sleep", 90, grid=LARGE), of("a", "barrier", 10, grid=LARGE, block=(512, 1, 1))],
    )
    assert result.answer == "same" and len(result.deciding) == 2
    assert [one.shown.kernel.name for one in result.kernels] == ["b", "a"], "what takes most of the time comes first"
    assert result.kernels[0].share == pytest.approx(90)


def test_another_limiter_at_the_large_size() -> None:
    result = sizes([of("a", "l2-bandwidth", 5)], [of("a", "dram-bandwidth", 50, grid=LARGE)])
    assert result.answer == "differs" and result.kernels[0].answer == "differs"


def test_undecided_on_either_side_is_not_the_same() -> None:
    for small, large in ((None, "barrier"), ("barrier", None), (None, None)):
        result = sizes([of("a", small, 5)], [of("a", large, 50)])
        assert result.answer == "undecided" and result.kernels[0].answer == "undecided"


def test_a_kernel_that_differs_settles_what_another_leaves_open() -> None:
    result = sizes([of("a", None, 5), of("b", "sleep", 5)], [of("a", None, 5), of("b", "barrier", 5)])
    assert result.answer == "differs"
    assert [one.answer for one in result.kernels] == ["differs", "undecided"]


def test_a_kernel_that_takes_little_time_at_both_sizes_does_not_decide() -> None:
    small, large = [of("a", "barrier", 999), of("b", "sleep", 1)], [of("a", "barrier", 999), of("b", "barrier", 1)]
    result = sizes(small, large)
    assert result.answer == "same" and not result.kernels[1].decides and result.kernels[1].answer == "differs"
    heavy = [of("a", "barrier", 900), of("b", "sleep", 100)]
    assert sizes(heavy, large).answer == "differs", "it matters at one of the sizes"


def test_many_kernels_that_take_little_each_decide_together() -> None:
    small = [of("a", "barrier", 80), *(of(f"k{n}", "sleep", 0.4) for n in range(50))]
    large = [of("a", "barrier", 80), *(of(f"k{n}", "barrier", 0.4) for n in range(50))]
    assert sizes(small, large).answer == "differs"
    assert sizes(small[:10], large[:10]).answer == "same", "4 % of the time"


def test_what_was_not_timed_decides() -> None:
    assert sizes([of("a", "barrier")], [of("a", "sleep")]).answer == "differs"
    assert sizes([of("a", "barrier")], [of("a", "barrier")]).answer == "same"


def test_as_many_shapes_at_both_sizes_are_matched_in_order() -> None:
    # The second grid of the small size is the first of the large one: by shape they would be taken for each other.
    small = [of("a", "barrier", 5, grid=(64, 1, 1)), of("a", "sleep", 5, grid=(128, 1, 1))]
    large = [of("a", "barrier", 9, grid=(128, 1, 1)), of("a", "sleep", 9, grid=(256, 1, 1))]
    assert [one.answer for one in sizes(small, large).kernels] == ["same", "same"]


def test_a_baseline_does_not_keep_the_order_so_its_shapes_are_folded() -> None:
    small = [of("a", "barrier", 5, grid=(64, 1, 1)), of("a", "sleep", 50, grid=(128, 1, 1))]
    large = [of("a", "sleep", 90, grid=(128, 1, 1)), of("a", "barrier", 9, grid=(256, 1, 1))]
    for sides in (
        (replace(side(*small), kind="baseline"), side(*large)),
        (side(*small), replace(side(*large), kind="baseline")),
    ):
        result = same_limiter(*sides)
        assert result.answer == "same" and len(result.kernels) == 1


def test_of_several_shapes_those_that_take_most_time_speak() -> None:
    small = [of("a", "barrier", 1, 1, grid=(n, 1, 1)) for n in (1, 2)] + [of("a", "sleep", 10, grid=(3, 1, 1))]
    (one,) = sizes(small, [of("a", "sleep", 7)]).kernels
    assert one.answer == "same" and one.small is not None
    assert (one.small.shapes, one.small.time_ns, one.small.state.launches) == (3, 14, 5)
    assert dict(one.small.state.limiters) == {"barrier": 4, "sleep": 1}
    untimed = [of("a", "barrier", grid=(n, 1, 1)) for n in (1, 2)] + [of("a", "sleep", grid=(3, 1, 1))]
    assert sizes(untimed, [of("a", "barrier")]).answer == "same"


def test_a_baseline_keeps_some_durations_of_many_launches() -> None:
    often = replace(of("a", "barrier", 10, 10), launches=100)
    result = sizes([often, of("b", "sleep", 1000)], [of("a", "barrier", 1), of("b", "sleep", 1)])
    assert {one.share for one in result.kernels} == {50.0}


def test_nvtx_ranges_and_template_arguments() -> None:
    small = [of("f<64>(int)", "barrier", 1), of("g", "sleep", 1, nvtx=("fwd",)), of("g", "barrier", 1, nvtx=("bwd",))]
    large = [of("f<99>(int)", "barrier", 1), of("g", "barrier", 1, nvtx=("bwd",)), of("g", "sleep", 1, nvtx=("fwd",))]
    assert [one.answer for one in sizes(small, large).kernels] == ["same"] * 3


def test_another_kernel_with_an_alike_name_is_not_taken_for_it() -> None:
    result = sizes(
        [of("gemm_64x64", "barrier", 9), of("a", "sleep", 1)], [of("gemm_64x99", "barrier", 9), of("a", "sleep", 1)]
    )
    assert [one.answer for one in result.kernels] == ["missing", "same", "missing"]


def test_a_kernel_that_only_the_large_size_runs_leaves_the_answer_open() -> None:
    a = of("a", "sleep", 1)
    result = sizes([a, of("s", "sleep", 1)], [a, of("l", "sleep", 1)])
    assert result.answer == "undecided"
    assert [(one.shown.kernel.name, one.decides) for one in result.kernels] == [("l", True), ("a", True), ("s", False)]
    assert sizes([a, of("s", "sleep", 1)], [a]).answer == "same", "what the large problem does not run does not matter"
    assert sizes([a], [of("a", "sleep", 999), of("l", "sleep", 1)]).answer == "same", "too little time"


def test_what_else_differs_is_a_note_and_the_clock_of_the_moment_is_not() -> None:
    base = of("a", "sleep", 1, facts={"sm_frequency": 1e9})
    head = of("a", "sleep", 9, facts={"sm_frequency": 2e9}, grid=LARGE)
    assert sizes([base], [head]).notes == ()
    other = replace(head, collection=replace(COLLECTED, caches="kept"))
    elsewhere = replace(
        other, kernel=replace(other.kernel, device=replace(H200, name="NVIDIA A100", cc="8.0", sms=108))
    )
    notes = " ".join(sizes([base], [elsewhere]).notes)
    assert "cache control: flushed between passes against kept" in notes and "another GPU" in notes
    assert "problem size" not in notes
    ruled = same_limiter(side(base), side(head, rules=("other", "guide")))
    assert "judged by different rules" in ruled.notes[0]


def test_nothing_in_common_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="no kernel in common"):
        sizes([of("a", "sleep", 1)], [of("b", "sleep", 1)])
