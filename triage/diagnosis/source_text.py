"""Source text from disk for lines whose report did not import it, and never from outside the folder that is mapped."""

from __future__ import annotations

import re
import stat
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from triage.errors import UsageError
from triage.model import LineFinding, Report
from triage.paths import is_dir

# A source file is read whole; what is larger than this (bytes) is none.
_LARGEST = 8_000_000
# As long as a line of source gets in a report.
_LONGEST = 2_000


@dataclass(frozen=True, slots=True)
class SourceMap:
    """Files that the report knows below ``start`` (components of a path) lie below the folder ``folder`` here."""

    start: tuple[str, ...]
    folder: Path


def read_map(text: str) -> SourceMap:
    """``FROM=TO`` as given on the command line; raises :class:`UsageError` where it is no such pair or TO no folder."""
    start, sign, folder = text.partition("=")
    if not sign or not start or not folder:
        raise UsageError(f"{text!r} is no source map", "give --source-map FROM=TO, two folders")
    place = Path(folder)
    if not is_dir(place):
        raise UsageError(f"the folder {folder} of the source map does not exist", "give --source-map FROM=TO")
    return SourceMap(_parts(start), place.resolve())


def with_source(report: Report, maps: Sequence[SourceMap]) -> Report:
    """The report with source text where it had none, read through the first map that fits and has the file."""
    files: dict[str, tuple[str, ...] | None] = {}

    def told(line: LineFinding) -> LineFinding:
        if line.text is not None:
            return line
        if line.file not in files:
            files[line.file] = _read(line.file, maps)
        lines = files[line.file]
        if lines is None or not 1 <= line.line <= len(lines):
            return line
        return replace(line, text=lines[line.line - 1][:_LONGEST])

    findings = tuple(
        replace(
            finding,
            diagnosis=replace(finding.diagnosis, lines=tuple(told(line) for line in finding.diagnosis.lines)),
        )
        if finding.diagnosis.lines
        else finding
        for finding in report.findings
    )
    absent = sorted(file for file, lines in files.items() if lines is None)
    if not absent:
        return replace(report, findings=findings)
    more = f" and {len(absent) - 1} more" if len(absent) > 1 else ""
    note = f"no source for {absent[0]}{more} in the source maps"
    return replace(report, findings=findings, warnings=(*report.warnings, note))


def _read(file: str, maps: Sequence[SourceMap]) -> tuple[str, ...] | None:
    parts = _parts(file)
    for each in maps:
        rest = parts[len(each.start) :]
        if parts[: len(each.start)] != each.start or not rest or ".." in rest:
            continue
        found = _lines(each.folder, rest)
        if found is not None:
            return found
    return None


def _lines(folder: Path, rest: tuple[str, ...]) -> tuple[str, ...] | None:
    try:
        # Links are followed first: what lies outside the folder is not read, whatever the report or a link says.
        place = folder.joinpath(*rest).resolve(strict=True)
        if not place.is_relative_to(folder):
            return None
        state = place.stat()
        if not stat.S_ISREG(state.st_mode) or state.st_size > _LARGEST:
            return None
        text = place.read_bytes().decode("utf-8", "replace")
    except (OSError, ValueError, RuntimeError):
        return None
    return tuple(line.rstrip("\r") for line in text.split("\n"))


def _parts(path: str) -> tuple[str, ...]:
    """The components of a POSIX or Windows path; a leading slash is kept as an empty one."""
    parts = re.split(r"[/\\]", path)
    return tuple(part for place, part in enumerate(parts) if (part and part != ".") or place == 0)
