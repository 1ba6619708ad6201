"""The commands of this room, for the command line to mount: ``profile`` and ``doctor``.

``profile`` takes a program with arguments of its own, so it is mounted with ``context_settings=PROFILE_CONTEXT``:
our options end where the program's name stands.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from triage.ncu.options import CACHES, CLOCKS, REPLAY_MODES, TARGETS, Options

PROFILE_CONTEXT: dict[str, Any] = {"allow_interspersed_args": False}


def _one_of(allowed: tuple[str, ...]) -> Any:
    def check(value: str) -> str:
        if value not in allowed:
            raise typer.BadParameter(f"{value!r} is none of {', '.join(allowed)}")
        return value

    return check


_COLLECT, _CHOOSE, _CONTROL, _OUT = "What to collect", "Which launches", "How to measure", "What comes out"
Program = Annotated[list[str], typer.Argument(help="The program and its arguments; `--` may stand before it.")]
Set = Annotated[
    str,
    typer.Option("--set", help="Metric set: triage, quick, source, full, or a team's own.", rich_help_panel=_COLLECT),
]
Metrics = Annotated[
    list[str] | None, typer.Option("--metrics", help="More metrics, separated by commas.", rich_help_panel=_COLLECT)
]
Rules = Annotated[
    list[Path] | None,
    typer.Option("--rules", help="A folder with a team's rules and sets.yaml; repeatable.", rich_help_panel=_COLLECT),
]
Source = Annotated[
    bool, typer.Option("--import-source/--no-import-source", help="Keep the source code.", rich_help_panel=_COLLECT)
]
Survey = Annotated[
    bool | None,
    typer.Option(
        "--survey/--no-survey",
        help="Run once before, to rank kernels by time.",
        rich_help_panel=_CHOOSE,
        show_default=False,
    ),
]
Share = Annotated[
    float,
    typer.Option(
        min=0, max=100, help="Profile kernels that make up this percentage of the time.", rich_help_panel=_CHOOSE
    ),
]
PerKernel = Annotated[
    int,
    typer.Option("--launches-per-kernel", min=1, help="Launches of each kernel and shape.", rich_help_panel=_CHOOSE),
]
KernelName = Annotated[
    str | None,
    typer.Option(
        "-k", "--kernel", help="Only this kernel, or regex:EXPRESSION, as ncu takes it.", rich_help_panel=_CHOOSE
    ),
]
AllKernels = Annotated[
    bool, typer.Option("--all-kernels", help="Random fills, memory fills, collectives too.", rich_help_panel=_CHOOSE)
]
Nvtx = Annotated[
    list[str] | None,
    typer.Option("--nvtx-include", help="Only inside this NVTX range; repeatable.", rich_help_panel=_CHOOSE),
]
Skip = Annotated[
    int | None, typer.Option("--launch-skip", min=0, help="Skip launches; no survey then.", rich_help_panel=_CHOOSE)
]
Count = Annotated[
    int | None,
    typer.Option("--launch-count", min=1, help="Stop after launches; no survey then.", rich_help_panel=_CHOOSE),
]
FromStart = Annotated[
    str,
    typer.Option(
        "--profile-from-start",
        callback=_one_of(("on", "off")),
        help="off: wait for cudaProfilerStart.",
        rich_help_panel=_CHOOSE,
    ),
]
Replay = Annotated[
    str,
    typer.Option(
        "--replay-mode", callback=_one_of(REPLAY_MODES), help=", ".join(REPLAY_MODES), rich_help_panel=_CONTROL
    ),
]
Targets = Annotated[
    str,
    typer.Option("--target-processes", callback=_one_of(TARGETS), help=" or ".join(TARGETS), rich_help_panel=_CONTROL),
]
Clock = Annotated[
    str,
    typer.Option(
        "--clock-control",
        callback=_one_of(CLOCKS),
        help="none: the clocks the program really runs at; base: locked, for numbers that repeat.",
        rich_help_panel=_CONTROL,
    ),
]
Cache = Annotated[
    str,
    typer.Option(
        "--cache-control",
        callback=_one_of(CACHES),
        help="all: flush caches before each pass.",
        rich_help_panel=_CONTROL,
    ),
]
Timeout = Annotated[
    float, typer.Option(min=0, help="Seconds that one run may take; 0: no limit.", rich_help_panel=_CONTROL)
]
Hang = Annotated[
    float,
    typer.Option(
        "--hang-timeout", min=0, help="Seconds of silence inside one kernel; 0: wait.", rich_help_panel=_CONTROL
    ),
]
Output = Annotated[Path, typer.Option("-o", "--output", help="Folder for all files.", rich_help_panel=_OUT)]
Formats = Annotated[
    list[str] | None,
    typer.Option("-f", "--format", help="html (default), json, md, sarif, text; repeatable.", rich_help_panel=_OUT),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Print the ncu command lines, run nothing.", rich_help_panel=_OUT)
]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="No progress line.", rich_help_panel=_OUT)]


def profile(
    program: Program,
    set_name: Set = "triage",
    metrics: Metrics = None,
    rules: Rules = None,
    import_source: Source = True,
    survey: Survey = None,
    share: Share = 90.0,
    per_kernel: PerKernel = 2,
    kernel: KernelName = None,
    all_kernels: AllKernels = False,
    nvtx_include: Nvtx = None,
    launch_skip: Skip = None,
    launch_count: Count = None,
    from_start: FromStart = "on",
    replay_mode: Replay = "kernel",
    target_processes: Targets = "all",
    clock_control: Clock = "none",
    cache_control: Cache = "all",
    timeout: Timeout = 0.0,
    hang_timeout: Hang = 300.0,
    output: Output = Path("triage-reports"),
    formats: Formats = None,
    dry_run: DryRun = False,
    quiet: Quiet = False,
) -> None:
    """Run a program under ncu, say what limits its kernels, write a report.

    The program runs twice: once to rank its kernels by time, once to collect what the verdict needs for those that
    matter. It must do the same work both times; --no-survey runs it once.
    """
    from triage.ncu import session

    names = tuple(name for text in metrics or () for name in text.split(",") if name)
    start, pages = from_start == "on", tuple(formats or ("html",))
    options = Options(
        tuple(program), set_name, names, tuple(rules or ()), survey, share, per_kernel, kernel, all_kernels,
        tuple(nvtx_include or ()), launch_skip, launch_count, start, replay_mode, target_processes, clock_control,
        cache_control, import_source, output, pages, timeout, hang_timeout, dry_run, quiet,
    )  # fmt: skip
    session.profile(options, os.environ, sys.stdout, sys.stderr)


def doctor() -> None:
    """Check driver, ncu, permissions, nvcc, CuPy: what works, what does not, what helps. Ends with 4 when profiling
    cannot work here."""
    from triage.ncu.doctor import examine, print_table, works
    from triage.ncu.machine import Machine

    def say(word: str) -> None:
        if sys.stderr.isatty():
            print(f"\r\033[K{word}", end="", file=sys.stderr, flush=True)

    checks = examine(Machine(), say=say)
    print_table(checks, sys.stdout)
    raise typer.Exit(0 if works(checks) else 4)
