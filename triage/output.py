"""Where text goes: standard output, or a file. The only place that creates files for users.

A file is written beside its place and then renamed, so that none is half-written; links are followed. What exists and
is no regular file (a pipe, a device) is written straight into: renaming over it would destroy it.
"""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from triage.errors import TriageError, UsageError
from triage.paths import expand, is_dir, real, walk

_ELSEWHERE = "choose another place with -o"
_RULES = (".yaml", ".yml", ".lock")


def claim(outputs: Iterable[Path | None], reports: Iterable[Path] = (), others: Iterable[Path] = ()) -> None:
    """Refuse, before anything is read, outputs that would destroy what the command reads or each other.

    ``reports`` are files, folders and patterns as the command line takes them, ``others`` files, and folders of rules.
    ``-`` and ``None`` are no files, but standard output takes one of them alone. Raises :class:`UsageError`.
    """
    outputs = list(outputs)
    if sum(map(is_standard, outputs)) > 1:
        raise UsageError("standard output ('-') is asked for more than once", "write the others to files")
    files = [path for path in outputs if path is not None and not is_standard(path)]
    seen: dict[object, Path] = {}
    for path in files:
        status = _status(path)
        if status is not None and not stat.S_ISREG(status.st_mode):
            continue
        # One that does not exist yet is known by its name.
        key = (status.st_dev, status.st_ino) if status is not None else real(path)
        if key in seen:
            raise UsageError(f"{seen[key]} and {path} are the same file", "give each output a file of its own")
        seen[key] = path
    existing = {key: path for key, path in seen.items() if isinstance(key, tuple)}
    if not existing:
        return
    read: list[Path] = []
    with suppress(TriageError):
        # What cannot be found is said when it is read.
        read = expand(list(reports))[0]
    for source in (*read, *_files(others)):
        status = _status(source)
        if status is not None and (hit := existing.get((status.st_dev, status.st_ino))) is not None:
            raise UsageError(f"{hit} is read by this command, which would overwrite it", _ELSEWHERE)


def write(path: Path, text: str, hint: str = _ELSEWHERE) -> None:
    """Write ``text`` to ``path`` in one step; the folder must exist. Raises :class:`UsageError` with ``hint`` when it
    cannot."""
    # A lone surrogate is half a character, or a byte of a name that is no text: it is shown, and never an error.
    data = text.encode("utf-8", "backslashreplace")

    def save(draft: Path) -> None:
        draft.write_bytes(data)

    fill(path, save, hint)


def fill(path: Path, make: Callable[[Path], None], hint: str = _ELSEWHERE) -> None:
    """Have ``make`` write a draft and put it at ``path`` in one step. Raises :class:`UsageError` when it cannot."""
    try:
        status = _found(path)
        if status is not None and stat.S_ISDIR(status.st_mode):
            raise UsageError(f"{path} is a folder", "give a file name with -o")
        if status is not None and not stat.S_ISREG(status.st_mode):
            _into(path, make)
        elif status is not None and (stream := _standard(status)) is not None:
            _into(stream, make)
        else:
            _beside(Path(os.path.realpath(path)), make, status)
    except (OSError, ValueError) as fault:
        raise UsageError(f"cannot write {path}: {_reason(fault)}", hint) from None


def folder(path: Path, hint: str = _ELSEWHERE) -> None:
    """Make the folder ``path``, and those above it. Raises :class:`UsageError` when it cannot."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as fault:
        raise UsageError(f"cannot make the folder {path}: {_reason(fault)}", hint) from None


def is_standard(path: Path | None) -> bool:
    """Whether an output was asked for on standard output (``-``)."""
    return path is not None and str(path) == "-"


def show(text: str, *, aside: bool = False) -> None:
    """Print ``text`` to standard output, or ``aside`` to standard error where standard output carries a document;
    characters that the terminal cannot encode are replaced."""
    stream = sys.stderr if aside else sys.stdout
    encoding = stream.encoding or "utf-8"
    stream.write(text.encode(encoding, "replace").decode(encoding))
    if not text.endswith("\n"):
        stream.write("\n")
    stream.flush()


def _beside(place: Path, make: Callable[[Path], None], status: os.stat_result | None) -> None:
    if status is not None and not os.access(place, os.W_OK):
        raise PermissionError(0, "it is write-protected")
    # The name of the draft does not grow with that of the file, which may be as long as a name can be.
    handle, name = tempfile.mkstemp(dir=place.parent, prefix=".triage-")
    os.close(handle)
    draft = Path(name)
    try:
        make(draft)
        draft.chmod(stat.S_IMODE(status.st_mode) if status is not None else _new_file())
        draft.replace(place)
    finally:
        draft.unlink(missing_ok=True)


def _into(place: Path | int, make: Callable[[Path], None]) -> None:
    with tempfile.TemporaryDirectory(prefix="triage-") as scratch:
        draft = Path(scratch) / "draft"
        make(draft)
        if isinstance(place, int):
            sys.stdout.flush()
        with open(place, "wb", closefd=not isinstance(place, int)) as file:
            file.write(draft.read_bytes())


def _standard(status: os.stat_result) -> int | None:
    """The standard stream that already writes to this file (``/dev/stdout``): a new file would cut it off."""
    for number in (1, 2):
        with suppress(OSError):
            if os.path.samestat(os.fstat(number), status):
                return number
    return None


def _new_file() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _found(path: Path) -> os.stat_result | None:
    """What is there. A link that leads nowhere is nothing yet; one that leads in a circle is an error."""
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except (OSError, ValueError):
        return None


def _files(places: Iterable[Path]) -> Iterable[Path]:
    for place in places:
        if is_dir(place):
            yield from (Path(where) / name for where, _, names in walk(place) for name in names if _is_rule(name))
        else:
            yield place


def _is_rule(name: str) -> bool:
    return name.endswith(_RULES)


def _reason(fault: Exception) -> str:
    return (fault.strerror or type(fault).__name__) if isinstance(fault, OSError) else "not a valid path"
