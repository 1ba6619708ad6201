"""Counters that no supported chip has, and counters of one generation that are asked of every chip.

The known names are those that reports of compute capability 6.0 to 12.1 hold; a file may name others that exist under
the key ``counters`` of facts.yaml. Launch and device attributes are not listed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from triage.rules.chips import ChipRange, parse_chips
from triage.rules.rulebook import Alternative, FactDef, Rulebook
from triage.rules.yamlfile import Fault
from triage.suggest import closest

SUPPORTED = (6.0, 6.1, 7.0, 7.2, 7.5, 8.0, 8.6, 8.7, 8.9, 9.0, 10.0, 10.3, 11.0, 12.0, 12.1)
FREE = ("launch__", "device__", "profiler__", "numa__", "nvlink__")
_ROLLUP = re.compile(
    r"^(?:(?:sum|avg|min|max)(?:\.(?:per_second|peak_burst|peak_sustained(?:_(?:elapsed|active|region|frame))?"
    r"(?:\.per_second)?|per_cycle_(?:active|elapsed|in_region|in_frame)"
    r"|pct_of_peak_(?:burst|sustained)_(?:elapsed|active|region|frame)))?|ratio|pct|max_rate)$"
)
# Counters of some generations (what ncu 2025.3 says, and reports of each): name, chips that have it.
_GENERATIONS: tuple[tuple[re.Pattern[str], ChipRange], ...] = tuple(
    (re.compile(pattern), parse_chips(chips))
    for pattern, chips in (
        (r"syslts__", "10.0 10.3 12.0"),
        (r"lts__t_sectors_srcunit_tex_aperture_", "7.0-9.0 11.0 12.1"),
        (r"mcc__", "8.7 11.0"),
        (r"sm__pipe_fmaheavy_|sm__inst_executed_pipe_fma_type_fp16", ">=8.6"),
        (r"sm__inst_executed_pipe_fp16$", "7.0-8.0"),
        (r"sm__pipe_tc_cycles", ">=10.0"),
        (r"smsp__average_warps_issue_stalled_gmma", "9.0"),
        (r"smsp__pcsamp_warps_issue_stalled_warpgroup_arrive", ">=9.0"),
        (r"dram__bytes_op_", ">=10.0"),
        (r"smsp__pcsamp_warps_issue_stalled_imc_miss$", "7.0-9.0"),
    )
)


@cache
def known() -> frozenset[str]:
    """The base names of the counters that are known to exist."""
    text = (Path(__file__).parent / "counters.txt").read_text(encoding="utf-8")
    return frozenset(line for line in text.split("\n") if line and not line.startswith("#"))


def check_counters(rulebook: Rulebook, declared: Iterable[str] = ()) -> Iterator[Fault]:
    """Metrics that no chip has, and ways that hold for chips without their metric."""
    names = known() | {name.split(".", 1)[0] for name in declared}
    for definition in rulebook.facts.values():
        for way in definition.alternatives:
            yield from _way(definition, way, names)
        for bound in (*definition.at_most, *definition.at_least):
            for metric in bound.metrics:
                problem = _problem(metric, names)
                if problem:
                    yield Fault(*definition.spot, "counter", f"a bound of {definition.id!r}: {problem}")
    for limiter in rulebook.limiters.values():
        for metric in limiter.lines:
            if metric not in names:
                yield Fault(*limiter.spots.get("lines", ("", 0, 0)), "counter", _unknown(metric, names))


def _way(definition: FactDef, way: Alternative, names: frozenset[str]) -> Iterator[Fault]:
    for metric in way.formula.metrics:
        problem = _problem(metric, names)
        if problem:
            yield Fault(*way.spot, "counter", f"{definition.id!r}: {problem}")
            continue
        for pattern, chips in _GENERATIONS:
            if not pattern.match(metric.split(".", 1)[0]):
                continue
            wrong = [cc for cc in SUPPORTED if (way.cc is None or way.cc.holds(cc)) and not chips.holds(cc)]
            if wrong and not _collected_elsewhere(definition, way):
                lacking = ", ".join(f"{cc:.1f}" for cc in wrong)
                message = (
                    f"{definition.id!r}: {metric} exists on cc {chips.text} only, not on {lacking}: say so with 'cc'"
                )
                yield Fault(*way.spot, "chip", message)
    if not way.formula.metrics or any(name.startswith(FREE) for name in way.formula.metrics):
        return
    old = all("." not in name and name not in _SOURCE for name in way.formula.metrics if "__" in name)
    if old and way.chips_given is False and any(_pascal(name) for name in way.formula.metrics):
        message = f"{definition.id!r}: names without a roll-up are those of cc below 7.0: say so with 'cc'"
        yield Fault(*way.spot, "chip", message)


# Per-instruction and sampled counters have no roll-up on any chip.
_SOURCE = frozenset({"gpu__time_duration"})


def _pascal(name: str) -> bool:
    free = ("smsp__pcsamp_", "memory_", "inst_executed", "thread_inst", "derived__", "sass__", "sm__maximum_")
    return "__" in name and "." not in name and not name.startswith(free)


def _collected_elsewhere(definition: FactDef, way: Alternative) -> bool:
    """What is only read where a report holds it needs no chips: it is simply absent on others."""
    return not way.collect or not definition.collect


def _problem(metric: str, names: frozenset[str]) -> str:
    base, _, rollup = metric.partition(".")
    if base.startswith(FREE) or base.startswith(("sm__maximum_", "smsp__maximum_")):
        return ""
    if base not in names:
        return _unknown(base, names)
    if rollup and not _ROLLUP.match(rollup):
        return f"{metric} ends in '.{rollup}', which is no roll-up of ncu"
    return ""


def _unknown(base: str, names: frozenset[str]) -> str:
    # Counters of one unit are alike: only a slip of the pen is worth a word.
    hint = closest(base, names, 0.8)
    return f"no supported chip is known to have the counter {base!r}{hint}; if yours has, list it under 'counters'"
