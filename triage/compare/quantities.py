"""Which quantities a comparison looks at, and when one counts as moved."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from triage.compare.model import FactMove, State
from triage.magnitude import plausible
from triage.model import Kernel, Quantity
from triage.rules.rulebook import Rulebook

# Executed warp instructions, by the names that chips and sections give them.
INSTRUCTIONS = ("smsp__inst_executed.sum", "sm__inst_executed.sum", "inst_executed")
# Registers, spills, instructions, bytes: shown for every kernel that changed, moved or not.
RESOURCES = (
    "registers_per_thread",
    "spill_requests",
    "local_sectors",
    "instructions",
    "dram_bytes",
    "l2_bytes",
    "shared_bytes_per_block",
)
# What a reader wants to know of next, in this order; everything else says the same in other words.
OTHERS = (
    "theoretical_waste",
    "load_sectors_per_request",
    "store_sectors_per_request",
    "shared_conflict_pct",
    "atomic_share_pct",
    "host_share_pct",
    "memory_pct",
    "compute_pct",
    "sm_throughput_pct",
    "memory_throughput_pct",
    "dram_pct",
    "l2_pct",
    "lsu_data_stage_pct",
    "issue_pct",
    "busiest_pipe_pct",
    "lanes_active",
    "occupancy_pct",
    "theoretical_occupancy_pct",
    "waves",
    "stall_waiting_pct",
    "stall_barrier_pct",
    "l1_hit_pct",
    "l2_hit_pct",
    "sm_frequency",
)
# Asked of a baseline as well, to tell another problem or another clock.
JUDGED = ("duration_ns", "ideal_sectors", "fp32_flops", "sm_frequency", "dram_peak_bytes_per_s")
_LABELS = {"instructions": ("Instructions", "inst")}
_POINTS = 5.0
_RELATIVE = 0.05
# Below these values of a fact a change says nothing: half a per cent of a pipe, a handful of sectors.
_SPILLS = frozenset({"spill_requests", "local_sectors"})


def instructions(kernel: Kernel) -> float | None:
    """Executed warp instructions, ``None`` where they were not collected or cannot be right."""
    for name in INSTRUCTIONS:
        found = kernel.metrics.get(name)
        if isinstance(found, Quantity) and plausible(found.value):
            return found.value
    return None


def label(fact: str, rulebook: Rulebook) -> tuple[str, str]:
    """What a fact is called, and its unit."""
    if fact in _LABELS:
        return _LABELS[fact]
    definition = rulebook.facts.get(fact)
    return (definition.label, definition.unit) if definition else (fact, "")


def resources(base: State, head: State, rulebook: Rulebook) -> tuple[FactMove, ...]:
    """Registers, spills, instructions and bytes, as far as either side knows them."""
    return tuple(
        move(fact, base.facts, head.facts, rulebook) for fact in RESOURCES if fact in base.facts or fact in head.facts
    )


def moves(base: State, head: State, rulebook: Rulebook) -> tuple[FactMove, ...]:
    """The other facts that are known on both sides and moved: those that the two verdicts rest on come first, and of
    the two the verdict of the slower side, because it names what is lost or was won."""
    worse = (head, base) if (head.median_ns or 0.0) > (base.median_ns or 0.0) else (base, head)
    names = dict.fromkeys((*worse[0].evidence, *worse[1].evidence, *OTHERS))
    found = (
        move(fact, base.facts, head.facts, rulebook)
        for fact in names
        if fact not in RESOURCES and fact != "duration_ns" and fact in base.facts and fact in head.facts
    )
    return tuple(each for each in found if each.moved)


def move(fact: str, base: Mapping[str, float], head: Mapping[str, float], rulebook: Rulebook) -> FactMove:
    """One fact on both sides."""
    text, unit = label(fact, rulebook)
    before, after = base.get(fact), head.get(fact)
    return FactMove(fact, text, unit, before, after, _moved(fact, unit, before, after))


def _moved(fact: str, unit: str, before: float | None, after: float | None) -> bool:
    if before is None or after is None:
        return False
    if unit == "%":
        return abs(after - before) >= _POINTS
    if before == 0 or fact in _SPILLS:
        return before != after and abs(after - before) > _RELATIVE * max(abs(before), abs(after))
    return abs(after / before - 1) >= _RELATIVE


def kept_in_baseline(evidence: Iterable[str]) -> tuple[str, ...]:
    """The facts that a baseline keeps, in a stable order."""
    return tuple(dict.fromkeys((*RESOURCES, *OTHERS, *JUDGED, *sorted(evidence))))
