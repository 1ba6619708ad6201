"""Finds ``ncu`` and learns what this release of it can do.

Releases differ in defaults and options, so nothing is taken for granted: :func:`inspect` asks ``--version`` and
``--help``, and the planner passes every setting it relies on explicitly.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from triage.errors import NcuFailed

# Where installers put it: CUDA toolkits, the stand-alone package, the .run installer of older releases.
INSTALL_GLOBS = (
    "usr/local/cuda*/bin/ncu",
    "opt/nvidia/nsight-compute/*/ncu",
    "usr/local/NVIDIA-Nsight-Compute*/ncu",
    "usr/local/cuda*/nsight-compute*/ncu",
    "opt/nvidia/hpc_sdk/Linux_*/*/compilers/bin/ncu",
)
_VERSION = re.compile(r"Version\s+(\d+)\.(\d+)\.(\d+)")
_OPTION = re.compile(r"--([a-z][a-z0-9-]+)")

Run = Callable[[Sequence[str], float], "Said"]


@dataclass(frozen=True, slots=True)
class Said:
    """What a helper program answered. ``status`` is its exit status, ``text`` stdout and stderr together."""

    status: int
    text: str


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


def ask(command: Sequence[str], timeout: float) -> Said:
    """Run a short helper program and gather what it says. A program that cannot start says why, with status 127;
    one that outlives ``timeout`` seconds ends with status 124."""
    try:
        done = subprocess.run(
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=timeout,
            check=False,
            env=os.environ | {"LC_ALL": "C"},
        )
    except subprocess.TimeoutExpired as late:
        return Said(124, (late.output or b"").decode("utf-8", "replace"))
    except OSError as fault:
        return Said(127, f"{command[0]}: {fault.strerror}")
    return Said(done.returncode, done.stdout.decode("utf-8", "replace"))


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
    return tuple(int(number) for number in re.findall(r"\d+", str(path)))


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
    said = run([str(path), "--version"], 60)
    match = _VERSION.search(said.text)
    if said.status != 0 and match is None:
        first = next((line.strip() for line in said.text.splitlines() if line.strip()), "it said nothing")
        raise NcuFailed(f"{path} does not run: {first[:200]}", "reinstall Nsight Compute, or set NCU=/path/to/ncu")
    version = (int(match[1]), int(match[2]), int(match[3])) if match else (0, 0, 0)
    options = frozenset(_OPTION.findall(run([str(path), "--help"], 60).text))
    return Ncu(path, version, options)
