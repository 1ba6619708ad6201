"""The frozen types of a validation, and what is judged from them: right or wrong, pairs, verdicts that moved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from triage.validate.manifest import Calibration

Outcome = Literal["right", "miss", "undecided", "wrong"]
#: A bound is a promise: no measured speed-up may beat it by more than this share.
TOLERANCE = 0.10
#: From this factor on a repaired twin counts as clearly faster.
CLEARLY_FASTER = 1.3


@dataclass(frozen=True, slots=True)
class Advice:
    """What ncu's own rules advise first: the rule, the metrics it points at, its estimated speed-up in percent
    (``kind`` ``global`` is of the whole kernel, ``local`` of a part of it), and the limiters that our mapping
    reads from it."""

    rule: str
    speedup: float
    kind: str
    focus: tuple[str, ...] = ()
    limiters: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Judged:
    """One calibration kernel with its verdict.

    ``time_us`` and ``twin_us`` are median times without the profiler, in microseconds, ``None`` where not measured.
    ``bound`` is the stated bound as a factor, ``None`` where none was stated; ``fix`` the first fix that the verdict
    listed. ``walk`` is the path as walked, kept where the verdict is not right.
    """

    entry: Calibration
    limiter: str | None
    confidence: str = ""
    summary: str = ""
    fix: str = ""
    bound: float | None = None
    missing: tuple[str, ...] = ()
    time_us: float | None = None
    twin_us: float | None = None
    walk: str = ""
    advice: Advice | None = None
    source: str = ""

    @property
    def outcome(self) -> Outcome:
        """``right`` is an accepted limiter, ``wrong`` a forbidden one; ``undecided`` names none, ``miss`` another."""
        word = self.limiter or "undecided"
        if word in self.entry.forbid:
            return "wrong"
        if word in self.entry.accept:
            return "right"
        return "undecided" if self.limiter is None else "miss"

    @property
    def expected(self) -> str:
        """The limiter that this kernel stands for in the confusion matrix: the named one where it is right, else the
        first of those that are."""
        return self.limiter if self.outcome == "right" and self.limiter else self.entry.accept[0]


@dataclass(frozen=True, slots=True)
class Round:
    """The verdicts of one profile of all programs at one scale of the problem: kernel to limiter or ``None``. Rounds
    are compared where they have the same ``source`` (a capture, a GPU)."""

    scale: float
    answers: Mapping[str, str | None]
    source: str = ""


@dataclass(frozen=True, slots=True)
class Skipped:
    """A kernel that could not be judged, and why. ``lacking`` is True where the chip cannot do it, False where its
    program failed; ``scale`` is the size of the problem at which it failed, ``None`` where it was not judged at all."""

    kernel: str
    program: str
    reason: str
    lacking: bool = False
    scale: float | None = None


@dataclass(frozen=True, slots=True)
class About:
    """Where and with what it was measured. ``date`` is ISO 8601, empty where not recorded."""

    gpu: str = ""
    ncu: str = ""
    nvcc: str = ""
    driver: str = ""
    triage: str = ""
    rulebook: str = ""
    date: str = ""
    command: str = ""


@dataclass(frozen=True, slots=True)
class Validation:
    """A whole validation. ``checks`` says of a (kernel, twin) whether both gave the same result; ``stopped`` that the
    user ended it before everything was profiled."""

    about: tuple[About, ...]
    judged: tuple[Judged, ...]
    checks: Mapping[tuple[str, str], bool] = field(default_factory=dict)
    rounds: tuple[Round, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    stopped: bool = False


@dataclass(frozen=True, slots=True)
class Pair:
    """A kernel and its repaired twin. ``speedup`` is measured without the profiler; ``first`` says whether the fix that
    the report lists first is what the twin does, ``listed`` whether any of the limiter's fixes is."""

    kernel: Judged
    twin: str
    twin_limiter: str | None
    twin_judged: bool
    speedup: float | None
    same_result: bool | None
    first: bool
    listed: bool

    @property
    def beaten(self) -> bool:
        """Whether the measured speed-up beats the stated bound by more than :data:`TOLERANCE`."""
        bound = self.kernel.bound
        return bound is not None and self.speedup is not None and self.speedup > (1 + TOLERANCE) * bound

    @property
    def gone(self) -> bool | None:
        """Whether the twin is bound by something else; ``None`` where it was not judged."""
        return self.twin_limiter != self.kernel.limiter if self.twin_judged else None


@dataclass(frozen=True, slots=True)
class Moved:
    """A verdict that another round did not repeat. ``allowed`` where the manifest says that it truly changes."""

    kernel: str
    scale: float
    before: str | None
    after: str | None
    allowed: bool


def pairs(validation: Validation) -> tuple[Pair, ...]:
    """Every kernel that has a twin, with the twin's verdict and the measured speed-up."""
    by_name = {(one.source, one.entry.kernel): one for one in validation.judged}
    found = []
    for one in validation.judged:
        twin_name = one.entry.twin
        if twin_name is None:
            continue
        twin = by_name.get((one.source, twin_name))
        speedup = one.time_us / one.twin_us if one.time_us and one.twin_us else None
        wanted = one.entry.fix
        found.append(
            Pair(
                kernel=one,
                twin=twin_name,
                twin_limiter=twin.limiter if twin else None,
                twin_judged=twin is not None,
                speedup=speedup,
                same_result=validation.checks.get((one.entry.kernel, twin_name)),
                first=wanted is not None and one.fix.startswith(wanted),
                listed=wanted is not None,
            )
        )
    return tuple(found)


def compared_rounds(validation: Validation) -> tuple[Round, ...]:
    """The rounds that are compared with another one: all but the first of each source."""
    bases = {source: base for source, (base, *_) in _by_source(validation).items()}
    return tuple(one for one in validation.rounds if one is not bases[one.source])


def _by_source(validation: Validation) -> dict[str, list[Round]]:
    """The rounds of each source, with the one first that the others are compared with: at the normal size if any."""
    found: dict[str, list[Round]] = {}
    for one in validation.rounds:
        found.setdefault(one.source, []).append(one)
    return {source: sorted(rounds, key=lambda one: one.scale != 1) for source, rounds in found.items()}


def moved(validation: Validation) -> tuple[Moved, ...]:
    """Verdicts that another round did not repeat. Rounds of one source are compared with its first at the normal size,
    or its first; a kernel that one of the two lacks is not compared."""
    found = []
    for source, (base, *others) in _by_source(validation).items():
        at = {one.entry.kernel: one.entry.at for one in validation.judged if one.source == source}
        for other in others:
            for kernel, after in other.answers.items():
                if kernel not in base.answers or after == base.answers[kernel]:
                    continue
                before = base.answers[kernel]
                sizes = at.get(kernel, {})
                allowed = after in sizes.get(other.scale, ()) or before in sizes.get(base.scale, ())
                found.append(Moved(kernel, other.scale, before, after, allowed))
    return tuple(found)


def faults(validation: Validation) -> tuple[str, ...]:
    """Every promise that did not hold, one line each; empty when the validation holds."""
    lines = []
    for one in validation.judged:
        if one.outcome != "right":
            expected = " or ".join(one.entry.accept)
            lines.append(f"{one.entry.kernel}: {one.limiter or 'undecided'} ({one.outcome}), expected {expected}")
    for pair in pairs(validation):
        name = pair.kernel.entry.kernel
        if pair.beaten:
            bound = f"beyond the stated bound of {pair.kernel.bound:.2f}x"
            lines.append(f"{name}: {pair.twin} is {pair.speedup:.2f}x as fast, {bound}")
        if pair.same_result is False:
            lines.append(f"{name}: {pair.twin} does not give the same result")
    for change in moved(validation):
        if not change.allowed:
            where = "when profiled again" if change.scale == 1 else f"at {change.scale:g} of the size"
            lines.append(f"{change.kernel}: {change.before or 'undecided'}, but {change.after or 'undecided'} {where}")
    return tuple(lines)


def merged(validations: Sequence[Validation]) -> Validation:
    """Several validations as one; a kernel of the same source that stands in more than one counts once, as judged
    first, and the rounds of all are compared with each other. What one run had to leave out and another one has is
    no longer skipped, so that an interrupted run and the run of its rest make a whole one."""
    judged: dict[tuple[str, str], Judged] = {}
    checks: dict[tuple[str, str], bool] = {}
    rounds = _joined([one for validation in validations for one in validation.rounds])
    profiled = {(kernel, one.scale) for one in rounds for kernel in one.answers}
    names = {one.entry.kernel for validation in validations for one in validation.judged}
    for validation in validations:
        for one in validation.judged:
            judged.setdefault((one.source, one.entry.kernel), one)
        for pair, ok in validation.checks.items():
            checks[pair] = ok and checks.get(pair, True)
    return Validation(
        about=tuple(dict.fromkeys(about for validation in validations for about in validation.about)),
        judged=tuple(judged.values()),
        checks=checks,
        rounds=rounds,
        stopped=any(validation.stopped for validation in validations),
        skipped=tuple(
            dict.fromkeys(
                one
                for validation in validations
                for one in validation.skipped
                if (one.kernel not in names if one.scale is None else (one.kernel, one.scale) not in profiled)
            )
        ),
    )


def _joined(rounds: Sequence[Round]) -> tuple[Round, ...]:
    """The rounds, those of one source and size that have no kernel in common as one: parts of the same round."""
    found: list[Round] = []
    for one in rounds:
        for place, other in enumerate(found):
            same = (one.source, one.scale) == (other.source, other.scale)
            if same and not one.answers.keys() & other.answers.keys():
                found[place] = replace(other, answers={**other.answers, **one.answers})
                break
        else:
            found.append(one)
    return tuple(found)
