"""Files that a command writes: whole or absent, never over what it reads, never over what is no file."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer
from captures import DATA
from test_cli import fails, triage

from triage import cli, commands, output
from triage.cli import app
from triage.errors import UsageError

CAPTURE = DATA / "limiters_h200.csv"
ROOT = Path(__file__).parent.parent
POSIX = pytest.mark.skipif(os.name == "nt", reason="POSIX files")
# Every option of every command that names one file to write.
WRITES = {
    "report": ("--output",),
    "demo": ("--output",),
    "diff": ("--output",),
    "check": ("--sarif", "--junit", "--markdown"),
    "baseline": ("--output",),
    "export": ("--output",),
    "validate": ("--output",),
    "kernels bench": ("--roofs", "--json"),
}
FOLDERS = {"profile": "--output", "rules docs": "--output", "rules schema": "--output", "kernels build": "--output"}


def test_write_is_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    output.write(path, "one")
    output.write(path, "zwei ä")
    assert path.read_text(encoding="utf-8") == "zwei ä" and [one.name for one in tmp_path.iterdir()] == ["page.html"]
    with pytest.raises(UsageError):
        output.write(tmp_path / "missing" / "page.html", "x")


def test_a_draft_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("old")

    def half(draft: Path) -> None:
        draft.write_text("half")
        raise OSError(28, "No space left on device")

    with pytest.raises(UsageError, match="No space left"):
        output.fill(path, half)
    assert path.read_text() == "old" and len(list(tmp_path.iterdir())) == 1


@POSIX
def test_modes_are_those_of_any_new_file_or_of_the_one_replaced(tmp_path: Path) -> None:
    output.write(tmp_path / "new", "x")
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o666 & ~mask
    (tmp_path / "new").chmod(0o600)
    output.write(tmp_path / "new", "y")
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o600


def options_of(command: Any) -> set[str]:
    return {name for parameter in command.params for name in parameter.opts}


def walk(command: Any, name: str = "") -> dict[str, Any]:
    if hasattr(command, "commands"):
        return {
            full: found
            for each, child in command.commands.items()
            for full, found in walk(child, f"{name} {each}".strip()).items()
        }
    return {name: command}


def test_no_command_that_writes_is_forgotten_here() -> None:
    # A new output option has to be tried against the inputs of its command: add it above and to the tests below.
    known = {name: set(options) for name, options in WRITES.items()} | {name: {one} for name, one in FOLDERS.items()}
    writing = {"--output", "--sarif", "--junit", "--markdown", "--roofs", "--json"}
    for name, command in walk(typer.main.get_command(app)).items():
        found = options_of(command) & writing
        # Measured roofs are read by `report`, and `kernels list --json` prints.
        found -= {"--roofs"} if name == "report" else {"--json"} if name == "kernels list" else set()
        assert found == known.get(name, set()), name


Refused = Callable[[str], str]


@pytest.fixture
def refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Refused:
    """Runs a command line in ``tmp_path`` that has to end with 2; the first line of what it says."""

    def run(line: str) -> str:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", ["triage", *line.split()])
        assert cli.run() == 2
        first, hint = capsys.readouterr().err.splitlines()
        assert first.startswith("triage: ") and hint.startswith("hint: ")
        return first

    return run


@pytest.mark.parametrize(
    "line",
    [
        "report in.csv -f md -o in.csv",
        "report in.csv -f html -o in.csv",
        "report other.csv in.csv -f json -o in.csv",
        "report . -f md -o in.csv",
        "report i*.csv -f md -o in.csv",
        "report in.csv -f md -o ./sub/../in.csv",
        "report in.csv -o link.md",
        "report link.md -f md -o in.csv",
        "report in.csv -o hard.md",
        "report other.csv --roofs roofs.json -o roofs.json",
        "report other.csv --rules team -f md -o team/thresholds.yaml",
        "report other.csv -f md -o triage.yaml",
        "export in.csv -o in.csv",
        "export other.csv in.csv -o in.csv",
        "baseline in.csv -o in.csv",
        "diff in.csv other.csv -f md -o in.csv",
        "diff other.csv in.csv -f html -o in.csv",
        "check in.csv --sarif in.csv",
        "check in.csv --junit in.csv",
        "check in.csv --markdown in.csv",
        "check other.csv --baseline in.csv --junit in.csv",
        "check other.csv --config other.yaml --junit other.yaml",
        "check other.csv --junit triage.yaml",
        "check other.csv --junit base.yaml",
        "validate --from in.json -o in.json",
    ],
)
@POSIX
def test_what_a_command_reads_it_does_not_overwrite(line: str, tmp_path: Path, refused: Refused) -> None:
    for name in ("in.csv", "other.csv"):
        shutil.copy(CAPTURE, tmp_path / name)
    (tmp_path / "sub").mkdir()
    (tmp_path / "link.md").symlink_to("in.csv")
    os.link(tmp_path / "in.csv", tmp_path / "hard.md")
    (tmp_path / "team").mkdir()
    for name in ("team/thresholds.yaml", "roofs.json", "other.yaml", "in.json", "base.yaml"):
        (tmp_path / name).write_text("gates: {}\n")
    (tmp_path / "team" / "thresholds.yaml").write_text("thresholds: {}\n")
    (tmp_path / "triage.yaml").write_text("gates: {baseline: base.yaml}\n")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    first = refused(line)
    assert "is read by this command, which would overwrite it" in first
    assert before == {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    "line",
    [
        "check in.csv --sarif a --junit a",
        "check in.csv --junit a --markdown ./sub/../a",
        "check in.csv --sarif to_a --markdown a",
        "kernels bench --roofs a --json a",
    ],
)
@POSIX
def test_two_outputs_are_two_files(line: str, tmp_path: Path, refused: Refused) -> None:
    shutil.copy(CAPTURE, tmp_path / "in.csv")
    (tmp_path / "sub").mkdir()
    (tmp_path / "to_a").symlink_to("a")
    assert "are the same file" in refused(line)
    assert not (tmp_path / "a").exists()


def test_a_second_run_may_replace_what_the_first_wrote(tmp_path: Path) -> None:
    shutil.copy(CAPTURE, tmp_path / "in.csv")
    for _ in range(2):
        assert triage("report", ".", "-o", "r.md", cwd=tmp_path).returncode == 0
        assert triage("check", "in.csv", "--junit", "j.xml", "--markdown", "m.md", cwd=tmp_path).returncode == 10


@POSIX
@pytest.mark.parametrize("line", ["report in.csv -f md -o pipe", "baseline in.csv -o pipe", "export in.csv -o p.csv"])
def test_a_pipe_is_written_into(line: str, tmp_path: Path) -> None:
    # Renaming over it, as over a file, would replace a device (/dev/null in a container) by a file.
    shutil.copy(CAPTURE, tmp_path / "in.csv")
    pipe = tmp_path / line.split()[-1]
    os.mkfifo(pipe)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()), daemon=True)
    reader.start()
    assert triage(*line.split(), cwd=tmp_path).returncode == 0
    reader.join(10)
    assert stat.S_ISFIFO(pipe.stat().st_mode) and len(got[0]) > 1000
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["in.csv", pipe.name])


@POSIX
def test_a_link_is_followed(tmp_path: Path) -> None:
    folder = tmp_path / "site"
    folder.mkdir()
    (tmp_path / "new.md").symlink_to("site/r.md")
    for _ in range(2):
        assert triage("report", CAPTURE, "-o", tmp_path / "new.md").returncode == 0
        assert (tmp_path / "new.md").is_symlink() and [path.name for path in folder.iterdir()] == ["r.md"]
    (tmp_path / "loop.md").symlink_to("loop.md")
    assert "symbolic links" in fails(triage("report", CAPTURE, "-o", tmp_path / "loop.md"), 2)[0]


@POSIX
def test_the_file_that_standard_output_goes_to_is_not_cut_off(tmp_path: Path) -> None:
    whole = tmp_path / "log"
    with whole.open("w") as log:
        log.write("before\n")
        log.flush()
        subprocess.run(
            [sys.executable, "-m", "triage", "report", str(CAPTURE), "-f", "md", "-o", str(whole)],
            stdout=log, check=True, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        log.write("after\n")
    text = whole.read_text(encoding="utf-8")
    assert text.startswith("before\n### ") and text.endswith("after\n")


def test_a_name_as_long_as_a_name_can_be(tmp_path: Path) -> None:
    longest = tmp_path / ("a" * 252 + ".md")
    assert triage("report", CAPTURE, "-o", longest).returncode == 0 and longest.is_file()
    assert "File name too long" in fails(triage("report", CAPTURE, "-o", tmp_path / ("a" * 300 + ".md")), 2)[0]


@POSIX
def test_a_name_that_is_no_text_is_shown_by_its_bytes(tmp_path: Path) -> None:
    target = os.fsencode(tmp_path) + b"/\xff\xfe.md"
    done = triage("report", CAPTURE, "-o", os.fsdecode(target))
    assert done.returncode == 0 and done.stderr == f"wrote {tmp_path}/\\xff\\xfe.md\n"
    assert "\\xff.csv: no such file" in fails(triage("report", os.fsdecode(b"\xff.csv")), 3)[0]
    source = os.fsdecode(os.fsencode(tmp_path) + b"/w\xff.csv")
    shutil.copy(CAPTURE, source)
    for form in ("text", "md", "html", "json", "sarif"):
        place = tmp_path / f"r.{form}"
        assert triage("report", source, "-f", form, "-o", place).returncode == 0
        assert "w.csv" not in place.read_text(encoding="utf-8"), form


@POSIX
def test_a_working_directory_that_is_gone(tmp_path: Path) -> None:
    def run(*words: str) -> subprocess.CompletedProcess[str]:
        gone = tmp_path / "gone"
        gone.mkdir()
        line = 'rmdir ../gone; exec "$@"'
        return subprocess.run(
            ["bash", "-c", line, "bash", sys.executable, "-m", "triage", *words],
            cwd=gone, capture_output=True, text=True, timeout=120, env={**os.environ, "PYTHONPATH": str(ROOT)},
        )  # fmt: skip

    for words, status in (
        (("report", str(CAPTURE)), 0),
        (("diff", str(CAPTURE), str(CAPTURE)), 0),
        (("check", str(CAPTURE)), 10),
        (("baseline", str(CAPTURE), "-o", "-"), 0),
        (("export", str(CAPTURE), "-o", str(tmp_path / "t.csv")), 0),
        (("rules", "lint"), 0),
        (("report", "absent.csv"), 3),
        (("diff", "a", "b"), 3),
        (("baseline", str(CAPTURE)), 2),
        (("rules", "docs"), 2),
        (("rules", "schema", "-o", "s"), 2),
    ):
        done = run(*words)
        assert done.returncode == status, (words, done.stderr)
        assert "Traceback" not in done.stderr and "unexpected" not in done.stderr


def test_places_where_no_folder_can_be_made(tmp_path: Path) -> None:
    # As on a read-only disk, which a test cannot mount.
    (tmp_path / "file").write_text("")
    for words in (("rules", "docs", "-o"), ("rules", "schema", "-o")):
        assert "cannot make the folder" in fails(triage(*words, tmp_path / "file" / "x"), 2)[0]


def test_pages_of_rules_do_not_replace_what_somebody_wrote(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("mine")
    assert "was not made by this command" in fails(triage("rules", "docs", "-o", tmp_path), 2)[0]
    assert [path.name for path in tmp_path.iterdir()] == ["README.md"]
    assert (tmp_path / "README.md").read_text() == "mine"


def test_what_the_system_refuses_is_no_fault_of_ours(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from triage import cli

    def refuse(*_: object) -> None:
        raise OSError(5, "Input/output error", "/mnt/x\x1b[31m")

    monkeypatch.setattr(commands, "list_rules", refuse)
    monkeypatch.setattr(sys, "argv", ["triage", "rules", "list"])
    assert cli.run() == 1
    said = capsys.readouterr().err
    assert said.splitlines()[0] == "triage: /mnt/x: Input/output error" and "fault of triage" not in said
