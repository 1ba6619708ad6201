"""Carries what the survey knows into the report: warm-ups go, and each kernel gets its true share of the time."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from triage.diagnosis.hints import hints
from triage.model import Kernel, Profile, Report
from triage.ncu.selection import Expected, Selection
from triage.ncu.survey import Dim3, function_name


def match(kernels: Sequence[Kernel], selection: Selection) -> dict[int, Expected]:
    """Which expected launch each kernel of the report is, by its index.

    The report names functions without their template arguments and the survey mangles them, so one name is not enough:
    when the whole sequence agrees, position decides. Otherwise (the program did not repeat itself, or the run ended
    early) a kernel is matched by function, grid and block where only one shape has those; the rest stays out.
    """
    whole = list(selection.sequence[: len(kernels)])
    if len(whole) == len(kernels) and all(
        _key(kernel) == _key_of(one) for kernel, one in zip(kernels, whole, strict=True)
    ):
        return {kernel.index: one for kernel, one in zip(kernels, whole, strict=True)}
    waiting: dict[tuple[str, Dim3, Dim3], list[Expected]] = defaultdict(list)
    for one in selection.sequence:
        waiting[_key_of(one)].append(one)
    found: dict[int, Expected] = {}
    seen: Counter[tuple[str, Dim3, Dim3]] = Counter()
    for kernel in kernels:
        key = _key(kernel)
        candidates = waiting.get(key, []) if key else []
        if key and candidates and len({one.shape.key for one in candidates}) == 1:
            found[kernel.index] = candidates[min(seen[key], len(candidates) - 1)]
            seen[key] += 1
    return found


def _key(kernel: Kernel) -> tuple[str, Dim3, Dim3] | None:
    if kernel.launch.grid is None or kernel.launch.block is None:
        return None
    return kernel.function.rsplit("::", 1)[-1].split("<", 1)[0], kernel.launch.grid, kernel.launch.block


def _key_of(one: Expected) -> tuple[str, Dim3, Dim3]:
    return function_name(one.shape.name).rsplit("::", 1)[-1], one.shape.grid, one.shape.block


def without_warmups(profile: Profile, matched: Mapping[int, Expected]) -> Profile:
    """``profile`` without first launches that the filter caught along with others of the same shape, as long as one
    of those others is there."""
    later = {one.shape.key for one in matched.values() if not one.warm_up}
    kept = tuple(
        kernel
        for kernel in profile.kernels
        if not (kernel.index in matched and matched[kernel.index].warm_up and matched[kernel.index].shape.key in later)
    )
    return replace(profile, kernels=kept)


def with_shares(report: Report, matched: Mapping[int, Expected], total_ns: float) -> Report:
    """``report`` with shares (0 to 100) of the time of all launches of the program, not only of the profiled ones: the
    time of a shape is spread over the results that stand for it. Unchanged when a kernel could not be matched."""
    if not total_ns or any(finding.kernel.index not in matched for finding in report.findings):
        return report
    shapes = [matched[finding.kernel.index].shape for finding in report.findings]
    results = Counter(shape.key for shape in shapes)
    findings = tuple(
        replace(finding, share=100 * shape.ns / total_ns / results[shape.key])
        for finding, shape in zip(report.findings, shapes, strict=True)
    )
    return replace(report, findings=findings, hints=hints(findings), surveyed=True)
