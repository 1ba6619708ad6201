"""Reads what the survey run printed: one launch after the other with its duration."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

Dim3 = tuple[int, int, int]

_PROCESS = re.compile(r"^\[(\d+)\]\s")
_KERNEL = re.compile(
    r"^  (?P<name>\S.*?) \((?P<grid>\d+, \d+, \d+)\)x\((?P<block>\d+, \d+, \d+)\), "
    r"Context (?P<context>\S+), Stream (?P<stream>\S+), Device (?P<device>\S+), CC "
)
# ncu rounds nothing in base units: the duration is a whole number of nanoseconds, with the locale's separators.
_DURATION = re.compile(r"^\s+gpu__time_duration\.sum\s+ns(?:econd)?\s+(?P<ns>[\d.,'\s\u00a0\u202f]*\d)\s*$")
# A launch costs the host a few microseconds; kernels of about that length leave the GPU waiting in between.
SHORT_NS = 10_000
# About a million launches.
LOG_BYTES = 512 << 20
_LONGEST = 100_000
MANY = 200


@dataclass(frozen=True, slots=True)
class Launch:
    """One launch of the survey: ``name`` mangled, ``grid`` in blocks, ``block`` in threads, ``ns`` its duration."""

    name: str
    grid: Dim3
    block: Dim3
    process: str
    ns: float


def lines_of(log: Path) -> Iterator[str]:
    """The lines of a log, none where there is no such file; at most :data:`LOG_BYTES` of it, and of a line as much as a
    kernel's name may have."""
    if not log.is_file():
        return
    left = LOG_BYTES
    with log.open(encoding="utf-8", errors="replace") as file:
        whole = True
        while left > 0 and (piece := file.readline(_LONGEST)):
            left -= len(piece)
            if whole:
                yield piece.rstrip("\n")
            whole = piece.endswith("\n")


def parse(lines: Iterable[str]) -> Iterator[Launch]:
    """The launches of a survey log, in order. Lines that are something else are passed over; a launch without a
    duration (the run was cut short) does not count."""
    process, current = "", None
    for line in lines:
        if match := _KERNEL.match(line):
            current = match
        elif match := _DURATION.match(line):
            if current is not None:
                ns = float(re.sub(r"\D", "", match["ns"]))
                yield Launch(current["name"], _dim3(current["grid"]), _dim3(current["block"]), process, ns)
            current = None
        elif match := _PROCESS.match(line):
            process = match[1]


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
    while match := re.match(r"[LK]?(\d+)", rest):
        size = int(match[1])
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
