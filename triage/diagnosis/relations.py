"""What must hold between the counters of one kernel, whatever the kernel does.

The tolerances come from captures of four generations: duration against cycles and clock agrees to 0.6 %, the stall
reasons add up to within 1.5 %, roll-up and largest constituent are the same number. Counters of different passes and
printed digits need room on top of that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from triage.diagnosis import launches
from triage.diagnosis.relation import Metrics, Relation, number
from triage.model import Kernel, Quantity

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
_IDLE = "_not_issued"
# Below so many nanoseconds the passes of one kernel differ too much to compare rates.
_TOO_SHORT = 5000.0
# No SM runs slower or faster (Hz): idle clocks of the smallest GPUs are above 100 MHz, and some SM is active as long as
# a kernel lasts.
_CLOCKS = (20e6, 6e9)
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
    *launches.WITNESSES,
    *(part for parts in _PARTS.values() for part in parts), _DURATION, _LATENCY, _SAMPLES,
    "sm__cycles_elapsed.max", "sm__cycles_elapsed.avg.per_second",
    "gpc__cycles_elapsed.max", "gpc__cycles_elapsed.avg.per_second",
    "dram__bytes.sum", "dram__bytes_read.sum", "dram__bytes_write.sum", "dram__bytes.sum.per_second",
    "dram__bytes_read.sum.per_second", "dram__bytes_write.sum.per_second",
    "smsp__issue_active.avg.per_cycle_active", f"smsp__issue_active.avg{_ACTIVE}",
    *_ROLLUPS, *(f"breakdown:{name}" for name in _ROLLUPS),
})  # fmt: skip


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
        yield from launches.of_launch(kernel)
        yield from launches.of_waves(metrics)
    yield from _time(kernel, plan)
    yield from _rollups(metrics)
    yield from _stalls(metrics, plan)
    for lower, upper in plan.ordered:
        low, high = number(metrics, lower), number(metrics, upper)
        if low is not None and high is not None:
            yield Relation(
                (lower, upper), low <= high * 1.01 + 1e-6, f"{lower} {low:g} is above {upper} {high:g}", exact=False
            )
    for elapsed, active in plan.shares:
        low, high = number(metrics, elapsed), number(metrics, active)
        if low is not None and high is not None:
            yield Relation(
                (elapsed, active), low <= high * 1.1 + 1, f"{elapsed} {low:g} is above {active} {high:g}", exact=False
            )


def _impossible(metrics: Metrics, plan: _Plan) -> Iterator[Relation]:
    """Values that nothing can have, and units that are not the metric's."""
    for name in plan.percents:
        value = number(metrics, name)
        if value is not None and value > MOST_PERCENT:
            yield Relation((name,), False, f"{name} is {value:g} %")
    for name, limit in _LIMITS.items():
        value = number(metrics, name)
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


def _time(kernel: Kernel, plan: _Plan) -> Iterator[Relation]:
    """Duration, cycles and clock; every count with its rate; issue rate and issue share."""
    metrics = kernel.metrics
    ratio, share = "smsp__issue_active.avg.per_cycle_active", f"smsp__issue_active.avg{_ACTIVE}"
    a, b = number(metrics, ratio), number(metrics, share)
    if a is not None and b is not None:
        yield Relation((ratio, share), abs(100 * a - b) <= 2 + 0.05 * b, f"{share} is {b:g} but {ratio} is {a:g}")
    duration = number(metrics, _DURATION)
    if not duration:
        return
    for unit in ("sm", "gpc"):
        names = (f"{unit}__cycles_elapsed.max", f"{unit}__cycles_elapsed.avg.per_second")
        cycles, clock = (number(metrics, name) for name in names)
        if cycles and clock:
            told = cycles / clock * 1e9
            yield Relation(
                (_DURATION, *names),
                abs(told - duration) <= 0.1 * duration + 1000,
                f"{_DURATION} is {duration:g} ns but its cycles and clock make {told:.0f} ns",
            )
    if duration > _TOO_SHORT:
        # A range or a graph may idle between its launches.
        active = ("sm__cycles_active.max",) if kernel.workload == "kernel" else ()
        for name in (*active, "sm__cycles_elapsed.max", "gpc__cycles_elapsed.max"):
            cycles = number(metrics, name)
            if cycles:
                hertz = cycles / duration * 1e9
                text = f"{_DURATION} is {duration:g} ns, but {name} is {cycles:g}: no clock is that"
                slow_or_fast = "slow" if hertz < _CLOCKS[0] else "fast"
                yield Relation(
                    (_DURATION, name), _CLOCKS[0] <= hertz <= _CLOCKS[1], f"{text} {slow_or_fast}", exact=False
                )
        for rate, sum_ in plan.rates:
            per_second, count = number(metrics, rate), number(metrics, sum_)
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
        total, listed = number(metrics, name), metrics.get(f"breakdown:{name}")
        if total is None:
            continue
        told = isinstance(listed, str)
        named = listed.replace(" ", "").split(",") if isinstance(listed, str) else _PARTS[name]
        parts = {part: value for part in named if (value := number(metrics, part)) is not None}
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
    reasons = {name: value for name in plan.stalls if (value := number(metrics, name)) is not None}
    latency = number(metrics, _LATENCY)
    if reasons and latency:
        total = sum(reasons.values())
        holds = total <= 1.1 * latency + 0.5 and (len(reasons) < _MOST_STALLS or total >= 0.9 * latency - 0.5)
        text = f"the stall reasons add up to {total:.3g} of a latency of {latency:.3g}"
        yield Relation((*reasons, _LATENCY), holds, text)
    sampled = {name: value for name in plan.samples if (value := number(metrics, name)) is not None}
    samples = number(metrics, _SAMPLES)
    if sampled and samples is not None:
        total = sum(sampled.values())
        text = f"{total:g} samples have a reason, of {samples:g}"
        yield Relation((*sampled, _SAMPLES), total <= 1.02 * samples + 2, text, exact=False)
