"""Plain text tables: columns as wide as their widest cell, text to the left, numbers to the right."""

from __future__ import annotations

from collections.abc import Sequence


def render(header: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[int] = ()) -> str:
    """The table as lines. ``right`` lists the columns (0-based) whose cells are set to the right.

    Raises ValueError when a row has another number of cells than the header.
    """
    if any(len(row) != len(header) for row in rows):
        raise ValueError("every row needs one cell a column")
    widths = [max(len(str(line[i])) for line in (header, *rows)) for i in range(len(header))]
    flush_right = set(right)

    def line(cells: Sequence[str]) -> str:
        return "  ".join(
            cell.rjust(width) if i in flush_right else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ).rstrip()

    return "\n".join([line(header), "  ".join("-" * width for width in widths), *(line(row) for row in rows)])
