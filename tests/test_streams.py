"""Standard streams that are closed, full, not ready or left by their reader: one line, an honest exit code."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from captures import DATA

from triage import __version__

pytestmark = pytest.mark.skipif(os.name == "nt", reason="POSIX streams")
CAPTURE = DATA / "limiters_h200.csv"
TRIAGE = f"{sys.executable} -m triage"
FULL = pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
COMMANDS = (
    "--version",
    "report --help",
    f"report {CAPTURE}",
    "rules schema",
    "kernels list",
    "doctor",
)


def shell(line: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["bash", "-c", line], capture_output=True, text=True, timeout=120, check=False)


def said(done: subprocess.CompletedProcess[str], status: int, words: str) -> None:
    """One line that says it, a hint, and nothing else: no traceback, no blame."""
    assert done.returncode == status, done.stderr
    first, hint = done.stderr.splitlines()
    assert first.startswith("triage: ") and words in first
    assert hint.startswith("hint: ") and "fault of triage" not in done.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_closed_standard_output(command: str) -> None:
    said(shell(f"{TRIAGE} {command} >&-"), 2, "standard output is closed")


@FULL
@pytest.mark.parametrize("command", COMMANDS)
def test_full_standard_output(command: str) -> None:
    said(shell(f"{TRIAGE} {command} >/dev/full"), 2, "cannot write standard output: No space left on device")


def test_a_closed_standard_output_that_nobody_needs(tmp_path: Path) -> None:
    target = tmp_path / "r.md"
    done = shell(f"{TRIAGE} report {CAPTURE} -o {target} <&- >&-")
    assert (done.returncode, done.stderr) == (0, f"wrote {target}\n")
    assert target.stat().st_size > 1000


@pytest.mark.parametrize("away", ["2>&-", pytest.param("2>/dev/full", marks=FULL)])
def test_messages_that_cannot_be_shown_change_nothing(away: str, tmp_path: Path) -> None:
    done = shell(f"{TRIAGE} report {tmp_path}/absent.csv {away}")
    # Nor do they slip into standard output, where another program reads a report.
    assert (done.returncode, done.stdout) == (3, "")
    assert shell(f"{TRIAGE} --version {away}").stdout == f"triage {__version__}\n"


@pytest.mark.parametrize("command", ["--version", "report --help", "rules list", f"report {CAPTURE} -f json"])
def test_a_reader_that_goes_away_ends_nothing(command: str) -> None:
    done = shell(f"set -o pipefail; {TRIAGE} {command} | true")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_gate_still_fails_when_nobody_reads_what_it_says() -> None:
    # An exit code of 0 would let a regression through: `triage check ... | head` in a pipeline.
    done = shell(f"set -o pipefail; {TRIAGE} check {CAPTURE} | true")
    assert done.returncode == 10 and "violated" in done.stderr


def test_a_pipe_that_somebody_made_non_blocking_gets_everything() -> None:
    read, write = os.pipe()
    os.set_blocking(write, False)
    child = subprocess.Popen([sys.executable, "-m", "triage", "rules", "schema"], stdout=write, stderr=subprocess.PIPE)
    os.close(write)
    # More than a pipe holds, read late.
    assert child.stderr is not None
    with child, open(read, "rb") as pipe:  # noqa: PTH123 - a descriptor
        text = pipe.read()
        assert child.wait(60) == 0 and child.stderr.read() == b""
    whole = subprocess.run([sys.executable, "-m", "triage", "rules", "schema"], capture_output=True, check=True)
    assert text == whole.stdout


def test_the_profiled_program_does_not_get_our_files_as_its_output(tmp_path: Path) -> None:
    # With descriptor 1 closed, the next file opened would become the standard output of every child.
    code = (
        "import os, subprocess, sys\nfrom triage import streams\nstreams.prepare()\n"
        f"with open({str(tmp_path / 'mine')!r}, 'w') as mine:\n"
        "    assert mine.fileno() > 2\n"
        "    subprocess.run(['sh', '-c', 'echo leaked'], stderr=subprocess.DEVNULL)\n"
    )
    done = subprocess.run(
        ["bash", "-c", f"{sys.executable} -c \"$CODE\" >&-"],
        env={**os.environ, "CODE": code}, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "mine").read_text() == ""
