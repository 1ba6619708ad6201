"""``.ncu-rep`` and ``.ncu-repz`` to a Profile, through NVIDIA's reader in child processes."""

from __future__ import annotations

import importlib.util
import os
import shlex
import shutil
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from triage.errors import NothingProfiled, UnreadableReport
from triage.model import Kernel, Profile, Quantity, SourceLine
from triage.readers import framing, identity, process, zstd
from triage.readers.units import to_base

Progress = Callable[[int, int], None]
DEFAULT_MEMORY = 2 << 30
# What the library keeps for each result it touched, measured on 2025.3 reports: 0.35 MB and 13 times its payload.
_RESULT_BYTES, _PAYLOAD_FACTOR = 400_000, 13
_CHUNK_BYTES = 200 << 20
_MAX_RESTARTS = 8
# Two children of about 350 MB beside the parent stay within 1 GB.
_MAX_CHILDREN = 2
_KNOWN_LAYOUT = 7


@dataclass(slots=True)
class _Found:
    records: dict[int, dict[str, Any]] = field(default_factory=dict)
    count: int | None = None
    faults: list[str] = field(default_factory=list)
    stopped: bool = False


def read(
    path: Path,
    *,
    compressed: bool,
    metrics: Collection[str] | None,
    lines: bool,
    timeout_s: float,
    memory_bytes: int | None,
    progress: Progress | None = None,
) -> Profile:
    """Reads a report; see :func:`triage.readers.load`.

    Raises :class:`UnreadableReport` where nothing can be read and :class:`NothingProfiled` where an intact report
    holds no result.
    """
    library = _library(path)
    try:
        frame = framing.Framing() if compressed else framing.read(path)
        whole = frame.ends[-1] if frame.blocks else 0
        fault, whole = zstd.fault(path) if compressed else (frame.fault, whole)
    except (OSError, ValueError) as error:
        raise UnreadableReport(f"{path}: reading failed: {type(error).__name__}", "copy the file again") from None
    request = {"library": library, "metrics": None if metrics is None else sorted(set(metrics)), "lines": lines}
    deadline = time.monotonic() + timeout_s
    memory = memory_bytes or DEFAULT_MEMORY

    def attempt(cut: int | None) -> _Found:
        with _readable(path, ".ncu-repz" if compressed else ".ncu-rep", cut) as readable:
            return _collect({**request, "path": str(readable)}, frame, deadline, memory, progress)

    # The library refuses a report with a broken tail, or makes an empty result of it; up to its last whole block it
    # is a report like any other.
    found = attempt(whole if fault and whole and (compressed or frame.results) else None)
    if frame.results and len(found.records) < frame.results and frame.fault:
        found = max(found, attempt(None), key=lambda tried: len(tried.records))
    warnings = [*_damage(fault, frame, len(found.records)), *found.faults]
    expected = max(frame.results, found.count or 0)
    if not found.records:
        if not warnings and not expected and not compressed:
            raise NothingProfiled(
                f"{path}: the report holds no result", "check the kernel filter, and that the file is complete"
            )
        why = "; ".join(warnings) or "NVIDIA's reader finds no result in it"
        raise UnreadableReport(f"{path}: cannot be read: {why}", f"copy the report again, or try: {_by_csv(path)}")
    kernels = tuple(_kernel(record, frame) for _, record in sorted(found.records.items()))
    if len(kernels) < expected:
        warnings.append(f"{expected - len(kernels)} of {expected} results are lost; {len(kernels)} were read")
    empty = [str(kernel.index) for kernel in kernels if not kernel.metrics]
    if empty:
        warnings.append(f"{len(empty)} of {len(kernels)} results carry no metric: {', '.join(empty[:10])}")
    return Profile(
        path=str(path),
        kind="ncu-rep",
        kernels=kernels,
        ncu_version=frame.ncu_version,
        warnings=tuple(warnings + _collection(frame.command)),
    )


def read_lines(
    path: Path,
    wanted: Mapping[int, Collection[str]],
    machine_code: Collection[int],
    *,
    compressed: bool,
    timeout_s: float,
    memory_bytes: int | None,
) -> dict[int, tuple[SourceLine, ...]]:
    """Source lines of the results in ``wanted`` (index to line metrics); what cannot be read is left out.

    ``machine_code`` names the results whose instructions are wanted as text too: it costs 15 ms a result.
    """
    request: dict[str, Any] = {
        "library": _library(path), "only": {index: list(names) for index, names in wanted.items()},
        "sass": list(machine_code),
    }  # fmt: skip
    ending = process.Ending()
    with _readable(path, ".ncu-repz" if compressed else ".ncu-rep", None) as readable:
        records = process.run(
            {**request, "path": str(readable)},
            deadline=time.monotonic() + timeout_s, memory_bytes=memory_bytes or DEFAULT_MEMORY, ending=ending,
        )  # fmt: skip
        return {
            record["index"]: tuple(_line(line) for line in record["lines"]) for record in records if "index" in record
        }


def _damage(fault: str, frame: framing.Framing, read: int) -> list[str]:
    """What the frame of the file says about its state."""
    said = []
    if fault and read > frame.results > 0:
        said.append(f"the file does not follow the layout known to triage ({fault})")
    elif fault:
        said.append(f"the file is damaged: {fault}; what stood behind is lost")
    if frame.header_version is not None and frame.header_version > _KNOWN_LAYOUT:
        said.append(f"the file has layout version {frame.header_version}, newer than {_KNOWN_LAYOUT} known to triage")
    return said


def _library(path: Path) -> str:
    """The folder that holds ``ncu_report``."""
    spec = importlib.util.find_spec("ncu_report")
    if spec is None or spec.origin is None:
        raise UnreadableReport(
            f"{path}: reading .ncu-rep files needs NVIDIA's package ncu-report, which is not installed",
            f'pip install ncu-report (or pip install "ncu-triage[rep]"); without it: {_by_csv(path)}',
        )
    origin = Path(spec.origin).resolve()
    return str(origin.parent.parent if origin.name == "__init__.py" else origin.parent)


def _by_csv(path: Path) -> str:
    """The commands that read a report through the CSV that ncu makes of it."""
    table = f"{path.stem}.csv"
    return (
        f"ncu --import {shlex.quote(str(path))} --page raw --csv --print-units base > {shlex.quote(table)}"
        f" && triage report {shlex.quote(table)}"
    )


@contextmanager
def _readable(path: Path, suffix: str, cut: int | None) -> Iterator[Path]:
    """A path that the library reads as what it is: it goes by the extension. ``cut`` keeps only that many bytes."""
    if cut is None and path.suffix.lower() == suffix and str(path).isprintable():
        yield path.resolve()
        return
    with tempfile.TemporaryDirectory(prefix="triage-") as folder:
        stand_in = Path(folder) / f"report{suffix}"
        if cut is not None:
            with path.open("rb") as source, stand_in.open("wb") as target:
                _copy(source, target, cut)
        else:
            try:
                stand_in.symlink_to(path.resolve())
            except OSError:
                shutil.copyfile(path, stand_in)
        yield stand_in


def _copy(source: Any, target: Any, size: int) -> None:
    while size > 0 and (data := source.read(min(size, 1 << 20))):
        target.write(data)
        size -= len(data)


def _collect(
    request: dict[str, Any], frame: framing.Framing, deadline: float, memory: int, progress: Progress | None
) -> _Found:
    """Everything the children find; ranges of results go to children of their own, so that none grows too large."""
    found = _Found()
    ranges = _ranges(frame.payloads, min(_CHUNK_BYTES, memory // 2))
    total = frame.results

    def one(span: tuple[int, int | None]) -> None:
        _range(request, span, deadline, memory, found)
        if progress:
            progress(len(found.records), total)

    workers = min(len(ranges), _cores(), _MAX_CHILDREN)
    if workers <= 1:
        for span in ranges:
            one(span)
        return found
    with ThreadPoolExecutor(workers) as pool:
        try:
            list(pool.map(one, ranges))
        except BaseException:
            # Interrupted: the children still at work end at their next result, the others never start.
            found.stopped = True
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    found.faults = list(dict.fromkeys(found.faults))
    return found


def _ranges(payloads: tuple[int, ...], budget: int) -> list[tuple[int, int | None]]:
    """``(start, stop)`` of results for each child; the last stop is open, for results the frame did not promise."""
    starts, used = [0], 0
    for index, payload in enumerate(payloads):
        cost = _RESULT_BYTES + _PAYLOAD_FACTOR * payload
        if used and used + cost > budget:
            starts.append(index)
            used = 0
        used += cost
    return list(zip(starts, [*starts[1:], None], strict=True))


def _cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def _range(request: dict[str, Any], span: tuple[int, int | None], deadline: float, memory: int, found: _Found) -> None:
    """Reads one range; a result on which the child dies is skipped and the rest is read by another child."""
    start, stop = span
    for _ in range(_MAX_RESTARTS):
        ending = process.Ending()
        last = start - 1
        for record in process.run(
            {**request, "start": start, "stop": stop}, deadline=deadline, memory_bytes=memory, ending=ending
        ):
            if found.stopped:
                return
            if "count" in record:
                found.count = record["count"]
            elif "index" in record:
                last = record["index"]
                if "name" in record:
                    found.records[last] = record
        if not ending.reason or found.stopped:
            return
        if ending.reason == "time":
            found.faults.append("reading stopped at its time limit")
            return
        why = "needs more memory than allowed" if ending.reason == "memory" else f"ends the reader ({ending.detail})"
        if found.count is None:
            found.faults.append(f"opening the report {why}")
            return
        found.faults.append(f"result {last + 1} {why} and is skipped")
        start = last + 2
        if start >= (found.count if stop is None else min(stop, found.count)):
            return
    found.faults.append(f"reading stopped at result {start}: the reader failed too often")


def _kernel(record: dict[str, Any], frame: framing.Framing) -> Kernel:
    raw, total = record.get("found") or ({}, 0)
    metrics: dict[str, Quantity | str] = {}
    for name, content in raw.items():
        if isinstance(content, str):
            metrics[name] = content
        else:
            factor, unit = to_base(content[1] or "")
            metrics[name] = Quantity(content[0] * factor, unit)
    index = record["index"]
    name = record.get("name") or record.get("function") or "(unnamed)"
    warnings = [f"the result is damaged: {fault}" for fault in record["faults"]]
    if not total and not record["faults"]:
        warnings.append("the result carries no metric")
    return Kernel(
        index=index,
        name=name,
        function=record.get("function") or identity.function_name(name),
        launch=identity.launch(metrics),
        device=identity.device(metrics),
        metrics=metrics,
        lines=tuple(_line(line) for line in record.get("lines") or ()),
        nvtx=tuple(record.get("nvtx") or ()),
        workload=record.get("workload") or "kernel",
        process=frame.processes[index] if index < len(frame.processes) else None,
        warnings=tuple(warnings),
    )


def _line(line: list[Any]) -> SourceLine:
    file, number, text, values, sass = line
    return SourceLine(
        file=file, line=number, values=values, text=text, sass=tuple((pc, code, counts) for pc, code, counts in sass)
    )


def _collection(command: str | None) -> list[str]:
    """What the recorded ncu command line says about how far the numbers can be compared."""
    words = (command or "").replace("=", " ").split()
    options = dict(pairwise(words))
    said = []
    if options.get("--clock-control") == "none":
        said.append("collected with --clock-control none: GPU clocks were not locked")
    if options.get("--cache-control") == "none":
        said.append("collected with --cache-control none: caches were not flushed between passes")
    mode = options.get("--replay-mode", "kernel")
    if mode != "kernel":
        said.append(f"collected with --replay-mode {mode}")
    return said
