"""The frozen types of a check: what is asked (gates), and what came of each question."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, Protocol

from triage.choosing import matches
from triage.compare.model import Comparison, Pair, Snapshot, State
from triage.compare.noise import Noise
from triage.gates.values import Bandwidth
from triage.model import Kernel

State3 = Literal["held", "violated", "unknown"]
LimiterChange = Literal["never", "unless_faster", "always"]

# Every gate with the sentence that documents it; the ids are SARIF rule ids, JUnit test names and keys of `gates:`.
GATES: dict[str, str] = {
    "slower_than": "A kernel takes longer than the baseline by more than the limit, and by more than noise.",
    "limiter_changed": "The limiter of a kernel is another one than in the baseline.",
    "limiters": "The limiter of a kernel is not among the expected ones.",
    "max_duration": "A kernel takes longer than allowed.",
    "min_effective_bandwidth": "A kernel moves the bytes it needs more slowly than asked.",
    "spills": "A kernel spills registers to local memory, and did not in the baseline.",
    "new_kernels": "A kernel runs that the baseline does not have.",
    "removed_kernels": "A kernel of the baseline does not run any more.",
    "undecided": "What limits a kernel could not be decided.",
    "comparable": "Report and baseline cannot be held against each other.",
    "unmatched": "An entry for single kernels is about no kernel of the report.",
}


@dataclass(frozen=True, slots=True)
class Gates:
    """What is asked of every kernel. A gate that is ``None`` or off is not asked.

    ``slower_than`` is a fraction (0.05 is 5 %), ``max_duration`` in ns, ``ideal_bytes`` the bytes that a kernel has to
    move at least (where none is given, those that its global accesses need). ``limiters`` names the accepted answers
    (``undecided`` may be among them). ``skip`` asks nothing. ``unknown`` says what a gate counts as that cannot be
    judged: ``violated`` or ``held``. ``unmatched`` asks that every entry for single kernels is about one of the report.
    """

    slower_than: float | None = 0.05
    limiter_changed: LimiterChange = "unless_faster"
    limiters: tuple[str, ...] | None = None
    max_duration: float | None = None
    min_effective_bandwidth: Bandwidth | None = None
    ideal_bytes: float | None = None
    spills: bool = True
    new_kernels: bool = False
    removed_kernels: bool = False
    undecided: bool = False
    comparable: bool = True
    unmatched: bool = True
    unknown: Literal["violated", "held"] = "violated"
    skip: bool = False


class Selects(Protocol):
    """What tells which kernels an entry is about."""

    def takes(self, kernel: Kernel) -> bool: ...


@dataclass(frozen=True, slots=True)
class Scope:
    """Gates for some kernels, as changes over the general ones: those whose bare or full name matches the glob
    ``match``, or, where there is a ``select``, those that it takes (an entry of the team's ``kernels:``)."""

    match: str
    changes: tuple[tuple[str, object], ...]
    place: str = ""
    select: Selects | None = None

    def applies(self, kernel: Kernel) -> bool:
        """Whether the changes are about ``kernel``."""
        return matches(kernel, self.match) if self.select is None else self.select.takes(kernel)


@dataclass(frozen=True, slots=True)
class Config:
    """Everything a check needs to know: the general gates, those of single kernels in order (later ones win), noise,
    the baseline's path (``None``: none named), and where it all came from; ``places`` says of each general gate that
    was set where that stands (``file:line:column``)."""

    gates: Gates = field(default_factory=Gates)
    kernels: tuple[Scope, ...] = ()
    noise: Noise = field(default_factory=Noise)
    baseline: str | None = None
    source: str = "defaults"
    places: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """One gate asked of one kernel (``state`` is ``None`` for a gate about the whole report, whose ``kernel`` is a
    pattern). ``text`` is one line that names the kernel, what was found, what was allowed, and the place: ``file`` and
    ``line`` where the source line is known, else ``place``, where the gate was set, as far as it was."""

    gate: str
    kernel: str
    result: State3
    text: str
    file: str | None = None
    line: int | None = None
    place: str = ""
    pair: Pair | None = None
    state: State | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """A whole check. ``outcomes`` are in the order of the report's kernels and of the gates; ``comparison`` is
    ``None`` without a baseline."""

    outcomes: tuple[Outcome, ...]
    head: Snapshot
    comparison: Comparison | None
    config: Config
    version: str

    @property
    def violated(self) -> tuple[Outcome, ...]:
        """What did not hold, unknown answers included where they count."""
        return tuple(one for one in self.outcomes if one.result == "violated")
