"""The frame of a report, without NVIDIA's library."""

from __future__ import annotations

import random
import struct
from pathlib import Path

import pytest

from triage.readers import framing, wire, zstd

REPORT = Path(__file__).parent / "data" / "readers_pr.ncu-rep"


@pytest.fixture(scope="module")
def whole() -> bytes:
    return REPORT.read_bytes()


def _read(folder: Path, data: bytes) -> framing.Framing:
    path = folder / "x.ncu-rep"
    path.write_bytes(data)
    return framing.read(path)


def test_an_intact_report(whole: bytes) -> None:
    frame = framing.read(REPORT)
    assert (frame.results, frame.sources, frame.blocks, frame.header_version) == (2, 2, 12, 7)
    assert frame.fault == ""
    assert frame.ncu_version == "2025.3.1"
    assert frame.processes == ("transpose_base [1873]",) * 2
    assert frame.command is not None and "--clock-control none" in frame.command
    assert frame.ends[-1] == len(whole)
    assert all(100_000 < payload < 130_000 for payload in frame.payloads)


def test_every_cut_is_seen_unless_it_falls_between_blocks(tmp_path: Path, whole: bytes) -> None:
    ends = set(framing.read(REPORT).ends)
    chance = random.Random(4)
    cuts = {chance.randrange(5, len(whole)) for _ in range(150)} | {end + 1 for end in ends} | {end - 1 for end in ends}
    for cut in sorted(cuts - ends):
        if 4 < cut < len(whole):
            assert _read(tmp_path, whole[:cut]).fault, cut


@pytest.mark.parametrize("number", range(13))
def test_a_cut_between_blocks_counts_fewer_results(tmp_path: Path, whole: bytes, number: int) -> None:
    end = framing.read(REPORT).ends[number]
    frame = _read(tmp_path, whole[:end])
    assert frame.fault == ""
    assert frame.blocks == number
    assert frame.results == (number >= 3) + (number >= 12)


def test_trailing_bytes_and_concatenation(tmp_path: Path, whole: bytes) -> None:
    for tail in (b"x", b"garbage", whole):
        frame = _read(tmp_path, whole + tail)
        assert frame.fault
        assert frame.results == 2
        assert frame.ends[-1] == len(whole)


def test_hostile_lengths_are_bounded(tmp_path: Path) -> None:
    assert _read(tmp_path, b"NVR\0" + struct.pack("<I", 0xFFFFFFFF)).fault
    # A header of two bytes, then a block that promises 2**60 results in no payload.
    header = b"\x10" + b"\x80" * 8 + b"\x10" + b"\x28\x00"
    data = b"NVR\0" + struct.pack("<I", 2) + b"\x08\x07" + struct.pack("<I", len(header)) + header
    frame = _read(tmp_path, data)
    assert "more results" in frame.fault
    assert frame.results == 0


def test_flips_never_raise(tmp_path: Path, whole: bytes) -> None:
    chance = random.Random(5)
    for _ in range(150):
        data = bytearray(whole)
        for _ in range(chance.choice([1, 5, 40])):
            data[chance.randrange(4, 300)] ^= 1 << chance.randrange(8)
        _read(tmp_path, bytes(data))


def test_other_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="magic"):
        _read(tmp_path, b"hello")


@pytest.mark.parametrize("data", [b"\x80", b"\x0a\x05ab", b"\x00\x01", b"\x0b", b"\xff" * 12])
def test_bad_wire(data: bytes) -> None:
    with pytest.raises(wire.BadWire):
        wire.message(data)


def stored(data: bytes, *, checksum: bool = False) -> bytes:
    """A zstd frame of stored blocks: what a compressor writes for data that does not compress."""
    out = zstd.MAGIC + bytes([0xE0 | checksum << 2]) + struct.pack("<Q", len(data))
    size = 1 << 17
    for at in range(0, len(data), size):
        piece = data[at : at + size]
        out += struct.pack("<I", len(piece) << 3 | (at + size >= len(data)))[:3] + piece
    return out + b"sum!" * checksum


def test_zstd_frames(tmp_path: Path, whole: bytes) -> None:
    path = tmp_path / "x.ncu-repz"
    packed = stored(whole)
    for data in (packed, stored(whole, checksum=True), packed + packed):
        path.write_bytes(data)
        assert zstd.fault(path) == ("", len(data))
    for cut in (3, 8, 200_000, len(packed) - 1):
        path.write_bytes(packed[:cut])
        problem, intact = zstd.fault(path)
        assert problem and intact == 0
    path.write_bytes(packed + b"abc")
    problem, intact = zstd.fault(path)
    assert problem and intact == len(packed)


needs_zstd = pytest.mark.skipif(zstd.library() is None, reason="this Python cannot unpack zstd")


def _compressed(folder: Path, data: bytes) -> framing.Framing:
    path = folder / "x.ncu-repz"
    path.write_bytes(data)
    return framing.read_compressed(path, zstd.library())


@needs_zstd
def test_a_compressed_report_has_the_same_frame(tmp_path: Path, whole: bytes) -> None:
    expected = framing.read(REPORT)
    assert _compressed(tmp_path, stored(whole)) == expected
    assert _compressed(tmp_path, zstd.library().compress(whole)) == expected
    # The frame of what is left is read up to where the compression breaks.
    for data in (stored(whole)[:-1000], stored(whole) + b"abc", stored(whole + b"x"), stored(whole + whole)):
        frame = _compressed(tmp_path, data)
        assert frame.fault and frame.ncu_version == "2025.3.1" and frame.results >= 1
    # What is compressed may be anything.
    assert _compressed(tmp_path, stored(b"hello, world")) == framing.Framing()
    assert _compressed(tmp_path, stored(whole)[:5]) == framing.Framing()


@needs_zstd
def test_what_a_small_file_unpacks_to_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    header = b"\x10\x01\x28\x00"
    blocks = (struct.pack("<I", len(header)) + header) * 3_000
    start = b"NVR\0" + struct.pack("<I", 2) + b"\x08\x07"
    monkeypatch.setattr(framing, "_MAX_BLOCKS", 1_000)
    assert "more than 1,000 blocks" in _compressed(tmp_path, zstd.library().compress(start + blocks)).fault
    big = b"\x10\x01\x28" + b"\xff" * 7 + b"\x01"
    data = start + struct.pack("<I", len(big)) + big
    assert "more than 2 GB" in _compressed(tmp_path, zstd.library().compress(data)).fault
