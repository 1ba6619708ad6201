"""Understands what ``ncu`` writes into its log while it runs.

A line can be torn: a warning or the word of a shutdown lands in the middle of a progress line, whose rest follows
later. So lines are cut at the tags, and what has no tag belongs to the kernel that is open.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_TAG = re.compile(r"==(PROF|WARNING|ERROR)== ?")
_PROFILING = re.compile(r'Profiling "(?P<name>.*?)"(?: - \d+)?(?: \(\d+/\d+\))?: ?(?P<rest>.*)')
_PASSES = re.compile(r" - (\d{1,9}) pass(?:es)?\b")
_PERCENT = re.compile(r"\b(\d{1,3})%")
_ID = re.compile(r"(?P<context>[^:]*):(?P<stream>[^:]*):(?P<name>.*):(?P<number>\d{1,9})")
_CONNECTED = re.compile(r"Connected to process (\d+)(?: \((.*)\))?")
_REPORT = re.compile(r"Report: (.+)")
_FAILED = re.compile(r'Failed to profile "(.*)" in process')
_PROGRAM = re.compile(r"The application returned an error code \((-?\d{1,10})\)")
_AVAILABLE = re.compile(r"\s*\d+\. (\S.*)")
# A log can be of any size (it may hold what the program prints), the memory for it cannot. Of kernels the newest are
# kept and the others counted, of words the first; a longer line is taken in parts.
KEPT_KERNELS, KEPT_LINES = 10_000, 500
LONGEST_LINE, LONGEST_KEPT = 1 << 16, 4000


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
    """The log so far. Feed it text in any pieces; the fields are always consistent.

    ``kernels`` are the last ones, ``count`` tells how many gave a result in all; ``passed_over`` counts the bytes that
    nobody looked at because there were too many.
    """

    connected: list[str] = field(default_factory=list)
    kernels: list[Profiled] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    available: list[str] = field(default_factory=list)
    report: str | None = None
    program_status: int | None = None
    stopping: bool = False
    nothing_profiled: bool = False
    passed_over: int = 0
    _rest: str = ""
    _gone: int = 0
    _listing: bool = False

    def feed(self, text: str) -> None:
        """Take the next piece of the log."""
        *lines, self._rest = (self._rest + text).split("\n")
        for line in lines:
            self._line(line)
        while len(self._rest) > LONGEST_LINE:
            part, self._rest = self._rest[:LONGEST_LINE], self._rest[LONGEST_LINE:]
            self._line(part)

    def skip(self, size: int) -> None:
        """``size`` bytes of the log are passed over: what comes next has nothing to do with what came before."""
        self.finish()
        self.passed_over += size

    def finish(self) -> None:
        """The log is complete: take what stands behind its last line break."""
        line, self._rest = self._rest, ""
        if line:
            self._line(line)

    @property
    def results(self) -> list[Profiled]:
        """The kernels that gave a result, in the order of the report; of very many the last ones."""
        return [kernel for kernel in self.kernels if kernel.done]

    @property
    def count(self) -> int:
        """How many kernels gave a result."""
        return self._gone + len(self.results)

    @property
    def passes(self) -> int | None:
        """The passes of the last kernel that gave a result."""
        return next((kernel.passes for kernel in reversed(self.kernels) if kernel.done), None)

    def current(self) -> tuple[str, int] | None:
        """The kernel that ncu is working on and its percentage, looking into the unfinished line as well."""
        start = self._rest.rfind('Profiling "')
        if start >= 0 and (match := _PROFILING.match(self._rest, start)):
            percents = _PERCENT.findall(match["rest"])
            return _identity(match["name"])[0][:LONGEST_KEPT], int(percents[-1]) if percents else 0
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
            _keep(self.available, match[1].rstrip())
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
            self.kernels.append(Profiled(name[:LONGEST_KEPT], number))
            self._marks(match["rest"])
            if len(self.kernels) > 2 * KEPT_KERNELS:
                self._gone += sum(kernel.done for kernel in self.kernels[:KEPT_KERNELS])
                del self.kernels[:KEPT_KERNELS]
        elif match := _CONNECTED.match(text):
            _keep(self.connected, match[2] or match[1])
        elif match := _REPORT.match(text):
            self.report = match[1].strip()
        elif text.startswith("Trying to shutdown"):
            self.stopping = True

    def _warning(self, text: str) -> None:
        if text.startswith("No kernels were profiled"):
            self.nothing_profiled = True
        _keep(self.warnings, text)

    def _error(self, text: str) -> None:
        if match := _PROGRAM.match(text):
            self.program_status = int(match[1])
        elif _FAILED.match(text) and self.kernels and self.kernels[-1].percent < 100:
            # At 100 % it is finished, and ncu speaks of the next one, which it had not even announced.
            self.kernels[-1].failed = True
        _keep(self.errors, text)


def _keep(lines: list[str], text: str) -> None:
    text = text[:LONGEST_KEPT]
    if len(lines) < KEPT_LINES and text not in lines:
        lines.append(text)


def _identity(shown: str) -> tuple[str, int | None]:
    match = _ID.fullmatch(shown)
    return (match["name"], int(match["number"])) if match else (shown, None)
