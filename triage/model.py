"""The frozen types that travel between the rooms. This module imports nothing of ours.

Readers make a :class:`Profile`; the rule engine turns each :class:`Kernel` into a :class:`Diagnosis`;
a :class:`Report` gathers them; renderers turn a Report into text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal


class Verdict(StrEnum):
    """Three-valued: a counter that was not collected is ``unknown``, never 0 and never false."""

    FIRES = "fires"
    CLEAR = "clear"
    UNKNOWN = "unknown"


Confidence = Literal["high", "medium", "low"]
Workload = Literal["kernel", "range", "graph", "cmdlist"]


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with its unit, in base units: ``ns``, ``byte``, ``byte/s``, ``hz``, ``%``, ``cycle``, ``""``..."""

    value: float
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Launch:
    """How a kernel was launched; ``None`` where the report does not say. ``grid`` counts blocks, ``block`` threads."""

    grid: tuple[int, int, int] | None = None
    block: tuple[int, int, int] | None = None
    stream: str | None = None
    context: str | None = None


@dataclass(frozen=True, slots=True)
class Device:
    """The GPU a kernel ran on. ``cc`` is the compute capability as ``"9.0"``; ``index`` the device number."""

    name: str | None = None
    cc: str | None = None
    sms: int | None = None
    index: str | None = None


@dataclass(frozen=True, slots=True)
class SourceLine:
    """Counters attributed to one source line (``line`` is 1-based; ``values`` maps a metric name to its sum there).

    ``text`` is the source where it was imported into the report; ``sass`` the instructions of the line, in
    address order, each ``(address, text, values)``.
    """

    file: str
    line: int
    values: Mapping[str, float]
    text: str | None = None
    sass: tuple[tuple[int, str, Mapping[str, float]], ...] = ()


@dataclass(frozen=True, slots=True)
class Kernel:
    """One result of a report.

    ``index`` is its 0-based place in the file; ``name`` the demangled name with its signature, ``function`` the
    bare name. ``metrics`` maps an ncu metric name to a :class:`Quantity` in base units, or to a string for
    metrics that are text; what was not collected is absent, never 0.
    """

    index: int
    name: str
    function: str
    launch: Launch = field(default_factory=Launch)
    device: Device = field(default_factory=Device)
    metrics: Mapping[str, Quantity | str] = field(default_factory=dict)
    lines: tuple[SourceLine, ...] = ()
    nvtx: tuple[str, ...] = ()
    workload: Workload = "kernel"
    process: str | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Profile:
    """Everything read from one file. ``kind`` names the layout (``ncu-rep``, ``csv-raw``, ``csv-details``,
    ``csv-metrics``); ``warnings`` say what is missing or doubtful about the file as a whole."""

    path: str
    kind: str
    kernels: tuple[Kernel, ...]
    ncu_version: str | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Fact:
    """A canonical quantity of one kernel.

    ``quantity`` is ``None`` when it cannot be had. ``low`` and ``high`` bound the true value even then (a
    roll-up bounds its constituents); they equal ``quantity.value`` when it is known. ``how`` says which metrics
    or formula it came from; ``missing`` names the metrics that would have given it.
    """

    id: str
    quantity: Quantity | None
    how: str = ""
    low: float = float("-inf")
    high: float = float("inf")
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition as it was judged: ``fact`` compared (``op`` is ``at_least``, ``above``, ``below``,
    ``at_most``) with ``threshold``; ``value`` is ``None`` when unknown. ``source`` says where the threshold comes
    from (a guide, a measurement, a team's override)."""

    fact: str
    op: str
    threshold: float
    value: float | None
    unit: str
    verdict: Verdict
    text: str
    source: str = ""


@dataclass(frozen=True, slots=True)
class Evidence:
    """One fact quoted as evidence. ``text`` is the value formatted with its unit, ``label`` what it is."""

    fact: str
    value: float | str | None
    unit: str
    text: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    """One limiter as it was judged on the path. ``state`` adds to the verdict what the path made of it:
    ``named``, ``contributor``, ``ruled-out``, ``unknown``, ``hidden`` (fires, but an earlier answer won)."""

    limiter: str
    title: str
    verdict: Verdict
    state: str
    conditions: tuple[Condition, ...] = ()
    missing: tuple[str, ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """One question of the path as it was walked. ``verdict`` says whether the path turned off here (``fires``), went on
    (``clear``) or could not tell (``unknown``); ``covered`` is False for a decision that no kernel report can
    answer (2A needs range sampling)."""

    id: str
    question: str
    verdict: Verdict
    answer: str
    facts: tuple[Condition, ...] = ()
    checks: tuple[Check, ...] = ()
    missing: tuple[str, ...] = ()
    covered: bool = True


@dataclass(frozen=True, slots=True)
class Contributor:
    """A limiter that also holds, behind the named one, with its own evidence; ``strength`` orders them (0 to 100)."""

    limiter: str
    title: str
    family: str
    text: str
    strength: float
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True)
class RuledOut:
    """A limiter that was checked and cleared, and by what."""

    limiter: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """One thing to try. ``effort`` is ``small`` (a launch parameter, a line), ``medium`` (one kernel), ``large``
    (algorithm or data layout), or ``""``."""

    text: str
    effort: str = ""


@dataclass(frozen=True, slots=True)
class LineFinding:
    """One source line that holds a share (0 to 100) of what the named limiter is about (``metric``)."""

    file: str
    line: int
    share: float
    metric: str
    text: str | None = None
    sass: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Bound:
    """The most that removing the limiter can bring. ``speedup`` is a factor (>= 1) or ``None`` where it
    cannot be bounded; ``text`` says why."""

    speedup: float | None
    text: str


@dataclass(frozen=True, slots=True)
class Bar:
    """A throughput as a bar: percent of peak, with its constituents (name, percent or ``None`` when not
    collected) and the thresholds drawn as ticks."""

    id: str
    label: str
    value: float | None
    parts: tuple[tuple[str, float | None], ...] = ()
    ticks: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What limits one kernel. ``limiter`` is ``None`` when the path could not be walked to an end: then
    ``missing`` names the counters that would settle it and ``collect`` is the command that collects them.

    ``facts`` holds every canonical fact that could be had (id to Fact), for pages and comparisons; ``near`` the
    limiters that lie so near that the next run may name one of them.
    """

    limiter: str | None
    title: str
    family: str | None
    confidence: Confidence
    confidence_why: tuple[str, ...]
    summary: str
    because: str = ""
    evidence: tuple[Evidence, ...] = ()
    steps: Sequence[Step] = ()
    contributors: tuple[Contributor, ...] = ()
    ruled_out: Sequence[RuledOut] = ()
    fixes: tuple[Fix, ...] = ()
    unless: tuple[str, ...] = ()
    see: tuple[tuple[str, str], ...] = ()
    lines: tuple[LineFinding, ...] = ()
    bound: Bound | None = None
    missing: tuple[str, ...] = ()
    collect: str = ""
    experiment: str = ""
    warnings: tuple[str, ...] = ()
    bars: tuple[Bar, ...] = ()
    stalls: tuple[tuple[str, float], ...] = ()
    occupancy: tuple[Evidence, ...] = ()
    facts: Mapping[str, Fact] = field(default_factory=dict)
    near: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """One kernel with its diagnosis. ``duration_ns`` and ``share`` (0 to 100 of the summed duration of all kernels of
    the report, or of the program's kernel time: see :attr:`Report.surveyed`) are ``None`` when not measured.
    ``source`` indexes ``Report.sources``."""

    kernel: Kernel
    diagnosis: Diagnosis
    source: int = 0
    duration_ns: float | None = None
    share: float | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """One file of a report: where it came from and what is known about how it was collected."""

    path: str
    kind: str
    ncu_version: str | None
    device: Device
    kernels: int
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RulebookId:
    """Which rules judged: ``digest`` (of every rule file in force) and the threshold profile."""

    digest: str
    profile: str
    folders: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Hint:
    """Something that only several kernels together show. ``kind`` is ``fuse``, ``tensor-cores``, ``short-launches`` or
    ``little-time``; ``kernels`` are places in ``Report.findings``."""

    kind: str
    text: str
    kernels: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Roof:
    """The DRAM rate, in bytes per second, that a program can reach on a GPU. ``measured`` tells a measurement
    (``triage kernels bench``) from a documented share of the datasheet peak; ``source`` says which and where from."""

    device: Device
    bytes_per_s: float
    measured: bool
    source: str


@dataclass(frozen=True, slots=True)
class Report:
    """The one serialisable result that every renderer takes. ``findings`` keep the order of the files. ``glossary``
    says in a sentence what a fact or a metric, by its name, is. ``surveyed`` tells that shares are of the time of all
    kernels of the program, measured without the profiler, and not of the summed duration of the findings. ``unread``
    says what is wrong with each file that was asked for by name and is not in the report; the warnings hold it too."""

    findings: tuple[Finding, ...]
    sources: tuple[Source, ...]
    rulebook: RulebookId
    version: str
    command: str = ""
    warnings: tuple[str, ...] = ()
    hints: tuple[Hint, ...] = ()
    roofs: tuple[Roof, ...] = ()
    glossary: Mapping[str, str] = field(default_factory=dict)
    surveyed: bool = False
    unread: tuple[str, ...] = ()
