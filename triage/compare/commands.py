"""``triage diff``: parse, compare, render. Mounted by :mod:`triage.cli`."""

from __future__ import annotations

import shutil
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from triage.errors import GateFailed, ProgramFailed, UsageError
from triage.paths import INTERRUPTED, real

if TYPE_CHECKING:
    from triage.compare.model import Comparison, Snapshot
    from triage.compare.noise import Noise
    from triage.compare.selection import Launches
    from triage.rules.rulebook import Rulebook


class DiffFormat(StrEnum):
    """Output formats of a comparison."""

    html = "html"
    md = "md"
    json = "json"
    text = "text"


Base = Annotated[Path, typer.Argument(help="The report (or baseline) before.", show_default=False)]
Head = Annotated[Path, typer.Argument(help="The report after.", show_default=False)]
Format = Annotated[DiffFormat | None, typer.Option("-f", "--format", help="Output format [default: text].")]
Output = Annotated[Path | None, typer.Option("-o", "--output", help="Write to this file ('-': standard output).")]
LaunchRange = Annotated[
    str | None,
    typer.Option("--launches", metavar="A-B", help="Launches of each kernel to take; 0-4:5-9 for base and head."),
]
KernelGlob = Annotated[str | None, typer.Option("-k", "--kernel", metavar="GLOB", help="Only kernels named so.")]
RuleFolders = Annotated[list[Path], typer.Option("--rules", help="A folder of rule files laid over the shipped ones.")]
Cutoffs = Annotated[str | None, typer.Option("--profile", help="Threshold profile: guide, playbook or the team's own.")]
NoiseOption = Annotated[
    str | None, typer.Option("--noise", metavar="PERCENT", help="What a single launch may vary by [default: 5%].")
]
SameLimiterFlag = Annotated[
    bool,
    typer.Option(
        "--same-limiter", help="BASE and HEAD are a small and a large problem: exit code 10 unless the limiters agree."
    ),
]
FORMATS = {".html": "html", ".htm": "html", ".md": "md", ".markdown": "md", ".json": "json", ".txt": "text"}


def diff(
    base: Base,
    head: Head,
    format_: Format = None,
    output: Output = None,
    launches: LaunchRange = None,
    kernel: KernelGlob = None,
    noise: NoiseOption = None,
    same_limiter: SameLimiterFlag = False,
    rules: RuleFolders = [],  # noqa: B006 - Typer copies it
    profile: Cutoffs = None,
) -> None:
    """Say what moved between two reports, and whether it matters.

    Kernels are matched by name, launch shape, NVTX range and order. A duration counts as changed only beyond its
    noise, which repeated launches tell. Two reports that cannot be compared get the reason and no verdict.

    With --same-limiter: whether the limiters of a small and a large problem agree, so that profiling the small one is
    enough. Launch shapes and durations may differ then. Ends with 10 where they do not agree, or where nobody can tell.
    """
    from triage import commands
    from triage.compare import compare

    chosen = str(format_ or format_of(output))
    target = output or (Path("triage-diff.html") if chosen == "html" else None)
    commands.claim([target], [base, head], rules)
    rulebook = commands.rulebook(rules, profile)
    if same_limiter:
        _allow_at_two_sizes(chosen, noise)
    before, after = sides(base, head, rulebook, launches=launches, kernel=kernel)
    if same_limiter:
        conclude_sizes(before, after, chosen, output)
        return
    text = rendered(compare(before, after, rulebook, noise_of(noise)), chosen, output)
    write(text, target)
    raise_if_failed(before, after)


def _allow_at_two_sizes(format_: str, noise: str | None) -> None:
    """Refuse what a comparison of limiters cannot honour, before anything is read."""
    if format_ == "html":
        raise UsageError("--same-limiter makes no page", "choose -f text, md or json")
    if noise is not None:
        raise UsageError("--noise is about durations, which --same-limiter does not compare", "leave one of them out")


def conclude_sizes(small: Snapshot, large: Snapshot, format_: str, output: Path | None) -> None:
    """Show whether the limiters agree at two sizes. Raises :class:`GateFailed` unless they are known to."""
    from triage.compare.sizes import same_limiter
    from triage.renderers import sizes

    result = same_limiter(small, large)
    width, color = _terminal(output, format_)
    write(sizes.render(result, format_, width=width, color=color), output)
    if result.answer != "same":
        raise GateFailed(sizes.headline(result).removesuffix("."), sizes.advice(result))
    raise_if_failed(small, large)


def sides(
    base: Path, head: Path, rulebook: Rulebook, *, launches: str | None = None, kernel: str | None = None
) -> tuple[Snapshot, Snapshot]:
    """Both files as snapshots; either may be a baseline, whose launches cannot be selected any more."""
    from triage.compare.selection import parse
    from triage.renderers.escape import clean

    first, second = parse(launches)
    same = real(base) == real(head)
    if same and first == second:
        print(f"note: {clean(str(base))} is compared with itself", file=sys.stderr)
    return read(base, rulebook, first, kernel), read(head, rulebook, second, kernel)


def read(file: Path, rulebook: Rulebook, launches: Launches | None = None, kernel: str | None = None) -> Snapshot:
    """A report or a baseline as a snapshot."""
    from dataclasses import replace

    from triage import commands
    from triage.choosing import matches
    from triage.compare.selection import Launches, select
    from triage.compare.snapshot import snapshot
    from triage.gates.baseline_form import form_of
    from triage.gates.baseline_load import load

    wanted = launches or Launches()
    if form_of(file) is not None:
        loaded = load(file)
        if wanted != Launches():
            raise UsageError(f"{file} is a baseline: its launches are folded", "select launches of reports only")
        return replace(loaded, states=tuple(state for state in loaded.states if matches(state.kernel, kernel)))
    report = commands.diagnosed([file], rulebook, command=commands.said(sys.argv))
    if any(warning.startswith(INTERRUPTED) for warning in report.warnings):
        # Half a report would show as removed kernels.
        raise KeyboardInterrupt
    return snapshot(select(report, wanted, kernel))


def raise_if_failed(*sides: Snapshot) -> None:
    """A comparison with the report of a program that failed is shown; then the exit code says so."""
    for snapshot in sides:
        for warning in snapshot.warnings:
            if warning.startswith("program failed"):
                raise ProgramFailed(
                    f"{snapshot.path}: the {warning}", "kernels after its end are missing from the comparison"
                )


def noise_of(text: str | None) -> Noise:
    """The noise settings that ``--noise`` asks for."""
    from triage.compare.noise import Noise
    from triage.gates import values

    if text is None:
        return Noise()
    try:
        single = values.share(text)
    except ValueError as fault:
        raise UsageError(f"--noise: {fault}", "write --noise 3%") from None
    return Noise(floor=min(Noise().floor, single), single=single, short=max(Noise().short, single))


def rendered(comparison: Comparison, format_: str, output: Path | None) -> str:
    """The comparison in a format, in the width and with the colours of the terminal it goes to."""
    from triage.renderers.diff import render

    width, color = _terminal(output, format_)
    return render(comparison, format_, width=width, color=color)


def _terminal(output: Path | None, format_: str) -> tuple[int, bool]:
    """The width to write for, and whether in colours."""
    to_terminal = (output is None or str(output) == "-") and sys.stdout.isatty()
    width = min(shutil.get_terminal_size((80, 24)).columns, 120) if to_terminal else 80
    return width, to_terminal and format_ == "text"


def write(text: str, target: Path | None) -> None:
    """To the file, or to standard output."""
    from triage import commands
    from triage import output as out

    if target is None or str(target) == "-":
        out.show(text)
        return
    out.write(target, text)
    commands.say_written(target)


def format_of(target: Path | None) -> str:
    """The format that a file's suffix names; text without a file."""
    if target is None or str(target) == "-":
        return "text"
    found = FORMATS.get(target.suffix.lower())
    if found is None:
        raise UsageError(f"the suffix of {target} names no format", "give one with -f html, md, json or text")
    return found
