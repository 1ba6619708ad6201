"""What several kernels together show: neighbours to fuse, tensor cores left idle, launches too short to matter.

Pure: findings in, hints out. A hint names what is measured and what the report cannot know.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from triage import quantities
from triage.diagnosis.wording import listed
from triage.model import Finding, Hint

# Neighbours count as bound by memory when they wait for it and DRAM carries a substantial part of its peak.
_MEMORY_BOUND = frozenset({"dram-bandwidth", "memory-latency", "l2-bandwidth", "near-limit"})
_DRAM_PCT = 40.0
# Of the traffic of two neighbours, what keeping the intermediate on chip saves at least, to be worth a sentence.
_SAVES = 0.15
# Names of matrix products in the libraries and in what people write; a polynomial has the same counters.
_PRODUCT = re.compile(
    r"gemm|mat_?mul|matrix_?mul|(?<![a-z])mm(?![a-z])|conv[123]?d|einsum|attention|syrk|trmm", re.IGNORECASE
)
# Of the FP32 roof, or of the busy FP16 pipe: enough arithmetic that the pipe could matter at all.
_WORKS_PCT = 2.0
# The tensor pipe's counter reads up to 5 % on an H200 for kernels without a matrix instruction.
_IDLE_PCT = 8.0
# A launch and its drain take 2 to 4 us on current GPUs: below 5 us most of the time is not the kernel's work.
_SHORT_NS = 5_000.0
_MANY = 3
# Kernels at the end of the list that together hold less than this share of the time.
_LITTLE_PCT = 2.0
_NAMED = 4
_NAME = 60


def hints(findings: Sequence[Finding]) -> tuple[Hint, ...]:
    """What the kernels of a report show together, most worth first; places are positions in ``findings``."""
    return (*_fusions(findings), *_idle_tensor_cores(findings), *_short(findings), *_little(findings))


def _fusions(findings: Sequence[Finding]) -> Iterator[Hint]:
    """Runs of neighbouring, different memory-bound kernels whose traffic between them could stay on chip."""
    chains: dict[tuple[str, ...], list[tuple[int, ...]]] = {}
    for chain in _chains(findings):
        chains.setdefault(tuple(findings[place].kernel.name for place in chain), []).append(chain)
    made = [(sum(_saving(findings, chain) for chain in group), group) for group in chains.values()]
    for saving, group in sorted(made, key=lambda pair: -pair[0]):
        first = group[0]
        names = _listed([_name(findings[place]) for place in first])
        bytes_saved = sum(_between(findings[a], findings[b]) for a, b in pairwise(first))
        times = f" {len(group):,} times" if len(group) > 1 else ""
        text = (
            f"{names} run one after the other{times} and {'both' if len(first) == 2 else 'all'} wait for DRAM. If each "
            f"reads what the one before it wrote, one fused kernel keeps that on chip: up to "
            f"{quantities.size(bytes_saved)} less traffic{' each time' if times else ''}, about "
            f"{quantities.duration(saving)} {'in all' if times else 'less time'}. "
            "Whether they share data, the report does not show."
        )
        yield Hint("fuse", text, tuple(place for chain in group for place in chain))


def _chains(findings: Sequence[Finding]) -> Iterator[tuple[int, ...]]:
    chain: list[int] = []
    for place, finding in enumerate(findings):
        if chain and not _neighbours(findings[chain[-1]], finding):
            if len(chain) > 1:
                yield tuple(chain)
            chain = []
        if _waits_for_dram(finding):
            # A kernel that comes again starts the next round of a loop.
            if chain and any(finding.kernel.name == findings[other].kernel.name for other in chain):
                if len(chain) > 1:
                    yield tuple(chain)
                chain = []
            chain.append(place)
    if len(chain) > 1:
        yield tuple(chain)


def _neighbours(first: Finding, second: Finding) -> bool:
    """Whether ``second`` follows ``first`` in the same file, process, GPU and stream, and sharing data could pay."""
    a, b = first.kernel, second.kernel
    same = (
        first.source == second.source
        and a.process == b.process
        and a.device == b.device
        and (a.launch.context, a.launch.stream) == (b.launch.context, b.launch.stream)
    )
    if not (same and b.index == a.index + 1 and _waits_for_dram(second)):
        return False
    traffic = sum(_value(each, "dram_bytes") or 0.0 for each in (first, second))
    return traffic > 0 and _between(first, second) >= _SAVES * traffic


def _waits_for_dram(finding: Finding) -> bool:
    busy = _value(finding, "dram_pct")
    return (
        finding.diagnosis.limiter in _MEMORY_BOUND
        and finding.kernel.workload == "kernel"
        and busy is not None
        and busy >= _DRAM_PCT
    )


def _between(first: Finding, second: Finding) -> float:
    """The most that can pass from one to the other through DRAM: written once and read once, in bytes."""
    wrote, read = _value(first, "dram_write_bytes"), _value(second, "dram_read_bytes")
    return 0.0 if wrote is None or read is None else 2 * min(wrote, read)


def _saving(findings: Sequence[Finding], chain: tuple[int, ...]) -> float:
    """The time, in ns, that the saved traffic takes at the rate at which the chain moves its bytes."""
    members = [findings[place] for place in chain]
    traffic = sum(_value(each, "dram_bytes") or 0.0 for each in members)
    time = sum(each.duration_ns or 0.0 for each in members)
    saved = sum(_between(a, b) for a, b in pairwise(members))
    return time * min(1.0, saved / traffic) if traffic > 0 and math.isfinite(time) else 0.0


def _idle_tensor_cores(findings: Sequence[Finding]) -> Iterator[Hint]:
    """Matrix products, by their name, that compute on the ordinary pipes of a chip with tensor cores."""
    places = [place for place, finding in enumerate(findings) if _leaves_tensor_cores_idle(finding)]
    if not places:
        return
    names = list(dict.fromkeys(_name(findings[place]) for place in places))
    pairs = [
        (_value(findings[place], "tensor_peak_flops"), _value(findings[place], "fp32_peak_flops")) for place in places
    ]
    ratios = [tensor / plain for tensor, plain in pairs if tensor and plain]
    faster = f", whose FP16 peak is {min(ratios):.0f} times the FP32 one on this chip" if ratios else ""
    one = len(names) == 1
    text = (
        f"{_listed(names)} {'looks like a matrix product' if one else 'look like matrix products'} by name but "
        f"{'computes' if one else 'compute'} on the ordinary pipes. If FP16, BF16 or TF32 inputs are exact enough, use "
        f"the idle tensor cores{faster}: call a library, or use matrix instructions."
    )
    yield Hint("tensor-cores", text, tuple(places))


def _leaves_tensor_cores_idle(finding: Finding) -> bool:
    tensor = _value(finding, "pipe_tensor_pct")
    if tensor is None or tensor >= _IDLE_PCT or not _PRODUCT.search(finding.kernel.name):
        return False
    fp64 = _value(finding, "achieved_fp64_flops") or 0.0
    fp32 = _value(finding, "achieved_flops") or 0.0
    fp16 = _value(finding, "pipe_fp16_pct") or 0.0
    fma = _value(finding, "pipe_fma_pct") or 0.0
    return fp32 >= fp64 and (fp16 >= _WORKS_PCT or (fp32 > 0 and fma >= _WORKS_PCT))


def _short(findings: Sequence[Finding]) -> Iterator[Hint]:
    """Launches so short that launching them takes longer than their work."""
    places = [
        place
        for place, finding in enumerate(findings)
        if finding.duration_ns is not None and finding.duration_ns < _SHORT_NS and finding.kernel.workload == "kernel"
    ]
    if len(places) < _MANY:
        return
    time = sum(findings[place].duration_ns or 0.0 for place in places)
    text = (
        f"{len(places):,} of {len(findings):,} launches run less than {_SHORT_NS / 1e3:g} us, "
        f"{quantities.duration(time)} together. A launch costs 2 to 4 us by itself, so making these kernels faster "
        "shows little: give each launch more work, merge neighbours, or replay them as a CUDA graph."
    )
    yield Hint("short-launches", text, tuple(places))


def _little(findings: Sequence[Finding]) -> Iterator[Hint]:
    """Kernels that hold so little of the time together that nothing done to them shows."""
    shares: dict[tuple[object, ...], float] = {}
    places: dict[tuple[object, ...], list[int]] = {}
    for place, finding in enumerate(findings):
        if finding.share is None:
            return
        kernel = finding.kernel
        # One kernel and shape is one row of a report.
        key = (finding.source, kernel.device, kernel.name, kernel.launch.grid, kernel.launch.block)
        shares[key] = shares.get(key, 0.0) + finding.share
        places.setdefault(key, []).append(place)
    left = _LITTLE_PCT
    rows: list[tuple[object, ...]] = []
    for row in sorted(shares, key=lambda key: shares[key]):
        left -= shares[row]
        if left < 0:
            break
        rows.append(row)
    if len(rows) < _MANY:
        return
    together = sum(shares[row] for row in rows)
    text = (
        f"{len(rows):,} of {len(shares):,} kernels take {quantities.whole_percent(together)} of the time together: "
        "whatever limits them, mending it hardly shows."
    )
    yield Hint("little-time", text, tuple(place for row in rows for place in places[row]))


def _value(finding: Finding, fact: str) -> float | None:
    found = finding.diagnosis.facts.get(fact)
    if found is None or found.quantity is None or not math.isfinite(found.quantity.value):
        return None
    return found.quantity.value


def _name(finding: Finding) -> str:
    name = finding.kernel.function or finding.kernel.name or f"kernel {finding.kernel.index}"
    return name if len(name) <= _NAME else f"{name[:_NAME]}..."


def _listed(names: Sequence[str]) -> str:
    """``a, b and c``; beyond a few the rest is counted."""
    names = list(dict.fromkeys(names))
    if len(names) > _NAMED:
        names[_NAMED - 1 :] = [f"{len(names) - _NAMED + 1} more"]
    return listed(names)
