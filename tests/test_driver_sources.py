"""Which programs there are, which kernels they hold, and the tables that show them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from triage.driver import matrices, pages, sources, table
from triage.driver.shapes import CHECK_SHAPES, Shape
from triage.driver.variants import DTYPES, VARIANTS
from triage.errors import UsageError

PROGRAM = """// divergence: lanes of a warp take different ways.
// Second sentence. Third.
#include "harness.cuh"

/* extern "C" __global__ void in_a_block_comment(int) {} */
// extern "C" __global__ void commented_out(int) {}
extern "C" __global__ void first(const float* in, float* out) { use(in, out); }
extern "C" __global__ void __launch_bounds__(256, 2) second(float* out) {}
extern "C"
__global__ void third(
    int n) {}
__global__ void inner(int) {}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "limiters").mkdir()
    (tmp_path / "limiters" / "divergence.cu").write_text(PROGRAM)
    (tmp_path / "limiters" / "harness.cuh").write_text("// no program\n")
    (tmp_path / "bare.cu").write_text('#include "x"\n')
    return tmp_path


def test_programs_are_the_cu_files_with_their_plain_kernels(folder: Path) -> None:
    bare, divergence = sources.programs(folder)
    assert (bare.name, bare.what, bare.kernels) == ("bare", "", ())
    assert divergence.name == "limiters/divergence"
    assert divergence.what == "divergence: lanes of a warp take different ways"
    assert divergence.kernels == ("first", "second", "third")


def test_this_installation_has_the_transposes() -> None:
    (program,) = sources.select(["transpose"], sources.programs())
    assert program.kernels[:2] == ("copy_32_float", "naive_32_float")
    assert len(program.kernels) == len(VARIANTS)
    assert (sources.transposes() / "transpose.cuh").is_file()


@pytest.mark.parametrize("name", ["limiters/divergence", "divergence", "divergence.cu", "limiters", "limiters/"])
def test_programs_by_name_file_and_folder(folder: Path, name: str) -> None:
    assert [p.name for p in sources.select([name], sources.programs(folder))] == ["limiters/divergence"]


def test_no_name_means_all(folder: Path) -> None:
    assert len(sources.select([], sources.programs(folder))) == 2


def test_an_unknown_program_gets_a_suggestion(folder: Path) -> None:
    with pytest.raises(UsageError, match="'divergance'") as caught:
        sources.select(["divergance"], sources.programs(folder))
    assert caught.value.hint == "did you mean divergence?"


def test_the_list_names_programs_and_what_a_profile_should_say(folder: Path) -> None:
    text = pages.program_list(sources.programs(folder))
    assert "limiters/divergence        3  divergence: lanes" in text
    assert "naive_32" in text
    assert "uncoalesced-global" in text


def test_the_list_as_json(folder: Path) -> None:
    data = json.loads(pages.program_json(sources.programs(folder)))
    assert [p["name"] for p in data["programs"]] == ["bare", "limiters/divergence"]
    best = next(t for t in data["transposes"] if t["name"] == "best")
    assert (best["kernel"], best["tile"], best["block"], best["right"]) == ("best_float", 64, [256, 1], True)


def test_a_table_sets_numbers_to_the_right() -> None:
    text = table.render(["name", "us"], [["a", "1.5"], ["longer", "100.0"]], right=[1])
    assert text.splitlines() == ["name       us", "------  -----", "a         1.5", "longer  100.0"]


def test_an_empty_table_is_its_header_and_rows_must_fit() -> None:
    assert table.render(["a", "b"], []) == "a  b\n-  -"
    with pytest.raises(ValueError, match="one cell a column"):
        table.render(["a", "b"], [["x"]])


@pytest.mark.parametrize("shape", [*CHECK_SHAPES, Shape(513, 1025)], ids=str)
@pytest.mark.parametrize("dtype", sorted(DTYPES))
def test_the_reference_is_numpys_transpose(shape: Shape, dtype: str) -> None:
    matrix = matrices.random_matrix(shape, dtype)
    assert matrix.shape == (shape.rows, shape.cols)
    assert matrix.dtype.name == matrices.NUMPY_TYPES[dtype]
    assert matrix.itemsize == DTYPES[dtype][0]
    reference = matrices.transposed(matrix)
    assert reference.flags.c_contiguous
    assert np.array_equal(reference, matrix.T)


@pytest.mark.parametrize("dtype", sorted(DTYPES))
def test_no_input_looks_like_the_poison(dtype: str) -> None:
    matrix = matrices.random_matrix(Shape(300, 300), dtype)
    assert np.isfinite(matrix).all()
    poison = np.full(matrix.nbytes, matrices.POISON, np.uint8).view(matrix.dtype)
    assert np.isnan(poison).all()
    assert matrices.mismatches(poison, matrix) == matrix.size


def test_inputs_are_random_enough_that_a_wrong_index_shows() -> None:
    matrix = matrices.random_matrix(Shape(128, 128), "half")
    assert len(np.unique(matrix)) > 10_000
    assert np.array_equal(matrix, matrices.random_matrix(Shape(128, 128), "half"))


def test_mismatches_compare_bits() -> None:
    nan = np.array([np.nan, 1.0, 0.0], np.float32)
    assert matrices.mismatches(nan, nan.copy()) == 0
    assert matrices.mismatches(nan, np.array([np.nan, 2.0, -0.0], np.float32)) == 2
