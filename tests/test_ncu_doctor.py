"""The doctor on machines of every kind, none of them this one."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from triage.asking import Said
from triage.ncu.doctor import Check, examine, print_table, works
from triage.ncu.machine import Machine, installed

DATA = Path(__file__).parent / "data"
H200 = "NVIDIA H200, 9.0, 580.159.04, Disabled\n"


def put(root: Path, path: str, text: str, mode: int = 0o644) -> None:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    file.chmod(mode)


def machine(root: Path, *, smi: str = H200, admin_only: str = "0", **changes: Any) -> Machine:
    """A healthy workstation with one H200; ``changes`` replace fields of the Machine."""
    put(
        root,
        "proc/driver/nvidia/version",
        "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release\n",
    )
    put(root, "proc/driver/nvidia/params", f"ResmanDebugLevel: 4294967295\nRmProfilingAdminOnly: {admin_only}\n")
    put(root, "proc/self/status", "Name:\tpython\nCapEff:\t0000000000000000\n")
    for name in ("bin/nvidia-smi", "usr/local/cuda-13/bin/nvcc", "opt/nvidia/nsight-compute/2025.3.1/ncu"):
        put(root, name, "#!/bin/sh\n", 0o755)

    def run(command: Sequence[str], timeout: float) -> Said:
        tool = Path(command[0]).name
        if tool == "nvidia-smi":
            return Said(0, smi)
        if tool == "nvcc":
            return Said(0, "nvcc: NVIDIA (R) Cuda compiler driver\nCuda compilation tools, release 13.0, V13.0.88\n")
        if "--query-metrics" in command:
            kind = command[3] if len(command) > 2 else "profiling"
            return Said(0, (DATA / f"ncu_query_{kind}.txt").read_text())
        return Said(0, "Version 2025.3.1.0 (build 1)\n")

    fields: dict[str, Any] = {
        "root": root,
        "env": {"PATH": str(root / "bin"), "XDG_CACHE_HOME": str(root / "cache")},
        "run": run,
        "version_of": {"cupy-cuda13x": "14.2.0", "ncu-report": "2026.3.1"}.get,
        "uid": 1000,
    }
    return Machine(**(fields | changes))


def states(checks: list[Check]) -> dict[str, str]:
    return {check.what: check.state for check in checks}


def test_a_healthy_machine(tmp_path: Path) -> None:
    checks = examine(machine(tmp_path))
    assert set(states(checks).values()) == {"ok"} and works(checks)
    found = {check.what: check.found for check in checks}
    assert found["driver"] == "NVIDIA driver 580.159.04"
    assert found["ncu and this GPU"].startswith("NVIDIA H200 (GH100): ")
    assert found["nvcc"].startswith("release 13.0, V13.0.88")


def test_an_empty_machine_gets_help_for_everything_that_fails(tmp_path: Path) -> None:
    empty = Machine(tmp_path, {"PATH": ""}, lambda command, timeout: Said(127, ""), lambda name: None, 1000)
    checks = examine(empty)
    assert not works(checks)
    assert {"driver", "GPU", "ncu"} == {check.what for check in checks if check.state == "bad"}
    assert all(check.helps for check in checks if check.state == "bad")


@pytest.mark.parametrize(
    ("text", "uid", "state"),
    [
        ("CapEff:\t0000000000000000", 1000, "bad"),
        ("CapEff:\t000001ffffffffff", 0, "ok"),
        ("", 0, "ok"),
        ("", 1000, "bad"),
    ],
)
def test_counters_for_administrators_only(tmp_path: Path, text: str, uid: int, state: str) -> None:
    here = machine(tmp_path, admin_only="1", uid=uid)
    put(tmp_path, "proc/self/status", text)
    check = next(check for check in examine(here) if check.what == "counter permission")
    assert check.state == state
    if state == "bad":
        assert "NVreg_RestrictProfilingToAdminUsers=0" in check.helps


def test_in_a_container_the_permission_comes_from_outside(tmp_path: Path) -> None:
    here = machine(tmp_path, admin_only="1")
    put(tmp_path, ".dockerenv", "")
    checks = {check.what: check for check in examine(here)}
    assert checks["container"].state == "note" and "--cap-add=SYS_ADMIN" in checks["counter permission"].helps


def test_a_driver_that_does_not_say(tmp_path: Path) -> None:
    here = machine(tmp_path)
    put(tmp_path, "proc/driver/nvidia/params", "")
    assert states(examine(here))["counter permission"] == "note"


def test_gvisor(tmp_path: Path) -> None:
    here = machine(tmp_path)
    put(tmp_path, "proc/version", "Linux version 4.4.0 gVisor\n")
    assert states(examine(here))["container"] == "bad"


def test_wsl_points_to_windows(tmp_path: Path) -> None:
    here = machine(tmp_path)
    put(tmp_path, "proc/version", "Linux version 5.15 (gcc) Microsoft-standard-WSL2\n")
    check = next(check for check in examine(here) if check.what == "WSL")
    assert check.state == "note" and "Control Panel" in check.helps


def test_mig_and_old_chips(tmp_path: Path) -> None:
    checks = {c.what: c for c in examine(machine(tmp_path, smi="A100, 8.0, 580.1, Enabled\nV100, 7.0, 580.1, [N/A]\n"))}
    assert checks["MIG"].state == "note"
    assert checks["GPU"].state == "note" and "2025.2" in checks["GPU"].helps


def test_nvidia_smi_that_fails(tmp_path: Path) -> None:
    check = examine(machine(tmp_path, smi="NVIDIA-SMI has failed because it couldn't communicate\n"))[1]
    assert check.state == "bad" and "couldn't communicate" in check.found


def test_a_foreign_lock_file(tmp_path: Path) -> None:
    here = machine(
        tmp_path, uid=987654, env={"PATH": str(tmp_path / "bin"), "TMPDIR": "/scratch", "HOME": str(tmp_path)}
    )
    put(tmp_path, "scratch/nsight-compute-lock", "")
    check = next(check for check in examine(here) if check.what == "lock file")
    assert check.state == "bad" and "TMPDIR" in check.helps


def test_ncu_that_does_not_know_the_chip(tmp_path: Path) -> None:
    good = machine(tmp_path)

    def run(command: Sequence[str], timeout: float) -> Said:
        if "--query-metrics" in command:
            return Said(1, "==ERROR== Failed to initialize the profiler: LibraryNotLoaded.")
        return good.run(command, timeout)

    check = next(c for c in examine(machine(tmp_path, run=run)) if c.what == "ncu and this GPU")
    assert check.state == "bad" and "LibraryNotLoaded" in check.found


def test_optional_parts_missing_do_not_stop_profiling(tmp_path: Path) -> None:
    here = machine(tmp_path, version_of=lambda name: None)
    (tmp_path / "usr/local/cuda-13/bin/nvcc").unlink()
    checks = examine(here)
    assert [check.what for check in checks if check.state == "missing"] == ["nvcc", "CuPy", "ncu-report"]
    assert works(checks)


def test_the_table_names_what_helps(tmp_path: Path) -> None:
    stream = io.StringIO()
    print_table(examine(Machine(tmp_path, {"PATH": ""}, lambda c, t: Said(127, ""), lambda name: None, 1)), stream)
    text = " ".join(stream.getvalue().split())
    assert "`triage profile` cannot work here: no NVIDIA driver is loaded." in text and "pip install" in text
    healthy = io.StringIO()
    print_table(examine(machine(tmp_path)), healthy)
    assert "`triage profile` should work here." in healthy.getvalue()


def test_installed_reads_the_environment() -> None:
    assert installed("typer") and installed("no-such-distribution-anywhere") is None


def test_words_of_other_programs_are_shown_inert(tmp_path: Path) -> None:
    checks = examine(machine(tmp_path, smi="\x1b]0;pwn\x07\x1b[31mno [bold]devices[/bold]\u202e\n"))
    stream = io.StringIO()
    print_table(checks, stream)
    assert "no [bold]devices[/bold]" in " ".join(stream.getvalue().split())
    assert all(line.isprintable() for line in stream.getvalue().splitlines())


@pytest.mark.parametrize(
    ("text", "found"), [("release 13.0\n", "release 13.0 at"), ("nothing\n", "unknown release at")]
)
def test_an_nvcc_that_says_its_version_otherwise(tmp_path: Path, text: str, found: str) -> None:
    good = machine(tmp_path)

    def run(command: Sequence[str], timeout: float) -> Said:
        return Said(0, text) if Path(command[0]).name == "nvcc" else good.run(command, timeout)

    check = next(check for check in examine(machine(tmp_path, run=run)) if check.what == "nvcc")
    assert check.found.startswith(found)
