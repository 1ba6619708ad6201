"""The small text file that a team commits and ``triage check`` compares with.

YAML, one kernel a block, one value a line, in the order of kernel names and launch shapes and not of time: a diff of
two baselines shows what moved and nothing else. Numbers have six digits. Nothing in it depends on the clock, on paths
or on the order of launches.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from triage.compare import quantities
from triage.compare.model import Collection, Snapshot, State
from triage.errors import UnreadableReport
from triage.magnitude import plausible
from triage.model import Confidence, Device, Kernel, Launch, LineFinding, Workload
from triage.paths import read as read_file
from triage.renderers.wording import file_name
from triage.rules.yamlfile import Document, List, Map, read

MAGIC = "# triage baseline 1"
_HEADER = f"""{MAGIC}
# Written by `triage baseline REPORT`; compared by `triage check REPORT --baseline FILE`. Commit it, review its diff.
"""
# More durations than this say nothing about the spread that these evenly chosen ones do not.
_DURATIONS = 15
_SUMMARY = 300
# The reader of rule files takes no file over 1 MB.
_MAX_BYTES = 1_000_000
_CONFIDENCE: dict[str, Confidence] = {"high": "high", "medium": "medium", "low": "low"}
_WORKLOADS: dict[str, Workload] = {"range": "range", "graph": "graph", "cmdlist": "cmdlist"}
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*")
# Words that YAML would read as something else than text.
_WORDS = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})


def is_baseline(path: Path) -> bool:
    """Whether the file begins as a baseline does."""
    try:
        return read_file(path, len(MAGIC)) == MAGIC.encode()
    except OSError:
        return False


def dump(snapshot: Snapshot) -> str:
    """The baseline as text. Raises :class:`UnreadableReport` where it would be too large to read again."""
    collection, device = snapshot.collection, snapshot.device
    lines: list[str | None] = [
        _HEADER,
        _pair("gpu", device.name),
        _pair("cc", device.cc),
        _pair("sms", device.sms),
        _pair("ncu", collection.ncu),
        _pair("clocks", collection.clocks),
        _pair("caches", collection.caches),
        _pair("replay", collection.replay),
        _pair("rules", snapshot.rules[0]),
        _pair("profile", snapshot.rules[1]),
        "kernels:",
    ]
    for state in sorted(snapshot.states, key=_order):
        lines += ["", *_kernel(state, device.name)]
    text = "\n".join(line for line in lines if line is not None) + "\n"
    if len(text) > _MAX_BYTES:
        raise UnreadableReport(
            f"a baseline of {len(snapshot.states):,} kernels has {len(text):,} bytes; at most {_MAX_BYTES:,} are read",
            "choose the kernels that matter with --kernel",
        )
    return text


def load(path: Path) -> Snapshot:
    """A baseline as a snapshot. Raises :class:`UnreadableReport` with every fault of the file."""
    document = read(path)
    root = document.root
    if not isinstance(root, Map):
        root = Map()
        document.at((1, 1), "baseline", "is not a map")
    kernels = root.get("kernels")
    if not isinstance(kernels, List):
        document.fault(root, "kernels", "baseline", "kernels must be a list")
        kernels = List()
    device = Device(name=_text(root.get("gpu")), cc=_text(root.get("cc")), sms=_whole(root.get("sms")))
    collection = Collection(*(_text(root.get(key)) for key in ("ncu", "clocks", "caches", "replay")))
    states = tuple(
        _state(document, entry, place, number, device, collection)
        for number, (place, entry) in enumerate(zip(kernels.places, kernels, strict=True))
    )
    if document.faults:
        lines = tuple(str(fault) for fault in sorted(document.faults))
        raise UnreadableReport(
            f"{path} is no baseline that can be read", "write it again with triage baseline", details=lines
        )
    rules = (_text(root.get("rules")) or "", _text(root.get("profile")) or "")
    return Snapshot(str(path), "baseline", states, device, collection, rules)


def _order(state: State) -> tuple[object, ...]:
    kernel = state.kernel
    return (kernel.name, kernel.launch.grid or (), kernel.launch.block or (), kernel.nvtx, kernel.device.name or "")


def _kernel(state: State, common: str | None) -> list[str]:
    kernel = state.kernel
    device = kernel.device
    head = [
        ("name", _scalar(kernel.name)),
        ("function", _scalar(kernel.function)),
        ("workload", kernel.workload if kernel.workload != "kernel" else None),
        ("device", _scalar(device.name) if device.name not in (None, common) else None),
        ("grid", _numbers(kernel.launch.grid) if kernel.launch.grid else None),
        ("block", _numbers(kernel.launch.block) if kernel.launch.block else None),
        ("nvtx", f"[{', '.join(_scalar(part) for part in kernel.nvtx)}]" if kernel.nvtx else None),
        ("launches", str(state.launches)),
        ("durations_ns", _numbers(_thinned(state.durations)) if state.durations else None),
        ("limiter", _scalar(state.limiter or "undecided")),
        ("family", _scalar(state.family) if state.family else None),
        ("confidence", state.confidence),
        ("title", _scalar(state.title) if state.title else None),
        ("summary", _scalar(state.summary[:_SUMMARY]) if state.summary else None),
        ("contributors", f"[{', '.join(map(_scalar, state.contributors))}]" if state.contributors else None),
        ("evidence", f"[{', '.join(map(_scalar, state.evidence))}]" if state.evidence else None),
    ]
    lines = [f"{key}: {value}" for key, value in head if value is not None]
    if state.lines:
        lines.append("lines:")
        lines += [
            f"  - {{file: {_scalar(file_name(line.file))}, line: {line.line}, share: {_number(line.share)}}}"
            for line in state.lines[:3]
        ]
    kept = [fact for fact in quantities.kept_in_baseline(state.evidence) if fact in state.facts]
    if kept:
        lines.append("facts:")
        lines += [f"  {fact}: {_number(state.facts[fact])}" for fact in kept]
    return [f"{'- ' if place == 0 else '  '}{line}" for place, line in enumerate(lines)]


def _state(
    document: Document, entry: Any, place: tuple[int, int], number: int, device: Device, collection: Collection
) -> State:
    if not isinstance(entry, Map) or not isinstance(entry.get("name"), str):
        document.at(place, "baseline", "a kernel must be a map with a name")
        entry = Map()
    durations = [_float(value) for value in _items(entry, "durations_ns")]
    told = entry.get("facts")
    facts = {name: _float(value) for name, value in told.items()} if isinstance(told, Map) else {}
    if any(value is None for value in (*durations, *facts.values())):
        document.at(place, "baseline", "durations and facts must be numbers")
    name = str(entry.get("name", ""))
    limiter = _text(entry.get("limiter"))
    own = _text(entry.get("device"))
    return State(
        kernel=Kernel(
            index=number,
            name=name,
            function=_text(entry.get("function")) or name,
            launch=Launch(grid=_shape(entry.get("grid")), block=_shape(entry.get("block"))),
            device=device if own in (None, device.name) else Device(name=own),
            nvtx=tuple(str(part) for part in _items(entry, "nvtx")),
            workload=_WORKLOADS.get(str(entry.get("workload")), "kernel"),
        ),
        collection=collection,
        durations=tuple(value for value in durations if value is not None),
        launches=_whole(entry.get("launches")) or 1,
        limiter=None if limiter in (None, "undecided") else limiter,
        title=_text(entry.get("title")) or "",
        family=_text(entry.get("family")),
        confidence=_CONFIDENCE.get(str(entry.get("confidence")), "low"),
        summary=_text(entry.get("summary")) or "",
        contributors=tuple(str(part) for part in _items(entry, "contributors")),
        evidence=tuple(str(part) for part in _items(entry, "evidence")),
        facts={key: value for key, value in facts.items() if value is not None},
        lines=tuple(
            LineFinding(str(line.get("file", "")), _whole(line.get("line")) or 0, _float(line.get("share")) or 0.0, "")
            for line in _items(entry, "lines")
            if isinstance(line, Map)
        ),
    )


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
    return f"{key}: {value if isinstance(value, int) else _scalar(value)}"


def _scalar(text: str) -> str:
    """Text as YAML reads it back exactly: plain where that is safe, else double-quoted with escapes."""
    if _PLAIN.fullmatch(text) and text.lower() not in _WORDS:
        return text
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    code = ord(character)
    if 0x20 <= code < 0x7F:
        return character
    # A lone surrogate has no place in a UTF-8 file.
    if 0xD800 <= code <= 0xDFFF:
        return "\\uFFFD"
    return f"\\x{code:02X}" if code < 0x100 else f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"


def _number(value: float) -> str:
    """Six significant digits, whole numbers in full."""
    rounded = float(f"{value:.6g}")
    if rounded.is_integer() and abs(rounded) < 1e15:
        return str(int(value)) if float(value).is_integer() else str(int(rounded))
    return json.dumps(rounded)


def _numbers(values: tuple[float, ...] | tuple[int, ...]) -> str:
    return f"[{', '.join(_number(value) for value in values)}]"


def _items(entry: Map, key: str) -> list[Any]:
    found = entry.get(key)
    return found if isinstance(found, list) else []


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _float(value: Any) -> float | None:
    if isinstance(value, bool):
        return None
    try:
        # YAML 1.1 wants a dot and a sign in an exponent, JSON writes 1e-05: such a number comes back as text.
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if plausible(number) else None


def _shape(value: Any) -> tuple[int, int, int] | None:
    if isinstance(value, list) and len(value) == 3 and all(_whole(each) is not None for each in value):
        return (value[0], value[1], value[2])
    return None
