"""May two measurements of one kernel be held against each other, and if not, why."""

from __future__ import annotations

import math
from collections.abc import Sequence

from triage import quantities
from triage.compare.model import Collection, Snapshot, State
from triage.model import Device
from triage.numerals import whole

# Clocks this far apart are two settings of the GPU, not its usual wander.
_CLOCKS_APART = 0.10
_CLOCKS_WANDER = 0.03
# Another problem size shows in all counters of work at once, by one factor.
_OTHER_SIZE = 1.3
_ONE_FACTOR = 0.10
# The same bytes split over another grid: within this the problem is taken for the same.
_SAME_BYTES = 0.20
_WORK = ("ideal_sectors", "instructions", "dram_bytes")


def other_gpu(base: State, head: State) -> bool:
    """Whether the two ran on GPUs that are known to differ."""
    old, new = base.kernel.device, head.kernel.device
    return _differ(old.name, new.name) or _differ(old.cc, new.cc) or _differ(old.sms, new.sms)


def reasons(base: State, head: State) -> tuple[str, ...]:
    """Why no verdict on the duration can be given; empty where it can. What is unknown is no reason."""
    size = _size(base, head)
    return (*_gpu(base, head), *_clocks(base, head), *_modes(base, head), *((size,) if size else ()))


def conditions(base: State, head: State) -> tuple[str, ...]:
    """How the two were collected differently, whatever the problem and the clock of the moment."""
    old, new = base.collection.clocks, head.collection.clocks
    clocks = [f"clock control: {old} against {new}"] if _differ(old, new) else []
    return (*_gpu(base, head), *clocks, *_modes(base, head))


def rules(base: Snapshot, head: Snapshot) -> tuple[str, ...]:
    """Whether the two sides were judged by different rules, as a note."""
    if not (all(base.rules) and all(head.rules) and base.rules != head.rules):
        return ()
    return (
        f"the two sides were judged by different rules ({' '.join(base.rules)} and {' '.join(head.rules)}): "
        "a limiter may have moved for that reason alone",
    )


def _gpu(base: State, head: State) -> list[str]:
    if not other_gpu(base, head):
        return []
    return [f"another GPU: {_device(base.kernel.device)} against {_device(head.kernel.device)}"]


def _modes(base: State, head: State) -> list[str]:
    old, new = base.collection, head.collection
    found = []
    if _differ(old.caches, new.caches):
        found.append(f"cache control: {old.caches} between passes against {new.caches}")
    if _differ(old.replay, new.replay):
        found.append(f"replay mode: {old.replay} against {new.replay}")
    if _differ(_generation(old), _generation(new)):
        found.append(f"ncu generation: {old.ncu} against {new.ncu}, whose defaults and counters differ")
    return found


def notes(base: State, head: State) -> tuple[str, ...]:
    """What a reader should know though it changes no verdict."""
    found = []
    clock = _frequency(base, head)
    if clock is not None and _CLOCKS_WANDER < abs(clock - 1) <= _CLOCKS_APART:
        more = "higher" if clock > 1 else "lower"
        found.append(f"the SM clock was {quantities.percent(100 * abs(clock - 1))} {more} in the head")
    grids = base.kernel.launch.grid, head.kernel.launch.grid
    if grids[0] != grids[1] and None not in grids and not _size(base, head):
        found.append("the grid differs, the bytes do not: the same problem, split otherwise")
    old, new = base.collection.ncu, head.collection.ncu
    if old and new and old != new and _generation(base.collection) == _generation(head.collection):
        found.append(f"ncu {old} against {new}")
    return tuple(found)


def _clocks(base: State, head: State) -> list[str]:
    old, new = base.collection.clocks, head.collection.clocks
    if _differ(old, new):
        return [f"clock control: {old} against {new}"]
    clock = _frequency(base, head)
    # On another GPU another clock says nothing of its own.
    if clock is None or abs(clock - 1) <= _CLOCKS_APART or other_gpu(base, head):
        return []
    shown = (quantities.quantity(state.facts["sm_frequency"], "hz") for state in (base, head))
    return [f"clocks: the SMs ran at {' against '.join(shown)}"]


def _factor(base: State, head: State, fact: str) -> float | None:
    """How many times as much ``head`` has; ``None`` where a side lacks it, or a float cannot hold the quotient."""
    old, new = base.facts.get(fact), head.facts.get(fact)
    if not old or not new:
        return None
    factor = new / old
    return factor if math.isfinite(factor) and factor > 0 and math.isfinite(1 / factor) else None


def _size(base: State, head: State) -> str:
    """Whether this is another problem: work that scaled as a whole, or another launch and no counter against it."""
    grids = base.kernel.launch.grid, head.kernel.launch.grid
    blocks = base.kernel.launch.block, head.kernel.launch.block
    factors = [factor for fact in _WORK if (factor := _factor(base, head, fact)) is not None]
    scaled = [factor if factor >= 1 else 1 / factor for factor in factors]
    like = max(factors) / min(factors) - 1 <= _ONE_FACTOR if factors else False
    if len(factors) == len(_WORK) and like and min(scaled) >= _OTHER_SIZE:
        return f"problem size: instructions and bytes all changed by a factor of {quantities.significant(factors[0])}"
    if None in (*grids, *blocks) or _threads(base) == _threads(head):
        return ""
    # Another number of threads may be another problem or the same one split otherwise: the bytes tell.
    for fact in ("ideal_sectors", "dram_bytes"):
        factor = _factor(base, head, fact)
        if factor is not None:
            if abs(factor - 1) <= _SAME_BYTES:
                return ""
            return (
                f"problem size: {_shape(base)} against {_shape(head)}, and it moves "
                f"{quantities.significant(factor)} times the bytes"
            )
    return f"problem size: {_shape(base)} against {_shape(head)}, and no counter tells whether the problem is the same"


def _threads(state: State) -> int:
    launch = state.kernel.launch
    return math.prod(launch.grid or (0,)) * math.prod(launch.block or (0,))


def _shape(state: State) -> str:
    launch = state.kernel.launch
    grid, block = (_extent(shape or ()) for shape in (launch.grid, launch.block))
    return f"{grid} blocks of {block} threads"


def _extent(shape: Sequence[int]) -> str:
    """``128 x 128``: ones at the end say nothing."""
    last = max((axis for axis, size in enumerate(shape) if size != 1), default=0)
    return " x ".join(f"{size:,}" for size in shape[: last + 1])


def _frequency(base: State, head: State) -> float | None:
    old, new = base.facts.get("sm_frequency"), head.facts.get("sm_frequency")
    return new / old if old and new else None


def _generation(collection: Collection) -> int | None:
    return whole((collection.ncu or "").split(".")[0])


def _device(device: Device) -> str:
    parts = [f"CC {device.cc}"] if device.cc else []
    if device.sms:
        parts.append(f"{device.sms} SMs")
    name = device.name or "unknown GPU"
    return f"{name} ({', '.join(parts)})" if parts else name


def _differ(old: object, new: object) -> bool:
    """Both known, and not the same."""
    return old is not None and new is not None and old != new
