"""Warnings that travel with a kernel: what about the measurement itself deserves doubt."""

from __future__ import annotations

from triage import quantities
from triage.bystanders import bystander
from triage.diagnosis.launches import OCCUPANCY_LIMITS
from triage.facts import FactSet
from triage.magnitude import plausible
from triage.model import Kernel, Quantity

# Hit rates and sampled counters need a steady state (Nsight Compute, Kernel Profiling Guide).
SHORT_NS = 20_000.0
# A handful of passes agree within a percent on an H200; dozens drift (clocks, caches, other work).
MANY_PASSES = 10
# What ncu (2019 to 2026) writes together or not at all, so that a part that is missing was lost on the way.
TOGETHER = (
    OCCUPANCY_LIMITS,
    tuple(f"launch__grid_dim_{axis}" for axis in "xyz"),
    tuple(f"launch__block_dim_{axis}" for axis in "xyz"),
)


def serious(kernel: Kernel, facts: FactSet) -> tuple[str, ...]:
    """What lowers the confidence of a verdict: short runs, impossible values, several launches in one result."""
    found: list[str] = []
    duration = facts.value("duration_ns")
    if duration is not None and duration < SHORT_NS:
        found.append(f"it ran {quantities.duration(duration)}; below 20 us caches and samples have no steady state")
    if facts.doubtful:
        names = sorted(facts.doubtful)
        shown = ", ".join(f"{name} = {facts.doubtful[name]:g}" for name in names[:3])
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        found.append(f"impossible values were left out: {shown}{more}")
    missing = [[name for name in group if name not in kernel.metrics] for group in TOGETHER]
    lost = [names[0] for names in missing if len(names) == 1]
    if lost:
        found.append(f"{' and '.join(lost)} is missing among metrics that come together: the file may be damaged")
    if kernel.workload != "kernel":
        found.append(f"this result is one {kernel.workload} of many launches; what holds for one kernel is not said")
    return tuple(found)


def notes(kernel: Kernel, facts: FactSet) -> tuple[str, ...]:
    """What a reader should know but what changes no verdict."""
    found = list(kernel.warnings)
    family = bystander(kernel.name)
    if family is not None:
        found.append(f"a {family.kind} kernel of {family.library}: hardly the one you meant to profile")
    passes = kernel.metrics.get("profiler__replayer_passes")
    if isinstance(passes, Quantity) and plausible(passes.value) and passes.value > MANY_PASSES:
        found.append(f"collected in {passes.value:.0f} passes: counters of different passes need not agree exactly")
    return tuple(found)
