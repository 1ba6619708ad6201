"""The transposes as data: what each variant is called, how it is launched, what should be said about it.

The kernels themselves are in ``kernels/transpose.cuh``; the names and launch shapes here and the instantiations in
``kernels/transpose.cu`` agree, and a test compares both.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from triage.driver.shapes import Shape
from triage.errors import UsageError

#: Element type to (its size in bytes, its name in the CUDA source). A transpose moves bits only: 16 bits are half.
DTYPES: dict[str, tuple[int, str]] = {
    "float": (4, "float"),
    "half": (2, "transpose::half_bits"),
    "double": (8, "double"),
}

_CHUNK = 16  # bytes a thread of the best kernel moves at once
_MAX_BLOCK = 1024
_MAX_STATIC_SHARED = 48 * 1024
_MAX_GRID = (2**31 - 1, 65_535)


@dataclass(frozen=True, slots=True)
class Variant:
    """One kernel of the transposes.

    ``template`` is its function in ``transpose.cuh`` with ``T`` for the element type. ``edge`` is the tile's edge in
    elements, or in 16-byte chunks where ``chunked`` (then the grid is one-dimensional). ``transposes`` is False for
    a copy, ``right`` False for a planted fault: the check has to find it, and it is never timed. ``limiters`` are the
    answers that are right when this kernel is profiled at a size that fills the GPU.
    """

    name: str
    kind: str
    template: str
    edge: int
    block: tuple[int, int]
    what: str
    limiters: tuple[str, ...] = ()
    chunked: bool = False
    transposes: bool = True
    right: bool = True

    def symbol(self, dtype: str) -> str:
        """The kernel's name in the module, as a profile shows it: ``padded_32_float``."""
        return f"{self.name}_{dtype}"

    def tile(self, dtype: str) -> int:
        """Edge of the tile in elements."""
        return self.edge * _CHUNK // DTYPES[dtype][0] if self.chunked else self.edge

    def grid(self, shape: Shape, dtype: str) -> tuple[int, int]:
        """Blocks in x and y for an input of that shape. Raises UsageError where CUDA has no such grid."""
        tile = self.tile(dtype)
        across, down = -(-shape.cols // tile), -(-shape.rows // tile)
        grid = (across * down, 1) if self.chunked else (across, down)
        if grid[0] > _MAX_GRID[0] or grid[1] > _MAX_GRID[1]:
            raise UsageError(
                f"{self.name} needs a grid of {grid[0]} x {grid[1]} blocks for {shape}; CUDA allows 2147483647 x 65535",
                "transpose fewer rows, or use the variant `best`, whose grid is one-dimensional",
            )
        return grid

    def declaration(self, dtype: str) -> str:
        """The line of CUDA source that instantiates this variant, for modules that are compiled at run time."""
        ctype = DTYPES[dtype][1]
        template = self.template.replace("<T", f"<{ctype}")
        return f"TRANSPOSE_SHELL({self.symbol(dtype)}, {ctype}, {self.block[0] * self.block[1]}, {template})"


_STREAMING = ("dram-bandwidth", "memory-latency")

# kind: (template with T, E = edge, R = rows of threads, P = padded row; what it is; right limiters; copies; right)
_KINDS: dict[str, tuple[str, str, tuple[str, ...], bool, bool]] = {
    "copy": ("copy<T, {e}, {r}>", "copies, unit stride both ways", _STREAMING, False, True),
    "naive": ("naive<T, {e}, {r}>", "stores down the columns", ("uncoalesced-global",), True, True),
    "strided_load": ("strided_load<T, {e}, {r}>", "loads down the columns", ("uncoalesced-global",), True, True),
    "shared": ("tiled<T, {e}, {r}, {e}>", "shared tile without padding", ("bank-conflicts",), True, True),
    "padded": ("tiled<T, {e}, {r}, {p}>", "shared tile, rows padded by one element", _STREAMING, True, True),
    "swap_forgotten": (
        "swap_forgotten<T, {e}, {r}>",
        "shared tile, but block coordinates not swapped for the store",
        ("uncoalesced-global",),
        True,
        True,
    ),
    "missing_barrier": ("racy<T, {e}, {r}, {r}>", "planted fault: no __syncthreads", (), True, False),
    "branch_barrier": ("racy<T, {e}, {r}, {h}>", "planted fault: __syncthreads in a branch", (), True, False),
}


def tiled_variant(kind: str, edge: int, rows: int) -> Variant:
    """The variant of that kind with ``edge`` x ``edge`` tiles and ``edge`` x ``rows`` threads (standard names for the
    standard blocks 32 x 8 and 64 x 16, else the block's rows are part of the name)."""
    template, what, limiters, transposes, right = _KINDS[kind]
    standard = (edge, rows) in ((32, 8), (64, 16))
    return Variant(
        name=f"{kind}_{edge}" if standard else f"{kind}_{edge}x{rows}",
        kind=kind,
        template=template.format(e=edge, r=rows, p=edge + 1, h=rows // 2),
        edge=edge,
        block=(edge, rows),
        what=what,
        limiters=limiters,
        transposes=transposes,
        right=right,
    )


def best_variant(chunks: int = 16, threads: int = 256) -> Variant:
    """The fastest transpose, with tiles of ``chunks`` x ``chunks`` micro-blocks."""
    standard = (chunks, threads) == (16, 256)
    return Variant(
        name="best" if standard else f"best_{chunks}x{threads}",
        kind="best",
        template=f"best<T, {chunks}, {threads}>",
        edge=chunks,
        block=(threads, 1),
        what="16-byte streaming accesses, turned in registers, swizzled tile",
        limiters=_STREAMING,
        chunked=True,
    )


#: In the order in which ``kernels/transpose.cu`` launches them.
VARIANTS: tuple[Variant, ...] = (
    *(
        tiled_variant(kind, edge, rows)
        for edge, rows in ((32, 8), (64, 16))
        for kind in ("copy", "naive", "strided_load", "shared", "padded", "swap_forgotten")
    ),
    best_variant(),
    tiled_variant("missing_barrier", 32, 8),
    tiled_variant("branch_barrier", 32, 8),
)


def choose(names: Sequence[str]) -> tuple[Variant, ...]:
    """The variants of these names or kinds (``padded_32``, ``padded``), all of them for an empty list, in standard
    order. Raises UsageError for a name that fits nothing."""
    known = {word for variant in VARIANTS for word in (variant.name, variant.kind)}
    for name in names:
        if name not in known:
            close = difflib.get_close_matches(name, sorted(known), n=1)
            hint = f"did you mean {close[0]}?" if close else f"one of {', '.join(v.name for v in VARIANTS)}"
            raise UsageError(f"no transpose variant is called {name!r}", hint)
    return tuple(v for v in VARIANTS if not names or v.name in names or v.kind in names)


def sweep(kinds: Iterable[str], dtype: str) -> Iterator[Variant]:
    """Every tile and block that CUDA allows for these kinds: tiles of 16, 32 and 64, blocks of 1 to 32 thread rows,
    at most 1024 threads and 48 KiB of static shared memory; for ``best`` 8 to 32 chunks and 64 to 1024 threads."""
    size = DTYPES[dtype][0]
    for kind in kinds:
        if kind == "best":
            for chunks in (8, 16, 32):
                tile_bytes = (chunks * _CHUNK // size) * chunks * _CHUNK
                for threads in (64, 128, 256, 512, 1024):
                    # more than 4 micro-blocks a thread spill or serialise, fewer than one leaves threads idle
                    if tile_bytes <= _MAX_STATIC_SHARED and threads <= chunks * chunks <= 4 * threads:
                        yield best_variant(chunks, threads)
            continue
        for edge in (16, 32, 64):
            for rows in (1, 2, 4, 8, 16, 32):
                shared = 0 if kind in ("copy", "naive", "strided_load") else edge * (edge + 1) * size
                if rows <= edge and 64 <= edge * rows <= _MAX_BLOCK and shared <= _MAX_STATIC_SHARED:
                    yield tiled_variant(kind, edge, rows)


def module_source(variants: Iterable[Variant], dtypes: Iterable[str]) -> str:
    """CUDA source that instantiates these variants; needs the ``kernels`` folder on its include path."""
    chosen = list(dtypes)
    lines = [variant.declaration(dtype) for variant in variants for dtype in chosen]
    return "\n".join(['#include "transpose.cuh"', *lines, ""])
