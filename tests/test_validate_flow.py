"""`triage validate` from end to end, on stand-ins for nvcc, ncu and the calibration programs."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml
from typer.testing import CliRunner

import triage.ncu.run
from triage.driver import nvcc
from triage.errors import GateFailed, NcuFailed, NothingProfiled, TriageError, UsageError
from triage.ncu import collect
from triage.ncu.chip import Chip
from triage.ncu.find import Ncu
from triage.ncu.outcome import Interrupted
from triage.validate import commands, flow, jsonform, manifest, profiling
from triage.validate.flow import Request

DATA = Path(__file__).parent / "data"
ROWS = {
    label["kernel"]: label["index"]
    for label in yaml.safe_load((DATA / "calibration_h200.yaml").read_text(encoding="utf-8"))["labels"]
}
ENTRIES = manifest.load()
app = typer.Typer()
app.command()(commands.validate)


class Stand:
    """A folder with the stand-ins on PATH, and a scene that tests change before they call."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.monkeypatch = folder, monkeypatch
        tools = folder / "tools"
        tools.mkdir()
        for name in ("nvcc", "ncu"):
            # Without site packages an interpreter starts in half the time.
            fake = f'exec "{sys.executable}" -S -I "{DATA / "validate_fake.py"}" {name} "$@"'
            (tools / name).write_text(f"#!/bin/sh\n{fake}\n")
            (tools / name).chmod(0o755)
        self.scene: dict[str, Any] = {"table": str(DATA / "calibration_h200.csv"), "programs": {}}
        for program in ("sleep", "tail_wave"):
            entries = [entry for entry in ENTRIES if entry.program == program]
            self.scene["programs"][program] = {
                "kernels": {e.kernel: {"us": 100.0 if e.twin else 75.0, "rows": [ROWS[e.kernel]]} for e in entries},
                "checks": [[e.kernel, e.twin, True] for e in entries if e.twin],
            }
        monkeypatch.chdir(folder)
        monkeypatch.setenv("NCU", str(tools / "ncu"))
        monkeypatch.setenv("NVCC", str(tools / "nvcc"))
        monkeypatch.setenv("VALIDATE_FAKE_PARENT", str(os.getpid()))
        monkeypatch.setenv("VALIDATE_FAKE", str(folder / "scene.json"))
        monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        monkeypatch.setattr(nvcc, "local_architecture", lambda: "90")
        # What ncu and nvcc say about themselves is asked in the tests of their own rooms.
        monkeypatch.setattr(nvcc, "_release", lambda path: (13, 0))
        monkeypatch.setattr(collect, "inspect", lambda path: Ncu(path, (2025, 3, 1)))
        monkeypatch.setattr(collect, "cached", lambda ncu, env: Chip("NVIDIA H200 (GH100)"))
        monkeypatch.setattr(triage.ncu.run, "POLL_S", 0.005)

    def kernel(self, name: str) -> dict[str, Any]:
        program = next(entry.program for entry in ENTRIES if entry.kernel == name)
        found: dict[str, Any] = self.scene["programs"][program]["kernels"][name]
        return found

    def manifest(self, change: Callable[[manifest.Calibration], manifest.Calibration]) -> None:
        changed = tuple(change(entry) for entry in ENTRIES)
        self.monkeypatch.setattr(manifest, "load", lambda path=None, limiters=(): changed)

    def call(self, *words: str) -> tuple[str, str, BaseException | None]:
        (self.folder / "scene.json").write_text(json.dumps(self.scene))
        result = CliRunner().invoke(app, [*words])
        return result.stdout, result.stderr, result.exception

    def fails(self, kind: type[TriageError], *words: str) -> tuple[TriageError, str]:
        stdout, _, error = self.call(*words)
        assert type(error) is kind, error
        assert error.message and error.hint and "\n" not in error.message + error.hint
        return error, stdout

    @property
    def runs(self) -> list[list[str]]:
        return [json.loads(line) for line in (self.folder / "scene.json.calls").read_text().splitlines()]


@pytest.fixture
def stand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stand:
    return Stand(tmp_path, monkeypatch)


def test_everything_holds(stand: Stand) -> None:
    stdout, stderr, error = stand.call("sleep", "tail_wave")
    assert error is None, error
    assert "8 of 8 kernels are named right" in stdout
    assert "All hold." in stdout
    assert "1.33x" in stdout and "1.43x" in stdout, "the measured speed-up stands beside the stated bound"
    assert "CC 9.0" in stdout and "ncu 2025.3.1" in stdout and "nvcc 13.0" in stdout
    assert "profiling tail_wave (2 of 2)" in stderr
    assert "no JSON" not in stdout


def test_each_program_is_profiled_once_with_the_triage_set(stand: Stand) -> None:
    assert stand.call("sleep", "tail_wave")[2] is None
    assert [line[0] for line in stand.runs] == ["sleep", "tail_wave"]
    for line in stand.runs:
        assert line[line.index("--apply-rules") + 1] == "no"
        assert "--kernel-name" not in line and "--kernel-id" not in line
        assert line[-3:] == ["--no-check", "--scale", "1"]
        metrics = line[line.index("--metrics") + 1].split(",")
        assert "gpu__time_duration.sum" in metrics and len(metrics) > 40
    assert (stand.folder / "triage-validate/reports/tail_wave.ncu-rep").is_file()


def test_json_holds_everything_and_can_be_read_back(stand: Stand, capfd: pytest.CaptureFixture[str]) -> None:
    stand.scene["programs"]["sleep"]["skipped"] = {"sleep_never": "for the test"}
    del stand.scene["programs"]["sleep"]["kernels"]["sleep_never"]
    stdout, _, error = stand.call("sleep", "tail_wave", "-f", "json")
    assert error is None
    printed = capfd.readouterr()
    assert '"skipped"' in printed.err and printed.out == "", "what programs print under ncu keeps off standard output"
    found = json.loads(stdout)
    assert found["schema"] == "triage/validate/1" and found["holds"] is True
    assert found["outcomes"] == {"right": 7, "miss": 0, "undecided": 0, "wrong": 0}
    (skipped,) = found["skipped"]
    assert (skipped["kernel"], skipped["reason"], skipped["lacking"]) == ("sleep_never", "for the test", True)
    pair = next(one for one in found["pairs"] if one["kernel"] == "tail_of_big_blocks")
    assert pair["speedup"] == pytest.approx(1.333, abs=1e-3) and pair["bound"] == pytest.approx(1.43, abs=0.01)
    assert pair["same_result"] is True and pair["limiter_gone"] is True
    assert jsonform.render(jsonform.parse(stdout, "v.json")) == stdout


def test_a_wrong_verdict_is_shown_with_its_walk_and_ends_with_ten(stand: Stand) -> None:
    stand.kernel("sleep_between_items")["rows"] = [ROWS["sleep_never"]]
    error, stdout = stand.fails(GateFailed, "sleep")
    assert error.exit_code == 10
    assert error.details == ("sleep_between_items: memory-latency (wrong), expected sleep",)
    assert "WRONG: sleep_between_items is memory-latency, expected sleep" in stdout
    assert "Verdict: memory-latency" in stdout and "Built so: every warp sleeps" in stdout
    assert "memory-latency 1" in stdout, "the confusion matrix says what it was taken for"


def test_a_twin_with_another_result_ends_with_ten(stand: Stand) -> None:
    stand.scene["programs"]["sleep"]["checks"][0][2] = False
    error, stdout = stand.fails(GateFailed, "sleep")
    assert "does not give the same result" in error.details[0]
    assert "4 of 4 kernels are named right" in stdout


def test_a_speedup_beyond_the_stated_bound_ends_with_ten(stand: Stand) -> None:
    stand.kernel("tail_of_big_blocks")["us"] = 75 * 1.55
    assert stand.call("tail_wave")[2] is None, "up to a tenth above the bound is noise"
    stand.kernel("tail_of_big_blocks")["us"] = 75 * 1.62
    error, stdout = stand.fails(GateFailed, "tail_wave")
    assert "beyond the stated bound of 1.43x" in error.details[0] and "BEATEN" in stdout


def test_repeated_rounds_must_agree(stand: Stand) -> None:
    assert stand.call("sleep", "--repeat")[2] is None
    assert [line[0] for line in stand.runs] == ["sleep", "sleep"]
    (stand.folder / "scene.json.calls").unlink()
    stand.kernel("sleep_never")["rows"] = [ROWS["sleep_never"], ROWS["dram_copy"]]
    error, stdout = stand.fails(GateFailed, "sleep", "--repeat")
    assert error.details == ("sleep_never: memory-latency, but dram-bandwidth when profiled again",)
    assert "sleep_never at 1: memory-latency -> dram-bandwidth" in stdout


def test_sizes_must_agree_unless_the_manifest_says_that_the_limiter_changes(stand: Stand) -> None:
    stand.kernel("sleep_never")["rows"] = [ROWS["sleep_never"], ROWS["tiny_launch"], ROWS["sleep_never"]]
    error, _ = stand.fails(GateFailed, "sleep", "--scale", "0.5,1,2")
    assert error.details == ("sleep_never: memory-latency, but grid-too-small at 0.5 of the size",)
    assert [line[-1] for line in stand.runs] == ["1", "0.5", "2"]
    (stand.folder / "scene.json.calls").unlink()
    smaller = {0.5: ("grid-too-small",)}
    stand.manifest(lambda entry: replace(entry, at=smaller) if entry.kernel == "sleep_never" else entry)
    stdout, _, fault = stand.call("sleep", "--scale", "0.5,1,2")
    assert fault is None
    assert "(as the manifest says)" in stdout


def test_at_another_size_alone_the_manifests_word_for_it_counts(stand: Stand) -> None:
    stand.kernel("sleep_never")["rows"] = [ROWS["tiny_launch"]]
    assert isinstance(stand.call("sleep", "--scale", "0.5")[2], GateFailed)
    smaller = {0.5: ("grid-too-small",)}
    stand.manifest(lambda entry: replace(entry, at=smaller) if entry.kernel == "sleep_never" else entry)
    assert stand.call("sleep", "--scale", "0.5")[2] is None


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ({"compile": "tail_wave.cu(3): error: no"}, "nvcc could not compile tail_wave.cu"),
        ({"crash": "tail_wave.cu:7: out of memory"}, "tail_wave failed: tail_wave.cu:7: out of memory"),
        ({"ncu": "==ERROR== The application returned an error code (11)."}, "crashed"),
    ],
)
def test_a_program_that_fails_is_skipped_with_its_reason(stand: Stand, fault: dict[str, str], words: str) -> None:
    stand.scene["programs"]["tail_wave"] |= fault
    stdout, stderr, error = stand.call("sleep", "tail_wave")
    assert error is None
    assert "4 kernels skipped" in stdout and words in stdout and words in stderr
    assert "4 of 4 kernels are named right" in stdout


def test_a_program_that_fails_at_another_size_only_is_skipped_there(stand: Stand) -> None:
    stand.kernel("sleep_never")["rows"] = [ROWS["sleep_never"], 10_000]
    stdout, _, error = stand.call("sleep", "tail_wave", "--scale", "1,2")
    assert error is None
    assert "8 of 8 kernels are named right" in stdout and "(at scale 2)" in stdout


def test_an_interrupt_keeps_what_was_profiled(stand: Stand) -> None:
    stand.scene["programs"]["tail_wave"]["interrupt"] = 0
    error, stdout = stand.fails(Interrupted, "sleep", "tail_wave", "--repeat")
    assert error.exit_code == 130
    assert "4 of 4 kernels are named right" in stdout
    assert "the run was interrupted in it" in stdout
    assert [line[0] for line in stand.runs] == ["sleep", "tail_wave"], "no second round"


def test_an_interrupt_in_a_later_round_keeps_the_rounds_until_then(stand: Stand) -> None:
    stand.scene["programs"]["sleep"]["interrupt"] = 1
    _, stdout = stand.fails(Interrupted, "sleep", "tail_wave", "--scale", "1,2,0.5", "-f", "json")
    found = json.loads(stdout)
    assert found["outcomes"]["right"] == 8
    assert [len(one["answers"]) for one in found["rounds"]] == [8, 0]


def test_an_interrupt_while_a_report_is_read_is_one_as_well(stand: Stand, monkeypatch: pytest.MonkeyPatch) -> None:
    read = profiling.read

    def stopped(path: Path, *rest: Any) -> Any:
        if path.name.startswith("tail_wave"):
            raise KeyboardInterrupt
        return read(path, *rest)

    monkeypatch.setattr(profiling, "read", stopped)
    _, stdout = stand.fails(Interrupted, "sleep", "tail_wave")
    assert "4 of 4 kernels are named right" in stdout
    assert "before the first program" in stand.fails(Interrupted, "tail_wave")[0].message


def test_what_the_chip_lacks_is_skipped_with_the_reason(stand: Stand) -> None:
    stand.manifest(lambda entry: replace(entry, min_cc=100) if entry.program == "tail_wave" else entry)
    stdout, _, error = stand.call("sleep", "tail_wave")
    assert error is None
    assert "needs compute capability 10.0, this GPU has 9.0" in stdout
    assert [line[0] for line in stand.runs] == ["sleep"]
    error, _ = stand.fails(NothingProfiled, "tail_wave")
    assert "needs compute capability 10.0" in error.message


def test_without_a_tool_or_a_gpu_it_ends_with_four(stand: Stand, monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> str:
        raise NcuFailed("no NVIDIA driver", "name one")

    with monkeypatch.context() as without:
        without.setenv("NVCC", "/nowhere/nvcc")
        assert stand.fails(NcuFailed, "sleep")[0].exit_code == 4
    with monkeypatch.context() as without:
        without.setenv("NCU", "/nowhere/ncu")
        assert "NCU" in stand.fails(NcuFailed, "sleep")[0].hint
    with monkeypatch.context() as without:
        without.setattr(nvcc, "local_architecture", none)
        assert "--from" in stand.fails(NcuFailed, "sleep")[0].hint


def test_a_missing_permission_stops_at_the_first_program(stand: Stand) -> None:
    refused = "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters"
    for scene in stand.scene["programs"].values():
        scene["ncu"] = refused
    error, _ = stand.fails(NcuFailed, "sleep", "tail_wave")
    assert "counters" in error.message.lower()
    assert len(stand.runs) == 1


def test_the_page_and_the_json_are_written_to_files(stand: Stand) -> None:
    for name in ("v.json", "page.md", "v.txt"):
        stdout, stderr, error = stand.call("sleep", "-o", name)
        assert error is None
        assert stdout.startswith("4 of 4 kernels are named right") and f"wrote {name}" in stderr
    assert "# How often triage is right" in Path("page.md").read_text(encoding="utf-8")
    assert json.loads(Path("v.json").read_text(encoding="utf-8"))["holds"] is True


def test_two_earlier_runs_are_judged_together(stand: Stand) -> None:
    assert stand.call("sleep", "--repeat", "-o", "a.json")[2] is None
    (stand.folder / "scene.json.calls").unlink()
    stand.kernel("sleep_until_flag")["rows"] = [ROWS["sleep_between_items"]]
    stand.kernel("sleep_never")["rows"] = [ROWS["sleep_never"], ROWS["dram_copy"]]
    assert isinstance(stand.call("sleep", "--scale", "0.5,2", "-o", "b.json")[2], GateFailed)
    error, stdout = stand.fails(GateFailed, "--from", "a.json", "--from", "b.json")
    assert error.details == ("sleep_never: memory-latency, but dram-bandwidth at 2 of the size",)
    assert "Verdicts that changed in 3 more rounds: 1" in stdout


def test_usage_errors(stand: Stand) -> None:
    assert stand.fails(UsageError, "tail_waves")[0].hint == "did you mean tail_wave?"
    for scale in ("", "a", "0", "-1", "1,99"):
        assert "scales" in stand.fails(UsageError, "--scale", scale)[0].message
    assert "--from" in stand.fails(UsageError, "--from", "a.json", "--repeat")[0].message
    assert "suffix" in stand.fails(UsageError, "sleep", "-o", "x.pdf")[0].message


def test_rounds_start_with_the_normal_size() -> None:
    assert Request(scales=(0.5, 1.0, 2.0), repeat=True).rounds == (1.0, 1.0, 0.5, 2.0)
    assert Request(scales=(0.5, 2.0)).rounds == (0.5, 2.0)
    assert flow.scales("0.5, 1,2") == (0.5, 1.0, 2.0)


def test_the_environment_of_this_process_is_not_changed(stand: Stand) -> None:
    before = dict(os.environ)
    stand.call("sleep")
    assert dict(os.environ) == before
