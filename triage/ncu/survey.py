"""Reads what the survey run printed: one launch after the other with its duration."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from statistics import median
from typing import BinaryIO

from triage.numerals import whole

Dim3 = tuple[int, int, int]

_PROCESS = re.compile(r"^\[(\d+)\]\s")
_KERNEL = re.compile(
    r"^  (?P<name>\S.*?) \((?P<grid>\d{1,10}, \d{1,10}, \d{1,10})\)x\((?P<block>\d{1,10}, \d{1,10}, \d{1,10})\), "
    r"Context (?P<context>\S+), Stream (?P<stream>\S+), Device (?P<device>\S+), CC "
)
# Nothing in it repeats without a bound, so that a damaged line costs no more than another.
# ncu rounds nothing in base units: the duration is a whole number of nanoseconds, with the locale's separators.
_DURATION = re.compile(r"^\s+gpu__time_duration\.sum\s+ns(?:econd)?\s+(?P<ns>[\d.,'\s\u00a0\u202f]{0,40}\d)\s*$")
# A launch costs the host a few microseconds; kernels of about that length leave the GPU waiting in between.
SHORT_NS = 10_000
MANY = 200
# Bytes: half a million launches and more.
LIMIT = 512 << 20
_LONGEST_LINE = 1 << 16


@dataclass(frozen=True, slots=True)
class Launch:
    """One launch of the survey: ``name`` mangled, ``grid`` in blocks, ``block`` in threads, ``ns`` its duration."""

    name: str
    grid: Dim3
    block: Dim3
    process: str
    ns: float


def read(path: Path, limit: int = LIMIT) -> tuple[list[Launch], int]:
    """The launches of the survey log at ``path``, read in pieces, and the bytes behind ``limit`` that were left. None
    where there is no such file."""
    if not path.is_file():
        return [], 0
    left = max(0, path.stat().st_size - limit)
    with path.open("rb") as stream:
        return list(parse(_lines(stream, limit))), left


def _lines(stream: BinaryIO, limit: int) -> Iterator[str]:
    """Lines, none longer than ``_LONGEST_LINE`` (a longer one is cut), up to ``limit`` bytes in all."""
    whole = True
    while limit > 0 and (piece := stream.readline(_LONGEST_LINE)):
        limit -= len(piece)
        # The tables are indented and processes stand in brackets: most other lines need no second look.
        if whole and piece[:1] in b" [":
            yield piece.decode("utf-8", "replace").rstrip("\r\n")
        whole = piece.endswith(b"\n")


def parse(lines: Iterable[str]) -> Iterator[Launch]:
    """The launches of a survey log, in order. Lines that are something else are passed over; a launch without a
    duration (the run was cut short) does not count."""
    process, names = "", dict[str, str]()
    current: tuple[str, str, str] | None = None
    for line in lines:
        if match := _KERNEL.match(line):
            current = match["name"], match["grid"], match["block"]
        elif match := _DURATION.match(line):
            if current is not None:
                ns = float(re.sub(r"\D", "", match["ns"]))
                name, grid, block = current
                # Names repeat: one copy of each is kept.
                yield Launch(names.setdefault(name, name), _dim3(grid), _dim3(block), process, ns)
            current = None
        elif match := _PROCESS.match(line):
            process = match[1]


@lru_cache(4096)
def _dim3(text: str) -> Dim3:
    x, y, z = (int(part) for part in text.split(", "))
    return x, y, z


def function_name(mangled: str) -> str:
    """A readable name for a mangled one: its namespaces and function without arguments (``at::native::gather``).
    Names that are not mangled (``extern "C"``, Triton) come back as they are."""
    if not mangled.startswith("_Z"):
        return mangled
    rest, parts = mangled[2:].removeprefix("L"), []
    nested = rest.startswith("N")
    rest = rest.removeprefix("N")
    while match := re.match(r"[LK]?([0-9]+)", rest):
        size = whole(match[1])
        if size is None:
            break
        word = rest[match.end() : match.end() + size]
        rest = rest[match.end() + size :]
        parts.append("(anonymous)" if word.startswith("_GLOBAL__N_") else word)
        if not nested:
            break
    return "::".join(parts) or mangled


def timeline_first(launches: list[Launch]) -> str:
    """A sentence that sends the user to the timeline when kernels are many and about as short as a launch itself;
    empty otherwise. Under ncu launches run one by one, so the gaps themselves cannot be seen here."""
    if len(launches) < MANY:
        return ""
    middle = median(launch.ns for launch in launches)
    short = sum(launch.ns for launch in launches if launch.ns < SHORT_NS)
    total = sum(launch.ns for launch in launches)
    if middle >= SHORT_NS or short < 0.5 * total:
        return ""
    return (
        f"{len(launches):,} launches with a median of {middle / 1000:.1f} us: about what one launch costs the host, so "
        "the GPU most likely waits between them. Look at the timeline first (nsys profile), then at CUDA Graphs and "
        "fusing kernels; tuning single kernels comes after that"
    )
