"""Which launches are profiled, and the one filter that says so."""

from __future__ import annotations

import re
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from triage.ncu.selection import Selection, blind, select
from triage.ncu.survey import Launch, parse

DATA = Path(__file__).parent / "data"
ONE = (1, 1, 1)


def launch(name: str, ns: float, grid: int = 1, process: str = "1") -> Launch:
    return Launch(name, (grid, 1, 1), (32, 1, 1), process, ns)


def caught(selection: Selection, launches: list[Launch]) -> list[Launch]:
    """The launches that ncu takes for a --kernel-id, as it was seen to do."""
    _, _, operator, names, numbers = selection.kernel_id.split(":")
    assert operator == "regex"
    seen: dict[tuple[object, ...], int] = {}
    found = []
    for one in launches:
        key = (one.process, one.name, one.grid, one.block) if selection.by_shape else (one.process, one.name)
        seen[key] = seen.get(key, 0) + 1
        if re.search(names, one.name) and re.search(numbers, str(seen[key])):
            found.append(one)
    return found


def test_the_recorded_program_with_shapes_that_run_once_and_often() -> None:
    launches = list(parse((DATA / "ncu_survey.log").read_text().splitlines()))
    made = select(launches, 90, 2)
    assert made is not None
    assert made.kernel_id == "::regex:^(_Z4tileILi0EEvPfPKfi|_Z5naivePfPKfi|_Z4tileILi1EEvPfPKfi)$:^(1|2|3)$"
    assert made.by_shape and made.launches == 29 and 90 <= made.covered < 95
    assert [(one.shape.shown, one.number, one.warm_up) for one in made.sequence] == [
        ("tile", 1, True),
        ("tile", 2, False),
        ("tile", 3, False),
        ("tile", 1, False),
        ("naive", 1, False),
    ]


def test_the_pytorch_program_skips_warm_ups_and_random_fills() -> None:
    launches = list(parse((DATA / "ncu_survey_torch.log").read_text().splitlines()))
    made = select(launches, 90, 2)
    assert made is not None and made.numbers == (2, 3)
    assert len(made.sequence) == 20 and len(made.shapes) == 10
    assert {one.family.kind for one in made.left_out} == {"random fill"}
    assert not any("distribution" in shape.name for shape in made.shapes)
    everything = select(launches, 100, 2, all_kernels=True)
    assert everything is not None and any("distribution" in shape.name for shape in everything.shapes)


def test_the_share_decides_how_many_shapes() -> None:
    launches = [launch("a", 60), launch("b", 30), launch("c", 10)]
    for share, names in ((50, "a"), (60, "a"), (61, "ab"), (90, "ab"), (91, "abc"), (100, "abc"), (0, "a")):
        made = select(launches, share, 1)
        assert made is not None and "".join(shape.name for shape in made.shapes) == names


def test_order_serves_where_shapes_would_catch_too_much() -> None:
    # 50 shapes of one function, of which one matters: by shape each of them would be caught once.
    launches = [launch("f", 1, grid) for grid in range(2, 52)] + [launch("f", 1000, 99)]
    made = select(launches, 90, 1)
    assert made is not None and not made.by_shape
    assert made.numbers == (51,) and [one.shape.grid[0] for one in made.sequence] == [99]


def test_nothing_but_bystanders() -> None:
    assert select([launch("ncclDevKernel_AllReduce_Sum_f32", 10)], 90, 2) is None
    assert select([], 90, 2) is None


def test_names_are_safe_in_the_filter() -> None:
    launches = [launch("void f<(int)3>(a::b *)", 10), launch("void f<(int)3>(a::c *)", 1)]
    made = select(launches, 90, 1)
    assert made is not None and [one.name for one in caught(made, launches)] == ["void f<(int)3>(a::b *)"]


def test_more_names_than_fit_are_reported() -> None:
    launches = [launch(f"_Z{number:03}" + "x" * 500, 10) for number in range(200)]
    made = select(launches, 100, 1)
    assert made is not None and len(made.kernel_id) < 41_000 and made.dropped_names == 200 - len(made.shapes)


def test_without_a_survey_fills_and_collectives_are_left_out_by_name() -> None:
    launches = [launch("_Z4copyPf", 1), launch("_Z4copyPf", 1), launch("ncclDevKernel_AllGather", 1), launch("k", 1)]
    assert [one.name for one in caught(blind(1), launches)] == ["_Z4copyPf", "k"]


@given(
    st.lists(
        st.tuples(st.sampled_from("abcd"), st.integers(1, 3), st.integers(1, 1000), st.sampled_from("12")), max_size=60
    ),
    st.integers(0, 100),
    st.integers(1, 4),
)
def test_the_filter_catches_what_the_selection_says(
    drawn: list[tuple[str, int, int, str]], share: int, per_shape: int
) -> None:
    launches = [launch(name, ns, grid, process) for name, grid, ns, process in drawn]
    made = select(launches, share, per_shape)
    assert (made is None) == (not launches)
    if made is not None:
        assert [one.shape.key for one in made.sequence] == [
            (one.name, one.grid, one.block) for one in caught(made, launches)
        ]
        assert made.covered >= share - 1e-6
        assert {shape.key for shape in made.shapes} <= {one.shape.key for one in made.sequence}
