"""What a team's ``triage.yaml`` says, as plain frozen types."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from triage.model import Kernel
from triage.rules.chips import ChipRange, chip_number
from triage.rules.layers import Layer
from triage.rules.rulebook import Spot
from triage.rules.selecting import matches, names
from triage.rules.yamlfile import Document

Shape3 = tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Select:
    """Which kernels an entry is about; everything that is given must hold. ``match`` are patterns (``*``, ``?``) of
    the bare or the whole name, ``nvtx`` of a range the kernel ran in, ``grid`` and ``block`` up to three sizes
    (``None`` for any), ``chips`` compute capabilities."""

    match: tuple[str, ...] = ()
    nvtx: tuple[str, ...] = ()
    grid: Shape3 = ()
    block: Shape3 = ()
    chips: ChipRange | None = None

    def takes(self, kernel: Kernel) -> bool:
        """Whether the entry is about ``kernel``. What a report does not say (its NVTX ranges) does not match."""
        if self.match and not any(names(pattern, kernel) for pattern in self.match):
            return False
        if self.nvtx and not any(matches(pattern, range_) for pattern in self.nvtx for range_ in kernel.nvtx):
            return False
        for wanted, found in ((self.grid, kernel.launch.grid), (self.block, kernel.launch.block)):
            if wanted and (found is None or any(w not in (None, f) for w, f in zip(wanted, found, strict=False))):
                return False
        number = chip_number(kernel.device.cc)
        return self.chips is None or (number is not None and self.chips.holds(number))


@dataclass(frozen=True, slots=True)
class Expectation:
    """What a team expects of some kernels. ``limiters`` are the accepted answers (``undecided`` may be among them;
    empty: any); ``ideal_bytes`` is worked out with ``parameters``; ``max_duration`` in ns. ``min_bandwidth`` is in
    byte/s where a ceiling was given or measured, else ``min_bandwidth_share`` (0 to 1) is of the DRAM's datasheet
    peak."""

    select: Select
    limiters: tuple[str, ...] = ()
    ideal_bytes: float | None = None
    parameters: Mapping[str, float] = field(default_factory=dict)
    max_duration: float | None = None
    min_bandwidth: float | None = None
    min_bandwidth_share: float | None = None
    ceiling: float | None = None
    spot: Spot = ("", 0, 0)


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """How the team wants reports: the format, where it goes, and FROM=TO maps of source folders."""

    format: str = ""
    output: str = ""
    source_map: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Team:
    """One ``triage.yaml``. ``layers`` are its packs, in order, and its own rules last; ``profile`` the threshold
    profile it asks for; ``gates`` the raw section (``document`` knows its places), read by :mod:`triage.gates`;
    ``roofs`` a file of measured roofs. Without a file everything is empty and ``path`` is ``None``."""

    path: Path | None = None
    layers: tuple[Layer, ...] = ()
    profile: str = ""
    expectations: tuple[Expectation, ...] = ()
    gates: object = None
    roofs: Path | None = None
    report: ReportOptions = field(default_factory=ReportOptions)
    document: Document | None = None

    def expectations_for(self, kernel: Kernel) -> tuple[Expectation, ...]:
        """The entries that are about ``kernel``, in order; later ones win where they say the same thing."""
        return tuple(entry for entry in self.expectations if entry.select.takes(kernel))
