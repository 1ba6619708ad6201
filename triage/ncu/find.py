"""Finds ``ncu`` and learns what this release of it can do.

Releases differ in defaults and options, so nothing is taken for granted: :func:`inspect` asks ``--version`` and
``--help``, and the planner passes every setting it relies on explicitly.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from triage.errors import NcuFailed
from triage.ncu.processes import send
from triage.paths import is_dir, is_file

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

# The longest answer that is read, the metrics of a GPU, has a few hundred kilobytes.
ANSWER_BYTES = 16 << 20
# An answer to --version or --help takes a second at most, on a slow network file system a few.
_PATIENCE_S = 15.0
_LAST_WORDS_S = 0.5

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


def ask(command: Sequence[str], timeout: float, most: int = ANSWER_BYTES) -> Said:
    """Run a short helper program and gather what it says. A program that cannot start says why, with status 127;
    one that outlives ``timeout`` seconds or says more than ``most`` bytes is ended, with status 124."""
    try:
        child = subprocess.Popen(
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=os.environ | {"LC_ALL": "C"},
        )
    except (OSError, ValueError) as fault:
        return Said(127, f"{command[0]}: {getattr(fault, 'strerror', None) or fault}")
    answer = _Answer(child, most)
    late = False
    try:
        late = not answer.complete(timeout)
    finally:
        if child.poll() is None:
            send(child.pid, signal.SIGKILL)
        child.wait()
    return Said(124 if late else child.returncode, answer.text())


class _Answer:
    """What a child says, gathered by a thread: a process that it leaves behind may hold the pipe open for ever."""

    def __init__(self, child: subprocess.Popen[bytes], most: int) -> None:
        self._child, self._most = child, most
        self._pieces: list[bytes] = []
        self._size = 0
        self._news = threading.Event()
        self._thread = threading.Thread(target=self._gather, daemon=True)
        self._thread.start()

    def _gather(self) -> None:
        assert self._child.stdout is not None
        with self._child.stdout as pipe, suppress(OSError):
            while self._size <= self._most and (data := os.read(pipe.fileno(), 1 << 16)):
                self._pieces.append(data)
                self._size += len(data)
        self._news.set()

    def complete(self, timeout: float) -> bool:
        """Whether it ended in time and said no more than allowed."""
        until = time.monotonic() + timeout
        while not self._news.wait(0.02) and self._child.poll() is None and time.monotonic() < until:
            pass
        if self._child.poll() is not None:
            # It is gone: what it said is in the pipe, whoever else holds the other end.
            self._thread.join(_LAST_WORDS_S)
        elif not self._news.is_set() or self._size > self._most:
            return False
        else:
            # It closed its output and goes on.
            try:
                self._child.wait(max(until - time.monotonic(), 0))
            except subprocess.TimeoutExpired:
                return False
        return self._size <= self._most

    def text(self) -> str:
        return b"".join(self._pieces).decode("utf-8", "replace")


def candidates(env: Mapping[str, str], root: Path = Path("/")) -> Iterator[tuple[str, Path]]:
    """Every place where ``ncu`` may be, best first, each with a word on why: ``$NCU``, ``PATH``, the toolkit that
    ``$CUDA_HOME`` or ``$CUDA_PATH`` names, install folders under ``root`` (newest version first)."""
    if asked := env.get("NCU"):
        path = Path(asked).expanduser()
        found = shutil.which(asked, path=env.get("PATH", "")) if path.name == asked else None
        yield "$NCU", path / "ncu" if is_dir(path) else Path(found or path)
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
        if is_file(path) and os.access(path, os.X_OK):
            return path
        if why == "$NCU":
            raise NcuFailed(f"$NCU is {env['NCU']!r}, which is no program", "set NCU to the ncu program, or unset it")
    raise NcuFailed(
        "ncu, the Nsight Compute command line, was not found",
        "install Nsight Compute (it comes with the CUDA toolkit), or set NCU=/path/to/ncu",
    )


def inspect(path: Path, run: Run = ask) -> Ncu:
    """Ask the program at ``path`` for its version and options. Raises ``NcuFailed`` when it does not even start."""
    said = run([str(path), "--version"], _PATIENCE_S)
    if said.status == 124:
        raise NcuFailed(f"{path} does not answer when asked for its version", "set NCU to one that does")
    match = _VERSION.search(said.text)
    if said.status != 0 and match is None:
        first = next((line.strip() for line in said.text.splitlines() if line.strip()), "it said nothing")
        raise NcuFailed(f"{path} does not run: {first[:200]}", "reinstall Nsight Compute, or set NCU=/path/to/ncu")
    version = (int(match[1]), int(match[2]), int(match[3])) if match else (0, 0, 0)
    options = frozenset(_OPTION.findall(run([str(path), "--help"], _PATIENCE_S).text))
    return Ncu(path, version, options)
