"""Which kernel is which: by name, shape, NVTX range and order; renamed, new and removed are shown as such."""

from __future__ import annotations

import pytest
from compared import state

from triage.compare.matching import canonical, match
from triage.model import Device


def kinds(base: list, head: list) -> list[tuple[str, str | None, str | None]]:
    return [
        (
            kind,
            old and f"{old.kernel.name}{old.kernel.launch.grid[0]}",
            new and f"{new.kernel.name}{new.kernel.launch.grid[0]}",
        )
        for kind, old, new in match(base, head)
    ]


def test_same_name_and_shape() -> None:
    base, head = [state("a"), state("b")], [state("b"), state("a")]
    assert kinds(base, head) == [("same", "b1024", "b1024"), ("same", "a1024", "a1024")]


def test_each_shape_finds_its_own() -> None:
    base = [state("a", grid=(size, 1, 1)) for size in (1, 2, 3)]
    head = [state("a", grid=(size, 1, 1)) for size in (3, 1)]
    assert kinds(base, head) == [("same", "a3", "a3"), ("same", "a1", "a1"), ("removed", "a2", None)]


def test_a_changed_shape_is_said() -> None:
    assert kinds([state("a", grid=(8, 1, 1))], [state("a", grid=(4, 1, 1))]) == [("shape", "a8", "a4")]


def test_nvtx_ranges_tell_launches_apart_and_a_lost_range_is_said() -> None:
    base = [state("a", nvtx=("fwd",), limiter="x1"), state("a", nvtx=("bwd",), limiter="x2")]
    head = [state("a", nvtx=("bwd",), limiter="x2"), state("a", nvtx=("fwd",), limiter="x1")]
    assert all(old.limiter == new.limiter and kind == "same" for kind, old, new in match(base, head))
    assert kinds([state("a", nvtx=("fwd",))], [state("a")]) == [("nvtx", "a1024", "a1024")]


def test_a_template_argument_that_changed_is_a_rename() -> None:
    found = match([state("tile<32>"), state("b")], [state("tile<64>", grid=(9, 1, 1)), state("b")])
    assert [kind for kind, _, _ in found] == ["renamed", "same"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("void f<(int)32, (bool)1>(float *, const int *)", "f<32, 1>(float*, const int*)"),
        ("void ns::g(unsigned long)", "ns::g( unsigned  long )"),
    ],
)
def test_demanglers_spell_one_name_in_many_ways(one: str, other: str) -> None:
    assert canonical(one) == canonical(other)
    assert [kind for kind, _, _ in match([state(one)], [state(other)])] == ["same"]
    assert canonical("f(long long)") != canonical("f(long)")


def test_alike_names_with_the_same_launch_are_a_rename() -> None:
    found = match([state("transpose_naive")], [state("transpose_tiled")])
    assert [kind for kind, _, _ in found] == ["renamed"]


def test_alike_names_with_work_of_another_order_are_not() -> None:
    found = match(
        [state("transpose_naive", facts={"instructions": 1e9})], [state("transpose_tiled", facts={"instructions": 1e4})]
    )
    assert [kind for kind, _, _ in found] == ["added", "removed"]


def test_the_same_work_between_the_same_neighbours_is_a_rename() -> None:
    work = {"instructions": 12345.0, "ideal_sectors": 777.0}
    base = [state("first"), state("qqq", facts=work), state("last")]
    head = [state("first"), state("zzz", facts=work), state("last")]
    assert [kind for kind, _, _ in match(base, head)] == ["same", "renamed", "same"]
    other = [state("first"), state("zzz", facts={"instructions": 99.0}), state("last")]
    assert [kind for kind, _, _ in match(base, other)] == ["same", "added", "same", "removed"]


def test_unlike_kernels_are_new_and_removed() -> None:
    assert kinds([state("reduce")], [state("gemm", block=(64, 1, 1))]) == [
        ("added", None, "gemm1024"),
        ("removed", "reduce1024", None),
    ]


def test_the_device_decides_between_equals() -> None:
    a, b = Device(name="A"), Device(name="B")
    found = match([state("k", device=a), state("k", device=b)], [state("k", device=b), state("k", device=a)])
    assert all(old.kernel.device == new.kernel.device for _, old, new in found)


def test_every_state_comes_out_once() -> None:
    base = [state(f"k{number % 7}<{number}>", grid=(1 + number % 3, 1, 1)) for number in range(40)]
    head = [state(f"k{number % 5}<{number}>", grid=(1 + number % 4, 1, 1)) for number in range(30)]
    found = match(base, head)
    assert sorted(id(old) for _, old, _ in found if old) == sorted(map(id, base))
    assert [id(new) for _, _, new in found if new] == list(map(id, head))


def test_thousands_of_strangers_are_quick() -> None:
    base = [state(f"old_kernel_{number}") for number in range(2000)]
    head = [state(f"new_kernel_{number}") for number in range(2000)]
    assert {kind for kind, _, _ in match(base, head)} == {"added", "removed"}
