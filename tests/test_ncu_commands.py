"""``triage profile`` from end to end, on a stand-in for ncu that replays recorded runs."""

from __future__ import annotations

import atexit
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

import triage.ncu.run
import triage.readers
from triage.errors import (
    FaultyRules,
    NcuFailed,
    NothingProfiled,
    ProgramFailed,
    TriageError,
    UnreadableReport,
    UsageError,
)
from triage.model import Profile
from triage.ncu import commands
from triage.ncu.chip import cached
from triage.ncu.find import inspect
from triage.ncu.outcome import Interrupted
from triage.readers import load

DATA = Path(__file__).parent / "data"
OPTIONS = [
    "config-file", "rename-kernels", "target-processes", "replay-mode", "clock-control", "cache-control", "apply-rules",
    "filter-mode", "query-metrics-collection",
]  # fmt: skip
HELLO = {"log": str(DATA / "ncu_hello.log"), "report": str(DATA / "ncu_hello.ncu-rep")}
SURVEY = {"log": str(DATA / "ncu_survey.log")}

app = typer.Typer()
app.command(context_settings=commands.PROFILE_CONTEXT)(commands.profile)
app.command()(commands.doctor)


@cache
def _hello() -> Profile:
    return load(Path(HELLO["report"]))


def _load(path: Path) -> Profile:
    """The recorded report is read once for all tests; every other file really."""
    return replace(_hello(), path=str(path)) if str(path).endswith(".ncu-rep") else load(path)


_CACHES: list[Path] = []


def _metrics_cache(stand: Stand) -> Path:
    """Ask the stand-in for its metrics once for all tests."""
    if not _CACHES:
        folder = Path(tempfile.mkdtemp())
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        cached(inspect(DATA / "ncu_fake.py"), {"XDG_CACHE_HOME": str(folder)})
        _CACHES.append(folder)
    return _CACHES[0]


class Stand:
    """A working folder with the stand-in for ncu, a program, and what came of a call."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.control = folder / "fake.json"
        self.out = folder / "out"
        monkeypatch.chdir(folder)
        for name in ("RANK", "WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "SLURM_STEP_NUM_TASKS"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("NCU", str(DATA / "ncu_fake.py"))
        monkeypatch.setenv("FAKE_NCU", str(self.control))
        monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        program = folder / "prog"
        program.write_text('#!/bin/sh\nprintf "from the program: %s" "$*"\necho "on stderr" >&2\nexit 0\n')
        program.chmod(0o755)
        self.replay(HELLO)
        shutil.copytree(_metrics_cache(self), folder / "cache")
        monkeypatch.setattr(triage.readers, "load", _load)
        monkeypatch.setattr(triage.ncu.run, "POLL_S", 0.01)

    def forget_metrics(self) -> None:
        """Let ncu be asked for its metrics again."""
        shutil.rmtree(self.folder / "cache")

    def replay(self, *runs: dict[str, Any], **scene: Any) -> None:
        kinds = ("profiling", "launch", "source", "warpsampling", "groups")
        queries = {kind: str(DATA / f"ncu_query_{kind}.txt") for kind in kinds}
        self.control.write_text(json.dumps({"options": OPTIONS, "queries": queries, "runs": runs} | scene))

    def call(self, *words: str) -> tuple[str, str, BaseException | None]:
        result = CliRunner().invoke(app, ["profile", "-o", str(self.out), *words])
        return result.stdout, result.stderr, result.exception

    def fails(self, kind: type[TriageError], *words: str) -> TriageError:
        error = self.call(*words)[2]
        assert type(error) is kind, error
        assert error.message and error.hint and "\n" not in error.message + error.hint
        return error

    @property
    def runs(self) -> list[list[str]]:
        """The command lines with which ncu was asked to run the program."""
        calls = self.control.with_name("fake.json.calls")
        return [json.loads(line) for line in calls.read_text().splitlines()] if calls.exists() else []


@pytest.fixture
def stand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stand:
    return Stand(tmp_path, monkeypatch)


def test_one_run_with_report_pages_and_paths(stand: Stand) -> None:
    stdout, stderr, error = stand.call("--no-survey", "-f", "html", "-f", "json", "./prog", "--size", "4")
    assert error is None
    assert "naive" in stdout
    for name in ("prog.ncu-rep", "prog.html", "prog.json"):
        assert (stand.out / name).exists() and f"wrote {stand.out / name}" in stderr
    (line,) = stand.runs
    assert line[-3:] == ["./prog", "--size", "4"]
    report = json.loads((stand.out / "prog.json").read_text())
    assert len(report["kernels"]) == 5


def test_survey_then_profile(stand: Stand) -> None:
    stand.replay(SURVEY, HELLO)
    _, stderr, error = stand.call("./prog")
    assert error is None
    survey, profile = stand.runs
    assert "--kernel-id" not in survey and survey[survey.index("--metrics") + 1] == "gpu__time_duration.sum"
    assert profile[profile.index("--kernel-id") + 1].endswith(":^(1|2|3)$")
    assert "29 launches" in stderr and "94 % of it" in stderr
    assert (stand.out / "prog.survey.log").exists()


def test_the_second_use_does_not_ask_for_metrics_again(stand: Stand) -> None:
    stand.forget_metrics()
    stand.call("--no-survey", "./prog")
    stand.replay(HELLO, queries={})
    _, stderr, error = stand.call("--no-survey", "./prog")
    assert error is None and "could not list" not in stderr
    assert (stand.out / "prog.2.ncu-rep").exists(), "the first report is kept"


def test_the_programs_streams_are_untouched(stand: Stand) -> None:
    done = run_for_real(stand, "--no-survey", "-q", "./prog", "a", "b")
    assert done.returncode == 0
    assert done.stdout.startswith("from the program: a b") and "on stderr\n" in done.stderr


def run_for_real(stand: Stand, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", MAIN, "profile", "-o", str(stand.out), *words],
        capture_output=True, text=True, timeout=60, check=False,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip


MAIN = """
import sys
import typer
from triage.errors import TriageError
from triage.ncu import commands
app = typer.Typer()
app.command(context_settings=commands.PROFILE_CONTEXT)(commands.profile)
app.command()(commands.doctor)
try:
    app()
except TriageError as error:
    print(error.message, error.hint, sep="\\n", file=sys.stderr)
    sys.exit(error.exit_code)
"""


def interrupted_run(stand: Stand) -> tuple[int, str, str]:
    """Status, output and messages of a run that gets Ctrl-C once the program speaks."""
    process = subprocess.Popen(
        [sys.executable, "-c", MAIN, "profile", "-o", str(stand.out), "--no-survey", "./prog"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert process.stdout is not None
    process.stdout.read(len("from the program:"))
    os.killpg(process.pid, signal.SIGINT)
    stdout, stderr = process.communicate(timeout=30)
    return process.returncode, stdout, stderr


def test_ctrl_c_leaves_a_report_and_ends_with_130(stand: Stand) -> None:
    interrupted = str(DATA / "ncu_interrupted.log")
    stand.replay(HELLO | {"wait": 30, "interrupted": interrupted, "status": 9})
    status, stdout, stderr = interrupted_run(stand)
    assert status == 130, stderr
    assert "interrupted" in stderr and "Traceback" not in stderr
    assert "naive" in stdout and (stand.out / "prog.ncu-rep").exists()


@pytest.mark.parametrize(
    ("log", "report", "kind", "code", "words"),
    [
        ("exit3", True, ProgramFailed, 5, "status 3"),
        ("segv", True, ProgramFailed, 5, "segmentation fault"),
        ("bad_access", True, ProgramFailed, 5, "LaunchFailed"),
        ("nothing", False, NothingProfiled, 6, "launched no kernel"),
        ("no_cuda", False, NothingProfiled, 6, "never touched CUDA"),
        ("no_match", False, NothingProfiled, 6, "no kernel matches"),
        ("bad_section", False, NcuFailed, 4, "NoSuchSection"),
        ("unwritable", False, UsageError, 2, "cannot be written"),
    ],
)
def test_ends(stand: Stand, log: str, report: bool, kind: type[TriageError], code: int, words: str) -> None:
    stand.replay({"log": str(DATA / f"ncu_{log}.log"), "report": HELLO["report"] if report else None, "status": 1})
    error = stand.fails(kind, "--no-survey", "./prog")
    assert error.exit_code == code and words in error.message
    assert (stand.out / "prog.ncu-rep").exists() is report, "the report is kept even when the program failed"
    assert (stand.out / "prog.html").exists() is report


def test_a_program_that_fails_in_the_survey_is_still_profiled(stand: Stand) -> None:
    text = (DATA / "ncu_survey.log").read_text() + "==ERROR== The application returned an error code (3).\n"
    (stand.folder / "survey.log").write_text(text)
    stand.replay({"log": str(stand.folder / "survey.log"), "status": 3}, HELLO)
    assert stand.call("./prog")[2] is None and len(stand.runs) == 2


def test_a_survey_without_launches_ends_there(stand: Stand) -> None:
    stand.replay({"log": str(DATA / "ncu_nothing.log")}, HELLO)
    stand.fails(NothingProfiled, "./prog")
    assert len(stand.runs) == 1


def test_a_refused_metric_is_dropped_and_the_run_repeated(stand: Stand) -> None:
    stand.forget_metrics()
    stand.replay({"log": str(DATA / "ncu_bad_metric.log"), "status": 9}, HELLO, queries={}, query_error="no idea")
    stdout, _, error = stand.call("--no-survey", "--metrics", "not_a_metric", "./prog")
    assert error is None and len(stand.runs) == 2
    assert "not_a_metric" in stand.runs[0][stand.runs[0].index("--metrics") + 1].split(",")
    assert "not_a_metric" not in stand.runs[1][stand.runs[1].index("--metrics") + 1].split(",")
    assert "ncu does not know it: not_a_metric" in " ".join(stdout.split())


def test_a_misspelt_metric_of_a_team_is_named_with_its_line(stand: Stand) -> None:
    (stand.folder / "sets.yaml").write_text(
        "sets:\n  ours:\n    title: Ours\n    about: Ours.\n"
        "    metrics:\n      - sm__warps_activ.avg\n      - dram__bytes_read.sum\n"
    )
    _, stderr, error = stand.call("--no-survey", "--rules", str(stand.folder), "--set", "ours", "./prog")
    assert error is None
    assert "sm__warps_activ.avg" in stderr and "sets.yaml:6" in stderr and "did you mean 'sm__warps_active'" in stderr
    (line,) = stand.runs
    assert line[line.index("--metrics") + 1] == "gpu__time_duration.sum,dram__bytes_read.sum"


def test_a_team_set_with_nothing_left_and_a_faulty_one(stand: Stand) -> None:
    file = stand.folder / "sets.yaml"
    file.write_text("sets:\n  ours: {title: T, about: A, metrics: [no__such.sum]}\n")
    assert stand.fails(FaultyRules, "--rules", str(stand.folder), "--set", "ours", "./prog").exit_code == 3
    file.write_text("sets:\n  ours: {title: T, about: A, metric: [no__such.sum]}\n")
    error = stand.fails(FaultyRules, "--rules", str(stand.folder), "./prog")
    assert any("unknown key 'metric'" in fault for fault in error.details)
    assert stand.runs == []


def test_no_ncu_no_program_no_folder_no_set(stand: Stand, monkeypatch: pytest.MonkeyPatch) -> None:
    stand.fails(UsageError, "./nosuch")
    (stand.folder / "data.txt").write_text("")
    assert "not executable" in stand.fails(UsageError, "./data.txt").message
    assert "write ./prog" in stand.fails(UsageError, "prog").hint
    stand.fails(UsageError, "--set", "nosuch", "./prog")
    assert "html" in stand.fails(UsageError, "-f", "htm", "./prog").hint
    (stand.folder / "out").write_text("a file in the way")
    assert "--output" in stand.fails(UsageError, "./prog").hint
    monkeypatch.setenv("NCU", "/nowhere/ncu")
    assert stand.fails(NcuFailed, "./prog").exit_code == 4


def test_ncu_that_refuses_its_options(stand: Stand) -> None:
    stand.replay({"stdout": "==ERROR== unrecognised option '--x'.", "status": 1})
    error = stand.fails(NcuFailed, "--no-survey", "./prog")
    assert "status 1" in error.message and not (stand.out / "prog.ncu.log").exists()


def test_dry_run_prints_both_lines_and_runs_nothing(stand: Stand) -> None:
    stdout, _, error = stand.call("--dry-run", "--", "./prog", "a b")
    assert error is None and stand.runs == [] and not stand.out.exists()
    survey, profile = stdout.splitlines()
    assert survey.endswith("prog.survey.log ./prog 'a b'")
    assert "NAMES_FROM_THE_SURVEY" in profile and profile.endswith("prog.ncu.log ./prog 'a b'")


def test_dry_run_works_without_ncu(stand: Stand, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NCU", "/nowhere/ncu")
    stdout, stderr, error = stand.call("--dry-run", "--no-survey", "./whatever")
    assert error is None and stdout.startswith("ncu --config-file off") and "as if every metric existed" in stderr


def test_our_options_end_at_the_program(stand: Stand) -> None:
    stdout, _, _ = stand.call("--dry-run", "--no-survey", "./prog", "--set", "full", "-o", "x")
    assert stdout.rstrip().endswith("./prog --set full -o x") and "--metrics" in stdout


@pytest.mark.parametrize("words", [["--clock-control", "max"], ["--replay-mode", "x"], ["--share", "101"]])
def test_values_are_checked_before_anything_runs(stand: Stand, words: list[str]) -> None:
    result = CliRunner().invoke(app, ["profile", *words, "./prog"])
    assert result.exit_code == 2 and stand.runs == []


def test_ranks_skip_the_survey_and_the_last_one_reads_all_back(stand: Stand, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "2")
    for rank in ("1", "0"):
        monkeypatch.setenv("OMPI_COMM_WORLD_RANK", rank)
        stdout, stderr, error = stand.call("./prog")
        assert error is None and "collectives" in stderr
        assert bool(stdout.strip()) is (rank == "0"), "only the last rank prints a report"
    assert len(stand.runs) == 2 and all(":^(1|2)$" in line[line.index("--kernel-id") + 1] for line in stand.runs)
    names = {path.name for path in stand.out.iterdir()}
    assert {
        "prog.rank0.ncu-rep",
        "prog.rank1.ncu-rep",
        "prog.rank0.html",
        "prog.rank1.html",
        "prog.ranks.html",
    } <= names
    assert "10 kernels" in stdout or stdout.count("5 kernels") == 2


def test_a_launcher_is_profiled_from_outside_without_collectives(stand: Stand) -> None:
    shutil.copy(stand.folder / "prog", stand.folder / "mpirun")
    stand.replay(SURVEY, HELLO)
    _, stderr, error = stand.call("./mpirun", "-n", "2", "./prog")
    assert error is None and "left out" in stderr
    survey, profile = stand.runs
    assert "(?!" in survey[survey.index("--kernel-name") + 1]
    assert profile[profile.index("--target-processes") + 1] == "all"


def test_without_ncu_report_the_report_is_read_through_ncu(stand: Stand, monkeypatch: pytest.MonkeyPatch) -> None:
    def without_binary(path: Path, *arguments: Any, **named: Any) -> Any:
        if str(path).endswith(".ncu-rep"):
            raise UnreadableReport("ncu-report is not installed", "pip install ncu-report")
        return load(path, *arguments, **named)

    monkeypatch.setattr(triage.readers, "load", without_binary)
    stand.replay(HELLO, csv=str(DATA / "ncu_import.csv"))
    stdout, _, error = stand.call("--no-survey", "./prog")
    assert error is None and "t_naive" in stdout and (stand.out / "prog.csv").exists()
    stand.replay(HELLO)
    assert "not installed" in stand.fails(UnreadableReport, "--no-survey", "./prog").message


def test_interrupted_is_one_of_the_family() -> None:
    assert issubclass(Interrupted, TriageError) and Interrupted("a").exit_code == 130


def test_doctor_ends_with_0_or_4(monkeypatch: pytest.MonkeyPatch) -> None:
    import triage.ncu.doctor as module

    for state, code in (("ok", 0), ("missing", 0), ("bad", 4)):
        monkeypatch.setattr(module, "examine", lambda machine, say, state=state: [module.Check("x", state, "y")])
        assert CliRunner().invoke(app, ["doctor"]).exit_code == code


def test_words_of_ncu_are_inert(stand: Stand) -> None:
    stand.forget_metrics()
    bad = "==ERROR== \x1b[31mred\x1b]0;title\x07 \u202ename"
    (stand.folder / "bad.log").write_text(f"{bad}\n==PROF== Connected to process 1 (/prog)\n", encoding="utf-8")
    stand.replay({"log": str(stand.folder / "bad.log"), "status": 1}, queries={}, query_error=bad)
    env = {**os.environ, "PYTHONPATH": str(DATA.parent.parent)}
    words = [sys.executable, "-m", "triage", "profile", "-o", str(stand.out), "--no-survey", "./prog"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False, env=env)
    assert "red name" in done.stderr
    assert [each for each in done.stderr if each != "\n" and not each.isprintable()] == []


def test_an_interrupt_before_there_is_a_report_promises_none(stand: Stand) -> None:
    stand.replay({"log": HELLO["log"], "report": None, "wait": 30, "interrupted": HELLO["log"], "status": 9})
    status, _, stderr = interrupted_run(stand)
    assert status == 130 and "ncu had not written a report yet" in stderr, stderr


def test_a_file_of_the_user_is_not_taken_for_an_old_page(stand: Stand) -> None:
    stand.out.mkdir()
    (stand.out / "prog.json").write_text("mine")
    assert stand.call("--no-survey", "-f", "json", "./prog")[2] is None
    assert (stand.out / "prog.json").read_text() == "mine" and (stand.out / "prog.2.json").exists()


def test_a_status_after_the_report_is_told(stand: Stand) -> None:
    stand.replay(HELLO | {"status": 139})
    stdout, _, error = stand.call("--no-survey", "./prog")
    assert error is None and "segmentation fault" in " ".join(stdout.split())


def test_what_a_run_says_on_standard_error_is_inert(stand: Stand) -> None:
    stand.forget_metrics()
    stand.replay(HELLO, queries={}, query_error="==ERROR== \x1b[31mpwn\x1b]0;x\x07")
    _, stderr, error = stand.call("--no-survey", "--metrics", "\x1b[31m,x", "./prog")
    assert error is None and "could not list this GPU's metrics: pwn" in stderr
    assert all(line.isprintable() for line in stderr.splitlines())
