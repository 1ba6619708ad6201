"""Understands what ``ncu`` writes into its log while it runs.

A line can be torn: a warning or the word of a shutdown lands in the middle of a progress line, whose rest follows
later. So lines are cut at the tags, and what has no tag belongs to the kernel that is open.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

# A name of a kernel may have some thousand characters; a line without an end is no line of a log.
_LONGEST = 100_000
_TAG = re.compile(r"==(PROF|WARNING|ERROR)== ?")
_PROFILING = re.compile(r'Profiling "(?P<name>.*?)"(?: - (?P<index>\d+))?(?: \(\d+/\d+\))?: ?(?P<rest>.*)')
_PASSES = re.compile(r" - (\d+) pass(?:es)?\b")
_PERCENT = re.compile(r"(\d+)%")
_ID = re.compile(r"(?P<context>[^:]*):(?P<stream>[^:]*):(?P<name>.*):(?P<number>\d+)")
_CONNECTED = re.compile(r"Connected to process (\d+)(?: \((.*)\))?")
_REPORT = re.compile(r"Report: (.+)")
_FAILED = re.compile(r'Failed to profile "(.*)" in process')
_PROGRAM = re.compile(r"The application returned an error code \((-?\d+)\)")
_AVAILABLE = re.compile(r"\s*\d+\. (\S.*)")


@dataclass(slots=True)
class Profiled:
    """One kernel that ncu worked on. ``number`` counts its launches when the run filtered by ``--kernel-id``;
    ``passes`` is ``None`` until ncu says so; ``percent`` is the last mark of its progress; ``failed`` when no result
    came of it."""

    name: str
    number: int | None = None
    passes: int | None = None
    percent: int = 0
    failed: bool = False

    @property
    def done(self) -> bool:
        """Whether it gave a result."""
        return self.passes is not None and not self.failed


@dataclass(slots=True)
class Log:
    """The log so far. Feed it text in any pieces; the fields are always consistent."""

    connected: list[str] = field(default_factory=list)
    kernels: list[Profiled] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    available: list[str] = field(default_factory=list)
    report: str | None = None
    program_status: int | None = None
    stopping: bool = False
    nothing_profiled: bool = False
    _rest: str = ""
    _listing: bool = False

    def feed(self, text: str) -> None:
        """Take the next piece of the log."""
        *lines, self._rest = (self._rest + text).split("\n")
        for line in lines:
            self._line(line[:_LONGEST])
        self._rest = self._rest[:_LONGEST]

    def finish(self) -> None:
        """The log is complete: take what stands behind its last line break."""
        line, self._rest = self._rest, ""
        if line:
            self._line(line)

    @property
    def results(self) -> list[Profiled]:
        """The kernels that gave a result, in the order of the report."""
        return [kernel for kernel in self.kernels if kernel.done]

    def current(self) -> tuple[str, int] | None:
        """The kernel that ncu is working on and its percentage, looking into the unfinished line as well."""
        matches = list(_PROFILING.finditer(self._rest))
        if matches:
            percents = _PERCENT.findall(self._rest[matches[-1].start("rest") :])
            return _identity(matches[-1]["name"])[0], int(percents[-1]) if percents else 0
        if self.kernels and self.kernels[-1].passes is None and not self.kernels[-1].failed:
            return self.kernels[-1].name, self.kernels[-1].percent
        return None

    def _line(self, line: str) -> None:
        pieces = _TAG.split(line)
        self._untagged(pieces[0])
        for tag, text in zip(pieces[1::2], pieces[2::2], strict=True):
            self._listing = False
            if tag == "PROF":
                self._progress(text)
            elif tag == "WARNING":
                self._warning(text.strip())
            else:
                self._error(text.strip())

    def _untagged(self, text: str) -> None:
        if self._listing and (match := _AVAILABLE.fullmatch(text)):
            self.available.append(match[1].rstrip())
        elif text.startswith("Available Kernels"):
            self._listing = True
        elif self.kernels:
            self._marks(text)

    def _marks(self, text: str) -> None:
        kernel = self.kernels[-1]
        if percents := _PERCENT.findall(text):
            kernel.percent = int(percents[-1])
        if match := _PASSES.search(text):
            kernel.passes = int(match[1])

    def _progress(self, text: str) -> None:
        if match := _PROFILING.match(text):
            name, number = _identity(match["name"])
            self.kernels.append(Profiled(name, number))
            self._marks(match["rest"])
        elif match := _CONNECTED.match(text):
            self.connected.append(match[2] or match[1])
        elif match := _REPORT.match(text):
            self.report = match[1].strip()
        elif text.startswith("Trying to shutdown"):
            self.stopping = True

    def _warning(self, text: str) -> None:
        if text.startswith("No kernels were profiled"):
            self.nothing_profiled = True
        self.warnings.append(text)

    def _error(self, text: str) -> None:
        if match := _PROGRAM.match(text):
            self.program_status = int(match[1])
        elif _FAILED.match(text) and self.kernels and self.kernels[-1].percent < 100:
            # At 100 % it is finished, and ncu speaks of the next one, which it had not even announced.
            self.kernels[-1].failed = True
        self.errors.append(text)


def _identity(shown: str) -> tuple[str, int | None]:
    match = _ID.fullmatch(shown)
    return (match["name"], int(match["number"])) if match else (shown, None)
