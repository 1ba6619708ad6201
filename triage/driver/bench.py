"""The measurement: who is right, how long it takes, how close it comes to a device copy in the same run.

Five rules: the first launches are discarded; there are many repetitions, and their median is shown with the spread; the
time is taken with CUDA events; every contestant is first checked on random input with a poisoned output against a
reference made on the host; bandwidth is effective, the bytes that must move over the time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from triage.driver import advice, statistics
from triage.driver.contest import Contestant, GpuInfo, Machine
from triage.driver.roofs import Roofs
from triage.driver.shapes import Shape
from triage.driver.statistics import Cache, Sample
from triage.driver.variants import DTYPES
from triage.errors import UsageError

_ROUNDS = 5


@dataclass(frozen=True, slots=True)
class Setup:
    """What to measure and how. ``repetitions`` launches a contestant are kept after ``warm_up`` discarded ones, dealt
    to ``_ROUNDS`` rounds so that drift hits everybody alike. ``kernels`` says where the kernels came from."""

    shape: Shape
    dtype: str = "float"
    repetitions: int = 100
    warm_up: int = 10
    rotate: bool = False
    kernels: str = ""
    debug_build: bool = False

    def __post_init__(self) -> None:
        if self.repetitions < 1 or self.warm_up < 0:
            raise UsageError("at least one repetition and no negative warm-up", "try --reps 100 --warmup 10")


@dataclass(frozen=True, slots=True)
class Row:
    """One contestant's result. ``wrong`` counts elements that differ from the reference.

    ``sample`` is ``None`` for what is wrong and for planted faults, which are never timed. ``of_copy`` and ``of_peak``
    are factors, ``None`` where nothing was timed or the peak is not known.
    """

    contestant: Contestant
    wrong: int
    sample: Sample | None = None
    bytes_per_s: float | None = None
    of_copy: float | None = None
    of_peak: float | None = None

    @property
    def verdict(self) -> str:
        """What the check found, in a few words."""
        if self.contestant.right:
            return "right" if self.wrong == 0 else f"WRONG: {self.wrong} elements"
        return "planted fault, not seen" if self.wrong == 0 else f"planted fault found: {self.wrong} elements"


@dataclass(frozen=True, slots=True)
class Bench:
    """A whole measurement. ``footprint`` counts the bytes of all buffers in use; ``absent`` names missing peers."""

    setup: Setup
    gpu: GpuInfo
    rows: tuple[Row, ...]
    moved_bytes: int
    footprint: int
    cache: Cache
    roofs: Roofs
    stop_rule: str
    warnings: tuple[str, ...]
    absent: tuple[str, ...] = ()

    @property
    def failures(self) -> tuple[str, ...]:
        """Names of contestants that should be right and are not."""
        return tuple(row.contestant.name for row in self.rows if row.contestant.right and row.wrong)


def prepare(machine: Machine, setup: Setup) -> int:
    """Put the matrices on the GPU. Returns the number of buffer sets: 1, or with ``rotate`` enough to leave L2."""
    set_bytes = setup.shape.moved_bytes(DTYPES[setup.dtype][0])
    info = machine.info
    # one more set's worth stays free for the reference and what peers allocate
    room = info.free_bytes - set_bytes
    sets = statistics.buffer_sets(set_bytes, info.l2_bytes, room) if setup.rotate else 1
    machine.prepare(setup.shape, setup.dtype, sets)
    return sets


def measure(
    machine: Machine, setup: Setup, contestants: Sequence[Contestant], sets: int, absent: Sequence[str] = ()
) -> Bench:
    """Check everybody, time everybody who is right, compare with the device copy: the peer that does not transpose.

    Raises UsageError when there is no such contestant.
    """
    yardstick = next((c for c in contestants if c.peer and not c.transposes), None)
    if yardstick is None:
        raise UsageError("a measurement needs the device copy as its yardstick", "leave the device copy in")
    wrong = {c.name: machine.mismatches(c) for c in contestants}
    timed = [c for c in contestants if c.right and wrong[c.name] == 0]
    samples = _time(machine, setup, timed)
    moved = setup.shape.moved_bytes(DTYPES[setup.dtype][0])
    copy = samples.get(yardstick.name)
    rows = tuple(_row(c, wrong[c.name], samples.get(c.name), moved, copy, machine.info) for c in contestants)
    footprint = moved * sets
    cache = statistics.cache_state(footprint, machine.info.l2_bytes)
    return Bench(
        setup=setup,
        gpu=machine.info,
        rows=rows,
        moved_bytes=moved,
        footprint=footprint,
        cache=cache,
        roofs=_roofs(machine, rows, cache, setup),
        stop_rule=_stop_rule(rows, moved),
        warnings=_warnings(setup, machine.info, rows, copy, cache),
        absent=tuple(absent),
    )


def _time(machine: Machine, setup: Setup, contestants: Sequence[Contestant]) -> dict[str, Sample]:
    for contestant in contestants:
        if setup.warm_up:
            machine.time(contestant, setup.warm_up)
    times: dict[str, list[float]] = {c.name: [] for c in contestants}
    for done in range(_ROUNDS):
        count = setup.repetitions * (done + 1) // _ROUNDS - setup.repetitions * done // _ROUNDS
        for contestant in contestants if count else ():
            times[contestant.name].extend(machine.time(contestant, count))
    return {name: statistics.summarise(values) for name, values in times.items()}


def _row(c: Contestant, wrong: int, sample: Sample | None, moved: int, copy: Sample | None, gpu: GpuInfo) -> Row:
    if sample is None:
        return Row(c, wrong)
    rate = statistics.bandwidth(moved, sample.median)
    return Row(
        contestant=c,
        wrong=wrong,
        sample=sample,
        bytes_per_s=rate,
        of_copy=copy.median / sample.median if copy else None,
        of_peak=rate / gpu.dram_bytes_per_s if gpu.dram_bytes_per_s else None,
    )


def fastest(rows: Sequence[Row], *, peer: bool) -> Row | None:
    """The fastest right transpose, of the libraries or of ours; ``None`` when none was timed."""
    timed = [r for r in rows if r.sample and r.contestant.transposes and r.contestant.peer is peer]
    return min(timed, key=lambda r: r.sample.median if r.sample else float("inf"), default=None)


def _stop_rule(rows: Sequence[Row], moved: int) -> str:
    ours, theirs = fastest(rows, peer=False), fastest(rows, peer=True)
    if ours is None or ours.sample is None or ours.of_copy is None:
        return "Stop rule: no transpose of ours was timed."
    beaten = theirs is not None and theirs.sample is not None and theirs.sample.median <= ours.sample.median
    return advice.stop_rule(
        ours.contestant.name, ours.of_copy, moved, theirs.contestant.name if beaten and theirs else None
    )


def _warnings(setup: Setup, gpu: GpuInfo, rows: Sequence[Row], copy: Sample | None, cache: Cache) -> tuple[str, ...]:
    ours = fastest(rows, peer=False)
    blocks = ours.contestant.blocks if ours else None
    found = advice.measurement_warnings(
        setup.shape,
        copy_us=copy.median if copy else float("inf"),
        blocks=2 * gpu.sms if blocks is None else blocks,
        sms=gpu.sms,
        cache=cache,
        rotated=setup.rotate,
        debug_build=setup.debug_build,
        noisy=tuple(r.contestant.name for r in rows if r.sample and advice.is_noisy(r.sample.spread)),
    )
    wrong = [r.contestant.name for r in rows if r.contestant.right and r.wrong]
    if wrong:
        found += (f"Wrong results, therefore not timed: {', '.join(wrong)}.",)
    return found


def _roofs(machine: Machine, rows: Sequence[Row], cache: Cache, setup: Setup) -> Roofs:
    size, microseconds = machine.copy_roof()
    rate = statistics.bandwidth(size, microseconds)
    how = f"device copy of {size / 2e9:.2f} GB, median of 20 launches"
    if cache == "not in cache":
        # where L2 helps, a rate says nothing about DRAM
        best = max((r for r in rows if r.bytes_per_s), key=lambda r: r.bytes_per_s or 0.0, default=None)
        if best and best.sample and best.bytes_per_s and best.bytes_per_s > rate:
            rate = best.bytes_per_s
            how = f"{best.contestant.name} of {setup.shape} {setup.dtype}s, median of {best.sample.count} launches"
    gpu = machine.info
    return Roofs(
        device=gpu.name,
        cc=gpu.cc,
        dram_bytes_per_s=rate,
        measured_at=datetime.now(UTC).isoformat(timespec="seconds"),
        how=f"{how}, CUDA events, bytes read and written; {gpu.software}",
    )
