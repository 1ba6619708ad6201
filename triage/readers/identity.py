"""Who a kernel is: its launch and device from metrics, its bare name from its demangled one."""

from __future__ import annotations

import re
from collections.abc import Mapping

from triage.model import Device, Launch, Quantity

Metrics = Mapping[str, Quantity | str]
# A dimension has ten digits at most; Python refuses to convert thousands.
_DIM3 = re.compile(r"\(?\s*(\d{1,10})\s*,\s*(\d{1,10})\s*,\s*(\d{1,10})\s*\)?")
_LARGEST = 2.0**63
_MOST_YZ = 65_535
_LONGEST_NAME = 20_000


def whole(metrics: Metrics, name: str) -> int | None:
    """A metric as a whole number, ``None`` where it is absent, text or more than 64 bits hold."""
    found = metrics.get(name)
    return int(found.value) if isinstance(found, Quantity) and abs(found.value) < _LARGEST else None


def text(metrics: Metrics, name: str) -> str | None:
    """A metric as text: strings as they are, whole numbers without a decimal part."""
    found = metrics.get(name)
    if isinstance(found, Quantity):
        plain = abs(found.value) < _LARGEST and found.value == int(found.value)
        return str(int(found.value)) if plain else str(found.value)
    return found or None


def launch(metrics: Metrics) -> Launch:
    """The launch as the ``launch__`` metrics tell it."""
    return Launch(
        grid=_dimensions(metrics, "launch__grid_dim_"),
        block=_dimensions(metrics, "launch__block_dim_"),
        stream=text(metrics, "launch__stream_id"),
        context=text(metrics, "launch__context_id"),
    )


def device(metrics: Metrics) -> Device:
    """The device as the ``device__attribute_`` metrics tell it; ``sms`` counts the SMs the launch could use."""
    major = whole(metrics, "device__attribute_compute_capability_major")
    minor = whole(metrics, "device__attribute_compute_capability_minor")
    sms = whole(metrics, "launch__sm_count") or whole(metrics, "device__attribute_multiprocessor_count")
    name = metrics.get("device__attribute_display_name")
    return Device(
        name=name if isinstance(name, str) else None,
        cc=f"{major}.{minor}" if major is not None and minor is not None else None,
        sms=sms,
        index=text(metrics, "launch__device_id"),
    )


def _dimensions(metrics: Metrics, prefix: str) -> tuple[int, int, int] | None:
    x, y, z = (whole(metrics, prefix + axis) for axis in "xyz")
    return (x, y, z) if x is not None and y is not None and z is not None else None


def dim3(cell: str) -> tuple[int, int, int] | None:
    """``(128, 128, 1)`` as numbers, ``None`` where the cell is no dimension that a launch can have: none is below 1,
    and the second and third end at 65,535 (CUDA C++ Programming Guide, technical specifications)."""
    found = _DIM3.fullmatch(cell.strip())
    if not found:
        return None
    x, y, z = (int(part) for part in found.groups())
    return (x, y, z) if 1 <= x < 2**31 and 1 <= y <= _MOST_YZ and 1 <= z <= _MOST_YZ else None


def no_size(cell: str) -> bool:
    """Whether a cell should hold a size and holds other text; all zeros is that of a range, which has none."""
    if not cell.strip() or dim3(cell) is not None:
        return False
    found = _DIM3.fullmatch(cell.strip())
    return found is None or any(int(part) for part in found.groups())


def bounded(name: str) -> str:
    """A name from a file in at most 20,000 characters: the longest template names seen have a fifth of that, and a
    longer one would stand in every sentence, command and page."""
    if len(name) <= _LONGEST_NAME:
        return name
    half = _LONGEST_NAME // 2
    return f"{name[:half]}...{name[-half:]}"


def function_name(name: str) -> str:
    """The bare name of a demangled one: no return type, namespaces, template arguments or parameters.

    >>> function_name("void ns::copy<32, (anonymous namespace)::Op>(float *, int)")
    'copy'
    """
    head = name.replace("(anonymous namespace)", "{anonymous}").strip()
    kept: list[str] = []
    depth = 0
    # operator<, operator<<, operator() carry the very characters that delimit arguments.
    operator = re.search(r"\boperator\s*(\(\)|<<|>>|<=>|<=|>=|->|<|>)", head)
    stop = operator.end() if operator else 0
    for at, char in enumerate(head):
        if at < stop:
            if operator and at >= operator.start():
                kept.append(char)
            continue
        if char == "<":
            depth += 1
        elif char == ">" and depth:
            depth -= 1
        elif char == "(" and depth == 0:
            break
        elif depth == 0:
            kept.append(char)
    bare = "".join(kept).strip()
    if operator:
        return bare or name
    bare = bare.rsplit("::", 1)[-1].strip()
    return bare.rsplit(" ", 1)[-1] or name
