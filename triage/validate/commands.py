"""The command of this room, for the command line to mount: ``validate``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Form(StrEnum):
    """Output formats of a validation."""

    TEXT = "text"
    JSON = "json"
    MD = "md"


class Cutoffs(StrEnum):
    """Threshold profiles."""

    guide = "guide"
    playbook = "playbook"


Names = Annotated[list[str] | None, typer.Argument(help="Programs, kernels or limiter ids. Default: all.")]
Scale = Annotated[str, typer.Option("--scale", help="Sizes of the problem, separated by commas; 1 is the normal size.")]
Repeat = Annotated[bool, typer.Option("--repeat", help="Profile everything twice: the verdicts must stay.")]
From = Annotated[
    list[Path] | None,
    typer.Option("--from", help="Run nothing: judge a JSON of an earlier run, or labels beside a capture; repeatable."),
]
Ncu = Annotated[
    list[Path] | None,
    typer.Option(
        "--ncu-advice", help="A report of these kernels with results of ncu's own rules, to score beside ours."
    ),
]
Rules = Annotated[list[Path] | None, typer.Option("--rules", help="A folder of rule files laid over the shipped ones.")]
Thresholds = Annotated[Cutoffs, typer.Option("--profile", help="Threshold profile.")]
Folder = Annotated[Path, typer.Option("--folder", help="Folder for programs, reports and logs.")]
Output = Annotated[
    Path | None, typer.Option("-o", "--output", help="Write to this file; the suffix chooses the format.")
]
Chosen = Annotated[Form | None, typer.Option("-f", "--format", help="text (default), json, or md: a page.")]


def validate(
    names: Names = None,
    scale: Scale = "1",
    repeat: Repeat = False,
    earlier: From = None,
    advice: Ncu = None,
    rules: Rules = None,
    thresholds: Thresholds = Cutoffs.guide,
    folder: Folder = Path("triage-validate"),
    format_: Chosen = None,
    output: Output = None,
) -> None:
    """Run kernels whose limiter is known on this GPU and compare every verdict with it.

    Builds the calibration programs, times each kernel and its repaired twin, profiles them, and prints the confusion
    matrix, the wrong verdicts with their walk, and each measured speed-up beside the stated bound. Ends with 10 when
    something does not hold, and with 4 without nvcc, ncu or a GPU.
    """
    from triage import commands
    from triage.validate import session

    commands.claim([output], [], [*(earlier or []), *(advice or []), *(rules or [])])
    request = session.request(names or [], scale, repeat, rules or [], thresholds, folder)
    found = session.earlier(request, earlier) if earlier else session.run(request)
    found = session.advised(found, advice or [])
    session.show(found, request, format_, output)
    session.raise_on_faults(found)
