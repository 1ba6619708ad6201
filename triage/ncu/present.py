"""Turns what was collected into the reports that the user sees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from triage.asking import ask
from triage.errors import NcuFailed, UnreadableReport
from triage.model import Profile, Report
from triage.ncu import weights
from triage.ncu.collect import Collected
from triage.ncu.command import quoted
from triage.ncu.files import Files
from triage.ncu.find import Ncu
from triage.output import fill, write

if TYPE_CHECKING:
    from triage.rules import Rulebook

# ncu writes the CSV of a large report in minutes at worst.
_IMPORT_TIMEOUT_S = 600
# A kernel takes 30 kB with all its metrics; the table goes to disk, not through memory.
_IMPORT_BYTES = 8 << 30
# Where the table begins, behind what ncu logs before it.
_HEAD = 1 << 20
_FOLDER = "choose a folder with --output"


def read(path: Path, ncu: Ncu, rank_name: str) -> Profile:
    """The report at ``path``. Where it cannot be read directly (no ``ncu-report``, or one older than this ncu), ncu
    itself turns it into a CSV beside it, which is then read. Raises ``UnreadableReport`` when both ways fail."""
    from triage.readers import load

    try:
        return load(path)
    except UnreadableReport:
        table = path.with_name(f"{rank_name}.csv")
        if not _exported(path, ncu, table):
            raise
        return load(table)


class _NoTable(Exception):
    """ncu did not make a table of a report."""


def _exported(path: Path, ncu: Ncu, table: Path) -> bool:
    """Whether ncu turned the report at ``path`` into ``table``, which is complete or not there."""
    command = [str(ncu.path), "--import", str(path), "--csv", "--page", "raw", "--print-units", "base"]

    def make(draft: Path) -> None:
        with draft.open("w+b") as stream:
            said = ask(command, _IMPORT_TIMEOUT_S, _IMPORT_BYTES, into=stream)
            stream.seek(0)
            if said.status != 0 or b'"ID"' not in stream.read(_HEAD):
                raise _NoTable

    try:
        fill(table, make, _FOLDER)
    except _NoTable:
        return False
    return True


def diagnose(collected: Collected, profile: Profile, rulebook: Rulebook) -> Report:
    """The report on ``profile``: without warm-ups, with each kernel's share of the whole program's kernel time, with
    the warnings of the run and the command that made it."""
    from triage.diagnosis import report

    selection = collected.selection
    matched = weights.match(profile.kernels, selection) if selection is not None else {}
    made = report(weights.without_warmups(profile, matched), rulebook)
    if selection is not None:
        made = weights.with_shares(made, matched, selection.total_ns)
    warnings = (*made.warnings, *(warning for warning in collected.warnings if warning not in made.warnings))
    return replace(made, warnings=warnings, command=quoted(collected.command))


def write_pages(report: Report, files: Files, formats: Sequence[str]) -> list[Path]:
    """Write ``report`` in each of ``formats`` and say where."""
    from triage.renderers import render

    paths = []
    for format in formats:
        path = files.page(format)
        write(path, render(report, format), _FOLDER)
        paths.append(path)
    return paths


def missing(profile: Profile, asked: Sequence[str]) -> list[str]:
    """The metrics of ``asked`` that no kernel of the report has: ncu passes over a full name that it does not know
    without a word. Groups and patterns cannot be told."""
    names = [name for name in asked if ":" not in name and "." in name]
    return [name for name in names if not any(name in kernel.metrics for kernel in profile.kernels)]


def raise_if_empty(profile: Profile, path: Path) -> None:
    """Raises ``NcuFailed`` for a report without a result, which ncu leaves behind when it is killed."""
    if not profile.kernels:
        raise NcuFailed(f"{path} holds no complete result", "let the run reach its first kernel, or profile less")
