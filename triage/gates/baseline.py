"""The small text file that a team commits and ``triage check`` compares with.

YAML, one kernel a block, one value a line, in the order of kernel names and launch shapes and not of time: a diff of
two baselines shows what moved and nothing else. Numbers have six digits. Nothing in it depends on the clock, on paths
or on the order of launches.
"""

from __future__ import annotations

from triage.compare import quantities
from triage.compare.model import Snapshot, State
from triage.errors import NothingProfiled, UnreadableReport
from triage.gates import scalars
from triage.gates.baseline_form import LARGEST, MAGIC
from triage.magnitude import plausible
from triage.renderers.wording import file_name

_HEADER = f"""{MAGIC}
# Written by `triage baseline REPORT`; compared by `triage check REPORT --baseline FILE`. Commit it, review its diff.
"""
# More durations than this say nothing about the spread that these evenly chosen ones do not.
_DURATIONS = 15
_SUMMARY = 300
_UNDECIDED = "undecided"
# The reader of rule files takes no file over 1 MB.
_MAX_BYTES = 1_000_000


def dump(snapshot: Snapshot) -> str:
    """The baseline as text. Raises :class:`UnreadableReport` where it would be too large to read again, and
    :class:`NothingProfiled` without a kernel."""
    if not snapshot.states:
        raise NothingProfiled(f"{snapshot.path}: there is no kernel to write down", "look at what was profiled")
    collection, device = snapshot.collection, snapshot.device
    kernels = [_kernel(state, device.name) for state in sorted(snapshot.states, key=_order)]
    facts = sum(len(_kept(state)) for state in snapshot.states)
    lines: list[str | None] = [
        _HEADER,
        _pair("gpu", device.name),
        _pair("cc", device.cc),
        _pair("sms", device.sms if device.sms is not None and _size(device.sms) else None),
        _pair("ncu", collection.ncu),
        _pair("clocks", collection.clocks),
        _pair("caches", collection.caches),
        _pair("replay", collection.replay),
        _pair("rules", snapshot.rules[0]),
        _pair("profile", snapshot.rules[1]),
        # What a merge by hand or a cut would lose silently.
        f"count: {{kernels: {len(kernels)}, facts: {facts}}}",
        "kernels:",
    ]
    for kernel in kernels:
        lines += ["", *kernel]
    lines += ["", "end: true"]
    text = "\n".join(line for line in lines if line is not None) + "\n"
    if len(text) > _MAX_BYTES:
        raise UnreadableReport(
            f"a baseline of {len(snapshot.states):,} kernels has {len(text):,} bytes; at most {_MAX_BYTES:,} are read",
            "choose the kernels that matter with --kernel",
        )
    return text


def _order(state: State) -> tuple[object, ...]:
    kernel = state.kernel
    return (kernel.name, kernel.launch.grid or (), kernel.launch.block or (), kernel.nvtx, kernel.device.name or "")


def _kernel(state: State, common: str | None) -> list[str]:
    kernel = state.kernel
    device = kernel.device
    head = [
        ("name", scalars.text(kernel.name)),
        ("function", scalars.text(kernel.function)),
        ("workload", kernel.workload if kernel.workload != "kernel" else None),
        ("device", scalars.text(device.name or "") if device.name != common else None),
        ("grid", _shape(kernel.launch.grid)),
        ("block", _shape(kernel.launch.block)),
        ("nvtx", scalars.texts(kernel.nvtx) if kernel.nvtx else None),
        ("launches", str(state.launches)),
        ("durations_ns", scalars.numbers(_thinned(state.durations)) if state.durations else None),
        ("limiter", scalars.text(state.limiter or _UNDECIDED)),
        ("beside", _shares(state) if state.beside else None),
        ("family", scalars.text(state.family) if state.family else None),
        ("confidence", state.confidence),
        ("title", scalars.text(state.title) if state.title else None),
        ("summary", scalars.text(state.summary[:_SUMMARY]) if state.summary else None),
        ("contributors", scalars.texts(state.contributors) if state.contributors else None),
        ("evidence", scalars.texts(state.evidence) if state.evidence else None),
    ]
    lines = [f"{key}: {value}" for key, value in head if value is not None]
    found = [line for line in state.lines[:3] if plausible(line.share)]
    if found:
        lines.append("lines:")
        lines += [
            f"  - {{file: {scalars.text(file_name(one.file))}, line: {one.line}, share: {scalars.number(one.share)}}}"
            for one in found
        ]
    if kept := _kept(state):
        lines.append("facts:")
        lines += [f"  {fact}: {scalars.number(state.facts[fact])}" for fact in kept]
    return [f"{'- ' if place == 0 else '  '}{line}" for place, line in enumerate(lines)]


def _shares(state: State) -> str:
    """The other answers that count, each with its share of the time."""
    parts = (f"{scalars.text(limiter or _UNDECIDED)}: {scalars.number(share)}" for limiter, share in state.beside)
    return f"{{{', '.join(parts)}}}"


def _kept(state: State) -> list[str]:
    return [fact for fact in quantities.kept_in_baseline(state.evidence) if fact in state.facts]


def _shape(sizes: tuple[int, int, int] | None) -> str | None:
    return scalars.numbers(sizes) if sizes and all(map(_size, sizes)) else None


def _size(value: int) -> bool:
    return 0 <= value < LARGEST


def _thinned(durations: tuple[float, ...]) -> tuple[float, ...]:
    """At most 15 durations: all in launch order where they are so few, else evenly chosen ones that keep the shortest,
    the median and the longest."""
    if len(durations) <= _DURATIONS:
        return durations
    ordered = sorted(durations)
    last = len(ordered) - 1
    return tuple(ordered[round(step * last / (_DURATIONS - 1))] for step in range(_DURATIONS))


def _pair(key: str, value: str | int | None) -> str | None:
    """A line of the head; cc and versions are quoted, because 9.0 is a text and no number."""
    if value is None or value == "":
        return None
    return f"{key}: {value if isinstance(value, int) else scalars.text(value)}"
