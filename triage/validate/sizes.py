"""Is a smaller problem good enough to profile? Only if each kernel has the same limiter there: two reports compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from triage.errors import GateFailed, UsageError
from triage.model import Finding, Report
from triage.quantities import percent

Answer = Literal["same", "differs", "undecided"]
#: A kernel below this share (percent) of the time in both reports is compared, but does not decide.
LITTLE = 1.0


@dataclass(frozen=True, slots=True)
class Compared:
    """One kernel in both reports: its limiter at the small and at the large size, where it has several launches that of
    those which take most of its time. ``share`` is its part of the time (0 to 100) in the report where it is larger,
    ``None`` where neither was timed; ``decides`` is False where it takes too little time to matter."""

    name: str
    small: str | None
    large: str | None
    share: float | None
    decides: bool

    @property
    def answer(self) -> Answer:
        """``undecided`` where one of the two names no limiter: then nobody knows whether they agree."""
        if self.small is None or self.large is None:
            return "undecided"
        return "same" if self.small == self.large else "differs"


@dataclass(frozen=True, slots=True)
class SameLimiter:
    """The comparison of two sizes. ``only_small`` and ``only_large`` are kernels that one report lacks."""

    kernels: tuple[Compared, ...]
    only_small: tuple[str, ...] = ()
    only_large: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether every kernel that matters is bound by the same limiter at both sizes."""
        return all(one.answer == "same" for one in self.kernels if one.decides)

    @property
    def exit_code(self) -> int:
        """0 where the smaller problem may stand for the larger, else 10."""
        return 0 if self.holds else GateFailed.exit_code


def same_limiter(small: Report, large: Report, *, little: float = LITTLE) -> SameLimiter:
    """Compare the limiters of two reports on one program, at a small and at a large size of its problem.

    Kernels are matched by their full name; grids and blocks differ with the size. ``little`` is the share of the time,
    in percent, below which a kernel does not decide. Raises UsageError when the reports have no kernel in common.
    """
    left, right = _by_name(small), _by_name(large)
    common = [name for name in right if name in left]
    if not common:
        raise UsageError(
            "the two reports have no kernel in common",
            "give reports of one program at two sizes; libraries may choose other kernels for another size",
        )
    kernels = [_compared(name, left[name], right[name], little) for name in common]
    if not any(one.decides for one in kernels):
        # Nothing matters more than the rest: then all of it counts.
        kernels = [Compared(one.name, one.small, one.large, one.share, True) for one in kernels]
    return SameLimiter(
        tuple(sorted(kernels, key=lambda one: -(one.share or 0.0))),
        tuple(name for name in left if name not in right),
        tuple(name for name in right if name not in left),
    )


def text(result: SameLimiter) -> str:
    """The comparison for a terminal: one line a kernel, then the answer."""
    lines = [_line(one) for one in result.kernels]
    lines += [f"  only in the small report: {name}" for name in result.only_small]
    lines += [f"  only in the large report: {name}" for name in result.only_large]
    deciding = [one for one in result.kernels if one.decides]
    if result.holds:
        lines.append(
            f"Same limiter at both sizes ({_kernels(deciding)}): the smaller problem is good enough to profile."
        )
    else:
        differing = sum(one.answer == "differs" for one in deciding)
        open_ = sum(one.answer == "undecided" for one in deciding)
        told = [f"{differing} of {_kernels(deciding)} with another limiter"] if differing else []
        told += [f"{open_} undecided"] if open_ else []
        lines.append(f"Not the same at both sizes: {', '.join(told)}. Profile the larger problem.")
    return "\n".join(lines) + "\n"


def _kernels(ones: Sequence[Compared]) -> str:
    return f"{len(ones)} kernel{'' if len(ones) == 1 else 's'}"


def _line(one: Compared) -> str:
    share = f", {percent(one.share)} of the time" if one.share is not None else ""
    little = ", too little to decide" if not one.decides else ""
    small, large = one.small or "undecided", one.large or "undecided"
    told = small if one.answer == "same" else f"{small} at the small size, {large} at the large"
    return f"  {one.answer:<9}  {one.name}: {told}{share}{little}"


def _by_name(report: Report) -> dict[str, list[Finding]]:
    found: dict[str, list[Finding]] = {}
    for finding in report.findings:
        found.setdefault(finding.kernel.name, []).append(finding)
    return found


def _compared(name: str, small: Sequence[Finding], large: Sequence[Finding], little: float) -> Compared:
    shares = [share for share in (_share(small), _share(large)) if share is not None]
    share = max(shares, default=None)
    return Compared(name, _limiter(small), _limiter(large), share, share is None or share >= little)


def _share(findings: Sequence[Finding]) -> float | None:
    known = [finding.share for finding in findings if finding.share is not None]
    return sum(known) if known else None


def _limiter(findings: Sequence[Finding]) -> str | None:
    """The limiter of the launches that take most of the kernel's time; launches count alike where none was timed."""
    weights: dict[str | None, float] = {}
    timed = any(finding.duration_ns for finding in findings)
    for finding in findings:
        limiter = finding.diagnosis.limiter
        weights[limiter] = weights.get(limiter, 0.0) + ((finding.duration_ns or 0.0) if timed else 1.0)
    return max(weights, key=lambda name: weights[name])
