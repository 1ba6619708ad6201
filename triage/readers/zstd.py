"""The frames of a zstd file, walked without decompressing: enough to see truncation and trailing bytes. And the bytes
in it, as a stream, where this Python can decompress them."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

MAGIC = b"\x28\xb5\x2f\xfd"
_SKIPPABLE = range(0x184D2A50, 0x184D2A60)


def library() -> Any:
    """The module that decompresses: Python's own from 3.14 on, else its backport; ``None`` without either."""
    for name in ("compression.zstd", "backports.zstd"):
        try:
            return import_module(name)
        except ImportError:
            continue
    return None


def fault(path: Path) -> tuple[str, int]:
    """One clause that says where the compressed file breaks (``""``: nowhere), and the bytes of its whole frames."""
    whole = 0
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        while file.tell() < size:
            problem = _frame(file, size)
            if problem:
                return f"{problem} (byte {file.tell()} of {size})", whole
            whole = file.tell()
    return "", whole


def _frame(file: BinaryIO, size: int) -> str:
    magic = file.read(4)
    if len(magic) == 4 and int.from_bytes(magic, "little") in _SKIPPABLE:
        length = int.from_bytes(file.read(4), "little")
        return _skip(file, length, size)
    if magic != MAGIC:
        return "bytes that are no compressed data follow"
    descriptor = file.read(1)
    if not descriptor:
        return "the compressed data ends in a header"
    flags = descriptor[0]
    single = flags >> 5 & 1
    content = (single, 2, 4, 8)[flags >> 6]
    dictionary = (0, 1, 2, 4)[flags & 3]
    problem = _skip(file, (1 - single) + dictionary + content, size)
    last = False
    while not problem and not last:
        header = file.read(3)
        if len(header) < 3:
            return "the compressed data is cut short"
        word = int.from_bytes(header, "little")
        last, kind, length = bool(word & 1), word >> 1 & 3, word >> 3
        if kind == 3:
            return "the compressed data is damaged"
        problem = _skip(file, 1 if kind == 1 else length, size)
    if not problem and flags >> 2 & 1:
        problem = _skip(file, 4, size)
    return problem


def _skip(file: BinaryIO, length: int, size: int) -> str:
    if file.tell() + length > size:
        return "the compressed data is cut short"
    file.seek(length, os.SEEK_CUR)
    return ""
