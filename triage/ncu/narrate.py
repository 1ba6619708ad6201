"""The sentences that a run says about itself: before it starts, after the survey, in the report."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from triage.bystanders import bystander
from triage.ncu.log import Log
from triage.ncu.options import Options
from triage.ncu.plan import Plan
from triage.ncu.selection import LeftOut, Selection

# A line that helps while waiting and says nothing about the numbers.
ONLY_SAID = "some kernels run only once"


def left_out(plan: Plan) -> list[str]:
    """What the plan had to leave out: one line for all facts of the rules, one for each metric that someone named."""
    facts = [one for one in plan.absent if one.asked_by.startswith("fact ")]
    named = [one for one in plan.absent if one not in facts]
    lines = []
    if facts:
        metrics = list(dict.fromkeys(metric for one in facts for metric in one.metrics))
        more = f" and {len(metrics) - 3} more" if len(metrics) > 3 else ""
        lines.append(f"this GPU does not have, and the run leaves out: {', '.join(metrics[:3])}{more}")
    lines += [f"left out, this GPU does not have {one}; ncu --query-metrics lists what it has" for one in named]
    return lines


def before(options: Options, *, several: bool) -> list[str]:
    """Warnings that belong before the run: collectives of several processes hang under kernel replay."""
    if not several or options.replay_mode not in ("kernel", "application"):
        return []
    patience = f"a kernel that hangs is given up after {options.hang_timeout:.0f} s" if options.hang_timeout else ""
    if options.all_kernels or options.kernel is not None:
        what = "a collective among the kernels (NCCL and the like) would wait for the other ranks forever"
    else:
        what = "collectives (NCCL and the like) would wait for the other ranks forever and are left out"
    return [f"several processes: ncu runs kernels one by one, so {what}{'; ' + patience if patience else ''}"]


def passed_over(log: Log) -> list[str]:
    """What of ncu's log was not looked at because there was too much of it."""
    if not log.passed_over:
        return []
    return [f"ncu's log grew faster than it can be read: {log.passed_over >> 20:,} MB of it were passed over"]


def clocks(options: Options) -> str:
    """What clock and cache control mean for the numbers."""
    clock = {
        "none": "clocks were left alone: times are those the program sees, and vary with heat and load",
        "base": "clocks were locked to base: times repeat well and are longer than the program's own",
        "boost": "clocks were locked to boost where the GPU allows it",
        "force-boost": "clocks were forced to boost",
        "reset": "the clock lock was reset before the run",
    }[options.clock_control]
    cache = {
        "all": "caches were flushed before every pass, so each kernel starts cold",
        "none": "caches were not flushed, so later passes run warmer than the first",
    }[options.cache_control]
    return f"{clock}; {cache}"


def surveyed(selection: Selection, options: Options) -> list[str]:
    """What the survey found and what is profiled of it."""
    kinds = "kernel shape" if len(selection.shapes) == 1 else "kernel shapes"
    lines = [
        f"{selection.launches:,} launches, {selection.total_ns / 1e6:.3g} ms of kernel time; profiling about "
        f"{len(selection.sequence)} launches of {len(selection.shapes)} {kinds}, which make up "
        f"{selection.covered:.0f} % of it"
    ]
    lines += _families(selection.left_out, selection.total_ns)
    if risky := [shape.shown for shape in selection.shapes if _waits(shape.name)]:
        lines.append(f"{risky[0]} is a collective: with more than one rank it hangs under kernel replay")
    if selection.dropped_names:
        lines.append(f"{selection.dropped_names} kernels do not fit into one filter and are left out (smallest first)")
    if selection.by_shape and selection.numbers and selection.numbers[0] == 1 and len(selection.numbers) > 1:
        lines.append(f"{ONLY_SAID}, so first launches are profiled too; warm-ups stay out of the report")
    return lines


def _families(left: Sequence[LeftOut], total_ns: float) -> list[str]:
    by_kind: dict[str, list[LeftOut]] = defaultdict(list)
    for one in left:
        by_kind[one.family.kind].append(one)
    lines = []
    for kind, members in by_kind.items():
        names = list(dict.fromkeys(member.name for member in members))
        count, ns = sum(member.count for member in members), sum(member.ns for member in members)
        share = f", {100 * ns / (total_ns + ns):.0f} % of all time" if total_ns + ns else ""
        shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
        lines.append(f"left out as {kind}: {shown} ({count:,} launches{share}); --all-kernels takes them in")
    return lines


def _waits(name: str) -> bool:
    family = bystander(name)
    return family is not None and family.kind == "collective"
