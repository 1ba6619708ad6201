"""The variants as data agree with the CUDA source, with CUDA's limits and with what users ask for."""

from __future__ import annotations

import re

import pytest

from triage import resources
from triage.driver import variants
from triage.driver.shapes import CHECK_SHAPES, Shape, requested
from triage.errors import UsageError

KERNELS = resources.folder("kernels")


def expanded(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def test_the_program_launches_these_variants_in_this_order() -> None:
    text = (KERNELS / "transpose.cu").read_text()
    table = text[text.index("VARIANTS[]") : text.index("};", text.index("VARIANTS[]"))]
    launched = re.findall(r'\{"(\w+)", (\w+), (\w+), dim3\((\d+)(?:, (\d+))?\), (\w+), (\w+), (\w+)\}', table)
    assert [row[0] for row in launched] == [v.name for v in variants.VARIANTS]
    for (name, symbol, tile, x, y, linear, transposes, right), variant in zip(launched, variants.VARIANTS, strict=True):
        assert symbol == variant.symbol("float"), name
        assert tile == ("BEST_TILE" if variant.chunked else str(variant.tile("float")))
        assert (int(x), int(y or 1)) == variant.block
        assert (linear == "true", transposes == "true", right == "true") == (
            variant.chunked,
            variant.transposes,
            variant.right,
        )


def test_every_template_exists_in_the_header() -> None:
    header = (KERNELS / "transpose.cuh").read_text()
    for variant in variants.VARIANTS:
        function = variant.template.partition("<")[0]
        assert re.search(rf"__device__ __forceinline__ void {function}\(", header), function


@pytest.mark.parametrize(("edge", "rows"), [(32, 8), (64, 16)])
def test_the_macros_instantiate_the_same_templates(edge: int, rows: int) -> None:
    header = expanded((KERNELS / "transpose.cuh").read_text().replace("\\\n", " "))
    for kind in ("copy", "naive", "strided_load", "shared", "padded", "swap_forgotten"):
        written = re.search(rf"TRANSPOSE_SHELL\({kind}_##SUFFIX, T, TILE \* ROWS, (.*?>)\)", header)
        assert written, kind
        spelled = written[1].replace("TILE + 1", str(edge + 1)).replace("TILE", str(edge)).replace("ROWS", str(rows))
        assert spelled == variants.tiled_variant(kind, edge, rows).template


def test_what_each_transpose_should_be_called() -> None:
    said = {v.name: set(v.limiters) for v in variants.VARIANTS}
    for name in ("naive_32", "strided_load_64", "swap_forgotten_32"):
        assert said[name] == {"uncoalesced-global"}
    assert said["shared_32"] == said["shared_64"] == {"bank-conflicts"}
    for name in ("copy_32", "padded_64", "best"):
        assert said[name] == {"dram-bandwidth", "memory-latency"}


def test_only_the_planted_faults_are_not_right() -> None:
    assert [v.name for v in variants.VARIANTS if not v.right] == ["missing_barrier_32", "branch_barrier_32"]


@pytest.mark.parametrize(("dtype", "tile"), [("float", 64), ("half", 128), ("double", 32)])
def test_the_best_kernels_tile_is_256_bytes_wide(dtype: str, tile: int) -> None:
    assert variants.best_variant().tile(dtype) == tile


@pytest.mark.parametrize("shape", CHECK_SHAPES, ids=str)
@pytest.mark.parametrize("dtype", sorted(variants.DTYPES))
def test_grids_cover_the_matrix_and_no_tile_more(shape: Shape, dtype: str) -> None:
    for variant in variants.VARIANTS:
        tile = variant.tile(dtype)
        x, y = variant.grid(shape, dtype)
        across, down = (shape.cols + tile - 1) // tile, (shape.rows + tile - 1) // tile
        assert (x, y) == ((across * down, 1) if variant.chunked else (across, down))


def test_a_grid_that_cuda_does_not_have_is_refused_with_the_way_out() -> None:
    tall = Shape(3_000_000, 4)
    with pytest.raises(UsageError, match="grid of 1 x 93750") as caught:
        variants.tiled_variant("padded", 32, 8).grid(tall, "float")
    assert "best" in caught.value.hint
    assert variants.best_variant().grid(tall, "float") == (46_875, 1)


def test_choosing_by_name_by_kind_and_all() -> None:
    assert variants.choose([]) == variants.VARIANTS
    assert [v.name for v in variants.choose(["best", "padded", "naive_64"])] == [
        "padded_32",
        "naive_64",
        "padded_64",
        "best",
    ]


def test_an_unknown_variant_gets_a_suggestion() -> None:
    with pytest.raises(UsageError, match="'paded_32'") as caught:
        variants.choose(["paded_32"])
    assert caught.value.hint == "did you mean padded_32?"
    with pytest.raises(UsageError) as caught:
        variants.choose(["zzz"])
    assert "copy_32" in caught.value.hint


@pytest.mark.parametrize("dtype", sorted(variants.DTYPES))
def test_the_sweep_stays_within_cudas_limits_and_varies_both(dtype: str) -> None:
    size = variants.DTYPES[dtype][0]
    found = list(variants.sweep(["padded", "copy", "best"], dtype))
    assert len({v.name for v in found}) == len(found)
    for v in found:
        threads = v.block[0] * v.block[1]
        assert 64 <= threads <= 1024
        if v.kind == "padded":
            assert v.edge % v.block[1] == 0
            assert v.edge * (v.edge + 1) * size <= 48 * 1024
        if v.chunked:
            assert v.tile(dtype) * v.edge * 16 <= 48 * 1024
            assert v.edge * v.edge % threads == 0
    padded = [v for v in found if v.kind == "padded"]
    assert {v.edge for v in padded} == {16, 32, 64}
    assert len({v.block[1] for v in padded}) >= 4
    assert {"padded_32", "padded_64", "best"} <= {v.name for v in found}


def test_module_source_declares_each_variant_once_for_its_element_type() -> None:
    source = variants.module_source([variants.tiled_variant("padded", 16, 4), variants.best_variant(8, 64)], ["half"])
    assert source.splitlines() == [
        '#include "transpose.cuh"',
        "TRANSPOSE_SHELL(padded_16x4_half, transpose::half_bits, 64, tiled<transpose::half_bits, 16, 4, 17>)",
        "TRANSPOSE_SHELL(best_8x64_half, transpose::half_bits, 64, best<transpose::half_bits, 8, 64>)",
    ]


def test_the_bytes_that_must_move() -> None:
    assert Shape(4096, 4096).moved_bytes(4) == 134_217_728
    assert Shape(3, 5).moved_bytes(8) == 240
    assert str(Shape(3, 5)) == "3 x 5"


@pytest.mark.parametrize(("rows", "cols"), [(0, 4), (4, 0), (-1, 4), (2**31, 1)])
def test_shapes_that_cannot_be(rows: int, cols: int) -> None:
    with pytest.raises(UsageError, match="cannot be transposed"):
        Shape(rows, cols)


def test_the_shape_that_options_ask_for() -> None:
    assert requested(None, None, None) is None
    assert requested(7, None, None) == Shape(7, 7)
    assert requested(None, 3, 4) == Shape(3, 4)
    for size, rows, cols in ((7, 3, None), (7, None, 4), (None, 3, None), (None, None, 4)):
        with pytest.raises(UsageError):
            requested(size, rows, cols)
