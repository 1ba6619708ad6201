"""Writes result files whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from triage.errors import UsageError


def write_text(path: Path, text: str) -> None:
    """Write ``text`` to a file beside ``path``, then rename it. Raises UsageError when the place cannot be written."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            draft.write_text(text.rstrip("\n") + "\n", encoding="utf-8")
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}", "choose another place") from error
