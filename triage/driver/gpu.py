"""The GPU through CuPy: its data, its buffers, modules, launches, checks and event timing.

Imports CuPy where it is used; whatever is missing is said as NcuFailed with the way to get it.
"""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from triage.driver import sources, statistics
from triage.driver.contest import Contestant, GpuInfo, Pair
from triage.driver.shapes import Shape
from triage.driver.variants import Variant
from triage.errors import NcuFailed, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

_INSTALL = "pip install 'ncu-triage[cuda13]' (or [cuda12], to match the driver that nvidia-smi shows)"
_BATCH = 20  # launches that are queued at once, behind a kernel that holds the GPU until all are queued
_LONGEST_HOLD_US = 50_000.0
_WARM_SECONDS = 0.3  # idle GPUs need this long to raise their clocks
_RACY_LAUNCHES = 20
_ROOF_BYTES = 2**30  # large enough to leave the cache out of it on every GPU


def cupy() -> Any:
    """The CuPy module. Raises NcuFailed when it is not installed or finds no CUDA libraries."""
    try:
        import cupy as module
    except ImportError as error:
        lines = str(error).strip().splitlines() or [""]
        reason = "is not installed" if isinstance(error, ModuleNotFoundError) else f"does not load: {lines[0]}"
        raise NcuFailed(f"CuPy {reason}", _INSTALL) from error
    return module


@contextmanager
def _cuda_errors(doing: str) -> Iterator[None]:
    """Turns what CuPy raises into errors of ours."""
    cp = cupy()
    try:
        yield
    except cp.cuda.memory.OutOfMemoryError as error:
        raise UsageError(f"not enough GPU memory for {doing}", "use a smaller matrix, or leave --rotate out") from error
    except (cp.cuda.runtime.CUDARuntimeError, cp.cuda.driver.CUDADriverError) as error:
        raise NcuFailed(f"CUDA failed in {doing}: {error}", "`triage doctor` checks the driver and the GPU") from error
    except cp.cuda.compiler.CompileException as error:
        raise NcuFailed(
            f"NVRTC could not compile for {doing}", "see the messages", details=tuple(str(error).splitlines())
        ) from error


class Gpu:
    """GPU 0 as CuPy sees it, with one matrix on it (see :class:`triage.driver.contest.Machine`).

    Raises NcuFailed when CuPy, the driver or the GPU is missing.
    """

    def __init__(self) -> None:
        self._cp = cupy()
        try:
            count = self._cp.cuda.runtime.getDeviceCount()
        except self._cp.cuda.runtime.CUDARuntimeError as error:
            raise NcuFailed(f"no usable CUDA GPU: {error}", "`triage doctor` checks the driver and the GPU") from error
        if not count:
            raise NcuFailed("no CUDA GPU is visible", "check nvidia-smi and CUDA_VISIBLE_DEVICES")
        self._pairs: list[Pair] = []
        self._expected: dict[bool, Any] = {}
        self._turn = 0
        self._hold: Any = None
        self._hold_us = 40.0 * _BATCH

    @cached_property
    def info(self) -> GpuInfo:
        """Name, compute capability, sizes and peaks of the GPU (free memory as of now)."""
        cp = self._cp
        with _cuda_errors("asking the GPU for its properties"):
            device = cp.cuda.Device()
            attributes = device.attributes
            name = cp.cuda.runtime.getDeviceProperties(device.id)["name"]
            driver, runtime = cp.cuda.runtime.driverGetVersion(), cp.cuda.runtime.runtimeGetVersion()
        return GpuInfo(
            name=name.decode() if isinstance(name, bytes) else str(name),
            cc=f"{device.compute_capability[:-1]}.{device.compute_capability[-1]}",
            sms=attributes["MultiProcessorCount"],
            l2_bytes=attributes["L2CacheSize"],
            free_bytes=self.free_bytes(),
            dram_bytes_per_s=statistics.datasheet_bandwidth(
                attributes.get("MemoryClockRate"), attributes.get("GlobalMemoryBusWidth")
            ),
            software=f"driver for CUDA {_version(driver)}, runtime {_version(runtime)}, CuPy {cp.__version__}",
        )

    def free_bytes(self) -> int:
        """Memory that a matrix could take now, CuPy's own reserve included."""
        self._cp.get_default_memory_pool().free_all_blocks()
        return int(self._cp.cuda.runtime.memGetInfo()[0])

    # -- modules and launches -------------------------------------------------------------------------------------

    def load(self, cubin: Path) -> Any:
        """A module from a cubin that was built for this GPU's architecture."""
        with _cuda_errors(f"loading {cubin}"):
            module = self._cp.RawModule(path=str(cubin))
            self._hold = module.get_function("hold_queue")
        return module

    def compile(self, source: str) -> Any:
        """A module from CUDA source, through NVRTC; `#include "transpose.cuh"` works. Raises NcuFailed when NVRTC is
        missing or refuses the source."""
        options = ("-std=c++17", "-lineinfo", f"-I{sources.transposes()}")
        with _cuda_errors("the transposes"):
            try:
                module = self._cp.RawModule(code=source, options=options, backend="nvrtc")
                module.compile()
            except RuntimeError as error:
                if isinstance(error, self._cp.cuda.runtime.CUDARuntimeError):
                    raise
                raise NcuFailed(
                    f"CuPy cannot use NVRTC: {error}", "build with nvcc first: triage kernels build"
                ) from error
            self._hold = module.get_function("hold_queue")
        return module

    def contestant(self, module: Any, variant: Variant, shape: Shape, dtype: str) -> Contestant:
        """The variant as something that can be launched on this shape."""
        import numpy as np

        grid, block = variant.grid(shape, dtype), variant.block
        rows, cols = np.int32(shape.rows), np.int32(shape.cols)
        with _cuda_errors(variant.name):
            function = module.get_function(variant.symbol(dtype))

        def launch(pair: Pair) -> None:
            function(grid, block, (pair.target, pair.source, rows, cols))

        return Contestant(
            variant.name, launch, variant.transposes, variant.right, blocks=grid[0] * grid[1], variant=variant
        )

    # -- one matrix -----------------------------------------------------------------------------------------------

    def prepare(self, shape: Shape, dtype: str, sets: int) -> None:
        """See Machine. Raises UsageError when the GPU's memory does not hold that."""
        from triage.driver import matrices

        self._pairs.clear()
        self._expected.clear()
        host = matrices.random_matrix(shape, dtype)
        # inputs and outputs of every set, and the reference
        needed, free = (2 * sets + 1) * host.nbytes, self.free_bytes()
        if needed > free:
            raise UsageError(
                f"{shape} {dtype}s need {needed / 1e9:.1f} GB of GPU memory, {free / 1e9:.1f} GB are free",
                "use a smaller matrix, or leave --rotate out",
            )
        cp = self._cp
        with _cuda_errors(f"{shape} {dtype}s"):
            self._expected[True] = cp.asarray(matrices.transposed(host))
            for _ in range(sets):
                self._pairs.append(Pair(cp.asarray(host), cp.empty(shape.elements, dtype=host.dtype)))
            self._expected[False] = self._pairs[0].source
        self._turn = 0

    def mismatches(self, contestant: Contestant) -> int:
        """See Machine."""
        from triage.driver import matrices

        pair = self._pairs[0]
        with _cuda_errors(contestant.name):
            # a race does not show in every launch
            for _ in range(1 if contestant.right else _RACY_LAUNCHES):
                pair.target.data.memset(matrices.POISON, pair.target.nbytes)
                contestant.launch(pair)
                self._cp.cuda.runtime.deviceSynchronize()
                found = matrices.mismatches(pair.target, self._expected[contestant.transposes])
                if found:
                    return found
            return 0

    # -- time -----------------------------------------------------------------------------------------------------

    def warm_up(self, contestant: Contestant) -> None:
        """Keeps the GPU busy until its clocks are up."""
        end = clock.monotonic() + _WARM_SECONDS
        while clock.monotonic() < end:
            self.time(contestant, _BATCH)

    def time(self, contestant: Contestant, count: int) -> Sequence[float]:
        """See Machine. The launches of a batch wait behind a kernel that holds the GPU, so that the host's own time
        does not show up between two events; a batch that the host queued too slowly is measured again."""
        times: list[float] = []
        with _cuda_errors(contestant.name):
            while len(times) < count:
                batch = self._batch(contestant.launch, min(_BATCH, count - len(times)))
                times.extend(batch)
        return times

    @cached_property
    def _events(self) -> list[tuple[Any, Any]]:
        return [(self._cp.cuda.Event(), self._cp.cuda.Event()) for _ in range(_BATCH)]

    def _batch(self, launch: Callable[[Pair], None], count: int) -> list[float]:
        import numpy as np

        events = self._events[:count]
        while True:
            if self._hold is not None:
                self._hold((1,), (1,), (np.int64(self._hold_us * 1e3),))
            for start, stop in events:
                start.record()
                launch(self._pairs[self._turn])
                stop.record()
                self._turn = (self._turn + 1) % len(self._pairs)
            in_time = not events[0][0].done
            events[-1][1].synchronize()
            if in_time or self._hold is None or self._hold_us > _LONGEST_HOLD_US:
                return [1e3 * self._cp.cuda.get_elapsed_time(start, stop) for start, stop in events]
            self._hold_us *= 2

    def copy_roof(self) -> tuple[int, float]:
        """See Machine: the median of 20 copies of up to 1 GiB."""
        size = min(_ROOF_BYTES, self.free_bytes() // 4)
        cp = self._cp
        pairs, turn = self._pairs, self._turn
        with _cuda_errors("a device copy"):
            self._pairs = [Pair(cp.zeros(size, dtype=cp.uint8), cp.empty(size, dtype=cp.uint8))]
            self._turn = 0
            try:
                copy = Contestant("device copy", device_copy, transposes=False, peer=True)
                self.time(copy, 3)
                return 2 * size, statistics.summarise(self.time(copy, 20)).median
            finally:
                self._pairs, self._turn = pairs, turn


def device_copy(pair: Pair) -> None:
    """Copy the input over the output with the driver's own copy, on the current stream."""
    pair.target.data.copy_from_device_async(pair.source.data, pair.source.nbytes)


def _version(number: int) -> str:
    return f"{number // 1000}.{number % 1000 // 10}"
