"""What must hold between the sizes of a launch, the SMs and what fits them; and of the chip that it ran on."""

from __future__ import annotations

import math
from collections.abc import Iterator

from triage.diagnosis.relation import Metrics, Relation, number
from triage.model import Kernel

OCCUPANCY_LIMITS = tuple(f"launch__occupancy_limit_{what}" for what in ("registers", "shared_mem", "blocks", "warps"))
_BARRIERS = "launch__occupancy_limit_barriers"
MOST_WARPS = "sm__maximum_warps_avg_per_active_cycle"
# Metrics that no rule reads but that bear witness for others.
WITNESSES = frozenset({
    *(f"launch__{part}_dim_{axis}" for part in ("grid", "block") for axis in "xyz"),
    "launch__grid_size", "launch__block_size", "launch__thread_count", "launch__sm_count",
    "launch__waves_per_multiprocessor", "device__attribute_multiprocessor_count", "launch__cluster_size",
    "device__attribute_compute_capability_major", "device__attribute_compute_capability_minor",
    *OCCUPANCY_LIMITS, _BARRIERS, MOST_WARPS,
})  # fmt: skip


def of_launch(kernel: Kernel) -> Iterator[Relation]:
    """Sizes against their dimensions, threads against both, and the chip's generation wherever it is told."""
    metrics = kernel.metrics
    generation = tuple(f"device__attribute_compute_capability_{part}" for part in ("major", "minor"))
    major, minor = (number(metrics, name) for name in generation)
    if major is not None and minor is not None and kernel.device.cc is not None:
        known = f"{major:g}.{minor:g}"
        text = f"the compute capability is {kernel.device.cc} in one place and {known} in another"
        yield Relation(generation, known == kernel.device.cc, text)
    sizes: dict[str, float] = {}
    for part, shape in (("grid", kernel.launch.grid), ("block", kernel.launch.block)):
        name = f"launch__{part}_size"
        size = number(metrics, name)
        if size is None:
            continue
        sizes[part] = size
        axes = tuple(f"launch__{part}_dim_{axis}" for axis in "xyz")
        extents = [number(metrics, axis) for axis in axes]
        told: tuple[float, ...] | None = shape
        names: tuple[str, ...] = (name,)
        if None not in extents:
            told, names = tuple(each for each in extents if each is not None), (name, *axes)
        if told is not None:
            product = math.prod(told)
            yield Relation(names, _same(product, size), f"{name} is {size:g} but its dimensions make {product:g}")
    threads = number(metrics, "launch__thread_count")
    if threads is not None and len(sizes) == 2:
        product = sizes["grid"] * sizes["block"]
        names = ("launch__thread_count", "launch__grid_size", "launch__block_size")
        yield Relation(names, _same(product, threads), f"launch__thread_count is {threads:g}, not {product:g}")


def of_waves(metrics: Metrics) -> Iterator[Relation]:
    """Waves are the grid over what all SMs hold at once, and so are the warps of an SM; a launch has no more SMs than
    the device."""
    sms, device = number(metrics, "launch__sm_count"), number(metrics, "device__attribute_multiprocessor_count")
    if sms is not None and device is not None:
        pair = ("launch__sm_count", "device__attribute_multiprocessor_count")
        yield Relation(pair, sms <= device, f"launch__sm_count is {sms:g} on a device of {device:g} SMs", exact=False)
    for name in ("launch__sm_count", "device__attribute_multiprocessor_count"):
        value = number(metrics, name)
        if value is not None and value < 1:
            yield Relation((name,), False, f"{name} is {value:g}, but the kernel ran")
    limits = [number(metrics, name) for name in OCCUPANCY_LIMITS]
    for name, limit in zip(OCCUPANCY_LIMITS, limits, strict=True):
        if limit is not None and limit < 1:
            yield Relation((name,), False, f"{name} is {limit:g}, but the kernel ran")
    known = [limit for limit in limits if limit]
    if len(known) < len(limits):
        return
    # From compute capability 9.0 on barriers are counted as well.
    barriers = number(metrics, _BARRIERS)
    bounds = (*OCCUPANCY_LIMITS, _BARRIERS) if barriers else OCCUPANCY_LIMITS
    known += [barriers] if barriers else []
    block, warps = number(metrics, "launch__block_size"), number(metrics, MOST_WARPS)
    if block and warps is not None:
        told = min(known) * math.ceil(block / 32)
        text = f"{MOST_WARPS} is {warps:g} but block size and occupancy limits make {told:g}"
        yield Relation((MOST_WARPS, "launch__block_size", *bounds), _same(told, warps), text)
    grid, waves = number(metrics, "launch__grid_size"), number(metrics, "launch__waves_per_multiprocessor")
    # The product is 0 where a damaged file holds numbers too small for a float.
    room = sms * min(known) if sms else 0.0
    # Waves are printed with two digits: 0 is what a grid of few blocks has.
    if room and grid and waves is not None and not number(metrics, "launch__cluster_size"):
        told = grid / room
        text = f"launch__waves_per_multiprocessor is {waves:g} but grid, SMs and occupancy limits make {told:.3g}"
        names = ("launch__waves_per_multiprocessor", "launch__grid_size", "launch__sm_count", *bounds)
        yield Relation(names, abs(told - waves) <= 0.05 * told + 0.02, text)


def _same(one: float, other: float) -> bool:
    # Automatic units round to three digits.
    return abs(one - other) <= 0.005 * max(abs(one), abs(other))
