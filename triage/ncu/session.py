"""``triage profile`` from end to end: prepare, run, report, end with the right error."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from triage.errors import UsageError
from triage.model import Report
from triage.ncu.collect import Collected, Prepared, check_program, collect, dry_run, prepare
from triage.ncu.command import quoted
from triage.ncu.files import Files, program_name, reserve
from triage.ncu.options import Options
from triage.ncu.present import diagnose, missing, raise_if_empty, read, write_pages
from triage.ncu.ranks import Rank, finished, merge, this_rank
from triage.renderers.escape import clean, shorten

if TYPE_CHECKING:
    from triage.rules import Rulebook

# Characters of a line about the run: a kernel's name may be as long as a page.
_LONGEST_LINE = 2000


def profile(options: Options, env: Mapping[str, str], stdout: TextIO, stderr: TextIO) -> None:
    """Profile ``options.program`` and report. stdout gets the text report, behind the program's own output; stderr
    the progress and the paths of all files.

    Raises the error family: what prevents a report, and, after the report is out, what the run ended with (the
    program failed, the user interrupted).
    """
    from triage.rules import needed

    _check_formats(options.formats)
    rulebook = _rulebook(options)
    rank = this_rank(env)
    if not options.dry_run:
        check_program(options.program)
    prepared = prepare(options, needed(rulebook), env, rank)
    for note in prepared.notes:
        _say(note, stderr)
    if options.dry_run:
        files = Files(options.output, program_name(options.program), rank)
        for line in dry_run(prepared, files):
            print(quoted(line), file=stdout)
        return
    files = reserve(options.output, options.program, rank)
    try:
        collected = collect(prepared, files, lambda line: _say(line, stderr), stderr)
    except BaseException:
        _forget_empty(files)
        raise
    _report(prepared, collected, files, rulebook, stdout, stderr)
    if collected.error is not None:
        raise collected.error


def _say(line: str, stderr: TextIO) -> None:
    """One line for a person. It may quote ncu or a name, so nothing in it is left for a terminal to obey."""
    print(shorten(f"triage: {clean(line)}", _LONGEST_LINE), file=stderr, flush=True)


def _check_formats(formats: Sequence[str]) -> None:
    """A misspelt format is better refused before a long run than after it."""
    from triage.renderers import FORMATS

    for format in formats:
        if format not in FORMATS:
            raise UsageError(f"there is no report format {format!r}", f"choose one of {', '.join(FORMATS)}")


def _rulebook(options: Options) -> Rulebook:
    from triage.team import rulebook_for

    return rulebook_for(options.rules)


def _forget_empty(files: Files) -> None:
    """The reserved log is worth nothing when ncu never wrote to it."""
    with suppress(OSError):
        if files.log.is_file() and files.log.stat().st_size == 0:
            files.log.unlink()


def _report(
    prepared: Prepared, collected: Collected, files: Files, rulebook: Rulebook, stdout: TextIO, stderr: TextIO
) -> None:
    assert collected.report is not None
    data = read(collected.report, prepared.ncu, files.name)
    raise_if_empty(data, collected.report)
    if lacking := missing(data, prepared.plan.metrics):
        shown = ", ".join(lacking[:4]) + (f" and {len(lacking) - 4} more" if len(lacking) > 4 else "")
        collected = replace(collected, warnings=(*collected.warnings, f"asked for, but ncu reported none: {shown}"))
    report = diagnose(collected, data, rulebook)
    paths = write_pages(report, files, prepared.options.formats)
    if prepared.rank is None:
        _show(report, stdout)
    else:
        paths += _together(prepared, files, report, rulebook, stdout)
    for path in (collected.report, *paths):
        _say(f"wrote {path}", stderr)


def _together(prepared: Prepared, files: Files, report: Report, rulebook: Rulebook, stdout: TextIO) -> list[Path]:
    """The rank that finishes last reads all reports back and writes one over them."""
    from triage.diagnosis import report as make_report

    rank: Rank | None = prepared.rank
    assert rank is not None
    reports = finished(files.base, rank)
    if not reports:
        return []
    parts = [
        report
        if path == files.report
        else make_report(read(path, prepared.ncu, path.name.removesuffix(".ncu-rep")), rulebook)
        for path in reports
    ]
    together = merge(parts)
    _show(together, stdout)
    return write_pages(together, Files(files.folder, f"{files.stem}.ranks"), prepared.options.formats)


def _show(report: Report, stdout: TextIO) -> None:
    import shutil

    from triage.renderers import render

    color = stdout.isatty()
    sys.stdout.flush()
    stdout.write(render(report, "text", width=shutil.get_terminal_size((100, 24)).columns, color=color))
    stdout.flush()
