"""Builds the calibration programs, runs them for times and twin checks, and reads the JSON lines they print."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from triage.driver import nvcc, sources
from triage.driver.nvcc import Job
from triage.errors import NcuFailed, ProgramFailed

#: The slowest program needs a few seconds; one that takes longer waits for something that never comes.
_TIMEOUT_S = 120
_FOLDER = "limiters/"


@dataclass(frozen=True, slots=True)
class Said:
    """What a program printed: kernel to median time in microseconds, (kernel, twin) to whether both gave the same
    result, and kernels that this chip cannot run with the reason."""

    times: Mapping[str, float] = field(default_factory=dict)
    checks: Mapping[tuple[str, str], bool] = field(default_factory=dict)
    skipped: Mapping[str, str] = field(default_factory=dict)


def jobs(compiler: Path, programs: Sequence[str], arch: str, folder: Path) -> dict[str, Job]:
    """The compiler run of each calibration program, by its name; programs without a source are left out."""
    known = {one.name: one for one in sources.programs()}
    chosen = [known[_FOLDER + name] for name in programs if _FOLDER + name in known]
    made = nvcc.jobs(compiler, chosen, [arch], folder, cubins=())
    return {job.program.name.removeprefix(_FOLDER): job for job in made}


def build(
    made: Mapping[str, Job], say: Callable[[str], None] = lambda line: None
) -> tuple[dict[str, Path], dict[str, str]]:
    """Compile, as many at once as there are processors. Returns the programs by name, and the reason for each that did
    not compile."""
    built: dict[str, Path] = {}
    failed: dict[str, str] = {}

    def one(name: str) -> None:
        try:
            nvcc.run(made[name])
            built[name] = made[name].output
        except NcuFailed as fault:
            failed[name] = ": ".join([fault.message, *fault.details[:1]])

    workers = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    say(f"building {len(made)} programs")
    with ThreadPoolExecutor(max_workers=max(1, min(workers, len(made) or 1))) as pool:
        list(pool.map(one, made))
    return built, failed


def run(program: Path, scale: float = 1.0, timeout_s: float = _TIMEOUT_S) -> Said:
    """Run a program for its times and checks. Raises ProgramFailed when it ends with anything but "done" or "a kernel
    and its twin disagree", or prints what cannot be read."""
    command = [str(program.absolute()), "--time", "--scale", f"{scale:g}"]
    hint = f"run {program} --time by hand"
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout_s, check=False
        )
    except subprocess.TimeoutExpired:
        raise ProgramFailed(f"{program.name} took more than {timeout_s:.0f} s", hint) from None
    except OSError as fault:
        raise ProgramFailed(f"{program.name} does not start: {fault.strerror}", hint) from None
    if done.returncode not in (0, 1):
        words = done.stderr.strip().splitlines() or [f"status {done.returncode}"]
        raise ProgramFailed(f"{program.name} failed: {words[-1][:200]}", hint)
    said = parse(done.stdout.splitlines())
    if done.returncode == 1 and all(said.checks.values()):
        raise ProgramFailed(f"{program.name} ended with status 1, and no check failed", hint)
    return said


def parse(lines: Sequence[str]) -> Said:
    """The JSON lines of a program, as ``kernels/limiters/harness.cuh`` writes them; other lines are passed over."""
    times: dict[str, float] = {}
    checks: dict[tuple[str, str], bool] = {}
    skipped: dict[str, str] = {}
    for line in lines:
        record = _record(line)
        if "check" in record:
            kernel, twin = record["check"]
            checks[str(kernel), str(twin)] = record.get("ok") is True
        elif "skipped" in record and "kernel" in record:
            skipped[str(record["kernel"])] = str(record["skipped"])
        elif "median_us" in record and "kernel" in record:
            times[str(record["kernel"])] = float(record["median_us"])
    return Said(times, checks, skipped)


def _record(line: str) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
