"""A finding without its details, small enough that a hundred thousand fit into memory.

Of reports with thousands of kernels a reader opens a few; the others keep their verdict, their sentence and the facts
that the whole report is judged by. :func:`pack` makes plain tuples that pass between processes quickly,
:func:`unpack` makes findings of them that share everything they have in common.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Mapping
from typing import Any

from triage.model import Bound, Device, Diagnosis, Fact, Finding, Kernel, Launch, Quantity
from triage.rules.rulebook import Rulebook

# What headline, ranking, hints, roofs and the comparison of ranks read.
KEPT = (
    "duration_ns", "sm_frequency", "compute_pct", "memory_pct", "dram_pct", "dram_bytes", "dram_read_bytes",
    "dram_write_bytes", "dram_peak_bytes_per_s", "arithmetic_intensity", "achieved_flops",
    "achieved_fp64_flops", "fp32_peak_flops", "tensor_peak_flops", "pipe_tensor_pct", "pipe_fp16_pct", "pipe_fma_pct",
)  # fmt: skip

Packed = tuple[Any, ...]


class KeptFacts(Mapping[str, Fact]):
    """Some facts as numbers side by side; NaN where one is not known."""

    __slots__ = ("_rules", "_values")

    def __init__(self, values: array[float], rules: Rulebook) -> None:
        self._values = values
        self._rules = rules

    def __getitem__(self, name: str) -> Fact:
        value = self._values[KEPT.index(name)] if name in KEPT else math.nan
        if math.isnan(value):
            raise KeyError(name)
        return Fact(name, Quantity(value, self._rules.facts[name].unit), "", value, value)

    def __iter__(self) -> Iterator[str]:
        return (name for name, value in zip(KEPT, self._values, strict=True) if not math.isnan(value))

    def __len__(self) -> int:
        return sum(1 for _ in self)


def pack(kernel: Kernel, diagnosis: Diagnosis) -> Packed:
    """What is kept of a kernel and its diagnosis."""
    values = array("d", [math.nan] * len(KEPT))
    for place, name in enumerate(KEPT):
        fact = diagnosis.facts.get(name)
        if fact is not None and fact.quantity is not None and fact.low == fact.high:
            values[place] = fact.quantity.value
    launch, device, bound = kernel.launch, kernel.device, diagnosis.bound
    return (
        kernel.index, kernel.name, kernel.function, (launch.grid, launch.block, launch.stream, launch.context),
        (device.name, device.cc, device.sms, device.index), kernel.nvtx, kernel.workload, kernel.process,
        kernel.warnings, diagnosis.limiter, diagnosis.title, diagnosis.family, diagnosis.confidence,
        diagnosis.confidence_why, diagnosis.summary, diagnosis.missing, diagnosis.collect, diagnosis.experiment,
        diagnosis.warnings, (bound.speedup, bound.text) if bound else None, values.tobytes(),
    )  # fmt: skip


class Unpacker:
    """Makes findings of packed tuples; equal parts of different kernels become one object."""

    def __init__(self, rules: Rulebook) -> None:
        self._rules = rules
        self._seen: dict[Any, Any] = {}

    def _one(self, value: Any) -> Any:
        return self._seen.setdefault(value, value)

    def finding(self, packed: Packed, source: int, offset: int) -> Finding:
        """The finding; ``offset`` is added to the kernel's index."""
        (index, name, function, launch, device, nvtx, workload, process, noted, limiter, title, family, confidence,
         why, summary, missing, collect, experiment, warnings, bound, numbers) = packed  # fmt: skip
        values = array("d", numbers)
        one = self._one
        rule = self._rules.limiters.get(limiter or "")
        kernel = Kernel(
            index=index + offset, name=one(name), function=one(function), launch=one(Launch(*launch)),
            device=one(Device(*device)), nvtx=one(nvtx), workload=workload, process=one(process), warnings=one(noted),
        )  # fmt: skip
        diagnosis = Diagnosis(
            limiter=one(limiter), title=one(title), family=one(family), confidence=confidence,
            confidence_why=one(why), summary=summary, because=rule.because if rule else "",
            fixes=rule.fixes if rule else (), unless=rule.unless if rule else (), see=rule.see if rule else (),
            bound=Bound(bound[0], one(bound[1])) if bound else None, missing=one(missing), collect=one(collect),
            experiment=one(experiment), warnings=one(warnings), facts=KeptFacts(values, self._rules),
        )  # fmt: skip
        duration = values[0]
        return Finding(kernel, diagnosis, source, None if math.isnan(duration) else duration)
