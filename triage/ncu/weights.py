"""Carries what the survey knows into the report: warm-ups go, and each kernel gets its true share of the time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from triage.model import Kernel, Profile, Report
from triage.ncu.log import Profiled
from triage.ncu.selection import Selection, Shape


def match(profile: Profile, results: Sequence[Profiled], selection: Selection) -> dict[int, Shape]:
    """Which surveyed shape each kernel of the report is: kernel index to shape. ncu names its results in the log in the
    order of the report, mangled as in the survey. Empty when log and report do not agree."""
    if len(results) != len(profile.kernels):
        return {}
    found = {}
    for kernel, result in zip(profile.kernels, results, strict=True):
        shape = _shape(kernel, result, selection)
        if shape is not None:
            found[kernel.index] = shape
    return found


def _shape(kernel: Kernel, result: Profiled, selection: Selection) -> Shape | None:
    if kernel.launch.grid is None or kernel.launch.block is None:
        return None
    return selection.counts.get((result.name, kernel.launch.grid, kernel.launch.block))


def without_warmups(
    profile: Profile, results: Sequence[Profiled], selection: Selection, shapes: Mapping[int, Shape]
) -> Profile:
    """``profile`` without first launches that the filter caught along with others of the same shape."""
    if not selection.by_shape or len(results) != len(profile.kernels):
        return profile
    kept = tuple(
        kernel
        for kernel, result in zip(profile.kernels, results, strict=True)
        if not (result.number == 1 and kernel.index in shapes and shapes[kernel.index].count > 1)
    )
    return replace(profile, kernels=kept or profile.kernels)


def with_shares(report: Report, shapes: Mapping[int, Shape], total_ns: float) -> Report:
    """``report`` with shares (0 to 100) of the time of all launches of the program, not only of the profiled ones: the
    time of a shape is spread over the results that stand for it."""
    if not total_ns or any(finding.kernel.index not in shapes for finding in report.findings):
        return report
    results = Counter(shapes[finding.kernel.index].key for finding in report.findings)
    findings = []
    for finding in report.findings:
        shape = shapes[finding.kernel.index]
        findings.append(replace(finding, share=100 * shape.ns / total_ns / results[shape.key]))
    return replace(report, findings=tuple(findings))
