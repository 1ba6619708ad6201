"""Finds ``ncu`` and learns what this release of it can do.

Releases differ in defaults and options, so nothing is taken for granted: :func:`inspect` asks ``--version`` and
``--help``, and the planner passes every setting it relies on explicitly.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from triage.asking import Run, ask
from triage.errors import NcuFailed
from triage.numerals import whole

# Where installers put it: CUDA toolkits, the stand-alone package, the .run installer of older releases.
INSTALL_GLOBS = (
    "usr/local/cuda*/bin/ncu",
    "opt/nvidia/nsight-compute/*/ncu",
    "usr/local/NVIDIA-Nsight-Compute*/ncu",
    "usr/local/cuda*/nsight-compute*/ncu",
    "opt/nvidia/hpc_sdk/Linux_*/*/compilers/bin/ncu",
)
_VERSION = re.compile(r"Version\s+(\d{1,9})\.(\d{1,9})\.(\d{1,9})")
_OPTION = re.compile(r"--([a-z][a-z0-9-]+)")

# Seconds for a version or a page of help: ncu answers in one, from a cold network disk in several.
ANSWER_S = 15


@dataclass(frozen=True, slots=True)
class Ncu:
    """An ``ncu`` that answered. ``version`` is (year, release, patch), ``(0, 0, 0)`` when it did not say;
    ``options`` the long options its help names, empty when the help could not be read."""

    path: Path
    version: tuple[int, int, int] = (0, 0, 0)
    options: frozenset[str] = frozenset()

    @property
    def version_text(self) -> str:
        """``2025.3.1``, or ``unknown``."""
        return ".".join(map(str, self.version)) if any(self.version) else "unknown"

    def has(self, option: str) -> bool:
        """Whether this release knows the long option ``option`` (without dashes). Yes when its help said nothing."""
        return not self.options or option in self.options


def candidates(env: Mapping[str, str], root: Path = Path("/")) -> Iterator[tuple[str, Path]]:
    """Every place where ``ncu`` may be, best first, each with a word on why: ``$NCU``, ``PATH``, the toolkit that
    ``$CUDA_HOME`` or ``$CUDA_PATH`` names, install folders under ``root`` (newest version first)."""
    if asked := env.get("NCU"):
        path = Path(asked).expanduser()
        found = shutil.which(asked, path=env.get("PATH", "")) if path.name == asked else None
        yield "$NCU", path / "ncu" if path.is_dir() else Path(found or path)
        return
    if found := shutil.which("ncu", path=env.get("PATH", "")):
        yield "PATH", Path(found)
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        if toolkit := env.get(variable):
            yield f"${variable}", Path(toolkit) / "bin" / "ncu"
    for pattern in INSTALL_GLOBS:
        for path in sorted(root.glob(pattern), key=_by_version, reverse=True):
            yield "install folder", path


def _by_version(path: Path) -> tuple[int, ...]:
    return tuple(whole(number) or 0 for number in re.findall(r"[0-9]+", str(path)))


def locate(env: Mapping[str, str], root: Path = Path("/")) -> Path:
    """The ``ncu`` to use. Raises ``NcuFailed`` when there is none, or when ``$NCU`` names none."""
    for why, path in candidates(env, root):
        if path.is_file() and os.access(path, os.X_OK):
            return path
        if why == "$NCU":
            raise NcuFailed(f"$NCU is {env['NCU']!r}, which is no program", "set NCU to the ncu program, or unset it")
    raise NcuFailed(
        "ncu, the Nsight Compute command line, was not found",
        "install Nsight Compute (it comes with the CUDA toolkit), or set NCU=/path/to/ncu",
    )


def inspect(path: Path, run: Run = ask) -> Ncu:
    """Ask the program at ``path`` for its version and options. Raises ``NcuFailed`` when it does not even start."""
    said = run([str(path), "--version"], ANSWER_S)
    match = _VERSION.search(said.text)
    if said.broken or (said.status != 0 and match is None):
        raise NcuFailed(
            f"{path} does not run: {said.words('it said nothing')}",
            f"try it by hand: {path} --version; reinstall Nsight Compute, or set NCU=/path/to/ncu",
        )
    version = (int(match[1]), int(match[2]), int(match[3])) if match else (0, 0, 0)
    told = run([str(path), "--help"], ANSWER_S)
    # Half a page of help would make options look unknown that are not.
    options = frozenset() if told.broken else frozenset(_OPTION.findall(told.text))
    return Ncu(path, version, options)
