"""The words that every format shares: the headline, what a kernel is called, how its launch and its GPU read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath, PureWindowsPath
from shlex import quote

from triage import quantities
from triage.model import Device, Diagnosis, Finding, Kernel, LineFinding, Report, Source
from triage.renderers.escape import clean, shorten
from triage.renderers.ranking import Group, by_time, groups

UNDECIDED = "undecided"
# Demanglers write template arguments as casts: tile<(int)32, (bool)1>.
_CAST = re.compile(r"\((?:unsigned |signed )?(?:bool|char|short|int|long|long long|unsigned)\)(?=-?\d)")
_LINE_WORDS = (
    ("bank_conflicts", "the bank-conflict wavefronts"),
    ("pcsamp", "the stall samples"),
    ("inst_executed", "the instructions"),
    ("sectors_local", "the local-memory sectors"),
    ("sectors_global", "the sectors"),
    ("wavefronts_shared", "the shared-memory wavefronts"),
)
# The kernels that together take this much of the time are the ones worth a look first.
_MOST = 80.0
# All of them together, but for rounding.
_NEARLY_ALL = 99.5


def headline(report: Report) -> str:
    """One sentence for the whole report, in plain text: where the time goes, and what limits the longest kernel."""
    ranked = by_time(groups(report))
    if not ranked:
        return "This report holds no kernel."
    first = ranked[0]
    name = shorten(short_name(first.shown.kernel, ranked), 100)
    if len(ranked) == 1:
        return f"{name} {_limited(first.shown)}."
    start = _where_time_goes(ranked, report.surveyed)
    longest = "the longest" if first.duration_ns is not None else "the first"
    return f"{start}; {longest}, {name}, {_limited(first.shown)}."


def undecided(report: Report) -> str:
    """How many kernels could not be decided, as a sentence; empty when all were, or when there is only one kernel."""
    folded = groups(report)
    found = sum(group.shown.diagnosis.limiter is None for group in folded)
    if not found or len(folded) == 1:
        return ""
    return f"{found:,} of {count(len(folded), 'kernel')} could not be decided."


def label(kernel: Kernel, limit: int = 160) -> str:
    """The kernel's name for a heading: cleaned, without ``void`` and parameters, at most ``limit`` characters."""
    name = clean(kernel.name).strip() or clean(kernel.function).strip() or f"kernel {kernel.index}"
    return shorten(without_parameters(_CAST.sub("", name.removeprefix("void "))), limit)


def short_name(kernel: Kernel, among: Sequence[Group]) -> str:
    """The bare function name where no other group shares it, else the longer :func:`label`."""
    function = clean(kernel.function).strip()
    shared = sum(clean(group.shown.kernel.function).strip() == function for group in among)
    return function if function and shared == 1 else label(kernel)


def without_parameters(name: str) -> str:
    """``name`` without its trailing parameter list; unchanged where the brackets do not pair up."""
    if not name.endswith(")"):
        return name
    depth = 0
    for position in range(len(name) - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(name[position], 0)
        if depth == 0:
            return name[:position].rstrip() or name
    return name


def limiter_word(diagnosis: Diagnosis) -> str:
    """The limiter's id, or ``undecided``."""
    return clean(diagnosis.limiter) if diagnosis.limiter else UNDECIDED


def place(line: LineFinding) -> str:
    """``file.cu:31``, with the file's bare name whichever system the path comes from."""
    return f"{file_name(line.file)}:{line.line}"


def line_share(line: LineFinding) -> str:
    """What a line holds a share of, in words: ``the stall samples``."""
    name = line.metric
    if "beyond the ideal" in name:
        return "the bank-conflict wavefronts" if "shared" in name else "the excess sectors"
    for part, words in _LINE_WORDS:
        if part in name:
            return words
    return "it"


def file_name(path: str) -> str:
    """The last part of a POSIX or Windows path."""
    return clean(PureWindowsPath(PurePosixPath(path).name).name or path)


def launch(kernel: Kernel) -> str:
    """``128 x 128 blocks of 32 x 8 threads``; what the report does not say is left out."""
    grid, block = kernel.launch.grid, kernel.launch.block
    if grid is None and block is None:
        return ""
    if grid is None:
        return f"blocks of {_threads(block)}"
    blocks = f"{_shape(grid)} {'block' if grid == (1, 1, 1) else 'blocks'}"
    return blocks if block is None else f"{blocks} of {_threads(block)}"


def device(device: Device) -> str:
    """``NVIDIA H200 (CC 9.0, 132 SMs)``, or ``unknown GPU``."""
    name = clean(device.name) if device.name else "unknown GPU"
    parts = [f"CC {clean(device.cc)}"] if device.cc else []
    if device.sms:
        parts.append(f"{device.sms} SMs")
    return f"{name} ({', '.join(parts)})" if parts else name


def source(source: Source) -> str:
    """One line about a file: name, number of launches, GPU, ncu version."""
    profiled = f"{source.kernels:,} kernel {'launch' if source.kernels == 1 else 'launches'}"
    version = f"ncu {clean(source.ncu_version)}" if source.ncu_version else "ncu version not recorded"
    return f"{clean(source.path)}: {profiled}, {device(source.device)}, {version}"


def launches(group: Group) -> str:
    """The spread over repeated launches: ``12 launches, 1.10 ms to 1.40 ms each``; empty for a single launch."""
    if len(group.findings) == 1:
        return ""
    spread = ""
    if group.shortest is not None and group.longest is not None:
        low, high = quantities.duration(group.shortest), quantities.duration(group.longest)
        spread = f", {low} each" if low == high else f", {low} to {high} each"
    return f"{len(group.findings):,} launches{spread}"


def shell_path(report: Report, group: Group) -> str:
    """The file that a kernel came from, as a word for a shell."""
    place = group.shown.source
    return quote(clean(report.sources[place].path)) if 0 <= place < len(report.sources) else "FILE"


def explain_command(report: Report, group: Group) -> str:
    """The command that prints the walked path of a kernel, with the counters it lacks and how to collect them."""
    return f"triage explain {shell_path(report, group)} --kernel {group.shown.kernel.index}"


def count(number: int, noun: str, plural: str = "s") -> str:
    """``1 kernel``, ``1,000 kernels``; ``plural`` is the ending."""
    return f"{number:,} {noun}{'' if number == 1 else plural}"


def lowered(title: str) -> str:
    """A title inside a sentence: its first letter lower, unless it opens an abbreviation (``DRAM``, ``L2``)."""
    title = clean(title).strip().rstrip(".")
    return title[0].lower() + title[1:] if len(title) > 1 and title[1].islower() else title


def named_in_command(diagnosis: Diagnosis) -> bool:
    """Whether the command that collects the missing counters names every one of them."""
    return bool(diagnosis.missing) and all(name in diagnosis.collect for name in diagnosis.missing)


def warnings(finding: Finding) -> tuple[str, ...]:
    """Warnings of the diagnosis and of the reader, each once."""
    return tuple(dict.fromkeys((*finding.diagnosis.warnings, *finding.kernel.warnings)))


def common_warnings(report: Report) -> tuple[str, ...]:
    """Warnings that every one of several kernels carries: said once, at the top, instead of at each."""
    if len(report.findings) < 2:
        return ()
    carried = [set(warnings(finding)) for finding in report.findings]
    return tuple(text for text in warnings(report.findings[0]) if all(text in each for each in carried))


def _where_time_goes(ranked: Sequence[Group], surveyed: bool) -> str:
    total = len(ranked)
    if ranked[0].share is None:
        return f"{total:,} kernels, not timed"
    covered = 0.0
    needed = 0
    for group in ranked:
        if covered >= _MOST or group.share is None:
            break
        covered += group.share
        needed += 1
    if needed == total and covered > _NEARLY_ALL:
        return f"{total:,} kernels share the time"
    verb = "takes" if needed == 1 else "take"
    time = "time" if all(group.share is not None for group in ranked) else "measured time"
    time = "program's kernel time" if surveyed else time
    return f"{needed:,} of {total:,} kernels {verb} {quantities.whole_percent(min(covered, 100.0))} of the {time}"


def _limited(finding: Finding) -> str:
    diagnosis = finding.diagnosis
    if diagnosis.limiter is None:
        if diagnosis.missing:
            return f"is undecided: {count(len(diagnosis.missing), 'counter')} would settle what limits it"
        return "is undecided"
    where = f" at {place(diagnosis.lines[0])}" if diagnosis.lines else ""
    return f"is limited by {lowered(diagnosis.title or diagnosis.limiter)}{where}"


def _shape(extent: tuple[int, int, int]) -> str:
    last = max((axis for axis in range(3) if extent[axis] != 1), default=0)
    return " x ".join(f"{size:,}" for size in extent[: last + 1])


def _threads(block: tuple[int, int, int] | None) -> str:
    return "" if block is None else f"{_shape(block)} {'thread' if block == (1, 1, 1) else 'threads'}"
