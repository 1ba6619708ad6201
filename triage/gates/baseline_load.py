"""Reads a baseline back as a snapshot, or says what it is and what is wrong with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from triage.compare.model import Collection, Snapshot, State
from triage.errors import UnreadableReport
from triage.gates.baseline_check import INCOMPLETE, counted, examine, number_of
from triage.gates.baseline_form import FORM, MAGIC, form_of
from triage.model import Confidence, Device, Kernel, Launch, LineFinding, Workload
from triage.rules.yamlfile import Document, Map, read

_CONFIDENCE: dict[str, Confidence] = {"high": "high", "medium": "medium", "low": "low"}
_WORKLOADS: dict[str, Workload] = {"range": "range", "graph": "graph", "cmdlist": "cmdlist"}
_AGAIN = "write it again: triage baseline REPORT -o FILE"


def load(path: Path) -> Snapshot:
    """A baseline as a snapshot. Raises :class:`UnreadableReport` with every fault of the file."""
    form = form_of(path)
    if form == "":
        raise UnreadableReport(
            f"{path} is no baseline: it does not begin with the line {MAGIC!r}", f"put the line back, or {_AGAIN}"
        )
    if form not in (None, FORM):
        raise UnreadableReport(
            f"{path} is a baseline of form {form}, and this triage reads form {FORM}",
            f"use the triage that wrote it (a newer one), or {_AGAIN}",
        )
    document = read(path, names=True)
    examine(document)
    if document.faults:
        lines = tuple(str(fault) for fault in sorted(set(document.faults)))
        raise UnreadableReport(f"{path} is no baseline that can be read", _remedy(document), details=lines)
    root = document.root
    device = Device(name=_text(root.get("gpu")), cc=_text(root.get("cc")), sms=root.get("sms"))
    collection = Collection(*(_text(root.get(key)) for key in ("ncu", "clocks", "caches", "replay")))
    states = tuple(_state(entry, number, device, collection) for number, entry in enumerate(root["kernels"]))
    rules = (_text(root.get("rules")) or "", _text(root.get("profile")) or "")
    return Snapshot(str(path), "baseline", states, device, collection, rules)


def _remedy(document: Document) -> str:
    """What to do; where lines were lost or two files merged, by hand too."""
    codes = {fault.code for fault in document.faults}
    if "conflict" in codes:
        return f"take one side of each conflict, then {_AGAIN}"
    if "cut" in codes or not codes <= INCOMPLETE:
        return _AGAIN
    if "twice" in codes:
        return f"{_AGAIN}; or by hand: leave one of each kernel, and mend the line 'count:'"
    if (found := counted(document.root)) is not None:
        line = f"count: {{kernels: {found['kernels']}, facts: {found['facts']}}}"
        return f"{_AGAIN}; merged by hand, and nothing is lost? write the line {line!r}"
    return _AGAIN


def _state(entry: Map, number: int, device: Device, collection: Collection) -> State:
    name = str(entry["name"])
    limiter = str(entry["limiter"])
    own = _text(entry.get("device"))
    return State(
        kernel=Kernel(
            index=number,
            name=name,
            function=_text(entry.get("function")) or name,
            launch=Launch(grid=_shape(entry, "grid"), block=_shape(entry, "block")),
            device=device if own in (None, device.name) else Device(name=own or None),
            nvtx=_texts(entry, "nvtx"),
            workload=_WORKLOADS.get(str(entry.get("workload")), "kernel"),
        ),
        collection=collection,
        durations=tuple(map(_number, entry.get("durations_ns", ()))),
        launches=entry.get("launches") or 1,
        limiter=_decided(limiter),
        beside=tuple((_decided(each), _number(share)) for each, share in entry.get("beside", Map()).items()),
        title=_text(entry.get("title")) or "",
        family=_text(entry.get("family")),
        # One that does not say how sure it was is not taken for unsure: that would excuse a change.
        confidence=_CONFIDENCE.get(str(entry.get("confidence")), "medium"),
        summary=_text(entry.get("summary")) or "",
        contributors=_texts(entry, "contributors"),
        evidence=_texts(entry, "evidence"),
        facts={fact: _number(value) for fact, value in entry.get("facts", Map()).items()},
        lines=tuple(
            LineFinding(str(line["file"]), line["line"], _number(line["share"]), "") for line in entry.get("lines", ())
        ),
    )


def _decided(limiter: str) -> str | None:
    return None if limiter == "undecided" else limiter


def _texts(entry: Map, key: str) -> tuple[str, ...]:
    return tuple(map(str, entry.get(key, ())))


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _number(value: Any) -> float:
    number = number_of(value)
    assert number is not None, "examined before"
    return number


def _shape(entry: Map, key: str) -> tuple[int, int, int] | None:
    if key not in entry:
        return None
    x, y, z = entry[key]
    return (x, y, z)
