"""The stable JSON report, ``"schema": "triage/report/1"``; ``templates/report.schema.json`` describes every key.

Names stay exactly as the report has them (escaped to ASCII); NaN and infinity, which JSON does not know, are ``null``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from triage.amdahl import Headroom
from triage.model import Device, Diagnosis, Fact, Finding, Kernel, Report, Source
from triage.renderers.ranking import groups
from triage.resources import folder

SCHEMA = "triage/report/1"
_LINE = 120
# Kernels stand at depth 2, the conditions of a step at depth 7: one line each. Beyond so many kernels each of them is
# one line, because laying out takes ten times as long as writing.
_KERNEL_DEPTH, _DEEPEST = 2, 7
_OPEN_KERNELS = 500


def render(report: Report, *, width: int = 80, color: bool = False) -> str:
    """The report as ASCII JSON, what fits on a line on one line; ``width`` and ``color`` have no effect."""
    deepest = _DEEPEST if len(report.findings) <= _OPEN_KERNELS else _KERNEL_DEPTH
    text = _written({**_opening(report), "kernels": []}, 0, deepest)
    # One kernel at a time: as plain data all of them take five times the room of their text.
    margin = " " * _KERNEL_DEPTH
    kernels = ",\n".join(margin + _written(kernel, _KERNEL_DEPTH, deepest) for kernel in _kernels(report))
    whole = text.removesuffix("[]\n}") + "[\n" + kernels + "\n ]\n}" if kernels else text
    return whole + "\n"


def document(report: Report) -> dict[str, Any]:
    """The report as plain dictionaries, lists, strings and finite numbers, in the layout of the schema."""
    return {**_opening(report), "kernels": list(_kernels(report))}


def _opening(report: Report) -> dict[str, Any]:
    rulebook = report.rulebook
    return {
        "schema": SCHEMA,
        "triage": {
            "version": report.version,
            "rulebook": rulebook.digest,
            "profile": rulebook.profile,
            "rules": list(rulebook.folders),
            "command": report.command,
        },
        "sources": [_source(source) for source in report.sources],
        "warnings": list(report.warnings),
        "hints": _plain(report.hints),
        "roofs": [
            {
                "device": _device(roof.device),
                "bytes_per_s": _plain(roof.bytes_per_s),
                "measured": roof.measured,
                "source": roof.source,
            }
            for roof in report.roofs
        ],
        "share_of": "program" if report.surveyed else "profiled",
    }


def _kernels(report: Report) -> Iterator[dict[str, Any]]:
    for finding, found in zip(report.findings, _headrooms(report), strict=True):
        yield _kernel(finding, found)


def schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of :func:`document`, as shipped."""
    loaded: dict[str, Any] = json.loads((folder("templates") / "report.schema.json").read_text(encoding="utf-8"))
    return loaded


def _source(source: Source) -> dict[str, Any]:
    return {
        "path": source.path,
        "kind": source.kind,
        "ncu": source.ncu_version,
        "device": _device(source.device),
        "kernels": source.kernels,
        "warnings": list(source.warnings),
    }


def _device(device: Device) -> dict[str, Any]:
    return {"name": device.name, "cc": device.cc, "sms": device.sms, "index": device.index}


def _headrooms(report: Report) -> list[Headroom | None]:
    """For each finding what removing the limiter from all launches of its kernel means for all time."""
    found: list[Headroom | None] = [None] * len(report.findings)
    for group in groups(report):
        one = group.headroom
        for place in group.places:
            found[place] = one
    return found


def _kernel(finding: Finding, found: Headroom | None) -> dict[str, Any]:
    kernel: Kernel = finding.kernel
    return {
        "index": kernel.index,
        "source": finding.source,
        "name": kernel.name,
        "function": kernel.function,
        "workload": kernel.workload,
        "grid": _plain(kernel.launch.grid),
        "block": _plain(kernel.launch.block),
        "stream": kernel.launch.stream,
        "context": kernel.launch.context,
        "device": _device(kernel.device),
        "process": kernel.process,
        "nvtx": list(kernel.nvtx),
        "duration_ns": _plain(finding.duration_ns),
        "share": _plain(finding.share),
        "headroom": _plain(found),
        "diagnosis": _diagnosis(finding.diagnosis),
        "warnings": list(kernel.warnings),
    }


def _diagnosis(diagnosis: Diagnosis) -> dict[str, Any]:
    return {
        "limiter": diagnosis.limiter,
        "family": diagnosis.family,
        "title": diagnosis.title,
        "confidence": diagnosis.confidence,
        "confidence_why": list(diagnosis.confidence_why),
        "near": list(diagnosis.near),
        "summary": diagnosis.summary,
        "because": diagnosis.because,
        "evidence": _plain(diagnosis.evidence),
        "steps": _plain(diagnosis.steps),
        "contributors": _plain(diagnosis.contributors),
        "ruled_out": _plain(diagnosis.ruled_out),
        "fixes": _plain(diagnosis.fixes),
        "unless": list(diagnosis.unless),
        "see": [{"title": title, "url": url} for title, url in diagnosis.see],
        "lines": _plain(diagnosis.lines),
        "bound": _plain(diagnosis.bound),
        "missing": list(diagnosis.missing),
        "collect": diagnosis.collect,
        "experiment": diagnosis.experiment,
        "warnings": list(diagnosis.warnings),
        "bars": [
            {
                "id": bar.id,
                "label": bar.label,
                "value": _plain(bar.value),
                "parts": [{"name": name, "value": _plain(value)} for name, value in bar.parts],
                "ticks": _plain(bar.ticks),
            }
            for bar in diagnosis.bars
        ],
        "stalls": [{"reason": reason, "share": _plain(share)} for reason, share in diagnosis.stalls],
        "occupancy": _plain(diagnosis.occupancy),
        "facts": {name: _fact(fact) for name, fact in diagnosis.facts.items()},
    }


def _fact(fact: Fact) -> dict[str, Any]:
    value = None if fact.quantity is None else _plain(fact.quantity.value)
    if fact.quantity is not None and value is not None:
        return {"value": value, "unit": fact.quantity.unit, "how": fact.how}
    bounds = {"low": _plain(fact.low), "high": _plain(fact.high)}
    return {"value": None, "unit": None, "how": fact.how, **bounds, "missing": list(fact.missing)}


def _written(value: Any, indent: int, deepest: int) -> str:
    """JSON text of plain data, opened over several lines where it would not fit on one, down to a depth."""
    if indent >= _KERNEL_DEPTH or not isinstance(value, (dict, list)):
        flat = json.dumps(value, ensure_ascii=True, allow_nan=False)
        if indent >= deepest or len(flat) + indent <= _LINE or not isinstance(value, (dict, list)):
            return flat
    if not value:
        return json.dumps(value)
    margin = " " * (indent + 1)
    if isinstance(value, dict):
        items = [f"{margin}{json.dumps(key)}: {_written(item, indent + 1, deepest)}" for key, item in value.items()]
        opening, closing = "{", "}"
    else:
        items = [margin + _written(item, indent + 1, deepest) for item in value]
        opening, closing = "[", "]"
    return opening + "\n" + ",\n".join(items) + "\n" + " " * indent + closing


def _plain(value: Any) -> Any:
    """Dataclasses to objects, tuples to lists, and every number that JSON cannot say to ``null``."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Sequence):
        return [_plain(item) for item in value]
    # A numeric type of a library (NumPy): taken by value, so that a reader may hand one through.
    number = float(value)
    return number if math.isfinite(number) else None
