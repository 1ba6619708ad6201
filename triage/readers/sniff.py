"""What a file is, decided by its content; never opens what could block."""

from __future__ import annotations

import codecs
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from triage.errors import UnreadableReport
from triage.readers import framing, zstd

_HEAD = 1 << 20
_FOREIGN = (
    (b"\x1f\x8b", "a gzip archive", "unpack it first: gunzip FILE"),
    (b"PK\x03\x04", "a zip archive or spreadsheet", "unpack it, or save the sheet as CSV"),
    (b"SQLite format 3\0", "an SQLite database (an Nsight Systems export?)", "triage reads Nsight Compute reports"),
    (b"\x7fELF", "a program", "to profile it: triage profile FILE"),
    (b"MZ", "a program", "to profile it: triage profile FILE"),
    (b"%PDF", "a PDF document", ""),
    (b"PAR1", "a Parquet table", ""),
)
_WANTED = "give a .ncu-rep, or a CSV made with: ncu --import FILE --page raw --csv --print-units base > FILE.csv"


@dataclass(frozen=True, slots=True)
class Content:
    """``kind`` of a file, its ``encoding`` where it is text, and its ``size`` in bytes."""

    kind: Literal["rep", "repz", "text"]
    size: int
    encoding: str = ""


def content(path: Path) -> Content:
    """Looks at the first megabyte of a file.

    Raises :class:`UnreadableReport` for what is missing, not a regular file, empty, unreadable or of another kind.
    """
    try:
        status = path.stat()
    except FileNotFoundError:
        raise UnreadableReport(f"{path}: no such file", "check the path") from None
    except (OSError, ValueError) as error:
        raise UnreadableReport(f"{path}: {_reason(error)}", "check the path") from None
    if stat.S_ISDIR(status.st_mode):
        raise UnreadableReport(f"{path} is a directory", f"name the reports in it, such as {path}/*.ncu-rep")
    if not stat.S_ISREG(status.st_mode):
        raise UnreadableReport(f"{path} is a pipe or device, not a file", "write the output to a file and name that")
    if status.st_size == 0:
        raise UnreadableReport(f"{path} is empty", "the run that should have written it failed; look at its output")
    try:
        # O_NONBLOCK: should the file be swapped for a pipe between stat and open, this fails instead of hanging.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        with os.fdopen(descriptor, "rb") as file:
            head = file.read(_HEAD)
    except OSError as error:
        raise UnreadableReport(f"{path}: {_reason(error)}", "check the path and its permissions") from None
    if head.startswith(framing.MAGIC):
        return Content("rep", status.st_size)
    if head.startswith(zstd.MAGIC):
        return Content("repz", status.st_size)
    for magic, what, hint in _FOREIGN:
        if head.startswith(magic):
            raise UnreadableReport(f"{path} is {what}, not a report", hint or _WANTED)
    coding = encoding(head)
    if coding is None:
        raise UnreadableReport(f"{path} is neither a report nor text", _WANTED)
    if head[:4096].decode(coding, "replace").lstrip("\ufeff \r\n").startswith("# triage baseline "):
        raise UnreadableReport(
            f"{path} is a baseline of triage, not a report", f"compare with it: triage check REPORT --baseline {path}"
        )
    return Content("text", status.st_size, coding)


def encoding(head: bytes) -> str | None:
    """The encoding of a text, ``None`` for binary data."""
    for mark, name in (
        (codecs.BOM_UTF8, "utf-8-sig"),
        # UTF-32 first: its little-endian mark starts with that of UTF-16.
        (codecs.BOM_UTF32_LE, "utf-32"),
        (codecs.BOM_UTF32_BE, "utf-32"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    ):
        if head.startswith(mark):
            return name
    if b"\0" in head:
        # UTF-16 without a mark: every other byte of ASCII text is zero.
        sample = head[:4096]
        even, odd = sample[0::2].count(0) * 2, sample[1::2].count(0) * 2
        if odd > 0.8 * len(sample) and even < 0.1 * len(sample):
            return "utf-16-le"
        if even > 0.8 * len(sample) and odd < 0.1 * len(sample):
            return "utf-16-be"
        # Stray zero bytes in a log are noise; a file full of them is no text.
        if head.count(0) > len(head) // 100:
            return None
    controls = sum(head.count(code) for code in range(1, 32) if code not in (8, 9, 10, 11, 12, 13, 27))
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        # Any bytes are some text in an 8-bit encoding; control characters tell data from text.
        return "cp1252" if controls <= len(head) // 50 else None
    return "utf-8" if controls <= len(head) // 3 else None


def _reason(error: Exception) -> str:
    return (error.strerror or type(error).__name__) if isinstance(error, OSError) else "not a valid path"
