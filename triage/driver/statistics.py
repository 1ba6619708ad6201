"""Numbers made of measured times: median and spread, bandwidth, shares, what the caches may have answered.

Times are microseconds, bandwidths bytes per second, shares factors (1.0 is all of it).
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Cache = Literal["in L2", "partly in L2", "not in cache"]

# Below this share of the footprint what L2 may keep moves a result by less than the noise of a run.
_NEGLIGIBLE = 0.1


@dataclass(frozen=True, slots=True)
class Sample:
    """Times of many launches, in microseconds. ``p10`` and ``p90`` are the 10th and 90th percentile."""

    count: int
    median: float
    p10: float
    p90: float
    least: float

    @property
    def spread(self) -> float:
        """Distance of the 10th and the 90th percentile over the median."""
        return (self.p90 - self.p10) / self.median


def summarise(times: Sequence[float]) -> Sample:
    """Median and spread of launch times. Raises ValueError for no times, or for one that is no positive number."""
    if not times:
        raise ValueError("no launch was timed")
    if not all(math.isfinite(t) and t > 0 for t in times):
        raise ValueError("a launch time is not a positive number")
    if len(times) == 1:
        return Sample(1, times[0], times[0], times[0], times[0])
    deciles = statistics.quantiles(times, n=10, method="inclusive")
    return Sample(len(times), statistics.median(times), deciles[0], deciles[8], min(times))


def bandwidth(moved_bytes: int, microseconds: float) -> float:
    """Effective bandwidth: the bytes that must move over the time it took, in bytes per second."""
    return moved_bytes / (microseconds * 1e-6)


def datasheet_bandwidth(clock_khz: int | None, bus_bits: int | None) -> float | None:
    """Peak DRAM bandwidth in bytes per second from the memory clock and bus width that CUDA reports (both edges of the
    clock carry data); ``None`` where the driver reports neither, as on GPUs that share the host's memory."""
    if not clock_khz or not bus_bits:
        return None
    return 2.0 * clock_khz * 1e3 * bus_bits / 8


def cache_state(footprint: int, l2_bytes: int) -> Cache:
    """What L2 can answer when ``footprint`` bytes (inputs and outputs of all buffer sets) are used over and over."""
    if footprint <= l2_bytes:
        return "in L2"
    return "partly in L2" if l2_bytes > _NEGLIGIBLE * footprint else "not in cache"


def buffer_sets(set_bytes: int, l2_bytes: int, free_bytes: int) -> int:
    """How many pairs of buffers to rotate through so that nothing of a pair is left in L2 when its turn comes again:
    enough for ten times L2, at least two, and no more than nine tenths of the free memory hold (at least one)."""
    wanted = max(2, math.ceil(l2_bytes / _NEGLIGIBLE / set_bytes))
    return max(1, min(wanted, int(0.9 * free_bytes) // set_bytes))
