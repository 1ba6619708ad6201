"""The survey log and what it is good for."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from triage.ncu.survey import Launch, function_name, parse, read, timeline_first

DATA = Path(__file__).parent / "data"


def launches(name: str) -> list[Launch]:
    return list(parse((DATA / f"ncu_{name}.log").read_text().splitlines()))


def test_every_launch_with_shape_and_duration() -> None:
    found = launches("survey")
    assert len(found) == 29
    assert found[0] == Launch("_Z4copyPfPKfi", (1024, 1, 1), (256, 1, 1), "904", 3072.0)
    assert found[-1].name == "_Z5naivePfPKfi" and found[-1].grid == (128, 128, 1)
    assert sum(launch.ns for launch in found) == 878_912


def test_a_pytorch_program() -> None:
    found = launches("survey_torch")
    assert len(found) == 124 and len({launch.name for launch in found}) == 15


@pytest.mark.parametrize(
    "number", ["1,234,567", "1.234.567", "1'234'567", "1 234 567", "1234567", "1\u202f234\u202f567"]
)
def test_any_locale(number: str) -> None:
    lines = [
        "  _Z1kv (1, 1, 1)x(32, 1, 1), Context 1, Stream 7, Device 0, CC 9.0",
        f"    gpu__time_duration.sum          ns      {number}",
    ]
    assert [launch.ns for launch in parse(lines)] == [1_234_567.0]


def test_a_launch_without_duration_does_not_count() -> None:
    line = "  _Z1kv (1, 1, 1)x(32, 1, 1), Context 1, Stream 7, Device 0, CC 9.0"
    assert list(parse([line, line])) == []


def test_processes_are_kept_apart() -> None:
    lines = []
    for process in ("11", "12"):
        lines += [
            f"[{process}] app@host",
            "  k(int) (2, 1, 1)x(32, 1, 1), Context 1, Stream 7, Device 0, CC 9.0",
            "    gpu__time_duration.sum ns 5",
        ]
    assert [(launch.process, launch.name) for launch in parse(lines)] == [("11", "k(int)"), ("12", "k(int)")]


@pytest.mark.parametrize(
    ("mangled", "shown"),
    [
        ("_Z4copyPfPKfi", "copy"),
        ("_Z4tileILi0EEvPfPKfi", "tile"),
        ("_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIfEEEEvT1_", "at::native::reduce_kernel"),
        (
            "_ZN43_GLOBAL__N__b6de9c8c_10_SoftMax_cu_9f978f6320softmax_warp_forwardIffEEvPT0_",
            "(anonymous)::softmax_warp_forward",
        ),
        ("_ZL5localv", "local"),
        ("nvjet_sm90_hsh_256x128", "nvjet_sm90_hsh_256x128"),
        ("triton_poi_fused_0", "triton_poi_fused_0"),
        ("_Z", "_Z"),
    ],
)
def test_readable_names(mangled: str, shown: str) -> None:
    assert function_name(mangled) == shown


def test_many_short_launches_send_to_the_timeline() -> None:
    short = [Launch("k", (1, 1, 1), (32, 1, 1), "1", 3_000.0)] * 300
    assert "300 launches with a median of 3.0 us" in timeline_first(short)
    assert timeline_first(short[:50]) == "", "few launches"
    assert timeline_first([*short, Launch("long", (1, 1, 1), (32, 1, 1), "1", 5e7)]) == "", (
        "one kernel has all the time"
    )
    assert timeline_first([Launch("k", (1, 1, 1), (32, 1, 1), "1", 80_000.0)] * 300) == "", "long kernels"


def test_a_log_is_read_in_pieces_up_to_a_limit(tmp_path: Path) -> None:
    log = DATA / "ncu_survey.log"
    assert read(log) == (launches("survey"), 0)
    size = log.stat().st_size
    part, left = read(log, limit=size - 1000)
    assert left == 1000 and 0 < len(part) < 29 and part == launches("survey")[: len(part)]
    assert read(tmp_path / "nothing") == read(tmp_path) == ([], 0)


def test_lines_of_any_length_and_number_cost_little(tmp_path: Path) -> None:
    text = (DATA / "ncu_survey.log").read_text()
    (tmp_path / "log").write_text(
        "  " + "a" * 5_000_000 + "\n" + "    gpu__time_duration.sum ns " + "1 " * 60_000 + "x\n" + text
    )
    start = time.monotonic()
    assert read(tmp_path / "log")[0] == launches("survey")
    assert time.monotonic() - start < 5


def test_numbers_beyond_sense_are_no_launch() -> None:
    lines = [
        f"  k ({'9' * 5000}, 1, 1)x(32, 1, 1), Context 1, Stream 7, Device 0, CC 9.0",
        "    gpu__time_duration.sum ns 5",
        "  k (1, 1, 1)x(32, 1, 1), Context 1, Stream 7, Device 0, CC 9.0",
        f"    gpu__time_duration.sum ns {'9' * 5000}",
    ]
    assert list(parse(lines)) == []
