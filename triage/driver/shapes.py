"""Shapes of matrices and the bytes that transposing them must move."""

from __future__ import annotations

from dataclasses import dataclass

from triage.errors import UsageError

_MOST = 2**31 - 1  # rows and columns are 32-bit integers in the kernels


@dataclass(frozen=True, slots=True)
class Shape:
    """Rows and columns of the input, in elements, row-major and dense."""

    rows: int
    cols: int

    def __post_init__(self) -> None:
        if not (1 <= self.rows <= _MOST and 1 <= self.cols <= _MOST):
            raise UsageError(
                f"a matrix of {self.rows} x {self.cols} cannot be transposed",
                f"rows and columns are whole numbers from 1 to {_MOST}",
            )

    def __str__(self) -> str:
        return f"{self.rows} x {self.cols}"

    @property
    def elements(self) -> int:
        return self.rows * self.cols

    def moved_bytes(self, element_size: int) -> int:
        """The fewest bytes that device memory must move: every element read once and written once."""
        return 2 * self.elements * element_size


#: What `run` checks unless told otherwise: full tiles, partial tiles, vectors that do not fit a row, thin, tiny.
CHECK_SHAPES: tuple[Shape, ...] = (
    Shape(1024, 1024),
    Shape(1000, 520),
    Shape(1023, 517),
    Shape(36, 4100),
    Shape(4099, 33),
    Shape(1, 257),
    Shape(257, 1),
    Shape(1, 1),
)


def requested(size: int | None, rows: int | None, cols: int | None) -> Shape | None:
    """The shape that the options ask for: a square of ``size``, or ``rows`` x ``cols``; ``None`` when nothing is said.

    Raises UsageError when both ways are mixed or one of rows and columns is missing.
    """
    if size is not None:
        if rows is not None or cols is not None:
            raise UsageError("--size makes a square matrix", "give either --size, or --rows and --cols")
        return Shape(size, size)
    if rows is None and cols is None:
        return None
    if rows is None or cols is None:
        raise UsageError("--rows and --cols go together", "for a square matrix use --size")
    return Shape(rows, cols)
