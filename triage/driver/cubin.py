"""Reads from a cubin (an ELF file) how it was compiled and which kernels it holds."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

from triage.errors import NcuFailed

_SECTION = struct.Struct("<IIQQQQIIQQ")


@dataclass(frozen=True, slots=True)
class Cubin:
    """``debug`` says that it was compiled with ``-G``, ``lineinfo`` that source lines can be told; ``kernels`` are the
    names of its entry functions, sorted."""

    debug: bool
    lineinfo: bool
    kernels: tuple[str, ...]


def inspect(path: Path) -> Cubin:
    """What is known about a cubin. Raises NcuFailed when the file cannot be read or is no 64-bit ELF file."""
    try:
        names = _section_names(path.read_bytes())
    except (OSError, struct.error, ValueError, OverflowError, MemoryError) as error:
        raise NcuFailed(
            f"{path} is not a usable cubin: {error}", "build it again with `triage kernels build`"
        ) from error
    kernels = tuple(sorted(name.removeprefix(".text.") for name in names if name.startswith(".text.")))
    return Cubin(debug=".debug_info" in names, lineinfo=".debug_line" in names, kernels=kernels)


def _section_names(data: bytes) -> set[str]:
    if data[:5] != b"\x7fELF\x02":
        raise ValueError("not a 64-bit ELF file")
    (table,) = struct.unpack_from("<Q", data, 40)
    size, count, names_at = struct.unpack_from("<HHH", data, 58)
    sections = [_SECTION.unpack_from(data, table + i * size) for i in range(count)]
    if names_at >= count:
        raise ValueError("no section names")
    start, length = sections[names_at][4], sections[names_at][5]
    strings = data[start : start + length]
    return {strings[s[0] : strings.index(b"\0", s[0])].decode() for s in sections}
