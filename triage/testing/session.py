"""What one run of pytest shares: rules and reports are read once, programs are profiled into a test's own folder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from triage.testing.faults import line

if TYPE_CHECKING:
    from triage.compare.model import Snapshot
    from triage.rules.rulebook import Rulebook


class Session:
    """``root`` is pytest's root folder; with ``strict`` what cannot be profiled here fails instead of being skipped."""

    def __init__(self, root: Path, strict: bool) -> None:
        self.root, self.strict = root, strict
        self._reports: dict[tuple[Path, int, int], Snapshot] = {}
        self._rules: Rulebook | None = None

    def rulebook(self) -> Rulebook:
        """The rules in force at the root folder."""
        if self._rules is None:
            from triage.team import rulebook_for

            self._rules = rulebook_for((), None, start=self.root)
        return self._rules

    def read(self, path: Path) -> Snapshot:
        """A report or a baseline, diagnosed; again only where the file has changed."""
        from triage.compare.commands import read
        from triage.paths import is_file

        status = path.stat() if is_file(path) else None
        key = (path, status.st_mtime_ns, status.st_size) if status else (path, 0, 0)
        if key not in self._reports:
            self._reports[key] = read(path, self.rulebook())
        return self._reports[key]

    def profile(self, command: tuple[str, ...], folder: Path, kernel: str | None) -> Path:
        """Run ``triage profile`` into ``folder``; the report it leaves. Skips the test without ncu or GPU."""
        import io

        import pytest

        from triage.errors import NcuFailed
        from triage.ncu.options import Options
        from triage.ncu.session import profile

        said = io.StringIO()
        options = Options(command, output=folder, kernel=kernel, formats=(), quiet=True)
        before = set(folder.glob("*.ncu-rep"))
        try:
            profile(options, os.environ, io.StringIO(), said)
        except NcuFailed as fault:
            if self.strict:
                raise
            pytest.skip(line(f"cannot profile here: {fault.message}"))
        made = sorted(set(folder.glob("*.ncu-rep")) - before)
        if not made:
            raise LookupError(f"profiling {command[0]} left no report: {said.getvalue().strip()[-300:]}")
        return made[-1]
