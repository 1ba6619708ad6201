"""Columns of ncu's tables, located by name, and the kernel identity in them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from triage.model import Device, Launch, Workload
from triage.numerals import whole
from triage.readers import identity

LEADING = frozenset({
    "ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Kernel Time", "Context", "Stream",
    "Block Size", "Grid Size", "Device", "CC", "Section Name", "Metric Name", "Metric Unit", "Metric Value",
    "Rule Name", "Rule Type", "Rule Description", "Estimated Speedup Type", "Estimated Speedup", "Invocations",
})  # fmt: skip
_NVTX = re.compile(r".*(Push/Pop_Range|Start/Stop_Range|NVTX).*", re.IGNORECASE)
# The longest word in a name of ncu's has 14 letters (multiprocessor); a run of 40 was written by a torn write.
_NO_NAME = re.compile(r"[^\x20-\x7e]|[=\"{}<>;|]|[A-Za-z0-9]{40}")
_NVTX_RANGE = re.compile(r'"([^"]+)"')


@dataclass(frozen=True, slots=True)
class Columns:
    """Where each column of a header stands; ``doubled`` has all places of those that stand there more than once."""

    header: tuple[str, ...]
    place: dict[str, int]
    nvtx: tuple[int, ...]
    doubled: dict[str, tuple[int, ...]]

    @classmethod
    def of(cls, header: Sequence[str]) -> Columns:
        names = tuple(name.strip() for name in header)
        places: dict[str, list[int]] = {}
        for i, name in enumerate(names):
            places.setdefault(name, []).append(i)
        return cls(
            names,
            {name: at[0] for name, at in places.items()},
            tuple(i for i, name in enumerate(names) if _NVTX.fullmatch(name)),
            {name: tuple(at) for name, at in places.items() if name and len(at) > 1},
        )

    @property
    def metrics(self) -> dict[str, int]:
        """The metric columns of a raw page."""
        nvtx = set(self.nvtx)
        return {name: i for name, i in self.place.items() if name and name not in LEADING and i not in nvtx}

    @property
    def damaged(self) -> int:
        """Metric columns of a raw page whose name no metric can have: the rest of a torn header."""
        return (
            0
            if self.is_long
            else sum(
                # ncu 2023 writes a pattern of its section files as a name.
                _NO_NAME.search(name) is not None and not name.startswith("regex:")
                for name in self.metrics
            )
        )

    @property
    def is_long(self) -> bool:
        return "Metric Name" in self.place and "Metric Value" in self.place

    @property
    def is_summary(self) -> bool:
        return "Invocations" in self.place or {"Minimum", "Maximum", "Average"} <= self.place.keys()

    def is_units(self, row: Sequence[str]) -> bool:
        """Whether a row of a raw page is its units row: nothing in the leading columns."""
        return not any(self.cell(row, name) for name in ("ID", "Process ID", "Kernel Name", "Context", "CC"))

    def is_result(self, row: Sequence[str]) -> bool:
        """Whether a row belongs to a result: numbers where ncu prints numbers, and no cell beyond the header."""
        for name in ("ID", "Context"):
            if name in self.place and whole(self.cell(row, name)) is None:
                return False
        return bool(self.name(row)) and not self._beyond(row)

    def overflows(self, row: Sequence[str]) -> bool:
        """Whether a row would be a result's but for what stands behind the header's last column."""
        named = "ID" not in self.place or whole(self.cell(row, "ID")) is not None
        return named and bool(self.name(row)) and self._beyond(row)

    def _beyond(self, row: Sequence[str]) -> bool:
        # Empty cells there are the trailing separators of a spreadsheet.
        return len(row) > len(self.header) and any(cell.strip() for cell in row[len(self.header) :])

    def cell(self, row: Sequence[str], name: str) -> str:
        """A cell by its column's name, ``""`` where the row or the table lacks it."""
        at = self.place.get(name)
        return row[at].strip() if at is not None and at < len(row) else ""

    def name(self, row: Sequence[str]) -> str:
        """The kernel's name exactly as printed, shortened where it is absurdly long."""
        at = self.place.get("Kernel Name")
        return identity.bounded(row[at]) if at is not None and at < len(row) else ""

    def launch(self, row: Sequence[str]) -> Launch:
        return Launch(
            grid=identity.dim3(self.cell(row, "Grid Size")),
            block=identity.dim3(self.cell(row, "Block Size")),
            stream=self.cell(row, "Stream") or None,
            context=self.cell(row, "Context") or None,
        )

    def device(self, row: Sequence[str]) -> Device:
        return Device(cc=self.cell(row, "CC") or None, index=self.cell(row, "Device") or None)

    def process(self, row: Sequence[str]) -> str | None:
        name, pid = (identity.bounded(self.cell(row, column)) for column in ("Process Name", "Process ID"))
        return f"{name} [{pid}]" if name and pid else name or (f"[{pid}]" if pid else None)

    def ranges(self, row: Sequence[str]) -> tuple[str, ...]:
        """Names of the NVTX ranges around a kernel, outermost first; the domain in front unless it is the default."""
        found = []
        for at in self.nvtx:
            for text in _NVTX_RANGE.findall(row[at]) if at < len(row) else ():
                # domain:name:payload type:payload:colour type:colour:message type:message
                head = text.rsplit(":", 6)[0] if text.count(":") >= 7 else text
                domain, _, name = head.partition(":")
                found.append(identity.bounded(name if domain.startswith("<default") else head))
        return tuple(found)


def workload(name: str) -> Workload:
    """What a result without a kernel of its own is called by ncu; a C++ kernel's name carries its parameters."""
    if name in ("graph", "range", "cmdlist"):
        return name  # type: ignore[return-value]  # the three names are the Literal's
    return "kernel"
