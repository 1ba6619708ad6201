"""Reports read through NVIDIA's library in a child process."""

from __future__ import annotations

import importlib.util
import io
import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import pytest
from test_readers_framing import stored

from triage.errors import NothingProfiled, UnreadableReport
from triage.model import Kernel, Profile, Quantity
from triage.readers import child, framing, load, ncu_rep, process, ranges, zstd

REPORT = Path(__file__).parent / "data" / "readers_pr.ncu-rep"
WANTED = {"gpu__time_duration.sum", "dram__bytes.sum.per_second", "no__such_metric.sum"}
needs_library = pytest.mark.skipif(importlib.util.find_spec("ncu_report") is None, reason="ncu-report is not installed")


@pytest.fixture(scope="module")
def whole() -> bytes:
    return REPORT.read_bytes()


@pytest.fixture(scope="module")
def profile() -> Profile:
    return load(REPORT, metrics=WANTED)


def _load(folder: Path, data: bytes, name: str = "x.ncu-rep") -> Profile:
    path = folder / name
    path.write_bytes(data)
    return load(path, metrics=WANTED)


def _values(kernels: tuple[Kernel, ...]) -> list[tuple[str, object]]:
    return [(kernel.name, kernel.metrics) for kernel in kernels]


@needs_library
def test_kernels_of_a_report(profile: Profile) -> None:
    assert (profile.kind, profile.ncu_version, len(profile.kernels)) == ("ncu-rep", "2025.3.1", 2)
    scale, transpose = profile.kernels
    assert (scale.index, scale.name, scale.function) == (0, "scale(float *, float)", "scale")
    assert transpose.function == "transpose"
    assert (scale.launch.grid, scale.launch.block) == ((65536, 1, 1), (256, 1, 1))
    assert (scale.launch.stream, scale.launch.context) == ("7", "1")
    device = scale.device
    assert (device.name, device.cc, device.sms, device.index) == ("NVIDIA H200", "9.0", 132, "0")
    assert scale.process == "transpose_base [1873]"
    assert scale.workload == "kernel"
    duration = scale.metrics["gpu__time_duration.sum"]
    assert isinstance(duration, Quantity) and duration.unit == "ns" and 30_000 < duration.value < 60_000
    assert "no__such_metric.sum" not in scale.metrics
    assert profile.warnings == ("collected with --clock-control none: GPU clocks were not locked",)


@needs_library
def test_all_metrics_and_lines() -> None:
    kernels = load(REPORT, lines=True).kernels
    assert all(len(kernel.metrics) > 1400 for kernel in kernels)
    assert all("" not in kernel.metrics.values() for kernel in kernels)
    transpose = kernels[1]
    total = transpose.metrics["memory_l2_theoretical_sectors_global"]
    assert isinstance(total, Quantity)
    by_line = {
        line.line: line.values["memory_l2_theoretical_sectors_global"]
        for line in transpose.lines
        if "memory_l2_theoretical_sectors_global" in line.values
    }
    assert sum(by_line.values()) == total.value
    worst = max(transpose.lines, key=lambda line: line.values.get("memory_l2_theoretical_sectors_global", 0))
    assert worst.file.endswith("transpose_pr.cu")
    assert worst.text is not None and "out[" in worst.text
    assert any("STG" in code for _, code, _ in worst.sass)
    assert list(worst.sass) == sorted(worst.sass, key=lambda step: step[0])
    samples = [line.values.get("smsp__pcsamp_sample_count", 0) for line in transpose.lines]
    assert sum(samples) > 100


@needs_library
def test_content_decides_not_the_extension(tmp_path: Path, profile: Profile, whole: bytes) -> None:
    expected = _values(profile.kernels)
    for name in ("x.csv", "x.ncu-repz", "no extension", "ünï cödé.txt", "line\nbreak.ncu-rep"):
        assert _values(_load(tmp_path, whole, name).kernels) == expected, name
    for name in ("y.ncu-repz", "y.ncu-rep", "y"):
        assert _values(_load(tmp_path, stored(whole), name).kernels) == expected, name


@needs_library
def test_damage_is_said_and_what_is_whole_is_read(tmp_path: Path, profile: Profile, whole: bytes) -> None:
    expected = _values(profile.kernels)
    for tail in (b"xyz", whole):
        read = _load(tmp_path, whole + tail)
        assert _values(read.kernels) == expected
        assert any("damaged" in warning for warning in read.warnings)
    ends = framing.read(REPORT).ends
    read = _load(tmp_path, whole[: ends[-1] - 1])
    assert _values(read.kernels) == expected[:1]
    assert any("the file ends inside a block" in warning for warning in read.warnings)
    read = _load(tmp_path, stored(whole) + b"abc", "x.ncu-repz")
    assert _values(read.kernels) == expected
    assert any("damaged" in warning for warning in read.warnings)


@needs_library
@pytest.mark.skipif(zstd.library() is None, reason="this Python cannot unpack zstd")
def test_a_compressed_report_tells_how_it_was_collected(tmp_path: Path, profile: Profile, whole: bytes) -> None:
    read = _load(tmp_path, stored(whole), "x.ncu-repz")
    assert read == replace(profile, path=read.path)
    # What the frame promises is held against what was read, compressed or not.
    ends = framing.read(REPORT).ends
    with pytest.raises(NothingProfiled):
        _load(tmp_path, stored(whole[: ends[2]]), "x.ncu-repz")
    # Up to its last whole block it is read, wherever the rest is broken: inside, or in the compression.
    for data, expected in (
        (stored(whole + b"x"), 2),
        (stored(whole + bytes(5_000_000)), 2),
        (stored(whole)[:-1000], 1),
        (stored(whole)[:-1], 1),
        (stored(whole + whole), 2),
    ):
        broken = _load(tmp_path, data, "x.ncu-repz")
        assert _values(broken.kernels) == _values(profile.kernels)[:expected]
        assert "damaged" in broken.warnings[0] and broken.ncu_version == "2025.3.1"
    damaged = _load(tmp_path, stored(whole) + b"abc", "x.ncu-repz")
    assert "damaged" in damaged.warnings[0] and damaged.ncu_version == "2025.3.1"


@needs_library
def test_what_could_not_be_unpacked_is_said(
    tmp_path: Path, profile: Profile, whole: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zstd, "library", lambda: None)
    read = _load(tmp_path, stored(whole), "x.ncu-repz")
    assert _values(read.kernels) == _values(profile.kernels) and read.ncu_version is None
    assert "clocks" in read.warnings[-1] and "pip install backports.zstd" in read.warnings[-1]


class Damaged(io.BytesIO):
    """Unpacked data whose damage at ``at`` shows as soon as a read would come near it, as with a library that unpacks
    128 kB at once."""

    at = 25

    def read(self, size: int | None = -1, /) -> bytes:
        if self.tell() + (size or 0) > self.at:
            raise ValueError("Data corruption detected")
        return super().read(size)


def test_damage_that_shows_early_leaves_the_whole_blocks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    library = SimpleNamespace(ZstdError=ValueError, open=lambda path: Damaged(bytes(range(100))))
    monkeypatch.setattr(zstd, "library", lambda: library)
    with ncu_rep.unpacked(tmp_path / "a.ncu-repz", (10, 20, 30, 40)) as path:
        assert path.read_bytes() == bytes(range(20))
    with ncu_rep.unpacked(tmp_path / "a.ncu-repz", (10, 20)) as path:
        assert path.read_bytes() == bytes(range(20))
    with ncu_rep.unpacked(tmp_path / "a.ncu-repz", (50,)) as path:
        assert path.read_bytes() == b""


@needs_library
@pytest.mark.parametrize("number", [0, 1, 2])
def test_no_result_before_the_first_one(tmp_path: Path, whole: bytes, number: int) -> None:
    with pytest.raises(NothingProfiled):
        _load(tmp_path, whole[: framing.read(REPORT).ends[number]])


@needs_library
def test_lost_and_empty_results_are_counted(tmp_path: Path, whole: bytes) -> None:
    # Zeros over the payload of the second result: the frame stays whole, the library finds nothing in it.
    end, payload = framing.read(REPORT).ends[-1], framing.read(REPORT).payloads[-1]
    read = _load(tmp_path, whole[: end - payload] + bytes(payload))
    said = " ".join(read.warnings)
    assert "1 of 2 results are lost" in said or "1 of 2 results carry no metric" in said


@needs_library
def test_newer_layout_versions_are_said(tmp_path: Path, whole: bytes) -> None:
    assert whole[8:10] == b"\x08\x07"
    read = _load(tmp_path, whole[:9] + b"\x63" + whole[10:])
    assert len(read.kernels) == 2
    assert any("layout version 99" in warning for warning in read.warnings)


@pytest.mark.parametrize(
    "data", [b"NVR\0", b"NVR\0\xff\xff\xff\xff", b"NVR\0" + b"\0" * 50, b"\x28\xb5\x2f\xfd" + b"\0" * 40]
)
@needs_library
def test_a_hopeless_file_is_one_line(tmp_path: Path, data: bytes, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises((UnreadableReport, NothingProfiled)) as caught:
        _load(tmp_path, data)
    assert "\n" not in caught.value.message and caught.value.hint
    assert capfd.readouterr() == ("", "")


def test_without_the_library_the_commands_are_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UnreadableReport) as caught:
        load(REPORT)
    assert caught.value.exit_code == 3
    assert "pip install ncu-report" in caught.value.hint
    assert f"ncu --import {REPORT} --page raw --csv --print-units base > readers_pr.csv" in caught.value.hint


@needs_library
def test_a_result_that_kills_the_reader_is_skipped(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, profile: Profile
) -> None:
    script = tmp_path / "child.py"
    source = Path(child.__file__).read_text()
    script.write_text(
        source.replace(
            "        i, j = places[index]", "        if index == 0: os.abort()\n        i, j = places[index]"
        )
    )
    monkeypatch.setattr(process, "_CHILD", script)
    read = load(REPORT, metrics=WANTED)
    assert _values(read.kernels) == _values(profile.kernels[1:])
    assert read.kernels[0].index == 1
    assert any("result 0 ends the reader" in warning for warning in read.warnings)
    assert any("1 of 2 results are lost" in warning for warning in read.warnings)


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_a_reader_that_hangs_is_ended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("ncu_report")
    script = tmp_path / "child.py"
    script.write_text("import time\ntime.sleep(60)\n")
    monkeypatch.setattr(process, "_CHILD", script)
    begun = time.monotonic()
    with pytest.raises(UnreadableReport, match="time limit"):
        load(REPORT, timeout_s=0.3)
    assert time.monotonic() - begun < 5


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="resident memory is watched on Linux")
def test_a_reader_that_grows_is_ended() -> None:
    pytest.importorskip("ncu_report")
    with pytest.raises(UnreadableReport, match="more memory than allowed"):
        load(REPORT, memory_bytes=30 << 20)


def test_ranges_keep_children_small() -> None:
    payload = 200_000
    spans = ranges.split((payload,) * 1000, 250 << 20)
    assert spans[0][0] == 0 and spans[-1][1] is None
    assert all(a[1] == b[0] for a, b in pairwise(spans))
    assert 10 <= len(spans) <= 20
    assert ranges.split((), 1) == [(0, None)]
    assert ranges.split((10**9,) * 3, 1) == [(0, 1), (1, 2), (2, None)]


@needs_library
def test_ranges_in_several_children_give_the_same(monkeypatch: pytest.MonkeyPatch, profile: Profile) -> None:
    monkeypatch.setattr(ranges, "CHUNK_BYTES", 1)
    seen: list[tuple[int, int]] = []
    read = load(REPORT, metrics=WANTED, progress=lambda done, total: seen.append((done, total)))
    assert _values(read.kernels) == _values(profile.kernels)
    assert (2, 2) in seen


@needs_library
def test_the_child_imports_nothing_of_ours() -> None:
    request = {
        "library": ncu_rep.library(REPORT),
        "path": str(REPORT),
        "start": 0,
        "stop": 1,
        "metrics": [],
        "lines": False,
    }
    code = (
        f"import sys, json, runpy; sys.argv=['child']; ns = runpy.run_path({child.__file__!r}); "
        "import io; ns['serve'](json.loads(sys.argv[0] if False else sys.stdin.read()), io.StringIO()); "
        "print([m for m in sys.modules if m.split('.')[0] in ('triage', 'pandas', 'rich', 'typer', 'numpy')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=json.dumps(request),
        capture_output=True,
        text=True,
        check=True,
        env=dict(os.environ),
    )
    assert done.stdout.strip() == "[]"


@needs_library
def test_a_child_that_grows_hands_over_to_the_next(monkeypatch: pytest.MonkeyPatch, profile: Profile) -> None:
    requests: list[tuple[int, int | None]] = []
    real = process.run

    def small(request: dict[str, object], **given: object) -> object:
        requests.append((request["start"], request["stop"]))  # type: ignore[arg-type]
        # Every result is beyond the budget, so each child reads one.
        return real({**request, "budget": 1}, **given)  # type: ignore[arg-type]

    monkeypatch.setattr(process, "run", small)
    read = load(REPORT, metrics=WANTED)
    assert requests == [(0, None), (1, None)]
    assert _values(read.kernels) == _values(profile.kernels) and read.warnings == profile.warnings


@needs_library
def test_many_results_together_are_no_fault_of_the_next_one(monkeypatch: pytest.MonkeyPatch, profile: Profile) -> None:
    real = process.run

    def ended(request: dict[str, object], *, ending: process.Ending, **given: object) -> object:
        for record in real(request, ending=ending, **given):  # type: ignore[arg-type]
            yield record
            if request["start"] == 0 and record.get("index") == 0:
                # The watch ends the child for its memory behind the first result.
                ending.reason = "memory"
                return

    monkeypatch.setattr(process, "run", ended)
    read = load(REPORT, metrics=WANTED)
    assert _values(read.kernels) == _values(profile.kernels)
    assert not any("skipped" in warning or "lost" in warning for warning in read.warnings)


@needs_library
def test_chosen_results_alone(profile: Profile) -> None:
    from triage.readers.pieces import ResultRange

    library = ncu_rep.survey(REPORT, compressed=False).library
    kernels, tally = ResultRange(REPORT, library, 0, None, ("a", "b"), (1,)).read(WANTED, keep=False)
    assert _values(tuple(kernels)) == _values(profile.kernels[1:])
    assert (kernels[0].index, kernels[0].process, tally.found) == (1, "b", 1)
