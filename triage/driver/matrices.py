"""Random inputs and the transposes that kernels are compared with, made by NumPy on the host."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from triage.driver.shapes import Shape

Matrix = npt.NDArray[Any]

#: Element type to NumPy's name for it.
NUMPY_TYPES = {"float": "float32", "half": "float16", "double": "float64"}

#: Every byte of an output before a launch. As a number it is NaN, which no input holds.
POISON = 0xFF

_EDGE = 512


def random_matrix(shape: Shape, dtype: str, seed: int = 20_260) -> Matrix:
    """Uniform random numbers of [0, 1), rows x cols. Halves are any finite non-negative ones: [0, 1) holds too few."""
    generator = np.random.default_rng(seed)
    if dtype == "half":
        bits = generator.integers(0, 0x7C00, size=(shape.rows, shape.cols), dtype=np.uint16)
        return bits.view(np.float16)
    if dtype == "float":
        return generator.random((shape.rows, shape.cols), dtype=np.float32)
    return generator.random((shape.rows, shape.cols), dtype=np.float64)


def transposed(matrix: Matrix) -> Matrix:
    """The transpose as a dense matrix, copied in squares that stay in the host's caches."""
    rows, cols = matrix.shape
    result = np.empty((cols, rows), dtype=matrix.dtype)
    for top in range(0, rows, _EDGE):
        for left in range(0, cols, _EDGE):
            result[left : left + _EDGE, top : top + _EDGE] = matrix[top : top + _EDGE, left : left + _EDGE].T
    return result


def mismatches(result: Any, expected: Any) -> int:
    """How many elements differ, bit by bit (NaN is no excuse). Works on arrays of NumPy and of CuPy; shapes may differ
    as long as both hold the same number of elements in the same order."""
    unsigned = f"uint{8 * result.dtype.itemsize}"
    return int((result.reshape(-1).view(unsigned) != expected.reshape(-1).view(unsigned)).sum())
