"""May a smaller problem stand for a larger one? Only if every kernel that matters has the same limiter in both."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from triage.compare import comparable
from triage.compare.matching import canonical, match_sizes
from triage.compare.model import Snapshot, State
from triage.errors import UsageError

Answer = Literal["same", "differs", "undecided", "missing"]
#: A kernel below this share (percent) of the time at both sizes does not decide,
LITTLE = 1.0
#: unless all such kernels together take more than this.
LITTLE_TOGETHER = 5.0


@dataclass(frozen=True, slots=True)
class Sized:
    """One kernel at one size. ``state`` speaks for it: where several launch shapes are folded (``shapes`` counts them)
    that of the limiter which takes most of the time. ``time_ns`` is that of all its launches, ``None`` untimed."""

    state: State
    shapes: int
    time_ns: float | None

    @property
    def limiter(self) -> str | None:
        """What limits it, ``None`` where that is undecided."""
        return self.state.limiter


@dataclass(frozen=True, slots=True)
class Compared:
    """One kernel at both sizes, or at one. ``share`` is its part of the time (0 to 100) at the size where that is
    larger, ``None`` where neither was timed; ``decides`` is False where it takes too little time to matter, and for a
    kernel that the large size does not run."""

    small: Sized | None
    large: Sized | None
    share: float | None
    decides: bool

    @property
    def answer(self) -> Answer:
        """``undecided`` where a size names no limiter, ``missing`` where it lacks the kernel: then nobody knows."""
        if self.small is None or self.large is None:
            return "missing"
        if self.small.limiter is None or self.large.limiter is None:
            return "undecided"
        return "same" if self.small.limiter == self.large.limiter else "differs"

    @property
    def shown(self) -> State:
        """The state at the large size where there is one."""
        side = self.large or self.small
        if side is None:
            raise ValueError("a kernel needs a size")
        return side.state


@dataclass(frozen=True, slots=True)
class SameLimiter:
    """Two sizes compared. ``kernels`` has first what decides, of that first what is not the same, longest first;
    ``notes`` say what else differs between the two reports."""

    small: Snapshot
    large: Snapshot
    kernels: tuple[Compared, ...]
    notes: tuple[str, ...] = ()
    version: str = ""

    @property
    def deciding(self) -> tuple[Compared, ...]:
        """The kernels that matter."""
        return tuple(one for one in self.kernels if one.decides)

    @property
    def answer(self) -> Literal["same", "differs", "undecided"]:
        """One kernel with another limiter settles it; else one that is undecided or missing leaves it open."""
        answers = {one.answer for one in self.deciding}
        if "differs" in answers:
            return "differs"
        return "same" if answers == {"same"} else "undecided"


def same_limiter(small: Snapshot, large: Snapshot) -> SameLimiter:
    """Compare the limiters of two snapshots of one program, at a small and at a large size of its problem.

    Kernels are matched as :func:`~triage.compare.matching.match_sizes` does it. Raises UsageError where the two have
    no kernel in common.
    """
    from triage import __version__

    left, right = _sized(small, large), _sized(large, small)
    by_state = {id(one.state): one for one in (*left, *right)}
    totals = _total(left), _total(right)
    found = []
    for _, base, head in match_sizes([one.state for one in left], [one.state for one in right]):
        sides = by_state[id(base)] if base else None, by_state[id(head)] if head else None
        shares = [
            share for side, total in zip(sides, totals, strict=True) if (share := _share(side, total)) is not None
        ]
        found.append(Compared(*sides, max(shares, default=None), head is not None))
    if not any(one.small and one.large for one in found):
        raise UsageError(
            "the two reports have no kernel in common",
            "give reports of one program at two sizes; libraries may choose other kernels for another size",
        )
    return SameLimiter(small, large, _ordered(_weighed(found)), _notes(small, large, found), __version__)


def _sized(own: Snapshot, other: Snapshot) -> list[Sized]:
    """The kernels of a snapshot: launch shapes stay apart where both sizes have equally many of them, for then the
    first is the first; else they are folded into one. A baseline does not keep the order of launches."""
    ordered = "baseline" not in (own.kind, other.kind)
    counterparts = _by_name(other.states)
    made = []
    for key, states in _by_name(own.states).items():
        if len(states) == 1 or (ordered and len(states) == len(counterparts.get(key, ()))):
            made += [Sized(state, 1, _time(state)) for state in states]
        else:
            made.append(_folded(states))
    return made


def _by_name(states: Iterable[State]) -> dict[tuple[object, ...], list[State]]:
    found: dict[tuple[object, ...], list[State]] = {}
    for state in states:
        found.setdefault((canonical(state.kernel.name), state.kernel.nvtx), []).append(state)
    return found


def _folded(states: Sequence[State]) -> Sized:
    """Several launch shapes as one kernel: the limiter that takes most of the time speaks, or that of most launches
    where nothing was timed."""
    times = [_time(state) for state in states]
    known = [time for time in times if time is not None]
    weights = [time or 0.0 for time in times] if known else [float(state.launches) for state in states]
    of_limiter: dict[str | None, float] = {}
    counts: dict[str | None, int] = {}
    for state, weight in zip(states, weights, strict=True):
        of_limiter[state.limiter] = of_limiter.get(state.limiter, 0.0) + weight
        for limiter, count in state.limiters:
            counts[limiter] = counts.get(limiter, 0) + count
    named = max(of_limiter, key=lambda limiter: of_limiter[limiter])
    of_named = [(weight, state) for state, weight in zip(states, weights, strict=True) if state.limiter == named]
    speaks = max(of_named, key=lambda pair: pair[0])[1]
    whole = replace(
        speaks,
        launches=sum(state.launches for state in states),
        durations=tuple(duration for state in states for duration in state.durations),
        limiters=tuple(sorted(counts.items(), key=lambda item: -item[1])),
    )
    return Sized(whole, len(states), sum(known) if known else None)


def _time(state: State) -> float | None:
    """ns of all launches; a baseline keeps the durations of some of them only."""
    return state.total_ns / len(state.durations) * state.launches if state.durations else None


def _total(sizes: Sequence[Sized]) -> float:
    return sum(one.time_ns or 0.0 for one in sizes)


def _share(one: Sized | None, total: float) -> float | None:
    return None if one is None or one.time_ns is None or total <= 0 else 100 * one.time_ns / total


def _weighed(found: Sequence[Compared]) -> list[Compared]:
    """What takes little time does not decide, unless there is much of it."""
    little = [one for one in found if one.decides and one.share is not None and one.share < LITTLE]
    if sum(one.share or 0.0 for one in little) > LITTLE_TOGETHER:
        return list(found)
    passed_over = {id(one) for one in little}
    return [replace(one, decides=False) if id(one) in passed_over else one for one in found]


def _ordered(found: Sequence[Compared]) -> tuple[Compared, ...]:
    ranks = {"differs": 0, "undecided": 1, "missing": 2, "same": 3}
    return tuple(sorted(found, key=lambda one: (not one.decides, ranks[one.answer], -(one.share or 0.0))))


def _notes(small: Snapshot, large: Snapshot, found: Iterable[Compared]) -> tuple[str, ...]:
    told = [
        f"the two sizes were not measured alike: {condition}"
        for one in found
        if one.small and one.large
        for condition in comparable.conditions(one.small.state, one.large.state)
    ]
    return tuple(dict.fromkeys((*comparable.rules(small, large), *told)))
