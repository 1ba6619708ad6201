"""The frame of a ``.ncu-rep`` file, checked without NVIDIA's reader.

A report is ``NVR\\0``, a length, a file header, then blocks: length, block header, payload. The reader library loads
damaged files without a word and returns fewer kernels, so what the frame promises is compared with what it found.
The layout was seen in files of 2022.3 and 2025.3; a file that does not follow it is reported, not refused.
"""

from __future__ import annotations

import os
import re
import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from triage.readers import wire

MAGIC = b"NVR\0"
# No header seen is above 100 kB; a larger length is damage, not a header worth reading.
_MAX_HEADER = 64 << 20
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
        size = os.fstat(file.fileno()).st_size
        if file.read(4) != MAGIC:
            raise ValueError("no .ncu-rep magic")
        scan = _Scan()
        header_version: int | None = None
        fault = ""
        try:
            header = wire.message(_chunk(file, size, "the file header"))
            version = header.get(1)
            header_version = version if isinstance(version, int) else None
            scan.ends.append(file.tell())
            while file.tell() < size:
                _block(file, size, scan)
        except (wire.BadWire, _Broken) as error:
            at = scan.ends[-1] if scan.ends else 4
            fault = f"{error} (block {max(len(scan.ends) - 1, 0)}, byte {at} of {size})"
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


def _chunk(file: BinaryIO, size: int, what: str) -> bytes:
    prefix = file.read(4)
    if len(prefix) < 4:
        raise _Broken(f"the file ends inside the length of {what}")
    (length,) = struct.unpack("<I", prefix)
    if length > _MAX_HEADER or file.tell() + length > size:
        raise _Broken(f"the file ends inside {what}, or its length is damaged")
    return file.read(length)


def _block(file: BinaryIO, size: int, scan: _Scan) -> None:
    header = wire.message(_chunk(file, size, "a block header"))
    payload = _number(header.get(5))
    if payload is None or not isinstance(header.get(2), int):
        raise _Broken("a block header lacks its sizes")
    if file.tell() + payload > size:
        raise _Broken("the file ends inside a block")
    file.seek(payload, os.SEEK_CUR)
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
