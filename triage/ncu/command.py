"""Writes ncu command lines: every setting explicit, because defaults changed between releases.

``--log-file`` takes ncu's own lines out of the program's output, so that the program keeps its standard streams (and
its terminal) untouched. The report gets an explicit extension and ``-f``; a ``config.ncu-cfg`` or a kernel-rename
file in the working directory is switched off, since either silently changes a run.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from triage.bystanders import exclusion_pattern
from triage.ncu.find import Ncu
from triage.ncu.options import Options
from triage.ncu.plan import SURVEY_METRIC, Plan
from triage.ncu.selection import Selection


def survey_command(ncu: Ncu, options: Options, log: Path, *, leave_out: bool = False) -> list[str]:
    """The first run: one pass, the duration of every launch, printed into ``log``. Names are printed mangled: those
    need no escaping in a filter, and tell template instances apart. ``leave_out`` keeps collectives and fills away
    from ncu altogether, for programs of several processes, where serialised collectives never return."""
    return [
        *_common(ncu, options, "kernel"),
        *("--metrics", SURVEY_METRIC),
        *("--print-units", "base", "--print-metric-name", "name", "--print-kernel-base", "mangled"),
        *_where(options),
        *_named(options, leave_out=leave_out),
        *("--log-file", str(log)),
        *options.program,
    ]


def profile_command(
    ncu: Ncu, options: Options, plan: Plan, selection: Selection | None, report: Path, log: Path
) -> list[str]:
    """The run that collects ``plan``, for the launches of ``selection`` (``None``: as the options say)."""
    return [
        *_common(ncu, options, options.replay_mode),
        *_collected(plan),
        *("--import-source", "yes" if options.import_source else "no"),
        *_where(options),
        *(_selected(ncu, selection) if selection else [*_named(options, leave_out=True), *_counted(options)]),
        *("-f", "-o", str(report), "--log-file", str(log)),
        *options.program,
    ]


def quoted(command: Sequence[str]) -> str:
    """A command line as a shell takes it."""
    return shlex.join(command)


def _common(ncu: Ncu, options: Options, replay: str) -> list[str]:
    words = [str(ncu.path)]
    for option, value in (
        ("config-file", "off"),
        ("rename-kernels", "off"),
        ("target-processes", options.target_processes),
        ("replay-mode", replay),
        ("clock-control", options.clock_control),
        ("cache-control", options.cache_control),
        ("apply-rules", "no"),
    ):
        if ncu.has(option):
            words += [f"--{option}", value]
    return words


def _collected(plan: Plan) -> list[str]:
    words = ["--set", plan.ncu_set] if plan.ncu_set else []
    for section in plan.sections:
        words += ["--section", section]
    return [*words, "--metrics", ",".join(plan.metrics)] if plan.metrics else words


def _where(options: Options) -> list[str]:
    words = [] if options.profile_from_start else ["--profile-from-start", "off"]
    if options.nvtx_include:
        words.append("--nvtx")
        for expression in options.nvtx_include:
            words += ["--nvtx-include", expression]
    return words


def _selected(ncu: Ncu, selection: Selection) -> list[str]:
    words = ["--kernel-name-base", "mangled", "--kernel-id", selection.kernel_id]
    return [*words, "--filter-mode", "per-launch-config"] if selection.by_shape and ncu.has("filter-mode") else words


def _named(options: Options, *, leave_out: bool) -> list[str]:
    if options.kernel is not None:
        return ["--kernel-name", options.kernel]
    if leave_out and not options.all_kernels:
        return ["--kernel-name-base", "mangled", "--kernel-name", f"regex:{exclusion_pattern()}"]
    return []


def _counted(options: Options) -> list[str]:
    words = []
    if options.launch_skip is not None:
        words += ["--launch-skip", str(options.launch_skip)]
    if options.launch_count is not None:
        words += ["--launch-count", str(options.launch_count)]
    return words
