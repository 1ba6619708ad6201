"""What a baseline must be like before anything is taken from it: keys, types, and nothing lost.

A key that nobody reads is a value that nobody compares, so it is a fault and never passed over.
"""

from __future__ import annotations

import re
from typing import Any

from triage.compare.quantities import kept_in_baseline
from triage.gates.baseline_form import BASELINE, LARGEST, WHOLE
from triage.magnitude import plausible
from triage.rules import checks
from triage.rules.kinds import Flag, Kind, Many, Named, Number, Shape, Text
from triage.rules.yamlfile import Document, List, Map

# Codes of faults that tell of lost or added lines, which a merge by hand brings about.
INCOMPLETE = frozenset({"count", "cut", "twice", "conflict"})


def examine(document: Document) -> None:
    """Note every fault of a baseline in ``document``."""
    if document.faults:
        return
    root = document.root
    _conforms(document, (1, 1), root, BASELINE, "the file")
    if document.faults:
        return
    for kernel in root["kernels"]:
        _kernel(document, kernel)
    _twice(document, root["kernels"])
    _complete(document, root)


def counted(root: Any) -> dict[str, int] | None:
    """What ``count`` should say, ``None`` where the file is no baseline at all."""
    kernels = root.get("kernels") if isinstance(root, Map) else None
    if not isinstance(kernels, List) or not all(isinstance(kernel, Map) for kernel in kernels):
        return None
    facts = [kernel.get("facts") for kernel in kernels]
    return {"kernels": len(kernels), "facts": sum(len(each) for each in facts if isinstance(each, Map))}


def number_of(value: Any) -> float | None:
    """A number that a measurement can be, ``None`` for anything else."""
    if isinstance(value, bool):
        return None
    try:
        # YAML 1.1 wants a dot and a sign in an exponent, JSON writes 1e-05: such a number comes back as text.
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if plausible(number) else None


def _conforms(document: Document, place: tuple[int, int], value: Any, kind: Kind, what: str) -> None:
    wrong = ""
    match kind:
        case Shape():
            if isinstance(value, Map):
                checks.keys(document, value, kind)
                for key in kind.keys:
                    if key in value:
                        _conforms(document, value.places[key], value[key], kind.keys[key].kind, repr(key))
            else:
                wrong = "must be a map"
        case Named():
            if isinstance(value, Map):
                for key, item in value.items():
                    if kind.pattern and not re.fullmatch(kind.pattern, key):
                        document.fault(value, key, "key", f"{what} has a key {key[:200]!r}, which is no id")
                    _conforms(document, value.places[key], item, kind.of, repr(key))
            else:
                wrong = "must be a map"
        case Many():
            if isinstance(value, List) and len(value) >= kind.least:
                for at, item in zip(value.places, value, strict=True):
                    _conforms(document, at, item, kind.of, f"an entry of {what}")
            else:
                wrong = f"must be a list with at least {kind.least} entry" if kind.least else "must be a list"
        case Number():
            if kind is WHOLE:
                fine = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < LARGEST
                wrong = "" if fine else "must be a whole number"
            else:
                number = number_of(value)
                fine = number is not None and (kind.least is None or number >= kind.least)
                wrong = "" if fine else "must be a number" + ("" if kind.least is None else f", {kind.least:g} or more")
        case Text():
            wrong = _text(value, kind)
        case Flag():
            wrong = "" if value is True else "must be true"
    if wrong:
        document.at(place, "type", f"{what} {wrong}")


def _text(value: Any, kind: Text) -> str:
    # A number that somebody wrote without quotes (cc: 9.0) is meant as its digits.
    if value is None or isinstance(value, list | dict | bool):
        return "must be text"
    if kind.choices and str(value) not in kind.choices:
        return f"must be one of {', '.join(kind.choices)}{checks.suggestion(str(value), kind.choices)}"
    if kind.pattern and not re.fullmatch(kind.pattern, str(value)):
        return f"must be {kind.says}"
    return ""


def _kernel(document: Document, kernel: Map) -> None:
    """What the form alone does not tell: facts that no comparison would look at, and sizes."""
    known = kept_in_baseline(str(fact) for fact in kernel.get("evidence", ()))
    facts = kernel.get("facts", Map())
    for name in facts:
        if name not in known:
            said = f"no comparison looks at a fact {name!r}{checks.suggestion(name, known)}"
            document.fault(facts, name, "unknown-fact", said)
    for key in ("grid", "block"):
        if key in kernel and len(kernel[key]) != 3:
            document.fault(kernel, key, "type", f"{key!r} must have three sizes: x, y and z")


def _twice(document: Document, kernels: List) -> None:
    seen: set[tuple[str, ...]] = set()
    for kernel in kernels:
        key = tuple(str(kernel.get(part)) for part in ("device", "workload", "name", "grid", "block", "nvtx"))
        if key in seen:
            said = f"the kernel {str(kernel['name'])[:200]!r} stands twice with this launch shape and NVTX range"
            document.fault(kernel, "name", "twice", said)
        seen.add(key)


def _complete(document: Document, root: Map) -> None:
    """Whether all is there that the file says it has. Files of earlier releases say nothing."""
    count, found = root.get("count"), counted(root)
    if count is None and "end" not in root:
        return
    if count is None:
        document.fault(root, None, "count", "the line 'count:' is missing, which stands above 'kernels:'")
        return
    if "end" not in root:
        last = (document.text.count("\n") + 1, 1)
        document.at(last, "cut", "the file was cut: its last line, 'end: true', is missing")
    if found is not None and found != dict(count):
        said = f"it was written with {_said(count)}, and has {_said(found)}: lines were lost, or two files were merged"
        document.fault(root, "count", "count", said)


def _said(count: Any) -> str:
    kernels, facts = int(count["kernels"]), int(count["facts"])
    return f"{kernels:,} kernel{'s' if kernels != 1 else ''} of {facts:,} fact{'s' if facts != 1 else ''}"
