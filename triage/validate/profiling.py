"""Profiles one calibration program with the triage set: one run of ncu, one report, a finding a kernel."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from triage.errors import NothingProfiled
from triage.model import Finding
from triage.ncu.collect import Prepared, collect, prepare
from triage.ncu.files import reserve
from triage.ncu.options import Options
from triage.ncu.present import read

if TYPE_CHECKING:
    from triage.rules import Rulebook

_TIMEOUT_S, _HANG_S = 180.0, 60.0


class Profiler:
    """ncu, ready to profile program after program: what the GPU has is asked once.

    Raises NcuFailed when there is no ncu, or when it does not run.
    """

    def __init__(self, rulebook: Rulebook, rules: tuple[Path, ...], folder: Path, env: Mapping[str, str]) -> None:
        from triage.rules import needed

        self._rulebook = rulebook
        self._folder = folder
        # Every launch counts here: no survey, no selection by time, no kernel left out by its name. The source is on
        # disk.
        self._options = Options(
            program=(),
            rules=rules,
            survey=False,
            all_kernels=True,
            import_source=False,
            timeout=_TIMEOUT_S,
            hang_timeout=_HANG_S,
            output=folder,
            quiet=True,
        )
        self._prepared: Prepared = prepare(self._options, needed(rulebook), env, None)

    @property
    def ncu_version(self) -> str:
        """The release of ncu, as ``2025.3.1``."""
        return self._prepared.ncu.version_text

    @property
    def notes(self) -> tuple[str, ...]:
        """What the plan says about this GPU, such as metrics that it does not have."""
        return self._prepared.notes

    def profile(self, program: Path, scale: float) -> dict[str, Finding]:
        """The kernels of ``program``, each launched once, by name. Raises NcuFailed, ProgramFailed, Interrupted, and
        NothingProfiled for a report without kernels."""
        from triage.diagnosis import report

        # Where checks are off, the program launches each kernel once and prints nothing but what it cannot run.
        command = (str(program.absolute()), "--no-check", "--scale", f"{scale:g}")
        files = reserve(self._folder, command, None)
        prepared = replace(self._prepared, options=replace(self._options, program=command))
        with _stdout_to_stderr():
            collected = collect(prepared, files, lambda line: None, sys.stderr)
        if collected.error is not None:
            raise collected.error
        assert collected.report is not None
        profile = read(collected.report, prepared.ncu, files.name)
        if not profile.kernels:
            raise NothingProfiled(f"{collected.report} holds no complete result", f"the log of ncu is {files.log}")
        made = report(profile, self._rulebook)
        return {finding.kernel.function: finding for finding in made.findings}


@contextmanager
def _stdout_to_stderr() -> Iterator[None]:
    """Programs under ncu inherit our streams; standard output belongs to the result alone."""
    sys.stdout.flush()
    kept = os.dup(1)
    try:
        os.dup2(2, 1)
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
