"""Finds nvcc, writes its command lines, runs them.

Works with CUDA 12 and 13. Nothing here needs a GPU when an architecture is named.
"""

from __future__ import annotations

import ctypes
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from triage.asking import ask
from triage.driver.sources import Program
from triage.errors import NcuFailed, UsageError

# Seconds for a version: from a cold network disk several.
_ANSWER_S = 60
_GET = "install the CUDA toolkit (developer.nvidia.com/cuda-downloads), or set NVCC to the compiler's path"
_OLDEST = 75
_CC_MAJOR, _CC_MINOR = 75, 76  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, _MINOR


@dataclass(frozen=True, slots=True)
class Nvcc:
    """A CUDA compiler: its path and its release, (13, 0)."""

    path: Path
    release: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Job:
    """One run of the compiler: ``command`` without the output option, which names ``output`` or a file beside it."""

    program: Program
    output: Path
    command: tuple[str, ...]

    def line(self, output: Path | None = None) -> tuple[str, ...]:
        """The whole command line, writing to ``output`` (default: the final place)."""
        return (*self.command, "-o", str(output or self.output))


def find(environment: Mapping[str, str] | None = None) -> Nvcc:
    """The compiler: ``$NVCC``, then PATH, then ``$CUDA_HOME`` and ``$CUDA_PATH``, then ``/usr/local/cuda``.

    Raises NcuFailed when there is none, or when the one that was named does not run.
    """
    env = os.environ if environment is None else environment
    named = env.get("NVCC")
    folders = [env[key] for key in ("CUDA_HOME", "CUDA_PATH") if env.get(key)] + ["/usr/local/cuda"]
    candidates = [named] if named else ["nvcc", *(str(Path(folder) / "bin" / "nvcc") for folder in folders)]
    for candidate in candidates:
        path = shutil.which(candidate, path=env.get("PATH", ""))
        if path:
            return Nvcc(Path(path), _release(Path(path)))
    raise NcuFailed(f"nvcc not found: {named} does not run" if named else "nvcc not found", _GET)


def _release(path: Path) -> tuple[int, int]:
    said = ask([str(path), "--version"], _ANSWER_S)
    if said.status != 0:
        raise NcuFailed(f"{path} --version failed: {said.words('it said nothing')}", _GET)
    match = re.search(r"release (\d{1,9})\.(\d{1,9})", said.text)
    if not match:
        raise NcuFailed(f"{path} --version names no release", _GET)
    return int(match[1]), int(match[2])


def architecture(text: str) -> str:
    """``90`` for ``sm_90``, ``compute_90``, ``90`` and ``9.0``; a letter at the end stays (``90a``).

    Raises UsageError for anything else, and for a chip older than 7.5.
    """
    match = re.fullmatch(r"(?:sm_|compute_)?([0-9]{2,3}|[0-9]{1,2}\.[0-9])([af]?)", text.strip().lower())
    if not match:
        raise UsageError(f"{text!r} is no GPU architecture", "write it like sm_90, 90 or 9.0")
    digits = match[1].replace(".", "")
    if int(digits) < _OLDEST:
        raise UsageError(f"the kernels need compute capability 7.5 or newer, not {text}", "use --arch sm_75 or newer")
    return digits + match[2]


def local_architecture(library: str = "libcuda.so.1") -> str:
    """The architecture of GPU 0 of this machine, asked from the driver. Raises NcuFailed when there is none."""
    hint = "name the GPU to build for: --arch sm_90"
    try:
        driver = ctypes.CDLL(library if os.name != "nt" else "nvcuda.dll")
    except OSError as error:
        raise NcuFailed("no NVIDIA driver on this machine, so there is no local GPU to build for", hint) from error
    device, major, minor = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    status = (
        driver.cuInit(0)
        or driver.cuDeviceGet(ctypes.byref(device), 0)
        or driver.cuDeviceGetAttribute(ctypes.byref(major), _CC_MAJOR, device)
        or driver.cuDeviceGetAttribute(ctypes.byref(minor), _CC_MINOR, device)
    )
    if status:
        raise NcuFailed(f"the NVIDIA driver finds no usable GPU (error {status})", hint)
    return f"{major.value}{minor.value}"


def jobs(
    nvcc: Path,
    programs: Sequence[Program],
    architectures: Sequence[str],
    output: Path,
    *,
    cubins: Sequence[str] = ("transpose",),
    debug: bool = False,
) -> tuple[Job, ...]:
    """The compiler runs that build ``programs``.

    One executable each, with machine code for every architecture and PTX for the newest; for the programs named in
    ``cubins`` also one cubin an architecture, which the driver loads.
    """
    flags = ["-G", "-std=c++17"] if debug else ["-O3", "-lineinfo", "-std=c++17"]
    ordered = sorted(dict.fromkeys(architectures), key=lambda a: (int(a.rstrip("af")), a))
    gencode = [f"-gencode=arch=compute_{a},code=sm_{a}" for a in ordered]
    newest = ordered[-1]
    gencode.append(f"-gencode=arch=compute_{newest},code=compute_{newest}")
    suffix = ".exe" if os.name == "nt" else ""
    found = []
    for program in programs:
        base = output / program.name
        found.append(Job(program, base.with_name(base.name + suffix), (str(nvcc), *flags, *gencode, str(program.path))))
        for a in ordered if program.name in cubins else ():
            single = (str(nvcc), *flags, "-cubin", f"-gencode=arch=compute_{a},code=sm_{a}", str(program.path))
            found.append(Job(program, cubin_path(output, a, program.name), single))
    return tuple(found)


def cubin_path(output: Path, arch: str, name: str = "transpose") -> Path:
    """Where the cubin of a program for one architecture lies below the build folder."""
    return output / f"{name}.sm_{arch}.cubin"


def shown(job: Job) -> str:
    """The command line as a shell would take it."""
    return shlex.join(job.line())


def run(job: Job) -> None:
    """Compile one job. The output appears whole or not at all. Raises NcuFailed with the compiler's messages."""
    try:
        job.output.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".build-", dir=job.output.parent) as scratch:
            draft = Path(scratch) / job.output.name
            done = subprocess.run(job.line(draft), capture_output=True, text=True, check=False)
            if done.returncode == 0:
                draft.replace(job.output)
                return
    except OSError as error:
        raise NcuFailed(f"cannot build {job.output}: {error}", "choose another folder with -o") from error
    complaint = tuple(line for line in (done.stderr + done.stdout).splitlines() if line.strip())
    raise NcuFailed(
        f"nvcc could not compile {job.program.path.name} (status {done.returncode})",
        _remedy(done.stderr),
        details=complaint,
    )


def _remedy(complaint: str) -> str:
    if "Unsupported gpu architecture" in complaint or "is not defined for option 'gpu-" in complaint:
        return "this nvcc does not know that architecture; `nvcc --list-gpu-code` shows what it builds for"
    if "host compiler" in complaint or "cl.exe" in complaint or "gcc" in complaint.lower().partition("\n")[0]:
        return "nvcc needs a C++ compiler that it supports on PATH (or -ccbin through NVCC_PREPEND_FLAGS)"
    return "the compiler's own messages are above"
