"""The measurement, on a machine that is made up: who is timed, in which order, what is said about it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from triage.driver import bench, pages, session
from triage.driver.bench import Bench, Setup
from triage.driver.contest import Contestant, GpuInfo, Pair
from triage.driver.roofs import Roofs
from triage.driver.shapes import Shape
from triage.errors import GateFailed, UsageError

H200 = GpuInfo("NVIDIA H200", "9.0", 132, 62_914_560, 140_000_000_000, 4.9e12, "driver for CUDA 13.0")


def nothing(_pair: Pair) -> None:
    """Stands for a launch."""


def contestant(name: str, **changes: object) -> Contestant:
    values: dict[str, object] = {"name": name, "launch": nothing, "blocks": 65_536, **changes}
    return Contestant(**values)  # type: ignore[arg-type]


COPY = contestant("device copy", transposes=False, peer=True, blocks=None)
BEST = contestant("best")
NAIVE = contestant("naive_32")
GEAM = contestant("cuBLAS geam", peer=True, blocks=None)
RACY = contestant("missing_barrier_32", right=False)


@dataclass
class Machine:
    """A GPU whose times and faults are given."""

    times: dict[str, float]
    wrong: dict[str, int] = field(default_factory=dict)
    info: GpuInfo = H200
    roof: tuple[int, float] = (2**31, 508.0)
    prepared: list[tuple[Shape, str, int]] = field(default_factory=list)
    timed: list[tuple[str, int]] = field(default_factory=list)

    def prepare(self, shape: Shape, dtype: str, sets: int) -> None:
        self.prepared.append((shape, dtype, sets))

    def mismatches(self, contestant: Contestant) -> int:
        return self.wrong.get(contestant.name, 0)

    def time(self, contestant: Contestant, count: int) -> Sequence[float]:
        self.timed.append((contestant.name, count))
        return [self.times[contestant.name]] * count

    def copy_roof(self) -> tuple[int, float]:
        return self.roof


TIMES = {"device copy": 508.6, "best": 520.0, "naive_32": 4000.0, "cuBLAS geam": 543.4}
LARGE = Setup(Shape(16_384, 16_384), kernels="test")


def measured(machine: Machine, setup: Setup = LARGE, *contestants: Contestant) -> Bench:
    chosen = contestants or (NAIVE, BEST, RACY, COPY, GEAM)
    return bench.measure(machine, setup, chosen, bench.prepare(machine, setup))


def machine(**changes: object) -> Machine:
    values: dict[str, object] = {"times": dict(TIMES), "wrong": {"missing_barrier_32": 17}, **changes}
    return Machine(**values)  # type: ignore[arg-type]


def test_shares_are_of_the_copy_of_the_same_run_and_of_the_datasheet() -> None:
    rows = {row.contestant.name: row for row in measured(machine()).rows}
    assert rows["best"].of_copy == pytest.approx(508.6 / 520.0)
    assert rows["device copy"].of_copy == 1.0
    moved = 2 * 16_384**2 * 4
    assert rows["best"].bytes_per_s == pytest.approx(moved / 520e-6)
    assert rows["best"].of_peak == pytest.approx(moved / 520e-6 / 4.9e12)


def test_an_unknown_peak_gives_no_share() -> None:
    gpu = GpuInfo("Thor", "11.0", 20, 32_000_000, 10**11, None, "")
    result = measured(machine(info=gpu))
    assert {row.of_peak for row in result.rows} == {None}
    assert "DRAM peak unknown" in pages.bench_text(result)


def test_planted_faults_are_never_timed_and_never_fast() -> None:
    box = machine()
    result = measured(box)
    assert "missing_barrier_32" not in {name for name, _ in box.timed}
    (row,) = [r for r in result.rows if r.contestant is RACY]
    assert row.sample is None
    assert row.verdict == "planted fault found: 17 elements"
    assert result.failures == ()
    assert bench.fastest(result.rows, peer=False).contestant is BEST  # type: ignore[union-attr]


def test_a_planted_fault_that_goes_unseen_is_not_timed_either() -> None:
    box = machine(wrong={})
    (row,) = [r for r in measured(box).rows if r.contestant is RACY]
    assert row.verdict == "planted fault, not seen"
    assert row.sample is None


def test_a_wrong_result_is_not_timed_and_fails_the_command() -> None:
    box = machine(wrong={"best": 3})
    result = measured(box)
    assert result.failures == ("best",)
    assert "best" not in {name for name, _ in box.timed}
    assert any("Wrong results, therefore not timed: best" in w for w in result.warnings)
    with pytest.raises(GateFailed, match="wrong results from best"):
        session.judge_bench(result)


def test_warm_up_is_discarded_and_rounds_add_up() -> None:
    box = machine()
    result = measured(box, Setup(Shape(16_384, 16_384), repetitions=13, warm_up=4), BEST, COPY)
    assert box.timed[:2] == [("best", 4), ("device copy", 4)]
    assert [count for name, count in box.timed[2:] if name == "best"] == [2, 3, 2, 3, 3]
    assert [name for name, _ in box.timed[2:6]] == ["best", "device copy"] * 2
    assert {row.sample.count for row in result.rows if row.sample} == {13}


def test_fewer_repetitions_than_rounds_and_no_warm_up() -> None:
    box = machine()
    result = measured(box, Setup(Shape(16_384, 16_384), repetitions=1, warm_up=0), BEST, COPY)
    assert sorted(box.timed) == [("best", 1), ("device copy", 1)]
    assert all(row.sample and row.sample.count == 1 for row in result.rows)


@pytest.mark.parametrize(("repetitions", "warm_up"), [(0, 1), (-1, 1), (1, -1)])
def test_repetitions_that_cannot_be(repetitions: int, warm_up: int) -> None:
    with pytest.raises(UsageError, match="repetition"):
        Setup(Shape(1, 1), repetitions=repetitions, warm_up=warm_up)


def test_without_the_device_copy_there_is_no_measurement() -> None:
    with pytest.raises(UsageError, match="yardstick"):
        measured(machine(), LARGE, BEST, GEAM)


def test_rotation_takes_as_many_buffers_as_leave_l2() -> None:
    box = machine()
    setup = Setup(Shape(4096, 4096), rotate=True)
    result = measured(box, setup)
    (prepared,) = box.prepared
    assert prepared == (Shape(4096, 4096), "float", 5)
    assert result.footprint == 5 * 134_217_728
    assert result.cache == "not in cache"
    assert not any("--rotate" in w for w in result.warnings)


def test_without_rotation_the_cache_is_reported() -> None:
    box = machine()
    result = measured(box, Setup(Shape(4096, 4096)))
    assert box.prepared[0][2] == 1
    assert result.cache == "partly in L2"
    assert any("--rotate" in w for w in result.warnings)


def test_the_roof_is_the_large_copy_where_caches_help() -> None:
    result = measured(machine(times={**TIMES, "best": 20.0}), Setup(Shape(4096, 4096)))
    assert result.roofs.dram_bytes_per_s == pytest.approx(2**31 / 508e-6)
    assert result.roofs.how.startswith("device copy of 1.07 GB")


def test_the_roof_is_the_fastest_traffic_where_nothing_is_cached() -> None:
    result = measured(machine(times={**TIMES, "device copy": 480.0}))
    assert result.roofs.dram_bytes_per_s == pytest.approx(2**31 / 480e-6)
    assert result.roofs.how.startswith("device copy of 16384 x 16384 floats")


def test_stop_rule_over_and_under_the_mark() -> None:
    assert "stop tuning" in measured(machine()).stop_rule
    slow = measured(machine(), LARGE, NAIVE, COPY, GEAM)
    assert "at most 7.86x is left" in slow.stop_rule
    assert "cuBLAS geam is faster" in slow.stop_rule
    assert measured(machine(), LARGE, COPY).stop_rule == "Stop rule: no transpose of ours was timed."


def test_a_small_matrix_and_a_debug_build_are_warned_about() -> None:
    box = machine(times=dict.fromkeys(TIMES, 3.0))
    small = contestant("best", blocks=16)
    result = measured(box, Setup(Shape(256, 256), debug_build=True), small, COPY)
    text = "\n".join(result.warnings)
    assert "debug build (-G)" in text
    assert "takes 3.0 us" in text
    assert "16 blocks do not fill" in text


def test_the_page_shows_what_was_measured_and_the_five_numbers() -> None:
    text = pages.bench_text(measured(machine()))
    assert "NVIDIA H200 (compute capability 9.0, 132 SMs, L2 63 MB, DRAM peak 4,900 GB/s" in text
    assert "2,147.5 MB must move a launch" in text
    line = next(line for line in text.splitlines() if line.startswith("best"))
    assert line.split() == ["best", "-", "520.0", "0.0%", "4,130", "97.8%", "84.3%", "right"]
    assert "Measured roof: 4,227 GB/s" in text
    assert "Stop rule:" in text


def test_the_json_keeps_units_and_leaves_untimed_numbers_empty() -> None:
    data = json.loads(pages.bench_json(measured(machine())))
    assert data["schema"] == "triage/bench/1"
    assert (data["rows"], data["cols"], data["dtype"], data["moved_bytes"]) == (16_384, 16_384, "float", 2**31)
    by_name = {row["name"]: row for row in data["results"]}
    assert by_name["best"]["median_us"] == 520.0
    planted = by_name["missing_barrier_32"]
    assert planted["planted_fault"] is True
    assert planted["median_us"] is None
    assert planted["bytes_per_s"] is None


def test_the_roofs_file_is_what_reports_read(tmp_path: Path) -> None:
    session.save(measured(machine()), tmp_path / "new" / "roofs.json", None)
    (only,) = (tmp_path / "new").iterdir()
    data = json.loads(only.read_text())
    assert set(data) == {"schema", "device", "cc", "dram_bytes_per_s", "measured_at", "how"}
    assert (data["schema"], data["device"], data["cc"]) == ("triage/roofs/1", "NVIDIA H200", "9.0")
    assert data["dram_bytes_per_s"] == round(2**31 / 508e-6)
    assert data["measured_at"].endswith("+00:00")


def test_roofs_are_whole_bytes_a_second() -> None:
    assert '"dram_bytes_per_s": 12' in Roofs("x", "9.0", 12.4, "now", "so").as_json()


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    for place, why in (("file/roofs.json", "cannot make the folder"), ("folder", "is a folder")):
        with pytest.raises(UsageError, match=why):
            session.save(measured(machine()), tmp_path / place, None)


def checked(**wrong: int) -> dict[str, dict[str, list[bench.Row]]]:
    rows = [bench.Row(c, wrong.get(c.name, 0)) for c in (BEST, RACY)]
    return {"half": {"1 x 1": rows}}


def test_a_check_passes_when_right_is_right_and_faults_are_found() -> None:
    session.judge_check(checked(missing_barrier_32=5), largest=2**20)
    assert "planted fault found: 5 elements" in pages.check_table(checked(missing_barrier_32=5))


def test_a_check_fails_on_a_wrong_kernel() -> None:
    with pytest.raises(GateFailed, match="wrong results from best"):
        session.judge_check(checked(best=1, missing_barrier_32=5), largest=1)
    assert "WRONG: 1 elements" in pages.check_table(checked(best=1))


def test_a_check_that_misses_a_planted_fault_fails_only_where_it_must_show() -> None:
    session.judge_check(checked(), largest=1)
    with pytest.raises(GateFailed, match="did not see the planted fault of missing_barrier_32"):
        session.judge_check(checked(), largest=2**20)
