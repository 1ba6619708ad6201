"""A part of a file that can be read apart, what reading it gives, and the file that such parts come from."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from triage.model import Kernel
from triage.readers.strays import Strays


@dataclass(frozen=True, slots=True)
class Tally:
    """What was found of a piece: ``kind`` and ``version`` of the file, its ``warnings``, ``strays`` among its rows
    and cells, ``broken`` rows, results of ``other`` layouts and results ``expected`` but perhaps not found."""

    kind: str = ""
    version: str | None = None
    warnings: tuple[str, ...] = ()
    strays: Strays = field(default_factory=Strays)
    broken: int = 0
    other: int = 0
    expected: int = 0
    found: int = 0


class Piece(Protocol):
    """Something that a worker can read; picklable."""

    def read(self, metrics: Collection[str] | None, *, keep: bool) -> tuple[Sequence[Kernel], Tally]:
        """Its kernels, numbered from 0. ``metrics`` are those wanted, ``keep`` asks for the others too where they come
        for nothing."""
        ...


class Divided(Protocol):
    """A file that was looked at; ``kernels`` estimates how many it holds, ``slow`` ones are opened by NVIDIA's
    library in a process of its own."""

    @property
    def kernels(self) -> int: ...

    @property
    def slow(self) -> bool: ...

    def pieces(self, pick: Collection[int] | None = None) -> Iterator[Piece]:
        """The pieces, in the order of the file. ``pick`` names the only results wanted: a source that can pass over
        others without reading them does."""
        ...

    def close(self, tallies: Sequence[Tally]) -> Tally:
        """The sum over all pieces, with the warnings of the whole file."""
        ...
