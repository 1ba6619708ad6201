"""``.ncu-rep`` and ``.ncu-repz`` to a Profile, through NVIDIA's reader in child processes."""

from __future__ import annotations

import importlib.util
import shlex
import shutil
import tempfile
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from triage.errors import NothingProfiled, UnreadableReport
from triage.model import Kernel, Profile, Quantity, SourceLine
from triage.readers import framing, identity, process, ranges, zstd
from triage.readers.units import to_base

DEFAULT_MEMORY = 2 << 30
_KNOWN_LAYOUT = 7
_UNSEEN = (
    "which ncu wrote this compressed report, and whether it locked clocks and flushed caches, was not read: "
    "pip install backports.zstd"
)


@dataclass(frozen=True, slots=True)
class Survey:
    """What is known of a report before NVIDIA's library opens it.

    ``fault`` says where the file breaks (``""``: nowhere), ``whole`` counts the bytes of its whole blocks or frames,
    ``library`` is the folder of ``ncu_report``. ``unseen`` is a warning where the frame could not be looked at.
    """

    frame: framing.Framing
    fault: str
    whole: int
    library: str
    compressed: bool
    unseen: str = ""


def survey(path: Path, *, compressed: bool) -> Survey:
    """Walks the frame of a report. Raises :class:`UnreadableReport` where the file or the library cannot be had."""
    folder = library(path)
    try:
        if compressed:
            return _unpacked(path, folder)
        frame = framing.read(path)
    except (OSError, ValueError) as error:
        raise UnreadableReport(f"{path}: reading failed: {type(error).__name__}", "copy the file again") from None
    return Survey(frame, frame.fault, frame.ends[-1] if frame.blocks else 0, folder, compressed)


def _unpacked(path: Path, folder: str) -> Survey:
    """The survey of a compressed report, whose blocks can only be counted unpacked and only be cut by its frames."""
    fault, whole = zstd.fault(path)
    unpacker = zstd.library()
    frame = framing.read_compressed(path, unpacker) if unpacker is not None else framing.Framing()
    said = "" if unpacker is not None else _UNSEEN
    return Survey(frame, fault or frame.fault, whole if fault else 0, folder, True, said)


def read(
    path: Path,
    *,
    compressed: bool,
    metrics: Collection[str] | None,
    lines: bool,
    timeout_s: float,
    memory_bytes: int | None,
    progress: ranges.Progress | None = None,
) -> Profile:
    """Reads a report; see :func:`triage.readers.load`.

    Raises :class:`UnreadableReport` where nothing can be read and :class:`NothingProfiled` where an intact report
    holds no result.
    """
    found_out = survey(path, compressed=compressed)
    frame, fault, whole = found_out.frame, found_out.fault, found_out.whole
    request = {
        "library": found_out.library, "metrics": None if metrics is None else sorted(set(metrics)), "lines": lines,
    }  # fmt: skip
    deadline = time.monotonic() + timeout_s
    memory = memory_bytes or DEFAULT_MEMORY

    def collected_from(opened: AbstractContextManager[Path]) -> ranges.Found:
        with opened as known:
            return ranges.collect({**request, "path": str(known)}, frame, deadline, memory, progress)

    def attempt(cut: int | None) -> ranges.Found:
        return collected_from(readable(path, ".ncu-repz" if compressed else ".ncu-rep", cut))

    # The library refuses a report with a broken tail, or makes an empty result of it; up to its last whole block it
    # is a report like any other. (And it unpacks a compressed tail whole, however large that is.)
    if compressed and frame.fault and frame.results:
        found = collected_from(unpacked(path, frame.ends))
    else:
        found = attempt(whole if fault and whole and (compressed or frame.results) else None)
    if frame.results and len(found.records) < frame.results and frame.fault and not compressed:
        found = max(found, attempt(None), key=lambda tried: len(tried.records))
    warnings = [*damage(fault, frame, len(found.records)), *found.faults]
    expected = max(frame.results, found.count or 0)
    if not found.records:
        if not warnings and not expected and frame.ends:
            raise NothingProfiled(
                f"{path}: the report holds no result", "check the kernel filter, and that the file is complete"
            )
        why = "; ".join(warnings) or "NVIDIA's reader finds no result in it"
        raise UnreadableReport(f"{path}: cannot be read: {why}", f"copy the report again, or try: {_by_csv(path)}")
    kernels = tuple(kernel(record, frame.processes) for _, record in sorted(found.records.items()))
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
        warnings=(*warnings, *collected(frame.command), *([found_out.unseen] if found_out.unseen else [])),
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
        "library": library(path), "only": {index: list(names) for index, names in wanted.items()},
        "sass": list(machine_code),
    }  # fmt: skip
    ending = process.Ending()
    frame = survey(path, compressed=True).frame if compressed else framing.Framing()
    broken = bool(frame.fault and frame.results)
    with unpacked(path, frame.ends) if broken else readable(path, ".ncu-repz" if compressed else ".ncu-rep") as known:
        records = process.run(
            {**request, "path": str(known)},
            deadline=time.monotonic() + timeout_s, memory_bytes=memory_bytes or DEFAULT_MEMORY, ending=ending,
        )  # fmt: skip
        return {
            record["index"]: tuple(_line(line) for line in record["lines"]) for record in records if "index" in record
        }


def damage(fault: str, frame: framing.Framing, read: int) -> list[str]:
    """What the frame of the file says about its state."""
    said = []
    if fault and read > frame.results > 0:
        said.append(f"the file does not follow the layout known to triage ({fault})")
    elif fault:
        said.append(f"the file is damaged: {fault}; what stood behind is lost")
    if frame.header_version is not None and frame.header_version > _KNOWN_LAYOUT:
        said.append(f"the file has layout version {frame.header_version}, newer than {_KNOWN_LAYOUT} known to triage")
    return said


def library(path: Path) -> str:
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
def readable(path: Path, suffix: str = ".ncu-rep", cut: int | None = None) -> Iterator[Path]:
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


@contextmanager
def unpacked(path: Path, ends: Sequence[int]) -> Iterator[Path]:
    """A compressed report up to the last of its whole blocks, which end at ``ends``, as a report of its own."""
    unpacker = zstd.library()
    broken = (unpacker.ZstdError, EOFError)
    with tempfile.TemporaryDirectory(prefix="triage-") as folder:
        stand_in = Path(folder) / "report.ncu-rep"
        with unpacker.open(path) as source, stand_in.open("wb") as target:
            whole = 0
            try:
                for end in ends:
                    _copy(source, target, end - whole)
                    whole = end
            except broken:
                # Damage shows as far ahead as the library unpacks at once: sooner here than where the frame was walked.
                target.truncate(whole)
        yield stand_in


def _copy(source: Any, target: Any, size: int) -> None:
    while size > 0 and (data := source.read(min(size, 1 << 20))):
        target.write(data)
        size -= len(data)


def kernel(record: dict[str, Any], processes: Sequence[str | None]) -> Kernel:
    """One record of a child as a Kernel; ``processes`` gives the process of each result of the file."""
    raw, total = record.get("found") or ({}, 0)
    metrics: dict[str, Quantity | str] = {}
    for name, content in raw.items():
        if isinstance(content, str):
            metrics[name] = content
        else:
            factor, unit = to_base(content[1] or "")
            metrics[name] = Quantity(content[0] * factor, unit)
    index = record["index"]
    name = identity.bounded(record.get("name") or record.get("function") or "(unnamed)")
    warnings = [f"the result is damaged: {fault}" for fault in record["faults"]]
    if not total and not record["faults"]:
        warnings.append("the result carries no metric")
    return Kernel(
        index=index,
        name=name,
        function=identity.bounded(record.get("function") or identity.function_name(name)),
        launch=identity.launch(metrics),
        device=identity.device(metrics),
        metrics=metrics,
        lines=tuple(_line(line) for line in record.get("lines") or ()),
        nvtx=tuple(identity.bounded(each) for each in record.get("nvtx") or ()),
        workload=record.get("workload") or "kernel",
        process=processes[index] if index < len(processes) else None,
        warnings=tuple(warnings),
    )


def _line(line: list[Any]) -> SourceLine:
    file, number, text, values, sass = line
    return SourceLine(
        file=file, line=number, values=values, text=text, sass=tuple((pc, code, counts) for pc, code, counts in sass)
    )


def collected(command: str | None) -> list[str]:
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
