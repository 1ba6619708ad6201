"""The details page as text, as people paste it from a terminal: sections of fixed-width tables below a kernel line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from triage.model import Device, Kernel, Launch
from triage.readers import cells, identity
from triage.readers.columns import workload
from triage.readers.csv_long import Gatherer
from triage.readers.log import Log

_PROCESS = re.compile(r"\s*\[(\d+)\] (.+)@\S+\s*$")
# 2021 and later: `name (128, 128, 1)x(32, 8, 1), Context 1, …`; before: `name, 2020-Nov-02 19:18:14, Context 1, …`.
_KERNEL = re.compile(
    r"\s*(?P<name>\S.*?)"
    r"(?: (?P<grid>\(\d+, \d+, \d+\))x(?P<block>\(\d+, \d+, \d+\))|, \d{4}-\w{3}-\d{2} [\d:]{8})"
    r", Context (?P<context>\d+), Stream (?P<stream>\d+)"
    r"(?:, Device (?P<device>\d+))?(?:, CC (?P<cc>[\d.]+))?\s*$"
)
_SECTION = re.compile(r"\s*Section: (.+?)\s*$")
_RULE = re.compile(r"\s*-{8,}\s+-{4,}\s+-{8,}\s*$")
_ROW = re.compile(
    r"\s*(?P<label>\S.*?)\s{2,}(?:(?P<unit>\S+(?: \S+)?)\s+)?(?P<value>\(!\) \S+|\S+(?: \d{3}(?:[ ,.]\S+)?)*)\s*$"
)


@dataclass(frozen=True, slots=True)
class _Row:
    kernel: int
    section: str
    label: str
    unit: str
    text: str


def is_kernel_line(line: str) -> bool:
    """Whether a line starts a kernel on a text page."""
    return ", Context " in line and _KERNEL.match(line) is not None


class Page:
    """Collects the kernels of a text page; :meth:`read` takes its lines, :meth:`gather` gives the result."""

    def __init__(self) -> None:
        self._kernels: list[Kernel] = []
        # Of each kernel the page it stands on and its place there; a process begins a page.
        self._places: list[tuple[int, str]] = []
        self._rows: list[_Row] = []
        self.cut = False

    def read(self, lines: Iterable[str], log: Log) -> None:
        """Takes every line of the page; lines that belong to no table go to ``log``."""
        process: str | None = None
        processes: set[str] = set()
        page = on_page = 0
        section = ""
        edges: list[tuple[int, int]] = []
        filled = False
        raw = "\n"
        for raw in lines:
            line = raw.rstrip("\r\n")
            if edges and self._kernels and not line.lstrip().startswith("-"):
                row = _cut(line, edges)
                if row is not None:
                    if not row[0].startswith("Metric Name"):
                        self._rows.append(_Row(len(self._kernels) - 1, section, *row))
                        filled = True
                    continue
            if _RULE.match(line):
                # Dashes stand above the head of a table, below it, and below its last row.
                edges = [] if filled else [found.span() for found in re.finditer("-+", line)]
                filled = False
            elif is_kernel_line(line):
                self._kernels.append(self._kernel(line, process))
                on_page += 1
                self._places.append((page, f"{on_page} of {process}" if process else ""))
                section, edges = "", []
            elif found := _SECTION.match(line):
                section, edges = found[1], []
            elif found := _PROCESS.match(line):
                process = f"{found[2]} [{found[1]}]"
                page += process in processes
                on_page = 0
                processes.add(process)
            else:
                log.feed(line.strip() if "==" in line else line)
        self.cut = filled
        if filled and not raw.endswith(("\n", "\r")):
            # The last value may lack digits.
            self._rows.pop()

    def _kernel(self, line: str, process: str | None) -> Kernel:
        found = _KERNEL.match(line)
        assert found is not None
        name = identity.bounded(found["name"])
        return Kernel(
            index=len(self._kernels),
            name=name,
            function=identity.function_name(name),
            launch=Launch(
                grid=identity.dim3(found["grid"] or ""),
                block=identity.dim3(found["block"] or ""),
                stream=found["stream"],
                context=found["context"],
            ),
            device=Device(cc=found["cc"], index=found["device"]),
            workload=workload(name),
            process=process,
        )

    def values(self) -> Iterator[tuple[str, str]]:
        """The value cells with their units, from which the number convention is decided."""
        return ((row.text, row.unit) for row in self._rows)

    def gather(self, gatherer: Gatherer, convention: cells.Convention) -> None:
        """Hands everything to ``gatherer``."""
        entries = [
            gatherer.open((page, place, kernel.index) if not place else (page, place), kernel)
            for kernel, (page, place) in zip(self._kernels, self._places, strict=True)
        ]
        for row in self._rows:
            gatherer.metric(entries[row.kernel], row.section, row.label, row.unit, row.text, convention)


def _cut(line: str, edges: list[tuple[int, int]]) -> tuple[str, str, str] | None:
    """Label, unit and value of a table row; the columns end where the dashes above them end."""
    if not line.strip():
        return None
    (start, label_end), (unit_start, unit_end), (value_start, value_end) = edges[:3]
    indent = len(line) - len(line.lstrip())
    if indent != start or _SECTION.match(line) or is_kernel_line(line):
        return None
    line = line.rstrip()
    if len(line) > value_end:
        # A cell wider than its column pushes what follows to the right; spaces still part the cells then.
        found = _ROW.fullmatch(line)
        return (found["label"], found["unit"] or "", found["value"]) if found else None
    label, unit, value = line[:label_end].strip(), line[label_end:unit_end].strip(), line[unit_end:].strip()
    gaps = line[label_end:unit_start] + line[unit_end:value_start]
    return (label, unit, value) if label and value and not gaps.strip() else None
