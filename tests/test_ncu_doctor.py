"""The doctor on machines of every kind, none of them this one."""

from __future__ import annotations

import io
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from triage.asking import Said, ask
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


def check_of(tmp_path: Path, tool: str, said: Said, what: str, **changes: Any) -> Check:
    """One check on the healthy machine, where ``tool`` answers ``said`` instead."""
    good = machine(tmp_path)

    def run(command: Sequence[str], timeout: float) -> Said:
        words = " ".join([Path(command[0]).name, *command[1:2]])
        return said if words.startswith(tool) else good.run(command, timeout)

    return next(check for check in examine(machine(tmp_path, run=run, **changes)) if check.what == what)


@pytest.mark.parametrize(
    ("said", "state", "found"),
    [
        (Said(0, "release 13.0\n"), "ok", "release 13.0 at"),
        (Said(0, "nothing\n"), "note", "unknown release at"),
        (Said(-11, ""), "missing", "it crashed (SIGSEGV)"),
        (Said(-11, "release 13.0\n"), "missing", "it crashed (SIGSEGV): release 13.0"),
        (Said(139, ""), "missing", "it crashed (SIGSEGV)"),
        (Said(1, "cannot open shared object\n"), "missing", "cannot open shared object"),
        (Said(1, ""), "missing", "it ended with status 1"),
        (Said(124, "", "it did not answer within 9 s"), "missing", "it did not answer within 9 s"),
    ],
)
def test_what_nvcc_may_say(tmp_path: Path, said: Said, state: str, found: str) -> None:
    check = check_of(tmp_path, "nvcc", said, "nvcc")
    assert check.state == state and found in check.found


def test_programs_that_crash_are_told_as_such(tmp_path: Path) -> None:
    smi = check_of(tmp_path, "nvidia-smi", Said(-11, H200), "GPU")
    assert smi.state == "bad" and "nvidia-smi: it crashed (SIGSEGV)" in smi.found
    ncu = check_of(tmp_path, "ncu --version", Said(134, "Version 2025.3.1.0\n"), "ncu")
    assert ncu.state == "bad" and "it crashed (SIGABRT)" in ncu.found
    metrics = (DATA / "ncu_query_profiling.txt").read_text()
    chip = check_of(tmp_path, "ncu --query-metrics", Said(139, metrics), "ncu and this GPU")
    assert chip.state == "bad" and "it crashed (SIGSEGV)" in chip.found


def test_gpus_are_counted_by_kind(tmp_path: Path) -> None:
    check = examine(machine(tmp_path, smi=H200 * 8 + "A100, 8.0, 580.1, Disabled\n"))[1]
    assert check.found == "8 x NVIDIA H200 (CC 9.0), A100 (CC 8.0)"


def test_what_other_programs_say_without_end_stays_a_few_lines(tmp_path: Path) -> None:
    rows = "".join(f"{'A' * 50_000} {number}, 9.0, {'5' * 5_000}, x\n" for number in range(100))
    rows += "".join(f"GPU {number}, 9.0, 580, x\n" for number in range(200_000))
    devices = "".join(f"Device {'D' * 300} {number}\nm__x Counter\n" for number in range(3000))
    bare = machine(tmp_path, smi=rows)

    def run(command: Sequence[str], timeout: float) -> Said:
        return Said(0, devices) if "--query-metrics" in command else bare.run(command, timeout)

    started = time.monotonic()
    checks = examine(machine(tmp_path, smi=rows, run=run))
    stream = io.StringIO()
    print_table(checks, stream)
    assert time.monotonic() - started < 5
    assert len(stream.getvalue()) < 8000 and checks[1].found.endswith("more than 64 in all")
    driverless = machine(tmp_path, smi="\n".join(f"GPU {n}, 9.0, 580, x" for n in range(60)))
    assert "52 more kinds" in examine(driverless)[1].found


def test_programs_that_hang_share_one_limit_and_a_word_is_said(tmp_path: Path) -> None:
    said: list[str] = []
    started = time.monotonic()
    checks = {check.what: check for check in examine(machine(tmp_path, run=hanging), 1.5, said.append)}
    assert time.monotonic() - started < 5
    assert said == ["asking nvidia-smi, ncu and nvcc, 1.5 s at most", ""]
    assert all("did not answer" in checks[what].found for what in ("GPU", "ncu", "nvcc"))


def hanging(command: Sequence[str], timeout: float) -> Said:
    return ask(["sleep", "100"], timeout)


def test_a_list_of_metrics_that_the_limit_cut_off_says_nothing_about_ncu(tmp_path: Path) -> None:
    good = machine(tmp_path)

    def run(command: Sequence[str], timeout: float) -> Said:
        return ask(["sleep", "100"], timeout) if "--query-metrics" in command else good.run(command, timeout)

    checks = examine(machine(tmp_path, run=run), 0.6)
    check = next(check for check in checks if check.what == "ncu and this GPU")
    assert check.state == "note" and check.found.startswith("not known: ") and "--query-metrics" in check.helps
    stream = io.StringIO()
    print_table(checks, stream)
    assert "Whether `triage profile` works here is not known" in " ".join(stream.getvalue().split())


def test_a_quick_machine_is_asked_without_a_word(tmp_path: Path) -> None:
    said: list[str] = []
    examine(machine(tmp_path), say=said.append)
    assert said == []
