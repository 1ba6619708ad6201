"""A large file in pieces that can be read apart, in any process: rows of a raw page, ranges of a ``.ncu-rep``.

What cannot be divided (details pages, text pages, compressed or damaged reports) is one piece: the whole file.
:func:`divide` looks at a file, the source it returns yields pieces, and each piece, wherever it is read, gives its
kernels and a :class:`~triage.readers.piece.Tally` of what was wrong with it. Kernels are numbered from 0 in each piece.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from triage.model import Kernel
from triage.readers import load, raw_table, sniff
from triage.readers.piece import Divided, Piece, Tally

# Text below this is read whole: it is done before a second process has started.
_SMALL = 4 << 20
# Results below which a report is one piece.
_FEW_RESULTS = 300
# Bytes of a compressed result, for an estimate.
_COMPRESSED_RESULT = 10_000


def divide(path: Path) -> Divided:
    """Looks at a file. Raises :class:`~triage.errors.UnreadableReport` for what is no report at all."""
    content = sniff.content(path)
    if content.kind == "rep":
        from triage.readers import ncu_rep

        survey = ncu_rep.survey(path, compressed=False)
        if survey.fault or survey.frame.results <= _FEW_RESULTS:
            return WholeFile(path, survey.frame.results, slow=True)
        return Results(path, survey)
    if content.kind == "repz":
        return WholeFile(path, max(1, content.size // _COMPRESSED_RESULT), slow=True)
    if content.size > _SMALL:
        table = raw_table.of(path, content)
        if table is not None:
            return table
    return WholeFile(path, raw_table.estimate(path))


@dataclass(frozen=True, slots=True)
class WholeFile:
    """A file that one process reads from end to end: source and piece in one."""

    path: Path
    kernels: int
    slow: bool = False

    def pieces(self, pick: Collection[int] | None = None) -> Iterator[Piece]:
        yield self

    def read(self, metrics: Collection[str] | None, *, keep: bool) -> tuple[Sequence[Kernel], Tally]:
        profile = load(self.path, metrics=metrics)
        tally = Tally(profile.kind, profile.ncu_version, profile.warnings, found=len(profile.kernels))
        # The place in the file counts results that were lost; the collection numbers what it gets.
        return profile.kernels, tally

    def close(self, tallies: Sequence[Tally]) -> Tally:
        return tallies[0] if tallies else Tally()


@dataclass(frozen=True, slots=True)
class ResultRange:
    """Results ``start`` to ``stop`` of a ``.ncu-rep``, or those of them in ``pick``."""

    path: Path
    library: str
    start: int
    stop: int | None
    processes: tuple[str | None, ...]
    pick: tuple[int, ...] | None = None
    timeout_s: float = 120

    def read(self, metrics: Collection[str] | None, *, keep: bool) -> tuple[Sequence[Kernel], Tally]:
        from triage.readers import ncu_rep, ranges

        found = ranges.Found()
        request = {
            "library": self.library,
            "metrics": None if metrics is None else sorted(set(metrics)),
            "lines": False,
            "pick": self.pick,
        }
        with ncu_rep.readable(self.path) as path:
            deadline = time.monotonic() + self.timeout_s
            span = (self.start, self.stop)
            ranges.one({**request, "path": str(path)}, span, deadline, ncu_rep.DEFAULT_MEMORY, found)
        processes = (None,) * self.start + self.processes
        kernels = [ncu_rep.kernel(record, processes) for _, record in sorted(found.records.items())]
        empty = sum(not kernel.metrics for kernel in kernels)
        warnings = [*found.faults, *([f"{empty} results carry no metric"] if empty else [])]
        kernels = [replace(kernel, index=kernel.index - self.start) for kernel in kernels]
        return kernels, Tally(warnings=tuple(warnings), expected=len(self.processes), found=len(kernels))


class Results:
    """A ``.ncu-rep`` whose frame is whole, by ranges of results."""

    slow: ClassVar[bool] = True

    def __init__(self, path: Path, survey: object) -> None:
        from triage.readers.ncu_rep import Survey

        assert isinstance(survey, Survey)
        self._path = path
        self._survey = survey
        self.kernels = survey.frame.results

    def pieces(self, pick: Collection[int] | None = None) -> Iterator[Piece]:
        from triage.readers import ranges

        frame, library = self._survey.frame, self._survey.library
        for start, stop in ranges.split(frame.payloads, ranges.CHUNK_BYTES):
            processes = frame.processes[start:stop]
            chosen = None if pick is None else tuple(sorted(n for n in pick if start <= n and (not stop or n < stop)))
            yield ResultRange(self._path, library, start, stop, processes, chosen)

    def close(self, tallies: Sequence[Tally]) -> Tally:
        from triage.readers import ncu_rep

        frame = self._survey.frame
        warnings = [*ncu_rep.damage("", frame, 0), *(text for tally in tallies for text in tally.warnings)]
        found = sum(tally.found for tally in tallies)
        if found < frame.results:
            warnings.append(f"{frame.results - found} of {frame.results} results are lost; {found} were read")
        warnings += ncu_rep.collected(frame.command)
        return Tally("ncu-rep", frame.ncu_version, tuple(dict.fromkeys(warnings)), found=found)
