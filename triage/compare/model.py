"""The frozen types of a comparison: two snapshots, the kernels matched between them, and what moved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Literal

from triage.model import Confidence, Device, Kernel, LineFinding

Match = Literal["same", "shape", "nvtx", "renamed", "added", "removed"]
Change = Literal["slower", "faster", "same", "unknown"]


@dataclass(frozen=True, slots=True)
class Collection:
    """How a file was collected, as far as it says; ``None`` is unknown, and unknown never tells two files apart.

    ``clocks`` is ``free`` (``--clock-control none``) or ``controlled``, ``caches`` ``flushed`` or ``kept``, ``replay``
    the replay mode, ``ncu`` the version.
    """

    ncu: str | None = None
    clocks: str | None = None
    caches: str | None = None
    replay: str | None = None


@dataclass(frozen=True, slots=True)
class State:
    """All launches of one kernel with one launch shape in one NVTX range, on one side of a comparison.

    ``limiter`` is the answer that holds for most of their time. ``kernel`` carries the identity (its metrics are
    dropped); it is the launch with that answer whose time is nearest the median, and facts, evidence and lines are that
    launch's, but for spills, which are those of the launch that spills most. ``durations`` are in ns, in launch order;
    ``launches`` counts those that were not timed too. ``limiters`` counts every answer over the launches, most frequent
    first; ``beside`` holds the other answers that are worth a word, each with its share of the time in percent.
    ``facts`` holds the facts that are known exactly (id to value); ``evidence`` names those that the verdict rests on.
    """

    kernel: Kernel
    collection: Collection
    durations: tuple[float, ...]
    launches: int
    limiter: str | None
    title: str
    family: str | None
    confidence: Confidence
    summary: str = ""
    limiters: tuple[tuple[str | None, int], ...] = ()
    beside: tuple[tuple[str | None, float], ...] = ()
    contributors: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    facts: Mapping[str, float] = field(default_factory=dict)
    lines: tuple[LineFinding, ...] = ()
    fix: str = ""
    near: tuple[str, ...] = ()

    @property
    def median_ns(self) -> float | None:
        """The middle duration in ns, ``None`` where no launch was timed."""
        return median(self.durations) if self.durations else None

    @property
    def total_ns(self) -> float:
        """Time of all timed launches in ns."""
        return sum(self.durations)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One side of a comparison: a report or a baseline, folded to states in order of first appearance.

    ``path`` is the file, ``kind`` ``report`` or ``baseline``, ``device`` what all states agree on, ``rules`` the
    digest and threshold profile that judged.
    """

    path: str
    kind: str
    states: tuple[State, ...]
    device: Device = field(default_factory=Device)
    collection: Collection = field(default_factory=Collection)
    rules: tuple[str, str] = ("", "")
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Timing:
    """How the duration moved. ``base_ns`` and ``head_ns`` are medians, ``ratio`` the estimate of head over base,
    ``band`` the relative change (0.05 is 5 %) up to which a difference is noise, ``why`` one sentence on how that was
    judged. ``change`` is ``unknown`` where a side was not timed."""

    base_ns: float | None
    head_ns: float | None
    ratio: float | None
    band: float
    change: Change
    why: str

    @property
    def percent(self) -> float | None:
        """Change of the duration in percent of the base; positive is slower."""
        return None if self.ratio is None else 100 * (self.ratio - 1)


@dataclass(frozen=True, slots=True)
class FactMove:
    """One quantity on both sides; ``None`` is not known. ``moved`` says whether it moved by more than its threshold
    (5 points for a percentage, 5 % for anything else, any spill where there was none)."""

    fact: str
    label: str
    unit: str
    base: float | None
    head: float | None
    moved: bool

    @property
    def factor(self) -> float | None:
        """Head over base; ``None`` where one is unknown or the base is 0."""
        if self.base is None or self.head is None or self.base == 0:
            return None
        return self.head / self.base


@dataclass(frozen=True, slots=True)
class Pair:
    """One kernel on both sides, or on one of them (``added``, ``removed``).

    ``reasons`` say why there is no verdict; with any of them ``time.change`` is ``unknown``. ``hypothesis`` marks a
    pair from two different GPUs. ``resources`` are registers, spills, instructions and bytes, always in that order;
    ``moves`` the other facts that moved, those that the verdicts rest on first.
    """

    match: Match
    base: State | None
    head: State | None
    time: Timing | None = None
    reasons: tuple[str, ...] = ()
    hypothesis: bool = False
    resources: tuple[FactMove, ...] = ()
    moves: tuple[FactMove, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def change(self) -> Change:
        """What the duration did, ``unknown`` for a kernel on one side only."""
        return self.time.change if self.time is not None else "unknown"

    @property
    def shown(self) -> State:
        """The head's state where there is one, else the base's."""
        state = self.head or self.base
        if state is None:
            raise ValueError("a pair needs a side")
        return state

    @property
    def limiter_moved(self) -> bool | None:
        """Whether the limiter is another one; ``None`` where a side is missing or undecided. Not so between two
        answers of which it has neither (``limiter_between``)."""
        return self._limiters_differ and not self.limiter_between

    @property
    def limiter_between(self) -> bool:
        """Whether the answers differ, neither is surer than ``low``, one of them lies near the other and the time did
        not change: the kernel falls on either side of a threshold from run to run."""
        base, head = self.base, self.head
        if base is None or head is None or not self._limiters_differ:
            return False
        unsure = base.confidence == head.confidence == "low"
        near = head.limiter in base.near or base.limiter in head.near
        return unsure and near and self.change == "same"

    @property
    def _limiters_differ(self) -> bool | None:
        """Whether the two answers are not the same; ``None`` where a side is missing or undecided."""
        if self.base is None or self.head is None or self.base.limiter is None or self.head.limiter is None:
            return None
        return self.base.limiter != self.head.limiter

    @property
    def delta_ns(self) -> float:
        """By how many ns all its launches moved (head minus base); what one side alone costs counts in full."""
        base = self.base.total_ns if self.base else 0.0
        head = self.head.total_ns if self.head else 0.0
        return head - base


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two snapshots and what moved. ``pairs`` keep the head's order, then what was removed in the base's order.
    ``notes`` hold for all of it."""

    base: Snapshot
    head: Snapshot
    pairs: tuple[Pair, ...]
    notes: tuple[str, ...] = ()
    version: str = ""

    @property
    def matched(self) -> tuple[Pair, ...]:
        """The pairs with both sides."""
        return tuple(pair for pair in self.pairs if pair.base is not None and pair.head is not None)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why nothing at all can be said: the reasons that every matched pair has."""
        matched = self.matched
        if not matched:
            return ()
        shared = set(matched[0].reasons).intersection(*(pair.reasons for pair in matched))
        return tuple(reason for reason in matched[0].reasons if reason in shared)
