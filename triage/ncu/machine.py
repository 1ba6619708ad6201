"""What can be learnt about this machine without profiling: the probes of ``triage doctor``, all of them injectable."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path

from triage.asking import Run, ask

_CAP_SYS_ADMIN = 1 << 21
# Capabilities that allow reading performance counters of all users, or of one's own.
_CAP_PERFMON = 1 << 38
# The largest machines have 16.
MOST_GPUS = 64
_LONGEST_LINE = 1000


def installed(distribution: str) -> str | None:
    """The version of an installed distribution, ``None`` when it is not there."""
    with suppress(metadata.PackageNotFoundError):
        return metadata.version(distribution)
    return None


@dataclass(frozen=True, slots=True)
class Gpu:
    """One GPU as ``nvidia-smi`` lists it. ``mig`` is whether it is cut into MIG slices."""

    name: str
    cc: str
    driver: str
    mig: bool


@dataclass(frozen=True, slots=True)
class Machine:
    """The machine, seen through files under ``root``, the environment, helper programs and installed packages."""

    root: Path = Path("/")
    env: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    run: Run = ask
    version_of: Callable[[str], str | None] = installed
    uid: int = field(default_factory=lambda: os.getuid() if hasattr(os, "getuid") else 0)

    def text(self, path: str) -> str:
        """The text of a file, empty when it cannot be read."""
        with suppress(OSError):
            return (self.root / path).read_text(errors="replace")
        return ""

    def which(self, name: str, *places: str) -> str | None:
        """Where the program ``name`` is: on ``PATH``, else in one of ``places`` (patterns under ``root``)."""
        if found := shutil.which(name, path=self.env.get("PATH", "")):
            return found
        files = [path for pattern in places for path in sorted(self.root.glob(pattern), reverse=True)]
        return next((str(path) for path in files if os.access(path, os.X_OK)), None)

    def driver(self) -> str | None:
        """The version of the loaded kernel driver."""
        match = re.search(r"Kernel Module(?: for \S+)?\s+(\d[\d.]+)", self.text("proc/driver/nvidia/version"))
        return match[1] if match else None

    def gpus(self) -> tuple[list[Gpu], str]:
        """The GPUs, one more than :data:`MOST_GPUS` at most, and ``nvidia-smi``'s complaint when there are none."""
        smi = self.which("nvidia-smi", "usr/lib/wsl/lib/nvidia-smi")
        if smi is None:
            return [], "nvidia-smi is not installed"
        said = self.run(
            [smi, "--query-gpu=name,compute_cap,driver_version,mig.mode.current", "--format=csv,noheader"], 30
        )
        gpus = []
        for line in said.text.splitlines() if not said.broken else ():
            cells = [cell.strip() for cell in line[:_LONGEST_LINE].split(",")]
            if len(cells) == 4 and re.fullmatch(r"\d{1,3}\.\d{1,3}", cells[1]):
                gpus.append(Gpu(cells[0], cells[1], cells[2], cells[3] == "Enabled"))
            if len(gpus) > MOST_GPUS:
                break
        return gpus, "" if gpus else f"nvidia-smi: {said.words('it said nothing')}"

    def admin_only(self) -> bool | None:
        """Whether the driver keeps the counters for administrators; ``None`` when it does not say."""
        match = re.search(r"^RmProfilingAdminOnly:\s*(\d)", self.text("proc/driver/nvidia/params"), re.M)
        return match[1] != "0" if match else None

    def privileged(self) -> bool:
        """Whether this process may read counters that are kept for administrators."""
        match = re.search(r"^CapEff:\s*([0-9a-fA-F]+)", self.text("proc/self/status"), re.M)
        return bool(int(match[1], 16) & (_CAP_SYS_ADMIN | _CAP_PERFMON)) if match else self.uid == 0

    def sandbox(self) -> str:
        """``gVisor``, ``container`` or an empty string."""
        if "gvisor" in (self.text("proc/version") + self.text("proc/sys/kernel/version")).lower():
            return "gVisor"
        marks = (self.root / ".dockerenv", self.root / "run/.containerenv")
        if self.env.get("container") or any(mark.exists() for mark in marks):
            return "container"
        words = ("docker", "kubepods", "containerd", "libpod")
        return "container" if any(word in self.text("proc/1/cgroup") for word in words) else ""

    def wsl(self) -> bool:
        """Whether this is the Windows Subsystem for Linux."""
        return "microsoft" in self.text("proc/version").lower()

    def lock_file(self) -> tuple[Path, bool | None]:
        """ncu's lock file, and whether this user may use it; ``None`` when it does not exist yet."""
        folder = self.env.get("TMPDIR") or "/tmp"
        path = self.root / folder.lstrip("/") / "nsight-compute-lock"
        with suppress(OSError):
            return path, path.stat().st_uid in (self.uid,) or self.uid == 0
        return path, None
