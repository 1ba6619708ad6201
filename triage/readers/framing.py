"""The frame of a ``.ncu-rep`` file, checked without NVIDIA's reader.

A report is ``NVR\\0``, a length, a file header, then blocks: length, block header, payload. The reader library loads
damaged files without a word and returns fewer kernels, so what the frame promises is compared with what it found. A
``.ncu-repz`` is such a file, compressed as a whole.
The layout was seen in files of 2022.3 and 2025.3; a file that does not follow it is reported, not refused.
"""

from __future__ import annotations

import os
import re
import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from triage.readers import wire

MAGIC = b"NVR\0"
# No header seen is above 100 kB; a larger length is damage, not a header worth reading.
_MAX_HEADER = 64 << 20
# A report has a few blocks for each result, and 10,000 results are many; a small compressed file can hold millions.
_MAX_BLOCKS = 500_000
# What is unpacked of a compressed report: NVIDIA's library, which unpacks it too, is held to the same.
_MAX_UNPACKED = 2 << 30
_VERSION = re.compile(r"(\d{4}\.\d+\.\d+)")


@dataclass(frozen=True, slots=True)
class Framing:
    """What the frame of a report says.

    ``results`` counts the results its intact blocks promise, ``payloads`` gives the bytes of each (they bound the
    reader's memory), ``processes`` the ``name [pid]`` each came from. ``fault`` is one clause that says where the
    frame breaks, or ``""``. ``sources`` counts embedded machine-code modules.
    """

    results: int = 0
    sources: int = 0
    blocks: int = 0
    header_version: int | None = None
    payloads: tuple[int, ...] = ()
    processes: tuple[str | None, ...] = ()
    ncu_version: str | None = None
    command: str | None = None
    fault: str = ""
    ends: tuple[int, ...] = ()


@dataclass(slots=True)
class _Scan:
    results: int = 0
    sources: int = 0
    payloads: list[int] = field(default_factory=list)
    processes: list[str | None] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    version: str | None = None
    command: str | None = None


def read(path: Path) -> Framing:
    """Walks the frame of a report; payloads are skipped, so this takes milliseconds for any size.

    Raises ``OSError`` where the file cannot be read and ``ValueError`` where it does not start with the magic.
    """
    with path.open("rb") as file:
        if file.read(4) != MAGIC:
            raise ValueError("no .ncu-rep magic")
        return _walk(file, os.fstat(file.fileno()).st_size)


def read_compressed(path: Path, zstd: Any) -> Framing:
    """The same for a compressed report, which is unpacked as it is walked and kept nowhere; ``zstd`` is the module that
    does it. What does not begin like a report has an empty frame. Raises ``OSError`` where the file cannot be read."""
    with zstd.open(path) as file:
        broken = (zstd.ZstdError, EOFError)
        try:
            magic = file.read(4)
        except broken:
            magic = b""
        return _walk(file, None, broken) if magic == MAGIC else Framing()


def _walk(file: BinaryIO, size: int | None, broken: tuple[type[Exception], ...] = ()) -> Framing:
    """Walks ``file``, which stands behind the magic; ``size`` is ``None`` where only its end tells. ``broken`` is what
    damaged compression raises."""
    faults: tuple[type[Exception], ...] = (wire.BadWire, _Broken, *broken)
    scan = _Scan()
    header_version: int | None = None
    fault = ""
    try:
        header = wire.message(_chunk(file, file.read(4), size, "the file header"))
        version = header.get(1)
        header_version = version if isinstance(version, int) else None
        scan.ends.append(file.tell())
        while prefix := file.read(4):
            _block(file, prefix, size, scan)
    except faults as error:
        at = scan.ends[-1] if scan.ends else 4
        whole = f" of {size}" if size is not None else " once unpacked"
        why = "the compressed data is damaged or cut short" if isinstance(error, broken) else str(error)
        fault = f"{why} (block {max(len(scan.ends) - 1, 0)}, byte {at}{whole})"
    return Framing(
        results=scan.results,
        sources=scan.sources,
        blocks=max(len(scan.ends) - 1, 0),
        header_version=header_version,
        payloads=tuple(scan.payloads),
        processes=tuple(scan.processes),
        ncu_version=scan.version,
        command=scan.command,
        fault=fault,
        ends=tuple(scan.ends),
    )


class _Broken(Exception):
    """The frame ends where more was promised."""


def _chunk(file: BinaryIO, prefix: bytes, size: int | None, what: str) -> bytes:
    """What follows its length, ``prefix``."""
    if len(prefix) < 4:
        raise _Broken(f"the file ends inside the length of {what}")
    (length,) = struct.unpack("<I", prefix)
    if length > _MAX_HEADER or (size is not None and file.tell() + length > size):
        raise _Broken(f"the file ends inside {what}, or its length is damaged")
    content = file.read(length)
    if len(content) < length:
        raise _Broken(f"the file ends inside {what}, or its length is damaged")
    return content


def _pass_over(file: BinaryIO, payload: int, size: int | None) -> None:
    end = file.tell() + payload
    if size is None and end > _MAX_UNPACKED:
        raise _Broken(f"more than {_MAX_UNPACKED >> 30} GB")
    if size is None or end <= size:
        file.seek(payload, os.SEEK_CUR)
    if file.tell() != end:
        raise _Broken("the file ends inside a block")


def _block(file: BinaryIO, prefix: bytes, size: int | None, scan: _Scan) -> None:
    if len(scan.ends) > _MAX_BLOCKS:
        raise _Broken(f"more than {_MAX_BLOCKS:,} blocks")
    header = wire.message(_chunk(file, prefix, size, "a block header"))
    payload = _number(header.get(5))
    if payload is None or not isinstance(header.get(2), int):
        raise _Broken("a block header lacks its sizes")
    if payload < 0:
        raise _Broken("a block header lacks its sizes")
    _pass_over(file, payload, size)
    results = _number(header.get(2)) or 0
    # Flipped bits can promise billions; no block holds more results than bytes.
    if results > max(payload, 1):
        raise _Broken("a block promises more results than it has bytes")
    scan.results += results
    scan.sources += _number(header.get(1)) or 0
    process = _process(header.get(6))
    scan.payloads += [payload // results] * results if results else []
    scan.processes += [process] * results
    if isinstance(header.get(3), bytes):
        _session(header[3], scan)
    scan.ends.append(file.tell())


def _number(value: int | bytes | None) -> int | None:
    return value if isinstance(value, int) else None


def _process(value: int | bytes | None) -> str | None:
    if not isinstance(value, bytes):
        return None
    try:
        found = wire.message(value)
    except wire.BadWire:
        return None
    name = re.split(r"[/\\]", wire.text(found.get(3)))[-1]
    pid = found.get(1)
    return f"{name} [{pid}]" if name and isinstance(pid, int) else name or None


def _session(value: int | bytes, scan: _Scan) -> None:
    """Session blocks name the tools with their versions (field 8) and the command line (field 11)."""
    if not isinstance(value, bytes):
        return
    try:
        for number, content in wire.fields(value):
            if number == 8 and isinstance(content, bytes):
                tool = wire.message(content)
                found = _VERSION.match(wire.text(tool.get(2)))
                if "Nsight Compute" in wire.text(tool.get(1)) and found:
                    scan.version = found[1]
            elif number == 11 and isinstance(content, bytes):
                scan.command = wire.text(content)
    except wire.BadWire:
        return
