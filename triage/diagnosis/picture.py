"""What the page draws of a kernel: throughput bars with constituents, stalls, occupancy with the limit that binds."""

from __future__ import annotations

from triage.diagnosis.wording import quoted
from triage.facts import FactSet
from triage.model import Bar, Evidence

_BARS = (
    ("compute_pct", "Compute"),
    ("memory_pct", "Memory"),
    ("l1_pct", "L1 and load-store"),
    ("l2_pct", "L2"),
    ("dram_pct", "DRAM"),
)
_LIMITS = ("limit_registers", "limit_shared", "limit_warps", "limit_blocks")


def bars(facts: FactSet) -> tuple[Bar, ...]:
    """Throughputs in percent of peak; constituents that were not collected are ``None``."""
    ticks = tuple(facts.rulebook.thresholds[name].value for name in ("busy_pct", "high_pct"))
    made: list[Bar] = []
    for name, label in _BARS:
        definition = facts.rulebook.facts[name]
        parts = tuple(
            (facts.rulebook.facts[part].label, facts.value(part))
            for part in definition.largest_of
            if facts.known(part) or part not in definition.optional
        )
        low, high = facts.interval(name)
        value = low if low == high or (definition.largest_of and low > 0) else None
        made.append(Bar(name, label, value, parts, ticks))
    return tuple(made)


def stalls(facts: FactSet) -> tuple[tuple[str, float], ...]:
    """Stall reasons with their share of the stalled warp cycles (0 to 100), largest first, from half a percent on."""
    found = [
        (facts.rulebook.facts[name].label, value)
        for name in facts.rulebook.stalls
        if (value := facts.value(name)) is not None and value >= 0.5
    ]
    return tuple(sorted(found, key=lambda pair: -pair[1]))


def occupancy(facts: FactSet) -> tuple[Evidence, ...]:
    """Achieved and theoretical occupancy, registers and shared memory, and the block limits; the tightest is marked."""
    shown = [
        quoted(name, facts)
        for name in (
            "occupancy_pct",
            "theoretical_occupancy_pct",
            "registers_per_thread",
            "shared_bytes_per_block",
            "waves",
        )
        if facts.known(name)
    ]
    limits = {name: value for name in _LIMITS if (value := facts.value(name)) is not None}
    tightest = min(limits.values(), default=None)
    for name, value in limits.items():
        entry = quoted(name, facts)
        mark = " (binds)" if value == tightest else ""
        shown.append(Evidence(entry.fact, entry.value, entry.unit, entry.text + mark, entry.label))
    return tuple(shown)
