"""What must hold between the counters of one kernel, whatever the kernel does.

The tolerances come from captures of four generations: duration against cycles and clock agrees to 0.6 %, the stall
reasons add up to within 1.5 %, roll-up and largest constituent are the same number. Counters of different passes and
printed digits need room on top of that.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from triage.model import Kernel, Quantity

Metrics = Mapping[str, Quantity | str]
# A percentage above this is a contradiction, not rounding (NVIDIA's guide, decision 0: "significantly above 100 %").
MOST_PERCENT = 110.0
_ELAPSED, _ACTIVE = ".pct_of_peak_sustained_elapsed", ".pct_of_peak_sustained_active"
_ROLLUPS = (f"sm__throughput.avg{_ELAPSED}", f"gpu__compute_memory_throughput.avg{_ELAPSED}")
# Constituents of either roll-up on every chip seen since 2020, for tables that do not list them.
_PARTS = {
    _ROLLUPS[0]: tuple(
        f"{part}.avg{_ELAPSED}"
        for part in (
            "sm__inst_executed", "sm__inst_executed_pipe_lsu", "sm__inst_executed_pipe_xu", "sm__mio_inst_issued",
            "sm__inst_executed_pipe_adu", "sm__inst_executed_pipe_tex", "sm__pipe_alu_cycles_active",
            "sm__pipe_fma_cycles_active", "sm__pipe_fmaheavy_cycles_active", "sm__pipe_fp64_cycles_active",
            "sm__pipe_tensor_cycles_active", "sm__issue_active", "idc__request_cycles_active",
        )
    ),
    _ROLLUPS[1]: tuple(
        f"{part}.avg{_ELAPSED}"
        for part in (
            "dram__cycles_active", "l1tex__data_pipe_lsu_wavefronts", "l1tex__lsuin_requests", "lts__t_sectors",
            "lts__t_tag_requests", "lts__d_sectors", "lts__lts2xbar_cycles_active", "lts__xbar2lts_cycles_active",
            "l1tex__data_pipe_tex_wavefronts", "l1tex__f_wavefronts", "l1tex__texin_sm2tex_req_cycles_active",
            "lts__d_atomic_input_cycles_active",
        )
    ),
}  # fmt: skip
_STALL, _PER_ISSUE = "smsp__average_warps_issue_stalled_", "_per_issue_active.ratio"
_LATENCY = "smsp__average_warp_latency_per_inst_issued.ratio"
_SAMPLED, _SAMPLES = "smsp__pcsamp_warps_issue_stalled_", "smsp__pcsamp_sample_count"
_DURATION = "gpu__time_duration.sum"
OCCUPANCY_LIMITS = tuple(f"launch__occupancy_limit_{what}" for what in ("registers", "shared_mem", "blocks", "warps"))
_MOST_WARPS = "sm__maximum_warps_avg_per_active_cycle"
_IDLE = "_not_issued"
# Below so many nanoseconds the passes of one kernel differ too much to compare rates.
_TOO_SHORT = 5000.0
# So many of the nineteen reasons make the sum worth comparing from below too.
_MOST_STALLS = 15
# The largest value there can be, whatever the chip.
_LIMITS = {
    "smsp__thread_inst_executed_per_inst_executed.ratio": 32.1,
    "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio": 32.1,
    "smsp__issue_active.avg.per_cycle_active": 1.05,
    "launch__block_size": 1024.0,
    "launch__registers_per_thread": 256.0,
    "smsp__warps_active.avg.per_cycle_active": 16.5,
}
# Events and launch sizes are counted: whatever ncu calls one of them, it is no share, size, time or rate.
_COUNTED = re.compile(
    r"launch__(?:grid|block|cluster|thread|sm|waves|occupancy_limit|registers)_[a-z_]+(?<!_pct)"
    r"|.*(?:sectors|requests|wavefronts|inst|cycles)[a-z0-9_]*\.(?:sum|avg|min|max)"
)
_NO_COUNT = frozenset({"%", "byte", "ns", "hz"})
# Metrics that no rule reads but that bear witness for others.
WITNESSES = frozenset({
    *(f"launch__{part}_dim_{axis}" for part in ("grid", "block") for axis in "xyz"),
    "launch__grid_size", "launch__block_size", "launch__thread_count", "launch__sm_count",
    "launch__waves_per_multiprocessor", "device__attribute_multiprocessor_count", "launch__cluster_size",
    *OCCUPANCY_LIMITS, _MOST_WARPS,
    *(part for parts in _PARTS.values() for part in parts), _DURATION, _LATENCY, _SAMPLES,
    "sm__cycles_elapsed.max", "sm__cycles_elapsed.avg.per_second",
    "gpc__cycles_elapsed.max", "gpc__cycles_elapsed.avg.per_second",
    "dram__bytes.sum", "dram__bytes_read.sum", "dram__bytes_write.sum", "dram__bytes.sum.per_second",
    "dram__bytes_read.sum.per_second", "dram__bytes_write.sum.per_second",
    "smsp__issue_active.avg.per_cycle_active", f"smsp__issue_active.avg{_ACTIVE}",
    *_ROLLUPS, *(f"breakdown:{name}" for name in _ROLLUPS),
})  # fmt: skip


class Relation(NamedTuple):
    """Something that must hold between ``names``; ``text`` says what is wrong where it does not.

    An ``exact`` one fixes each of its values by the others; a bound does not, so that it confirms none.
    """

    names: tuple[str, ...]
    holds: bool
    text: str = ""
    exact: bool = True


@dataclass(frozen=True, slots=True)
class _Plan:
    """The names that bear relations to each other, among those that may be there."""

    percents: tuple[str, ...]
    units: tuple[str, ...]
    counts: tuple[str, ...]
    ordered: tuple[tuple[str, str], ...]
    shares: tuple[tuple[str, str], ...]
    rates: tuple[tuple[str, str], ...]
    stalls: tuple[str, ...]
    samples: tuple[str, ...]


@lru_cache(maxsize=16)
def _plan(names: frozenset[str]) -> _Plan:
    known = sorted(names)
    ordered = []
    for name in known:
        if name.endswith(".avg"):
            base = name.removesuffix(".avg")
            pairs = ((f"{base}.min", name), (name, f"{base}.max"), (name, f"{base}.sum"))
            ordered += [pair for pair in pairs if pair[0] in names and pair[1] in names]
    shares = [(name, name.replace(_ELAPSED, _ACTIVE)) for name in known if name.endswith(_ELAPSED)]
    rates = [(name, name.removesuffix(".per_second")) for name in known if name.endswith(".sum.per_second")]
    return _Plan(
        # Occupancy by registers or block size is a curve; the sum over its points looks like a percentage.
        percents=tuple(name for name in known if name.endswith((".pct", "_pct")) and "occupancy_per" not in name),
        units=tuple(name for name in known if _dimension(name) is not None),
        counts=tuple(name for name in known if _dimension(name) is None and _COUNTED.fullmatch(name)),
        ordered=tuple(ordered),
        shares=tuple(pair for pair in shares if pair[1] in names),
        rates=tuple(pair for pair in rates if pair[1] in names),
        stalls=tuple(
            name for name in known if name.startswith(_STALL) and name.endswith(_PER_ISSUE) and _IDLE not in name
        ),
        samples=tuple(name for name in known if name.startswith(_SAMPLED) and not name.endswith(_IDLE)),
    )


def relations(kernel: Kernel, names: frozenset[str]) -> Iterator[Relation]:
    """Every relation between those metrics of a kernel that are in ``names`` or :data:`WITNESSES`."""
    plan = _plan(names | WITNESSES)
    metrics = kernel.metrics
    yield from _impossible(metrics, plan)
    if kernel.workload == "kernel":
        # A range or graph has many launches: their sizes do not multiply.
        yield from _launch(kernel)
        yield from _waves(metrics)
    yield from _time(metrics, plan)
    yield from _rollups(metrics)
    yield from _stalls(metrics, plan)
    for lower, upper in plan.ordered:
        low, high = _number(metrics, lower), _number(metrics, upper)
        if low is not None and high is not None:
            yield Relation(
                (lower, upper), low <= high * 1.01 + 1e-6, f"{lower} {low:g} is above {upper} {high:g}", exact=False
            )
    for elapsed, active in plan.shares:
        low, high = _number(metrics, elapsed), _number(metrics, active)
        if low is not None and high is not None:
            yield Relation(
                (elapsed, active), low <= high * 1.1 + 1, f"{elapsed} {low:g} is above {active} {high:g}", exact=False
            )


def _impossible(metrics: Metrics, plan: _Plan) -> Iterator[Relation]:
    """Values that nothing can have, and units that are not the metric's."""
    for name in plan.percents:
        value = _number(metrics, name)
        if value is not None and value > MOST_PERCENT:
            yield Relation((name,), False, f"{name} is {value:g} %")
    for name, limit in _LIMITS.items():
        value = _number(metrics, name)
        if value is not None and value > limit:
            yield Relation((name,), False, f"{name} is {value:g}")
    for name in plan.units:
        found = metrics.get(name)
        # The oldest tables have no units.
        if isinstance(found, Quantity) and found.unit not in ("", _dimension(name)):
            yield Relation((name,), False, f"{name} is given in {found.unit}")
    for name in plan.counts:
        found = metrics.get(name)
        if isinstance(found, Quantity) and (found.unit in _NO_COUNT or found.unit.endswith("/s")):
            yield Relation((name,), False, f"{name} is given in {found.unit}")


@lru_cache(maxsize=4096)
def _dimension(name: str) -> str | None:
    """The base unit of a metric whose name tells it."""
    if ".pct" in name or name.endswith("_pct"):
        return "%"
    if name.startswith("gpu__time_duration"):
        return "ns"
    if name.endswith("__cycles_elapsed.avg.per_second"):
        return "hz"
    if "__bytes" in name and name.endswith(".sum"):
        return "byte"
    if "__bytes" in name and name.endswith(".sum.per_second"):
        return "byte/s"
    return None


def _launch(kernel: Kernel) -> Iterator[Relation]:
    metrics = kernel.metrics
    sizes: dict[str, float] = {}
    for part, shape in (("grid", kernel.launch.grid), ("block", kernel.launch.block)):
        name = f"launch__{part}_size"
        size = _number(metrics, name)
        if size is None:
            continue
        sizes[part] = size
        axes = tuple(f"launch__{part}_dim_{axis}" for axis in "xyz")
        extents = [_number(metrics, axis) for axis in axes]
        told: tuple[float, ...] | None = shape
        names: tuple[str, ...] = (name,)
        if None not in extents:
            told, names = tuple(each for each in extents if each is not None), (name, *axes)
        if told is not None:
            product = math.prod(told)
            yield Relation(names, _same(product, size), f"{name} is {size:g} but its dimensions make {product:g}")
    threads = _number(metrics, "launch__thread_count")
    if threads is not None and len(sizes) == 2:
        product = sizes["grid"] * sizes["block"]
        names = ("launch__thread_count", "launch__grid_size", "launch__block_size")
        yield Relation(names, _same(product, threads), f"launch__thread_count is {threads:g}, not {product:g}")


def _waves(metrics: Metrics) -> Iterator[Relation]:
    """Waves are the grid over what all SMs hold at once, and so are the warps of an SM; a launch has no more SMs than
    the device."""
    sms, device = _number(metrics, "launch__sm_count"), _number(metrics, "device__attribute_multiprocessor_count")
    if sms is not None and device is not None:
        pair = ("launch__sm_count", "device__attribute_multiprocessor_count")
        yield Relation(pair, sms <= device, f"launch__sm_count is {sms:g} on a device of {device:g} SMs", exact=False)
    limits = [_number(metrics, name) for name in OCCUPANCY_LIMITS]
    for name, limit in zip(OCCUPANCY_LIMITS, limits, strict=True):
        if limit is not None and limit < 1:
            yield Relation((name,), False, f"{name} is {limit:g}, but the kernel ran")
    known = [limit for limit in limits if limit]
    if len(known) < len(limits):
        return
    block, warps = _number(metrics, "launch__block_size"), _number(metrics, _MOST_WARPS)
    if block and warps is not None:
        told = min(known) * math.ceil(block / 32)
        text = f"{_MOST_WARPS} is {warps:g} but block size and occupancy limits make {told:g}"
        yield Relation((_MOST_WARPS, "launch__block_size", *OCCUPANCY_LIMITS), _same(told, warps), text)
    grid, waves = _number(metrics, "launch__grid_size"), _number(metrics, "launch__waves_per_multiprocessor")
    # The product is 0 where a damaged file holds numbers too small for a float.
    room = sms * min(known) if sms else 0.0
    if room and grid and waves and not _number(metrics, "launch__cluster_size"):
        told = grid / room
        text = f"launch__waves_per_multiprocessor is {waves:g} but grid, SMs and occupancy limits make {told:.3g}"
        names = ("launch__waves_per_multiprocessor", "launch__grid_size", "launch__sm_count", *OCCUPANCY_LIMITS)
        yield Relation(names, abs(told - waves) <= 0.05 * told + 0.02, text)


def _same(one: float, other: float) -> bool:
    # Automatic units round to three digits.
    return abs(one - other) <= 0.005 * max(abs(one), abs(other))


def _time(metrics: Metrics, plan: _Plan) -> Iterator[Relation]:
    """Duration, cycles and clock; every count with its rate; issue rate and issue share."""
    ratio, share = "smsp__issue_active.avg.per_cycle_active", f"smsp__issue_active.avg{_ACTIVE}"
    a, b = _number(metrics, ratio), _number(metrics, share)
    if a is not None and b is not None:
        yield Relation((ratio, share), abs(100 * a - b) <= 2 + 0.05 * b, f"{share} is {b:g} but {ratio} is {a:g}")
    duration = _number(metrics, _DURATION)
    if not duration:
        return
    for unit in ("sm", "gpc"):
        names = (f"{unit}__cycles_elapsed.max", f"{unit}__cycles_elapsed.avg.per_second")
        cycles, clock = (_number(metrics, name) for name in names)
        if cycles and clock:
            told = cycles / clock * 1e9
            yield Relation(
                (_DURATION, *names),
                abs(told - duration) <= 0.1 * duration + 1000,
                f"{_DURATION} is {duration:g} ns but its cycles and clock make {told:.0f} ns",
            )
    if duration > _TOO_SHORT:
        for rate, sum_ in plan.rates:
            per_second, count = _number(metrics, rate), _number(metrics, sum_)
            if count is not None and per_second is not None:
                told = count / duration * 1e9
                slack = 0.15 * max(told, per_second) + 1e9 / duration + _step(per_second)
                text = f"{rate} is {per_second:g} but count and duration make {told:g}"
                yield Relation((rate, sum_, _DURATION), abs(told - per_second) <= slack, text)


def _step(value: float) -> float:
    """The last digit of a rate that may have been printed as 0.01 T, 0.01 G or 0.01 M."""
    return next((step for step in (1e10, 1e7, 1e4) if value % step == 0), 0.0)


def _rollups(metrics: Metrics) -> Iterator[Relation]:
    """A roll-up is the largest of its constituents."""
    for name in _ROLLUPS:
        total, listed = _number(metrics, name), metrics.get(f"breakdown:{name}")
        if total is None:
            continue
        told = isinstance(listed, str)
        named = listed.replace(" ", "").split(",") if isinstance(listed, str) else _PARTS[name]
        parts = {part: value for part in named if (value := _number(metrics, part)) is not None}
        if not parts:
            continue
        top = max(parts, key=lambda part: parts[part])
        largest = parts[top]
        holds = largest <= total * 1.02 + 0.5
        if told and len(parts) == len(named):
            holds = holds and largest >= total * 0.98 - 0.5
        yield Relation(
            (name, top), holds, f"{name} is {total:g} % but its largest constituent {top} {largest:g} %", exact=told
        )


def _stalls(metrics: Metrics, plan: _Plan) -> Iterator[Relation]:
    """Stall reasons add up to the latency between two issues, samples to their number."""
    reasons = {name: value for name in plan.stalls if (value := _number(metrics, name)) is not None}
    latency = _number(metrics, _LATENCY)
    if reasons and latency:
        total = sum(reasons.values())
        holds = total <= 1.1 * latency + 0.5 and (len(reasons) < _MOST_STALLS or total >= 0.9 * latency - 0.5)
        text = f"the stall reasons add up to {total:.3g} of a latency of {latency:.3g}"
        yield Relation((*reasons, _LATENCY), holds, text)
    sampled = {name: value for name in plan.samples if (value := _number(metrics, name)) is not None}
    samples = _number(metrics, _SAMPLES)
    if sampled and samples is not None:
        total = sum(sampled.values())
        text = f"{total:g} samples have a reason, of {samples:g}"
        yield Relation((*sampled, _SAMPLES), total <= 1.02 * samples + 2, text, exact=False)


def _number(metrics: Metrics, name: str) -> float | None:
    found = metrics.get(name)
    return found.value if isinstance(found, Quantity) else None
