"""Finds and reads ``triage.yaml``, and makes the rulebook that is in force where a command runs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from triage import arguments
from triage.errors import FaultyRules, TriageError
from triage.paths import is_dir, is_file, real
from triage.rules import checks
from triage.rules.layers import Layer, team_parts
from triage.rules.loader import DEFAULT_PROFILE, load_rulebook, shipped_layer
from triage.rules.rulebook import Rulebook
from triage.rules.yamlfile import Document, Map, read
from triage.team.kernels import read_kernels
from triage.team.model import ReportOptions, Team
from triage.team.packs import read_packs
from triage.team.shapes import REPORT, TEAM

NAME = "triage.yaml"
_REPORTS = (".html", ".htm", ".md", ".json", ".txt")


def find(start: Path) -> Path | None:
    """``triage.yaml`` in ``start`` or a folder above it, no further than the root of the repository (the folder that
    holds ``.git``)."""
    here = Path(real(start))
    for folder in (here, *here.parents):
        # What is there and cannot be read (a link that leads nowhere, a folder) is a fault, not the absence of a file:
        # it would switch every gate of the team off.
        if os.path.lexists(folder / NAME):
            return folder / NAME
        if (folder / ".git").exists():
            return None
    return None


def here() -> Path | None:
    """The working directory; ``None`` where it is gone (deleted, unmounted): nothing is found from there upwards, and
    files with a full path can still be read."""
    try:
        return Path.cwd()
    except OSError:
        return None


def load(start: Path | None = None) -> Team:
    """The team's file for the folder ``start`` (the working directory by default), or the one that ``start`` names;
    an empty :class:`Team` where there is none. Raises :class:`FaultyRules` with every fault of the file itself; the
    faults of its rules come with :func:`rulebook_for`."""
    team = examine(start)
    if team.document is not None and team.document.faults:
        raise faulty(team.document)
    return team


def examine(start: Path | None = None) -> Team:
    """The same without raising: the faults are in ``team.document``."""
    start = arguments.path(start, "start") if start is not None else here()
    if start is None:
        return Team()
    path = find(start) if is_dir(start) else start
    if path is None:
        return Team()
    document = read(path, _shown(path))
    root = document.root
    if not isinstance(root, Map):
        if not document.faults:
            document.at((1, 1), "type", f"{NAME} is a map: rules, overrides, kernels, gates, ...")
        return Team(path=path, document=document)
    checks.keys(document, root, TEAM)
    checks.texts(document, root, "counters")
    own = Layer(document.shown, "team", [document], team_parts(document, root), None)
    return Team(
        path=path,
        layers=(*read_packs(document, root), own),
        profile=checks.text(document, root, "profile"),
        expectations=tuple(read_kernels(document, root)),
        gates=root.get("gates"),
        roofs=_roofs(document, root),
        report=_report(document, root),
        document=document,
    )


def rulebook_for(
    folders: Iterable[Path] = (), profile: str | None = None, *, start: Path | None = None, team: Team | None = None
) -> Rulebook:
    """The rules in force: those that ship, the team's packs, its ``triage.yaml`` (found from ``start`` upwards), then
    ``folders`` from the command line. ``profile`` is what the command line says, ``None`` leaves it to the team.

    Raises :class:`FaultyRules` with every fault of every file.
    """
    team = team if team is not None else examine(start)
    if team.document is not None and any(fault.code == "unreadable" for fault in team.document.faults):
        raise faulty(team.document)
    paths = [_shown(team.path)] if team.path is not None else []
    return load_rulebook(
        [*paths, *arguments.paths(folders, "folders")], profile=profile or team.profile or DEFAULT_PROFILE
    )


def pack_folders(start: Path | None = None) -> list[Path]:
    """The folders of the team's packs, in order: they may hold more than rules (metric sets)."""
    return [layer.folder for layer in examine(start).layers if layer.folder is not None]


def layers_of(team: Team, more: Sequence[Layer] = ()) -> list[Layer]:
    """Every layer in order: shipped, packs, team, command line."""
    return [shipped_layer(), *team.layers, *more]


def faulty(document: Document) -> FaultyRules:
    """The error for a file with faults."""
    lines = tuple(str(fault) for fault in sorted(set(document.faults)))
    return FaultyRules(
        f"{len(lines)} fault{'s' if len(lines) != 1 else ''} in {document.shown}", "mend the lines above", details=lines
    )


def _shown(path: Path) -> str:
    """The path as messages print it: as seen from the working directory."""
    if here() is None:
        return path.as_posix()
    return Path(os.path.relpath(path)).as_posix()


def _roofs(document: Document, root: Map) -> Path | None:
    if "roofs" not in root:
        return None
    text = checks.text(document, root, "roofs")
    home = document.path.resolve().parent
    path = home / text
    if _leads_out(home, text):
        document.fault(root, "roofs", "outside", f"{text!r} points outside of the folder of {document.path.name}")
        return None
    if not is_file(path):
        document.fault(root, "roofs", "missing-file", f"there is no file {text!r}")
        return None
    from triage.diagnosis.roofs import read_roofs

    try:
        read_roofs(path)
    except TriageError as fault:
        document.fault(root, "roofs", "value", fault.message)
        return None
    return path


def _report(document: Document, root: Map) -> ReportOptions:
    value = root.get("report", Map())
    if not isinstance(value, Map):
        document.fault(root, "report", "type", "'report' is {format: ..., output: ...}")
        return ReportOptions()
    checks.keys(document, value, REPORT)
    text = checks.text(document, value, "output")
    home = document.path.resolve().parent
    if text and _leads_out(home, text):
        document.fault(value, "output", "outside", f"{text!r} points outside of the folder of {document.path.name}")
    elif text and ("\0" in text or Path(text).suffix.lower() not in _REPORTS):
        # It is overwritten without a question: no file of the team's own sources may stand there.
        document.fault(value, "output", "value", f"{text!r} is no name of a report: it ends in {', '.join(_REPORTS)}")
    chosen = ""
    if "format" in value:
        chosen = checks.choice(document, value, "format", ("html", "md", "json", "text"), "text")
    maps = [_map(document, value, home, pair) for pair in checks.texts(document, value, "source_map")]
    return ReportOptions(chosen, str(home / text) if text else "", tuple(maps))


def _map(document: Document, value: Map, home: Path, pair: str) -> str:
    """A source map with its folder as seen from the file that names it: what lies there may end in a report."""
    start, sign, folder = pair.partition("=")
    if not sign or not start or not folder or "\0" in folder:
        document.fault(value, "source_map", "value", f"{pair!r} is no map: write FROM=TO")
    elif _leads_out(home, folder):
        message = f"{folder!r} points outside of the folder of {document.path.name}; give it with --source-map"
        document.fault(value, "source_map", "outside", message)
    return f"{start}={home / folder}"


def _leads_out(home: Path, text: str) -> bool:
    """Whether a path of the file leaves its folder, links followed."""
    return Path(text).is_absolute() or not Path(real(home / text)).is_relative_to(home)
