"""The files that a command line names: folders and patterns spelt out."""

from __future__ import annotations

import fnmatch
import glob
import os
import re
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from triage.errors import UnreadableReport

# How the warning of a report begins that was cut short by the user.
INTERRUPTED = "interrupted"
_REPORTS = (".ncu-rep", ".ncu-repz", ".csv")
# More files than any run leaves; a folder such as / would be searched for hours otherwise.
_MOST_FILES = 100_000


def expand(paths: Sequence[Path]) -> tuple[list[Path], list[str]]:
    """Every report that ``paths`` name, each once, and a sentence for each folder without any.

    A folder stands for the reports in it and below (``.ncu-rep``, ``.ncu-repz``, ``.csv``; links to folders are not
    followed), a name with ``*``, ``?`` or ``[`` that is no file for what it matches. Names of files stand for
    themselves, whatever their suffix. Raises :class:`UnreadableReport` where nothing is left.
    """
    found: dict[str, Path] = {}
    empty: list[str] = []
    for path in paths:
        own = list(_reports(path))
        for file in own:
            found.setdefault(real(file), file)
        if not own:
            empty.append(f"{path}: no report in it")
        if len(found) > _MOST_FILES:
            raise UnreadableReport(f"{path}: more than {_MOST_FILES:,} files", "name a smaller folder")
    if not found:
        what = ", ".join(_REPORTS)
        raise UnreadableReport(empty[0] if empty else "no file was given", f"name reports, or a folder of {what}")
    return list(found.values()), empty


def _reports(path: Path) -> Iterator[Path]:
    if is_dir(path):
        yield from _inside(path)
    elif "**" in path.parts and not exists(path):
        yield from _matching(path)
    elif glob.has_magic(str(path)) and not exists(path):
        for match in sorted(glob.glob(str(path), recursive=True)):  # noqa: PTH207 - pathlib takes no absolute pattern
            # A pattern that also matches folders and notes is meant for the reports among them.
            if Path(match).suffix.lower() in _REPORTS and not is_dir(Path(match)):
                yield Path(match)
    else:
        yield path


def _matching(pattern: Path) -> Iterator[Path]:
    """What a pattern with ``**`` matches. Links to folders are not followed: two that point upwards never end."""
    parts = pattern.parts
    first = next(place for place, part in enumerate(parts) if glob.has_magic(part))
    base = Path(*parts[:first])
    rest = "".join("(?:[^/]+/)*" if part == "**" else f"{_segment(part)}/" for part in parts[first:])
    if parts[-1] == "**":
        rest += "[^/]+/"
    match = re.compile(rest).fullmatch
    for path in _inside(base):
        if match(f"{path.relative_to(base).as_posix()}/"):
            yield path


def _segment(part: str) -> str:
    """A part of a pattern as a regular expression that stays between two slashes."""
    return fnmatch.translate(part).removesuffix(r"\Z").removesuffix(r"\z").replace(".*", "[^/]*")


def _inside(folder: Path) -> Iterator[Path]:
    for where, _, names in walk(folder):
        for name in names:
            if Path(name).suffix.lower() in _REPORTS:
                yield Path(where) / name


def walk(top: Path) -> Iterator[tuple[str, list[str], list[str]]]:
    """Every folder from ``top`` downwards with its folders and files, sorted; of the folders, those that the caller
    leaves in the list are gone into. Like ``os.walk``, which ends in a recursion error where folders are nested deeply.
    Links to folders count as files; what cannot be listed is passed over."""
    waiting = [str(top)]
    while waiting:
        where = waiting.pop()
        folders: list[str] = []
        names: list[str] = []
        try:
            with os.scandir(where) as entries:
                for entry in entries:
                    (folders if entry.is_dir(follow_symlinks=False) else names).append(entry.name)
        except OSError:
            continue
        folders.sort()
        names.sort()
        yield where, folders, names
        waiting += [os.path.join(where, name) for name in reversed(folders)]  # noqa: PTH118 - many, as text


def real(path: Path) -> str:
    """What tells a file from others, whatever name it is given: its path without links. A name that no file can have,
    and a link that leads in a circle, is its own."""
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return str(path)


def is_dir(path: Path) -> bool:
    """Whether there is a folder; no for a name that no file can have (too long, a NUL in it), which pathlib raises."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def is_file(path: Path) -> bool:
    """The same for a regular file."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def read(path: Path, most: int) -> bytes:
    """The first ``most`` bytes of a regular file. Raises ``OSError`` for anything else: a pipe would be waited for."""
    # O_NONBLOCK: should the file be swapped for a pipe between stat and open, this does not hang.
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise OSError(0, "not a regular file")
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except ValueError:
        raise OSError(0, "not a valid path") from None
    with os.fdopen(descriptor, "rb") as file:
        return file.read(most)


def exists(path: Path) -> bool:
    try:
        return os.path.lexists(path)
    except (OSError, ValueError):
        return True
