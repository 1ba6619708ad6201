"""Where text goes: standard output, or a file that is written beside and then renamed, so that none is half-written."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from triage.errors import UsageError


def write(path: Path, text: str) -> None:
    """Write ``text`` to ``path`` in one step; the folder must exist. Raises :class:`UsageError` when it cannot."""
    if path.is_dir():
        raise UsageError(f"{path} is a folder", "give a file name with -o")
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as fault:
        raise UsageError(f"cannot write to {path}: {fault.strerror}", "choose another place with -o") from None
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        mask = os.umask(0)
        os.umask(mask)
        Path(temporary).chmod(0o666 & ~mask)
        Path(temporary).replace(path)
    except OSError as fault:
        Path(temporary).unlink(missing_ok=True)
        raise UsageError(f"cannot write {path}: {fault.strerror}", "choose another place with -o") from None


def show(text: str) -> None:
    """Print ``text`` to standard output; characters that the terminal cannot encode are replaced."""
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "replace").decode(encoding))
    if not text.endswith("\n"):
        sys.stdout.write("\n")
    sys.stdout.flush()
