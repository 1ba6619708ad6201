"""Finding ncu and learning what it can do."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from triage.errors import NcuFailed
from triage.ncu.find import Said, ask, candidates, inspect, locate

FAKE = Path(__file__).parent / "data" / "ncu_fake.py"


def program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_path_comes_before_install_folders(tmp_path: Path) -> None:
    program(tmp_path / "opt/nvidia/nsight-compute/2025.3.1/ncu")
    here = program(tmp_path / "bin/ncu")
    assert locate({"PATH": str(tmp_path / "bin")}, tmp_path) == here


def test_the_newest_installed_release_wins(tmp_path: Path) -> None:
    program(tmp_path / "opt/nvidia/nsight-compute/2024.1.1/ncu")
    newest = program(tmp_path / "opt/nvidia/nsight-compute/2025.10.0/ncu")
    program(tmp_path / "opt/nvidia/nsight-compute/2025.3.1/ncu")
    assert locate({"PATH": ""}, tmp_path) == newest


def test_a_toolkit_named_by_the_environment_is_searched(tmp_path: Path) -> None:
    mine = program(tmp_path / "toolkit/bin/ncu")
    assert locate({"PATH": "", "CUDA_HOME": str(tmp_path / "toolkit")}, tmp_path) == mine


@pytest.mark.parametrize("form", ["file", "folder"])
def test_the_variable_wins_over_everything(tmp_path: Path, form: str) -> None:
    program(tmp_path / "bin/ncu")
    mine = program(tmp_path / "mine/ncu")
    env = {"PATH": str(tmp_path / "bin"), "NCU": str(mine if form == "file" else mine.parent)}
    assert locate(env, tmp_path) == mine


def test_a_wrong_variable_is_an_error_not_a_fallback(tmp_path: Path) -> None:
    program(tmp_path / "bin/ncu")
    with pytest.raises(NcuFailed, match=r"\$NCU is '/nowhere'"):
        locate({"PATH": str(tmp_path / "bin"), "NCU": "/nowhere"}, tmp_path)


def test_none_found(tmp_path: Path) -> None:
    with pytest.raises(NcuFailed) as caught:
        locate({"PATH": ""}, tmp_path)
    assert caught.value.exit_code == 4 and "NCU=" in caught.value.hint


def test_a_file_that_is_no_program_is_passed_over(tmp_path: Path) -> None:
    program(tmp_path / "usr/local/cuda-13/bin/ncu").chmod(0o644)
    assert [str(path) for _, path in candidates({"PATH": ""}, tmp_path)]
    with pytest.raises(NcuFailed):
        locate({"PATH": ""}, tmp_path)


def test_version_and_options_are_read_from_what_it_says() -> None:
    answers = {"--version": Said(0, "Version 2025.3.1.0 (build 1)"), "--help": Said(0, "  --filter-mode arg (=global)")}
    ncu = inspect(Path("ncu"), lambda command, timeout: answers[command[1]])
    assert (ncu.version, ncu.version_text) == ((2025, 3, 1), "2025.3.1")
    assert ncu.has("filter-mode") and not ncu.has("rename-kernels")


def test_without_help_every_option_is_assumed() -> None:
    ncu = inspect(Path("ncu"), lambda command, timeout: Said(0, ""))
    assert ncu.version_text == "unknown" and ncu.has("rename-kernels")


def test_an_ncu_that_does_not_run_says_why() -> None:
    with pytest.raises(NcuFailed, match=r"libfoo\.so is missing"):
        inspect(Path("ncu"), lambda command, timeout: Said(127, "libfoo.so is missing\n"))


def test_ask_reports_a_missing_program_and_a_late_one() -> None:
    assert ask(["/no/such/program"], 5).status == 127
    assert ask(["sleep", "5"], 0.05).status == 124
    assert ask(["sh", "-c", "echo out; echo err >&2; exit 3"], 5) == Said(3, "out\nerr\n")


def test_an_answer_without_an_end_is_cut_and_its_program_ended() -> None:
    begun = time.monotonic()
    said = ask(["sh", "-c", "yes 'Version 2025.3.1.0'; true"], 30, most=1_000_000)
    assert said.status == 124 and 1_000_000 < len(said.text) < 2_000_000
    with pytest.raises(NcuFailed, match="does not answer"):
        inspect(Path("ncu"), lambda command, timeout: said)
    assert time.monotonic() - begun < 5


def test_a_process_left_behind_is_not_waited_for() -> None:
    # A program that starts a daemon: it holds the pipe for as long as it lives.
    begun = time.monotonic()
    assert ask(["sh", "-c", "sleep 7 & echo done"], 30) == Said(0, "done\n")
    assert time.monotonic() - begun < 5


def test_what_a_late_program_started_is_ended_with_it(tmp_path: Path) -> None:
    beat = tmp_path / "beat"
    line = f"while sleep 0.05; do date +%N > {beat}; done"
    assert ask(["sh", "-c", f"sh -c '{line}'; true"], 0.5).status == 124
    time.sleep(0.2)
    last = beat.read_text()
    time.sleep(0.3)
    assert beat.read_text() == last


def test_an_answer_that_is_closed_before_the_program_ends() -> None:
    assert ask(["sh", "-c", "echo early; exec >&- 2>&-; sleep 0.2; exit 4"], 10) == Said(4, "early\n")
    assert ask(["sh", "-c", "echo early; exec >&- 2>&-; sleep 9"], 0.3).status == 124
