"""The lines around a table: what ncu logged, and the error that a log without a table stands for."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from triage.errors import NcuFailed, NothingProfiled, ProgramFailed, TriageError, UnreadableReport

_TAG = re.compile(r"==(PROF|WARNING|ERROR)==\s?(.*)")
_PROGRAM_ERROR = re.compile(r"The application returned an error code \((-?\d{1,10})\)")
_KERNEL = re.compile(r"\s*\d+\.\s+(\S.*)")
_KEPT = 50
# ncu's own follow-up to any error; never the cause.
_FOLLOW_UPS = ("Trying to shutdown", "The application returned an error code", "No metrics to collect found")
_REMEDIES = (
    ("ERR_NVGPUCTRPERM", "allow counters: run as root, or load the driver with NVreg_RestrictProfilingToAdminUsers=0"),
    ("Failed to find metric", "ncu --query-metrics-mode suffix --metrics NAME lists the names this GPU has"),
    ("LibraryNotLoaded", "use a host whose driver fits this ncu; sandboxes without the profiling interface cannot"),
    ("driver is not compatible", "install a newer driver or an older ncu"),
    ("driver resource was unavailable", "another tool holds the counters; for DCGM: dcgmi profile --pause"),
    ("failed to connect to the CUDA driver", "a stub libcuda.so is on the path; mend LD_LIBRARY_PATH"),
    ("nsight-compute-lock", "set TMPDIR to a folder of your own"),
    ("InterprocessLockFailed", "set TMPDIR to a folder of your own"),
    ("Failed to save memory for replay", "try --replay-mode application, or NCCL_NVLS_ENABLE=0"),
    ("Failed to prepare kernel", "try --replay-mode application or a newer driver"),
    ("bad allocation", "try --replay-mode application or fewer metrics"),
    ("lock GPU clock", "use --clock-control none"),
)


@dataclass(slots=True)
class Log:
    """Collects the lines of a file that are no table rows."""

    errors: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    available: list[str] = field(default_factory=list)
    program_status: int | None = None
    tagged: int = 0
    nothing_profiled: bool = False
    _listing: bool = False

    def feed(self, line: str) -> None:
        """Takes one line that is no table row."""
        # Progress is rewritten in place, so a tag can stand behind a carriage return or other output.
        found = _TAG.search(line) if "==" in line else None
        if found is None:
            if self._listing and (kernel := _KERNEL.fullmatch(line.rstrip())):
                if len(self.available) < _KEPT:
                    self.available.append(kernel[1])
            elif line.startswith("Available Kernels"):
                self._listing = True
            elif "ERR_NVGPUCTRPERM" in line:
                self._keep(self.errors, line.strip())
            return
        self.tagged += 1
        tag, text = found[1], found[2].strip()
        if tag == "ERROR":
            program = _PROGRAM_ERROR.search(text)
            if program:
                self.program_status = int(program[1])
            self._keep(self.errors, text)
        elif tag == "WARNING":
            if "No kernels were profiled" in text:
                self.nothing_profiled = True
            self._keep(self.warnings, text)

    @staticmethod
    def _keep(lines: list[str], text: str) -> None:
        if text and text not in lines and len(lines) < _KEPT:
            lines.append(text)

    @property
    def own_errors(self) -> list[str]:
        """Errors of ncu itself, its follow-ups to them and to the program's end left out."""
        return [text for text in self.errors if not text.startswith(_FOLLOW_UPS)]

    def failure(self, path: str, otherwise: TriageError | None = None) -> TriageError:
        """The error that a file without a table stands for; ``otherwise`` where the log says nothing."""
        own = self.own_errors
        missing = next((text for text in own if "does not exist or is not an executable" in text), None)
        if missing:
            return ProgramFailed(f"{path}: ncu could not start the program: {missing.split('. ')[0]}", "check its path")
        if own:
            hint = next((remedy for sign, remedy in _REMEDIES if sign in " ".join(own)), "")
            return NcuFailed(f"{path}: ncu failed: {own[0]}", hint or "run triage doctor", details=tuple(own[1:]))
        if self.program_status is not None:
            return ProgramFailed(
                f"{path}: the profiled program ended with status {self.program_status} and no kernel was profiled",
                "run the program without ncu first",
            )
        if self.nothing_profiled:
            if self.available:
                shown = ", ".join(self.available[:10])
                return NothingProfiled(
                    f"{path}: no kernel was profiled: the filter matched none of those that ran",
                    f"kernels that ran: {shown}",
                    details=tuple(self.available[10:]),
                )
            return NothingProfiled(
                f"{path}: no kernel was profiled: the program launched none that ncu saw",
                "check that the program uses the GPU; --target-processes all follows child processes",
            )
        if otherwise is not None:
            return otherwise
        if self.tagged:
            return UnreadableReport(
                f"{path}: an ncu log without results", "ncu wrote them elsewhere: read the .ncu-rep or CSV"
            )
        return UnreadableReport(
            f"{path}: holds no table of kernels as ncu writes it",
            "make one with: ncu --import REPORT.ncu-rep --page raw --csv --print-units base > REPORT.csv",
        )

    def notes(self) -> list[str]:
        """Warnings for a file that does hold kernels; a failed program comes first, as ``program failed …``."""
        notes = []
        own = self.own_errors
        if self.program_status is not None and not own:
            notes.append(
                f"program failed with status {self.program_status}: the results are those profiled before its end"
            )
        elif own:
            notes.append(f"ncu reported an error, results may be missing: {own[0]}")
        for text in self.warnings:
            if "unmodified GPU clocks" in text or "without fixed GPU frequencies" in text:
                notes.append("collected with --clock-control none: GPU clocks were not locked")
            elif not self.nothing_profiled or "No kernels" not in text:
                notes.append(f"ncu warned: {text}")
        return list(dict.fromkeys(notes))
