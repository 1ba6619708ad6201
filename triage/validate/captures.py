"""Labelled captures as a validation: a raw CSV of calibration kernels beside a YAML of what limits each of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from triage.errors import UnreadableReport
from triage.paths import read as read_file
from triage.validate import advice
from triage.validate.judging import judge
from triage.validate.manifest import Calibration
from triage.validate.model import About, Round, Skipped, Validation

if TYPE_CHECKING:
    from triage.rules import Rulebook

_LARGEST = 16 << 20


def load(labels: Path, rulebook: Rulebook, known: Mapping[str, Calibration]) -> Validation:
    """Judge the capture ``labels`` speaks of: ``NAME.csv`` beside ``NAME.yaml``, and ``NAME.advice.json`` where there
    is one. Twins and fixes come from ``known`` (the manifest), times from the labels.

    Raises UnreadableReport for labels or a capture that cannot be read.
    """
    from triage.diagnosis import report
    from triage.readers import load as read

    content = _content(labels)
    made = report(read(labels.with_suffix(".csv")), rulebook)
    findings = {finding.kernel.index: finding for finding in made.findings}
    advised = labels.with_suffix(".advice.json")
    by_index = {one.index: one for one in advice.load(advised)} if advised.is_file() else {}
    judged = []
    for label in content["labels"]:
        index = int(label["index"])
        if index not in findings:
            raise UnreadableReport(f"{labels}: the capture has no kernel {index}", "labels and capture belong together")
        judged.append(
            judge(
                _entry(label, known),
                findings[index],
                time_us=label.get("time_us"),
                twin_us=(label.get("fixed_twin") or {}).get("time_us"),
                advice=advice.first(by_index[index]) if index in by_index else None,
                source=labels.stem,
            )
        )
    names = {one.entry.kernel for one in judged}
    files = {one.entry.file for one in judged if one.entry.kernel in known}
    skipped = tuple(
        Skipped(entry.kernel, entry.program, "not in the capture")
        for entry in known.values()
        if entry.file in files and entry.kernel not in names
    )
    about = About(
        gpu=str(content.get("gpu", "")),
        ncu=str(content.get("ncu", "")),
        driver=str(content.get("driver", "")),
        nvcc=str(content.get("nvcc", "")),
        date=str(content.get("date", "")),
        triage=_version(),
        rulebook=rulebook.identity.digest,
        command=f"judged from the capture {labels.with_suffix('.csv').name}",
    )
    answers = {one.entry.kernel: one.limiter for one in judged}
    return Validation((about,), tuple(judged), {}, (Round(1.0, answers, labels.stem),), skipped)


def _content(labels: Path) -> dict[str, Any]:
    import yaml

    try:
        content = yaml.safe_load(read_file(labels, _LARGEST).decode())
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as fault:
        reason = str(getattr(fault, "strerror", None) or fault or "nested too deeply").splitlines()[0]
        raise UnreadableReport(f"{labels} cannot be read: {reason}", "give the labels of a capture") from fault
    entries = content.get("labels") if isinstance(content, dict) else None
    if not isinstance(entries, list) or not all(map(_is_label, entries)):
        raise UnreadableReport(f"{labels} holds no labels", "each needs index, kernel and accept")
    return dict(content)


def _is_label(one: object) -> bool:
    if not isinstance(one, dict) or not {"index", "kernel", "accept"} <= set(one):
        return False
    twin = one.get("fixed_twin") or {}
    times = [one.get("time_us"), twin.get("time_us") if isinstance(twin, dict) else ""]
    return (
        isinstance(one["index"], int)
        and all(isinstance(one.get(key) or [], list) for key in ("accept", "forbid"))
        and all(time is None or isinstance(time, int | float) for time in times)
    )


def _entry(label: Mapping[str, Any], known: Mapping[str, Calibration]) -> Calibration:
    """The labels say what is right about the form of the kernel that was captured; the manifest says the rest."""
    name = str(label["kernel"])
    fallback = Calibration(name, "", (), twin=(label.get("fixed_twin") or {}).get("kernel"))
    return replace(
        known.get(name, fallback),
        accept=tuple(label["accept"]),
        forbid=tuple(label.get("forbid", ())),
        why=str(label.get("why", "")),
        trap=bool(label.get("trap", False)),
    )


def _version() -> str:
    from triage import __version__

    return __version__
