"""A comparison as stable JSON, ``"schema": "triage/diff/1"``; ``templates/diff.schema.json`` describes every key."""

from __future__ import annotations

import json
import math
from typing import Any

from triage.compare.model import Comparison, FactMove, Pair, Snapshot, State
from triage.renderers import diff_wording as words
from triage.resources import folder

SCHEMA = "triage/diff/1"


def render(comparison: Comparison, *, width: int = 80, color: bool = False) -> str:
    """The comparison as ASCII JSON; ``width`` and ``color`` have no effect."""
    return json.dumps(document(comparison), indent=1, ensure_ascii=True, allow_nan=False) + "\n"


def document(comparison: Comparison) -> dict[str, Any]:
    """The comparison as plain dictionaries, lists, strings and finite numbers, in the layout of the schema."""
    return {
        "schema": SCHEMA,
        "triage": {"version": comparison.version},
        "headline": words.headline(comparison),
        "comparable": not comparison.reasons,
        "reasons": list(comparison.reasons),
        "warnings": list(words.warnings(comparison)),
        "base": side(comparison.base),
        "head": side(comparison.head),
        "kernels": [_pair(pair) for pair in comparison.pairs],
    }


def schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of :func:`document`, as shipped."""
    loaded: dict[str, Any] = json.loads((folder("templates") / "diff.schema.json").read_text(encoding="utf-8"))
    return loaded


def side(snapshot: Snapshot) -> dict[str, Any]:
    """One side of a comparison and how it was collected."""
    device = snapshot.device
    return {
        "path": snapshot.path,
        "kind": snapshot.kind,
        "ncu": snapshot.collection.ncu,
        "clocks": snapshot.collection.clocks,
        "caches": snapshot.collection.caches,
        "replay": snapshot.collection.replay,
        "device": {"name": device.name, "cc": device.cc, "sms": device.sms},
        "rulebook": snapshot.rules[0],
        "profile": snapshot.rules[1],
        "kernels": len(snapshot.states),
        "launches": sum(state.launches for state in snapshot.states),
    }


def _pair(pair: Pair) -> dict[str, Any]:
    timing = pair.time
    return {
        "match": pair.match,
        "change": pair.change,
        "ratio": _number(timing.ratio) if timing else None,
        "noise": _number(timing.band) if timing else None,
        "why": timing.why if timing else "",
        "limiter_moved": pair.limiter_moved,
        "limiter_between": pair.limiter_between,
        "hypothesis": pair.hypothesis,
        "reasons": list(pair.reasons),
        "notes": list(pair.notes),
        "base": _state(pair.base),
        "head": _state(pair.head),
        "resources": [_move(move) for move in pair.resources],
        "moves": [_move(move) for move in pair.moves],
    }


def _state(state: State | None) -> dict[str, Any] | None:
    if state is None:
        return None
    kernel = state.kernel
    return {
        "name": kernel.name,
        "function": kernel.function,
        "index": kernel.index,
        "grid": list(kernel.launch.grid) if kernel.launch.grid else None,
        "block": list(kernel.launch.block) if kernel.launch.block else None,
        "nvtx": list(kernel.nvtx),
        "launches": state.launches,
        "duration_ns": _number(state.median_ns),
        "shortest_ns": _number(min(state.durations, default=None)),
        "longest_ns": _number(max(state.durations, default=None)),
        "limiter": state.limiter,
        "family": state.family,
        "confidence": state.confidence,
        "summary": state.summary,
        "contributors": list(state.contributors),
        "lines": [{"file": line.file, "line": line.line, "share": _number(line.share)} for line in state.lines],
    }


def _move(move: FactMove) -> dict[str, Any]:
    return {
        "fact": move.fact,
        "label": move.label,
        "unit": move.unit,
        "base": _number(move.base),
        "head": _number(move.head),
        "moved": move.moved,
    }


def _number(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else float(value)
