"""The roofline of all kernels of one GPU: positions in percent of the plot, log axes, for the template to draw."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from triage import quantities
from triage.model import Device, Roof
from triage.renderers import page, wording
from triage.renderers.escape import shorten
from triage.renderers.known import known_fact
from triage.renderers.ranking import Group

# Points closer than this (percent of the plot, across and up) share one label, with at most so many ranks in it.
_NEAR_X, _NEAR_Y = 4.0, 6.0
_RANKS = 4
# Right of here (percent) a label stands left of its point.
_RIGHT = 90.0
# Kernels that live in the caches reach intensities of millions; the axis ends before they squeeze the rest.
_LEAST, _MOST = 0.01, 10_000.0
_COMPUTE_ROOFS = (
    ("fp64_peak_flops", "FP64"),
    ("fp32_peak_flops", "FP32"),
    ("tensor_peak_flops", "FP16 tensor"),
)
# The tensor pipe's counter reads up to 5 % for kernels without a matrix instruction.
_TENSOR_PCT = 8.0


@dataclass(frozen=True, slots=True)
class Tick:
    """A grid line: ``at`` in percent of the plot, ``text`` beside it."""

    at: float
    text: str


@dataclass(frozen=True, slots=True)
class Line:
    """A straight roof between two points, and where its label stands (percent; ``label_dy`` in pixels). A ``reach`` is
    what programs attain, below a peak of the datasheet."""

    label: str
    x1: float
    y1: float
    x2: float
    y2: float
    label_x: float
    label_y: float
    label_dy: int
    anchor: str
    reach: bool = False


@dataclass(frozen=True, slots=True)
class Point:
    """One kernel: position in percent, fragment number; ``ranks`` names it and those under the same spot."""

    x: float
    y: float
    place: int
    family: str
    title: str
    ranks: str
    leftward: bool = False


@dataclass(frozen=True, slots=True)
class Note:
    """Kernels (rank, place) that the figure cannot place, and why."""

    text: str
    kernels: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """Everything the template draws for one GPU."""

    device: str
    sentence: str
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    roofs: tuple[Line, ...]
    points: tuple[Point, ...]
    notes: tuple[Note, ...]
    attained: str


def figures(ranked: Sequence[Group], roofs: Sequence[Roof] = (), left_out: int = 0) -> tuple[Figure, ...]:
    """One figure for each GPU with at least one kernel whose intensity, FLOP/s and DRAM peak are known; ``roofs`` are
    the report's attainable ones, ``left_out`` counts kernels that the list does not show."""
    reachable = {roof.device: roof for roof in roofs}
    devices: dict[Device, list[tuple[int, Group]]] = {}
    for rank, group in enumerate(ranked, 1):
        devices.setdefault(group.shown.kernel.device, []).append((rank, group))
    made = (_figure(device, members, reachable.get(device)) for device, members in devices.items())
    found = tuple(figure for figure in made if figure is not None)
    if not left_out:
        return found
    note = Note(f"Only kernels of the list are drawn and counted; it leaves out {left_out:,}.", ())
    return tuple(replace(figure, notes=(*figure.notes, note)) for figure in found)


def _drawable(rate: float | None) -> float | None:
    """A rate (byte/s, FLOP/s) that axes can hold, from one a second to far beyond any chip: the number of a damaged
    file would leave what a float holds once multiplied."""
    return rate if rate is not None and 1 <= rate <= 1e24 else None


def _figure(device: Device, members: Sequence[tuple[int, Group]], reachable: Roof | None) -> Figure | None:
    bandwidth = _drawable(_peak(members, "dram_peak_bytes_per_s"))
    peaks = [(label, peak) for fact, label in _COMPUTE_ROOFS if (peak := _drawable(_peak(members, fact))) is not None]
    if not any(_on_tensor_cores(group) for _, group in members):
        # Nobody is near it: it would only squeeze the others.
        peaks = [(label, peak) for label, peak in peaks if label != "FP16 tensor"] or peaks
    placed: list[tuple[int, Group, float, float]] = []
    idle: list[tuple[int, int]] = []
    absent: list[tuple[int, int]] = []
    for rank, group in members:
        intensity, speed = work(group)[:2]
        if intensity is None or speed is None or (speed > 0 and _drawable(speed) is None):
            absent.append((rank, group.place))
        elif intensity <= 0 or speed <= 0:
            idle.append((rank, group.place))
        else:
            placed.append((rank, group, intensity, speed))
    if bandwidth is None or not peaks or not (placed or idle):
        return None
    top = max(peak for _, peak in peaks)
    ridges = [peak / bandwidth for _, peak in peaks]
    seen = [min(max(intensity, _LEAST), _MOST) for *_, intensity, _ in placed]
    left = math.floor(math.log10(min([0.1, *seen])))
    right = math.ceil(math.log10(max([10 * max(ridges), *seen])))
    low = math.floor(math.log10(min([bandwidth * 10.0**left, top, *(speed for *_, speed in placed)])))
    high = math.log10(max([top, *(speed for *_, speed in placed)])) + 0.25
    plane = _Plane(left, right, low, high)
    points = _points(plane, placed)
    notes = []
    if idle:
        notes.append(Note("Without floating-point arithmetic, so at the left edge:", tuple(idle)))
        at_edge = set(idle)
        points += tuple(_edge_point(rank, group) for rank, group in members if (rank, group.place) in at_edge)
    beyond = tuple((rank, group.place) for rank, group, intensity, _ in placed if not _LEAST <= intensity <= _MOST)
    if beyond:
        notes.append(Note("Drawn at the edge, because their intensity lies beyond it (DRAM hardly used):", beyond))
    if absent:
        notes.append(Note("Not drawn, because FLOP or DRAM traffic was not collected:", tuple(absent)))
    return Figure(
        wording.device(device),
        _sentence(placed, bandwidth, peaks),
        tuple(Tick(plane.x(10.0**power), _power(power)) for power in range(left, right + 1)),
        tuple(
            Tick(plane.y(10.0**power), quantities.quantity(10.0**power, "flop/s"))
            for power in range(low, int(high) + 1)
        ),
        (
            *([_reach(plane, reachable.bytes_per_s, top)] if reachable is not None else []),
            _slope(plane, bandwidth, top, label=reachable is None),
            *(_flat(plane, label, peak, bandwidth, top) for label, peak in peaks),
        ),
        points,
        tuple(notes),
        _attained(bandwidth, reachable),
    )


@dataclass(frozen=True, slots=True)
class _Plane:
    """Log axes: ``left``..``right`` and ``low``..``high`` are powers of ten."""

    left: float
    right: float
    low: float
    high: float

    def x(self, intensity: float) -> float:
        place = 100 * (math.log10(intensity) - self.left) / (self.right - self.left)
        return round(min(max(place, 0.0), 100.0), 2)

    def y(self, speed: float) -> float:
        return round(100 - 100 * (math.log10(speed) - self.low) / (self.high - self.low), 2)


def value(group: Group, fact: str) -> float | None:
    """A known, finite fact of the launch that stands for the group."""
    return known_fact(group.shown.diagnosis, fact)


def work(group: Group) -> tuple[float | None, float | None, float | None, str]:
    """Intensity, FLOP/s, ridge point and name of the precision in which the kernel does most of its arithmetic."""
    if _on_tensor_cores(group):
        names = ("arithmetic_intensity_tensor", "achieved_tensor_flops", "ridge_point_tensor")
        return (value(group, names[0]), value(group, names[1]), value(group, names[2]), "as FP16 tensor")
    single = (value(group, "arithmetic_intensity"), value(group, "achieved_flops"), value(group, "ridge_point"), "FP32")
    double = (
        value(group, "arithmetic_intensity_fp64"),
        value(group, "achieved_fp64_flops"),
        value(group, "ridge_point_fp64"),
        "FP64",
    )
    return double if (double[1] or 0.0) > (single[1] or 0.0) else single


def _on_tensor_cores(group: Group) -> bool:
    busy = value(group, "pipe_tensor_pct")
    return busy is not None and busy >= _TENSOR_PCT and value(group, "achieved_tensor_flops") is not None


def _peak(members: Sequence[tuple[int, Group]], fact: str) -> float | None:
    # A peak follows the clock that a kernel ran at: the highest one seen is the roof.
    known = [peak for _, group in members if (peak := value(group, fact)) is not None and peak > 0]
    return max(known) if known else None


def _points(plane: _Plane, placed: Sequence[tuple[int, Group, float, float]]) -> tuple[Point, ...]:
    spots: list[tuple[float, float, list[int]]] = []
    for rank, _, intensity, speed in placed:
        x, y = plane.x(intensity), plane.y(speed)
        for spot_x, spot_y, ranks in spots:
            if abs(x - spot_x) < _NEAR_X and abs(y - spot_y) < _NEAR_Y:
                ranks.append(rank)
                break
        else:
            spots.append((x, y, [rank]))
    # The label stands beside all points of its spot, so that it covers none of them: right of them where there is room.
    across = {rank: plane.x(intensity) for rank, _, intensity, _ in placed}
    owner: dict[int, tuple[list[int], bool]] = {}
    for _, _, ranks in spots:
        places = {rank: across[rank] for rank in ranks}
        leftward = max(places.values()) > _RIGHT
        owner[(min if leftward else max)(places, key=lambda rank: places[rank])] = (ranks, leftward)
    made = []
    for rank, group, intensity, speed in placed:
        name = shorten(wording.label(group.shown.kernel), 80)
        reached, at = quantities.quantity(speed, "flop/s"), quantities.quantity(intensity, "flop/byte")
        title = f"{rank}: {name}, {reached} ({work(group)[3]}) at {at}"
        ranks, leftward = owner.get(rank, ([], False))
        words = ", ".join(map(str, ranks[:_RANKS])) + (" ..." if len(ranks) > _RANKS else "")
        family = page.family(group.shown.diagnosis)
        made.append(Point(plane.x(intensity), plane.y(speed), group.place, family, title, words, leftward))
    return tuple(made)


def _edge_point(rank: int, group: Group) -> Point:
    name = shorten(wording.label(group.shown.kernel), 80)
    return Point(0.0, 100.0, group.place, page.family(group.shown.diagnosis), f"{rank}: {name}, no FLOP", "")


def _slope(plane: _Plane, bandwidth: float, top: float, *, label: bool) -> Line:
    x1, y1, x2, y2 = _ends(plane, bandwidth, top)
    text = f"DRAM {quantities.quantity(bandwidth, 'byte/s')}" if label else ""
    # The label stands left of the line's middle: above a roof there is no kernel to cover.
    return Line(text, x1, y1, x2, y2, (x1 + x2) / 2 - 1, (y1 + y2) / 2, -4, "end")


def _reach(plane: _Plane, rate: float, top: float) -> Line:
    x1, y1, x2, y2 = _ends(plane, rate, top)
    text = f"attainable {quantities.quantity(rate, 'byte/s')}"
    return Line(text, x1, y1, x2, y2, (x1 + x2) / 2 - 2, (y1 + y2) / 2, -6, "end", reach=True)


def _ends(plane: _Plane, rate: float, top: float) -> tuple[float, float, float, float]:
    start, end = max(10.0**plane.left, 10.0**plane.low / rate), top / rate
    return plane.x(start), plane.y(rate * start), plane.x(end), plane.y(top)


def _flat(plane: _Plane, label: str, peak: float, bandwidth: float, top: float) -> Line:
    # Only above the highest roof is there room; the slope runs on above the others.
    below = 14 if peak < top else -5
    x, y = plane.x(peak / bandwidth), plane.y(peak)
    return Line(f"{label} {quantities.quantity(peak, 'flop/s')}", x, y, 100.0, y, x + 1, y, below, "start")


def _sentence(
    placed: Sequence[tuple[int, Group, float, float]],
    bandwidth: float,
    peaks: Sequence[tuple[str, float]],
) -> str:
    if not placed:
        return "No kernel does floating-point arithmetic that was counted; only the roofs are drawn."
    ridges = " and ".join(
        f"{quantities.significant(peak / bandwidth)} FLOP/byte ({label})"
        for label, peak in sorted(peaks, key=lambda p: p[1])
    )
    lowest = min(peak for _, peak in peaks) / bandwidth
    left = sum(intensity < (work(group)[2] or lowest) for _, group, intensity, _ in placed)
    some = f"{left} of {wording.count(len(placed), 'kernel')}" if left else "No kernel"
    verb = "lies" if left < 2 else "lie"
    return f"{some} {verb} left of the ridge, where DRAM is the roof. The ridge is at {ridges}."


def _attained(bandwidth: float, reachable: Roof | None) -> str:
    """Which roofs are peaks and which is what programs reach, with where that comes from."""
    if reachable is None:
        return "All roofs are peaks of the datasheet at the clocks of the run, not what a program can reach."
    share = quantities.whole_percent(100 * reachable.bytes_per_s / bandwidth)
    if reachable.measured:
        kind = f"The strong slope is the DRAM rate measured on this GPU, {share} of its peak: {reachable.source}."
    else:
        kind = f"The strong slope is the DRAM rate that programs attain, from documentation: {reachable.source}."
    peak = quantities.quantity(bandwidth, "byte/s")
    return f"{kind} Thin lines are peaks of the datasheet at the clocks of the run, {peak} for DRAM."


def _power(power: int) -> str:
    return f"{10.0**power:g}" if -4 < power < 5 else f"1e{power}"
