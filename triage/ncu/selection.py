"""Picks the launches worth profiling from a survey, and says it in the one filter that ncu takes.

``--kernel-id CONTEXT:STREAM:regex:NAME:regex-of-number`` may be given once. Its number counts the launches of one
function; with ``--filter-mode per-launch-config`` it counts them for each grid and block size apart (measured with
2025.3.1). So one filter is a set of names times a set of numbers, and the union over all picks may catch a few
launches more than wanted: :class:`Selection` knows which ones are warm-ups and what each result stands for.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from triage.bystanders import Bystander, bystander, exclusion_pattern
from triage.ncu.survey import Dim3, Launch, function_name

# Regular expressions longer than this are refused by some standard libraries, and no argument may exceed 128 kB.
LONGEST_PATTERN = 40_000


@dataclass(frozen=True, slots=True)
class Shape:
    """All launches of one function with one grid and block: ``count`` is how many one process makes (the most of
    any), ``ns`` the summed duration over all processes."""

    name: str
    grid: Dim3
    block: Dim3
    count: int
    ns: float

    @property
    def key(self) -> tuple[str, Dim3, Dim3]:
        return self.name, self.grid, self.block

    @property
    def shown(self) -> str:
        """The function's readable name."""
        return function_name(self.name)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Kernels that the survey saw and the selection leaves out: why, how many launches, their time in ns."""

    name: str
    family: Bystander
    count: int
    ns: float


@dataclass(frozen=True, slots=True)
class Expected:
    """One result that the run will bring: the ``number``-th launch (from 1) of ``shape``."""

    shape: Shape
    number: int

    @property
    def warm_up(self) -> bool:
        """Whether it is a first launch that others of its shape follow."""
        return self.number == 1 and self.shape.count > 1


@dataclass(frozen=True, slots=True)
class Selection:
    """The launches to profile. ``kernel_id`` is the value of ``--kernel-id``; ``by_shape`` says that its numbers count
    launches of each shape. ``shapes`` are the chosen ones, longest first; ``total_ns`` is the time of all launches
    but those of ``left_out``; ``covered`` the percentage of it that ``shapes`` make up; ``sequence`` the results that
    the run will bring if the program launches the same kernels again; empty without a survey."""

    kernel_id: str
    by_shape: bool
    shapes: tuple[Shape, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    launches: int = 0
    total_ns: float = 0.0
    covered: float = 100.0
    numbers: tuple[int, ...] = ()
    dropped_names: int = 0
    sequence: tuple[Expected, ...] = ()


def select(launches: Sequence[Launch], share: float, per_shape: int, *, all_kernels: bool = False) -> Selection | None:
    """The selection that covers ``share`` percent of the kernel time with up to ``per_shape`` launches of each shape,
    skipping the first launch of every shape that has more. ``None`` when nothing is left to profile."""
    kept, left_out = _sift(launches, all_kernels)
    shapes = _shapes(kept)
    total = sum(shape.ns for shape in shapes)
    chosen = _cover(shapes, total * share / 100)
    names = list(dict.fromkeys(shape.name for shape in chosen))
    fitting = _fitting(names)
    chosen = [shape for shape in chosen if shape.name in fitting]
    if not chosen:
        return None
    plans = []
    for by_shape, numbers in ((True, _by_shape(chosen, per_shape)), (False, _in_order(chosen, kept, per_shape))):
        plans.append((by_shape, numbers, _sequence(kept, shapes, set(fitting), numbers, by_shape)))
    by_shape, numbers, sequence = min(plans, key=lambda plan: len(plan[2]))
    return Selection(
        f"::regex:{_names_pattern(fitting)}:{_numbers_pattern(numbers)}",
        by_shape,
        tuple(chosen),
        tuple(left_out),
        len(launches),
        total,
        100 * sum(shape.ns for shape in chosen) / total if total else 100.0,
        tuple(sorted(numbers)),
        len(names) - len(fitting),
        sequence,
    )


def blind(per_shape: int) -> Selection:
    """A selection without a survey: the first ``per_shape`` launches of every kernel and shape, fills and
    collectives left out by name."""
    numbers = set(range(1, per_shape + 1))
    return Selection(f"::regex:{exclusion_pattern()}:{_numbers_pattern(numbers)}", True, numbers=tuple(sorted(numbers)))


def _sift(launches: Sequence[Launch], all_kernels: bool) -> tuple[list[Launch], list[LeftOut]]:
    kept: list[Launch] = []
    out: dict[str, tuple[Bystander, list[float]]] = {}
    for launch in launches:
        family = None if all_kernels else bystander(launch.name)
        if family is None:
            kept.append(launch)
        else:
            out.setdefault(launch.name, (family, []))[1].append(launch.ns)
    left = [LeftOut(function_name(name), family, len(ns), sum(ns)) for name, (family, ns) in out.items()]
    return kept, sorted(left, key=lambda one: -one.ns)


def _shapes(launches: Sequence[Launch]) -> list[Shape]:
    times: dict[tuple[str, Dim3, Dim3], list[float]] = defaultdict(list)
    counts: dict[tuple[str, Dim3, Dim3], Counter[str]] = defaultdict(Counter)
    for launch in launches:
        key = (launch.name, launch.grid, launch.block)
        times[key].append(launch.ns)
        counts[key][launch.process] += 1
    shapes = [Shape(*key, max(counts[key].values()), sum(ns)) for key, ns in times.items()]
    return sorted(shapes, key=lambda shape: -shape.ns)


def _cover(shapes: Sequence[Shape], wanted: float) -> list[Shape]:
    chosen: list[Shape] = []
    covered = 0.0
    for shape in shapes:
        if chosen and covered >= wanted * (1 - 1e-9):
            break
        chosen.append(shape)
        covered += shape.ns
    return chosen


def _fitting(names: Sequence[str]) -> list[str]:
    length, fitting = 0, []
    for name in names:
        length += len(_escaped(name)) + 1
        if length > LONGEST_PATTERN:
            break
        fitting.append(name)
    return fitting


def _picks(count: int, per_shape: int) -> list[int]:
    """Which of ``count`` launches alike: the first is a warm-up (lazy loading, cold clocks), unless it is alone."""
    return [1] if count == 1 else list(range(2, min(count, per_shape + 1) + 1))


def _by_shape(chosen: Sequence[Shape], per_shape: int) -> set[int]:
    return {number for shape in chosen for number in _picks(shape.count, per_shape)}


def _in_order(chosen: Sequence[Shape], launches: Sequence[Launch], per_shape: int) -> set[int]:
    wanted = {shape.key: _picks(shape.count, per_shape) for shape in chosen}
    return {
        of_name
        for launch, of_name, of_shape in _numbered(launches)
        if of_shape in wanted.get((launch.name, launch.grid, launch.block), ())
    }


def _sequence(
    launches: Sequence[Launch], shapes: Sequence[Shape], names: set[str], numbers: set[int], by_shape: bool
) -> tuple[Expected, ...]:
    known = {shape.key: shape for shape in shapes}
    return tuple(
        Expected(known[launch.name, launch.grid, launch.block], of_shape)
        for launch, of_name, of_shape in _numbered(launches)
        if launch.name in names and (of_shape if by_shape else of_name) in numbers
    )


def _numbered(launches: Sequence[Launch]) -> Iterator[tuple[Launch, int, int]]:
    """Each launch with its number among those of its function and among those of its shape, in its process."""
    of_name: Counter[tuple[str, str]] = Counter()
    of_shape: Counter[tuple[str, str, Dim3, Dim3]] = Counter()
    for launch in launches:
        name, shape = (launch.process, launch.name), (launch.process, launch.name, launch.grid, launch.block)
        of_name[name] += 1
        of_shape[shape] += 1
        yield launch, of_name[name], of_shape[shape]


def _escaped(name: str) -> str:
    # A colon would end the field of --kernel-id; a dot matches it.
    return re.sub(r"([^A-Za-z0-9_:])", r"\\\1", name).replace(":", ".")


def _names_pattern(names: Sequence[str]) -> str:
    return f"^({'|'.join(_escaped(name) for name in names)})$"


def _numbers_pattern(numbers: set[int]) -> str:
    return f"^({'|'.join(str(number) for number in sorted(numbers))})$"
