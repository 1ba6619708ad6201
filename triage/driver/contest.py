"""The types that a check and a measurement are made of: who takes part, on which GPU, on which machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from triage.driver.shapes import Shape
from triage.driver.variants import Variant


@dataclass(frozen=True, slots=True)
class GpuInfo:
    """What is known about the GPU. Sizes in bytes; ``dram_bytes_per_s`` is the datasheet peak that follows from memory
    clock and bus width, ``None`` where CUDA does not report them. ``software`` names driver, runtime and CuPy."""

    name: str
    cc: str
    sms: int
    l2_bytes: int
    free_bytes: int
    dram_bytes_per_s: float | None
    software: str


@dataclass(frozen=True, slots=True)
class Pair:
    """One input (rows x cols) and one flat output of as many elements, both arrays on the GPU."""

    source: Any
    target: Any


@dataclass(frozen=True, slots=True)
class Contestant:
    """Something that copies or transposes. ``launch`` enqueues it once on the current stream and returns.

    ``right`` is False for a planted fault, ``peer`` True for a library's work, ``blocks`` its grid where known.
    """

    name: str
    launch: Callable[[Pair], None]
    transposes: bool = True
    right: bool = True
    peer: bool = False
    blocks: int | None = None
    variant: Variant | None = None


class Machine(Protocol):
    """A GPU with one matrix on it. :class:`triage.driver.gpu.Gpu` is the real one."""

    @property
    def info(self) -> GpuInfo: ...

    def prepare(self, shape: Shape, dtype: str, sets: int) -> None:
        """Put a random matrix on the GPU, ``sets`` times, with an output for each."""

    def mismatches(self, contestant: Contestant) -> int:
        """Poison an output, launch once (a planted fault until it shows, or some twenty times), count the elements that
        differ from the reference."""

    def time(self, contestant: Contestant, count: int) -> Sequence[float]:
        """Microseconds of ``count`` launches, each between two events, taking turns with the buffer sets."""

    def copy_roof(self) -> tuple[int, float]:
        """Bytes that a large device copy moves (read and written) and its median time in microseconds."""
