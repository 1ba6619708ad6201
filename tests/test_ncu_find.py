"""Finding ncu and learning what it can do."""

from __future__ import annotations

from pathlib import Path

import pytest

from triage.asking import Said
from triage.errors import NcuFailed
from triage.ncu import find
from triage.ncu.find import candidates, inspect, locate

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


@pytest.mark.parametrize(
    "half", [Said(139, "  --filter-mode arg"), Said(124, "  --filter-mode arg", "it did not answer")]
)
def test_half_a_page_of_help_denies_no_option(half: Said) -> None:
    answers = {"--version": Said(0, "Version 2025.3.1.0 (build 1)"), "--help": half}
    assert inspect(Path("ncu"), lambda command, timeout: answers[command[1]]).has("rename-kernels")


def test_an_ncu_that_does_not_run_says_why() -> None:
    with pytest.raises(NcuFailed, match=r"libfoo\.so is missing"):
        inspect(Path("ncu"), lambda command, timeout: Said(127, "libfoo.so is missing\n"))


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("exec sleep 60", "did not answer within 0.3 s"),
        ("exec yes 'Version 2025.3.1.0'", "answers without end"),
        ("printf '\\033]0;pwn\\007\\033[31mno such GPU\\n'; exit 1", "does not run: no such GPU"),
    ],
)
def test_an_ncu_that_does_not_behave(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, words: str) -> None:
    monkeypatch.setattr(find, "ANSWER_S", 0.3 if "sleep" in script else 20)
    path = program(tmp_path / "ncu")
    path.write_text(f"#!/bin/sh\n{script}\n")
    with pytest.raises(NcuFailed, match=words) as caught:
        inspect(path)
    assert caught.value.message.isprintable() and "--version" in caught.value.hint
