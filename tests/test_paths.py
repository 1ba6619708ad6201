"""Names and files that no opening survives: pipes, names too long, NUL, links in a circle, JSON without a bottom."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest
from captures import DATA

from triage import cli, paths

pytestmark = pytest.mark.skipif(os.name == "nt", reason="POSIX files")
CAPTURE = DATA / "limiters_h200.csv"
LONG = "a" * 300


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copy(CAPTURE, tmp_path / "in.csv")
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def ends(line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    monkeypatch.setattr(sys, "argv", ["triage", *line.split()])
    status = cli.run()
    said = capsys.readouterr().err
    assert "unexpected" not in said and "Traceback" not in said, said
    return status, said


def test_reading_is_for_regular_files(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "file").write_bytes(b"12345")
    assert paths.read(tmp_path / "file", 3) == b"123"
    for name in ("pipe", "loop", "absent", LONG, "a\0b", "."):
        with pytest.raises(OSError, match=r"\w"):
            paths.read(tmp_path / name, 3)
        assert not paths.is_file(tmp_path / name)
    assert not paths.is_dir(tmp_path / LONG) and not paths.is_dir(Path("a\0b"))
    assert paths.real(Path("a\0b")) == "a\0b" and paths.real(tmp_path / "loop") == str(tmp_path / "loop")


@pytest.mark.parametrize(
    "line",
    [
        "check in.csv --baseline pipe",
        "diff in.csv pipe",
        "report in.csv --roofs pipe",
        "validate --from pipe",
        "validate --from pipe.yaml",
        "check in.csv --config pipe.yaml",
        "report in.csv --rules pipe",
        "rules lint pipe",
        "report pipe",
    ],
)
def test_a_pipe_is_refused_and_not_waited_for(
    line: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    os.mkfifo(folder / "pipe")
    os.mkfifo(folder / "pipe.yaml")
    assert ends(line, monkeypatch, capsys)[0] == 3


@pytest.mark.parametrize(
    ("line", "status"),
    [
        (f"report {LONG}", 3),
        (f"report {LONG} -f html", 3),
        (f"diff {LONG} {LONG}", 3),
        (f"report in.csv --rules {LONG}", 3),
        (f"report in.csv --roofs {LONG}", 3),
        (f"report in.csv --source-map a={LONG}", 2),
        (f"rules lint {LONG}", 3),
        (f"check in.csv --config {LONG}", 2),
        (f"check in.csv --baseline {LONG}", 3),
        (f"export {LONG} -o x.csv", 3),
        (f"validate --from {LONG}", 3),
        (f"profile {LONG}", 2),
        (f"profile ./{LONG}", 2),
    ],
)
def test_a_name_that_no_file_can_have(
    line: str, status: int, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ends(line, monkeypatch, capsys)[0] == status


@pytest.mark.parametrize(
    "text",
    [
        'rules: ["\\0"]',
        'roofs: "\\0"',
        'report: {output: "\\0.html"}',
        'overrides: [{"a\\0b": 1}]',
        f"rules: [{LONG}]",
        f"roofs: {LONG}",
        "rules: [loop]",
        "roofs: loop",
    ],
)
@pytest.mark.parametrize("command", ["check in.csv", "report in.csv", "rules lint"])
def test_paths_in_a_triage_yaml_that_no_file_can_have(
    text: str, command: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "loop").symlink_to("loop")
    (folder / "triage.yaml").write_text(text + "\n")
    assert ends(command, monkeypatch, capsys)[0] == 3


@pytest.mark.parametrize("kind", ["dangling", "loop", "folder", "pipe"])
@pytest.mark.parametrize(
    "command", ["check in.csv", "report in.csv", "rules lint", "check in.csv --config triage.yaml"]
)
def test_a_triage_yaml_that_cannot_be_read_is_not_passed_over(
    kind: str, command: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # A broken link would switch all gates of a team off.
    place = folder / "triage.yaml"
    {
        "dangling": lambda: place.symlink_to("gone.yaml"),
        "loop": lambda: place.symlink_to("triage.yaml"),
        "folder": place.mkdir,
        "pipe": lambda: os.mkfifo(place),
    }[kind]()
    status, said = ends(command, monkeypatch, capsys)
    assert status == 3
    if command != "rules lint":
        assert "cannot be read" in said


def test_a_folder_without_gates_is_no_configuration(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "sub").mkdir()
    assert ends("check in.csv --config sub", monkeypatch, capsys)[0] == 2


@pytest.mark.parametrize("name", ["deep.json", "deep.yaml"])
@pytest.mark.parametrize("option", ["validate --from", "report in.csv --roofs"])
def test_nesting_without_a_bottom(
    name: str, option: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / name).write_text("[" * 100_000)
    assert ends(f"{option} {name}", monkeypatch, capsys)[0] == 3


@pytest.mark.parametrize(
    "text",
    [
        "kernels: [{match: '*', ceiling: 0 TB/s, min_effective_bandwidth: 80%}]",
        "kernels: [{match: '*', max_duration: 0 us}]",
        "kernels: [{match: '*', max_duration: 1e-400 us}]",
        "gates: {max_duration: 1e-400 us}",
        "gates: {min_effective_bandwidth: 0%}",
        "overrides: [{threshold: busy_pct, value: -1, source: x}]",
    ],
)
def test_numbers_that_switch_a_gate_or_a_rule_off(
    text: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "triage.yaml").write_text(text + "\n")
    status, said = ends("check in.csv", monkeypatch, capsys)
    assert status == 3 and "triage.yaml:1:" in said


def test_a_baseline_with_a_name_that_no_file_can_have(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in (LONG, "a\\0"):
        (folder / "triage.yaml").write_text(f'gates: {{baseline: "{name}"}}\n')
        assert ends("check in.csv", monkeypatch, capsys)[0] == 3


def test_folders_nested_deeper_than_a_stack(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    deep = folder / "deep"
    deep.mkdir()
    monkeypatch.chdir(deep)
    for _ in range(1_500):
        os.mkdir("d")  # noqa: PTH102 - by name, as the whole path is too long for one call
        os.chdir("d")
    monkeypatch.chdir(folder)
    assert ends("report deep", monkeypatch, capsys)[0] == 3
    assert ends("check in.csv --sarif s.sarif", monkeypatch, capsys)[0] == 10
    assert ends("report . -f md -o in.csv", monkeypatch, capsys)[0] == 2
    shutil.copy("in.csv", "deep/d/d/in2.csv")
    assert ends("report deep", monkeypatch, capsys)[0] == 0
    while deep.exists():
        # rmtree goes down by names as well.
        here = deep
        for _ in range(900):
            if not (here / "d").is_dir():
                break
            here = here / "d"
        (here / "in2.csv").unlink(missing_ok=True)
        shutil.rmtree(here) if here != deep else deep.rmdir()


def test_the_walk_is_that_of_the_standard_library(tmp_path: Path) -> None:
    for name in ("b/c", "a/x/y", "a/w"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "f").touch()
    (tmp_path / "a" / "up").symlink_to("..")
    found = [(where, folders) for where, folders, _ in paths.walk(tmp_path)]
    expected = []
    for where, folders, _ in os.walk(tmp_path):
        folders[:] = sorted(name for name in folders if name != "up")
        expected.append((where, list(folders)))
    assert found == expected
    pruned = []
    for where, folders, _ in paths.walk(tmp_path):
        folders[:] = [name for name in folders if name != "a"]
        pruned.append(Path(where).name)
    assert pruned == [tmp_path.name, "b", "c"]


def test_a_step_summary_that_is_a_pipe(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    os.mkfifo(folder / "summary")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(folder / "summary"))
    status, said = ends("check in.csv --github", monkeypatch, capsys)
    assert status == 2 and "it is no file" in said
