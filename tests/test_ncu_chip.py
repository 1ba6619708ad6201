"""What ncu says this GPU has, and the cache of it."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from triage.asking import Said
from triage.ncu.chip import Chip, cache_folder, cached, parse, query
from triage.ncu.find import Ncu

DATA = Path(__file__).parent / "data"
NCU = Ncu(Path("ncu"), (2025, 3, 1))


class Answers:
    """Replays the recorded queries and counts them."""

    def __init__(self) -> None:
        self.asked: list[Sequence[str]] = []

    def __call__(self, command: Sequence[str], timeout: float) -> Said:
        self.asked.append(command)
        kind = command[3] if len(command) > 2 else "profiling"
        return Said(0, (DATA / f"ncu_query_{kind}.txt").read_text())


def test_parse_separates_devices_and_skips_wrapped_descriptions() -> None:
    text = (
        "Device A (GH100)\n-----\nMetric Name  Metric Type\n"
        "sm__cycles_active   Counter  cycle  # of cycles\n                     in flight\n"
        "Device B (GA100)\nsm__ratio  Ratio  x\n"
    )
    assert parse(text) == {"A (GH100)": {"sm__cycles_active"}, "B (GA100)": {"sm__ratio"}}


def test_all_collections_are_gathered() -> None:
    chip = query(NCU, Answers())
    assert chip.device == "NVIDIA H200 (GH100)"
    assert chip.has("gpu__time_duration.sum")
    assert chip.has("memory_l2_theoretical_sectors_global")
    assert chip.has("group:smsp__pcsamp_warp_stall_reasons")
    assert chip.has("smsp__pcsamp_warps_issue_stalled_barrier")


def test_what_the_chip_lacks_and_what_ncu_refuses_by_name() -> None:
    chip = query(NCU, Answers())
    assert not chip.has("sm__no_such_thing.avg")
    assert "derived__local_spilling_requests" in chip.metrics, "listed by ncu, yet refused by --metrics"
    assert not chip.has("derived__local_spilling_requests")
    assert chip.has("launch__anything") and chip.has("regex:sm__.*")
    assert chip.has("breakdown:sm__throughput.avg.pct_of_peak_sustained_elapsed")


def test_of_several_chips_only_what_all_have_counts() -> None:
    text = "Device A\na__x Counter\nb__x Counter\nDevice B\na__x Counter\n"
    chip = query(Ncu(Path("ncu"), options=frozenset(["help"])), lambda command, timeout: Said(0, text))
    assert chip.metrics == {"a__x"} and chip.device == "A, B"


def test_an_unknown_chip_is_assumed_to_have_everything() -> None:
    chip = query(NCU, lambda command, timeout: Said(1, "==ERROR== failed to connect to the CUDA driver\n"))
    assert chip.warning.endswith("failed to connect to the CUDA driver")
    assert chip.has("sm__whatever.avg")


def test_the_answer_is_kept_and_asked_again_for_another_release(tmp_path: Path) -> None:
    env, answers = {"XDG_CACHE_HOME": str(tmp_path)}, Answers()
    first = cached(NCU, env, tmp_path, answers)
    asked = len(answers.asked)
    assert asked == 5 and cached(NCU, env, tmp_path, answers) == first and len(answers.asked) == asked
    cached(Ncu(Path("ncu"), (2026, 1, 0)), env, tmp_path, answers)
    assert len(answers.asked) == 2 * asked
    assert not list((tmp_path / "ncu-triage").glob(".metrics-*")), "no temporary file is left"


def test_a_damaged_cache_and_an_unwritable_one_only_cost_time(tmp_path: Path) -> None:
    env = {"XDG_CACHE_HOME": str(tmp_path)}
    cached(NCU, env, tmp_path, Answers())
    (file,) = (tmp_path / "ncu-triage").glob("*.json")
    file.write_text("{")
    assert cached(NCU, env, tmp_path, Answers()).metrics
    assert json.loads(file.read_text())["device"] == "NVIDIA H200 (GH100)", "mended on the way"
    blocked = tmp_path / "file"
    blocked.write_text("")
    assert cached(NCU, {"XDG_CACHE_HOME": str(blocked)}, tmp_path, Answers()).metrics


def test_a_failed_query_is_not_kept(tmp_path: Path) -> None:
    env = {"XDG_CACHE_HOME": str(tmp_path)}
    assert cached(NCU, env, tmp_path, lambda command, timeout: Said(1, "no GPU")).warning
    assert cached(NCU, env, tmp_path, Answers()).metrics


def test_cache_folder_follows_the_environment(tmp_path: Path) -> None:
    assert cache_folder({"XDG_CACHE_HOME": "/x"}) == Path("/x/ncu-triage")
    assert cache_folder({"HOME": "/h"}) == Path("/h/.cache/ncu-triage")
    assert cache_folder({}) is None


def test_without_a_home_nothing_is_kept_where_others_write(tmp_path: Path) -> None:
    answers = Answers()
    assert cached(NCU, {}, tmp_path, answers).metrics
    asked = len(answers.asked)
    cached(NCU, {}, tmp_path, answers)
    assert len(answers.asked) == 2 * asked


@pytest.mark.parametrize(
    "odd", ['"device": 3, "metrics": ["a__x"]', '"device": "d", "metrics": [null]', '"metrics": 3']
)
def test_a_cache_of_other_types_is_none(tmp_path: Path, odd: str) -> None:
    env = {"XDG_CACHE_HOME": str(tmp_path)}
    first = cached(NCU, env, tmp_path, Answers())
    (file,) = (tmp_path / "ncu-triage").glob("*.json")
    key = json.dumps(json.loads(file.read_text())["key"])
    file.write_text(f'{{"key": {key}, {odd}}}')
    assert cached(NCU, env, tmp_path, Answers()) == first


def test_only_a_regular_file_of_ours_is_a_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    env, answers = {"XDG_CACHE_HOME": str(tmp_path)}, Answers()
    first = cached(NCU, env, tmp_path, answers)
    (file,) = (tmp_path / "ncu-triage").glob("*.json")
    asked = len(answers.asked)
    with monkeypatch.context() as other:
        other.setattr(os, "getuid", lambda: file.stat().st_uid + 1)
        assert cached(NCU, env, tmp_path, answers) == first and len(answers.asked) == 2 * asked
    file.unlink()
    os.mkfifo(file)
    assert cached(NCU, env, tmp_path, Answers()) == first


def test_an_empty_chip_has_no_device() -> None:
    assert Chip().device == ""


def test_half_a_list_is_no_list(tmp_path: Path) -> None:
    listed = (DATA / "ncu_query_profiling.txt").read_text()

    def late(command: Sequence[str], timeout: float) -> Said:
        return Said(124, listed, "it did not answer within 120 s") if "source" in command else Said(0, listed)

    chip = cached(NCU, {"XDG_CACHE_HOME": str(tmp_path)}, tmp_path, late)
    assert not chip.metrics and chip.warning.endswith("it did not answer within 120 s")
    assert not list(tmp_path.rglob("*.json"))
