"""The details page and ``--metrics`` runs: one row a metric, gathered into kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from triage.model import Kernel, Quantity
from triage.readers import cells, identity
from triage.readers.columns import Columns, workload
from triage.readers.labels import Labels
from triage.readers.strays import Strays, is_error, is_number
from triage.readers.units import to_base


@dataclass(slots=True)
class _Entry:
    name: str
    kernel: Kernel
    metrics: dict[str, Quantity | str] = field(default_factory=dict)
    shape: tuple[str, str] | None = None


class Gatherer:
    """Takes metric rows in any order and makes one kernel of each distinct result.

    Results are told apart by ID, process, device, context and stream, and by the table they stand in, so that
    the files of several ranks, put one behind the other, do not merge.
    """

    def __init__(self, labels: Labels, strays: Strays) -> None:
        self._labels = labels
        self._strays = strays
        self._entries: dict[tuple[object, ...], _Entry] = {}
        self._recent: tuple[tuple[object, ...], _Entry] | None = None
        self.unknown: dict[str, None] = {}
        self.sections: dict[str, None] = {}
        self.conflicts = 0
        self.repeated = 0

    def add(self, table: int, columns: Columns, row: Sequence[str], convention: cells.Convention) -> None:
        """Takes one row; rows without a metric (rules) only say that their result exists."""
        entry = self._entry(table, columns, row)
        # Every row of a result repeats its launch.
        shape = (columns.cell(row, "Grid Size"), columns.cell(row, "Block Size"))
        self.conflicts += entry.shape is not None and entry.shape != shape
        entry.shape = entry.shape or shape
        self.metric(
            entry,
            columns.cell(row, "Section Name"),
            columns.cell(row, "Metric Name"),
            columns.cell(row, "Metric Unit"),
            columns.cell(row, "Metric Value"),
            convention,
        )

    def metric(
        self, entry: _Entry, section: str, label: str, unit: str, text: str, convention: cells.Convention
    ) -> None:
        """Adds one metric to a result, under its metric name."""
        if not label:
            return
        value = convention.value(text)
        if value is None:
            return
        name = self._labels.metric(section, label)
        if name is None:
            name = f"{section}: {label}" if section else label
            self.unknown[name] = None
        if section:
            self.sections[section] = None
        if isinstance(value, str):
            if is_error(value) or is_number(name, unit):
                self._strays.no_number(value)
            entry.metrics.setdefault(name, value)
            return
        factor, base = to_base(unit)
        self._set(entry, name, Quantity(value * factor, base))

    def _set(self, entry: _Entry, name: str, value: Quantity) -> None:
        known = entry.metrics.get(name)
        if isinstance(known, Quantity):
            # The same metric stands in several sections; a difference beyond rounding is a contradiction.
            if known.unit == value.unit and abs(known.value - value.value) > 0.02 * max(
                abs(known.value), abs(value.value), 1.0
            ):
                self.conflicts += 1
            return
        entry.metrics[name] = value

    def _entry(self, table: int, columns: Columns, row: Sequence[str]) -> _Entry:
        name = columns.name(row)
        key: tuple[object, ...] = (
            table,
            columns.cell(row, "ID"),
            columns.cell(row, "Process ID"),
            columns.cell(row, "Device"),
            columns.cell(row, "Context"),
            columns.cell(row, "Stream"),
            # An ID is one result, whatever noise got into a name; without IDs the name is all there is.
            "" if "ID" in columns.place else name,
        )
        place = key
        if self._recent is not None and self._recent[0] == place:
            return self._recent[1]
        entry = self._entries.get(key)
        if entry is not None and entry.name != name:
            # Rows of one result stand together, so noise in a name comes right behind its own; another name later on is
            # another result whose ID starts over: tables appended without their header.
            key = (*key, name)
            entry = self._entries.get(key)
        if entry is None:
            for size in (columns.cell(row, "Grid Size"), columns.cell(row, "Block Size")):
                if identity.no_size(size):
                    self._strays.no_number(size)
            entry = self.open(
                key,
                Kernel(
                    index=len(self._entries),
                    name=name or "(unnamed)",
                    function=identity.function_name(name or "(unnamed)"),
                    launch=columns.launch(row),
                    device=columns.device(row),
                    nvtx=columns.ranges(row),
                    workload=workload(name),
                    process=columns.process(row),
                ),
            )
        self._recent = (place, entry)
        return entry

    def open(self, key: tuple[object, ...], kernel: Kernel) -> _Entry:
        """Starts a result."""
        entry = self._entries[key] = _Entry(kernel.name, kernel)
        return entry

    def __len__(self) -> int:
        return len(self._entries)

    def sizes(self) -> list[int]:
        """How many metrics each result has, in their order."""
        return [len(entry.metrics) for entry in self._entries.values()]

    def kernels(self) -> tuple[Kernel, ...]:
        """The kernels in the order in which they first appeared; what a second table repeats to the digit counts in
        ``repeated``."""
        kept: list[_Entry] = []
        known: dict[tuple[object, ...], list[_Entry]] = {}
        for key, entry in self._entries.items():
            # Behind its table the key has the ID, the process and so on; a text page and an old table have no ID.
            twins = known.setdefault(key[1:] if len(key) > 1 and key[1] else key, [])
            if any(twin.name == entry.name and twin.metrics == entry.metrics for twin in twins):
                continue
            twins.append(entry)
            kept.append(entry)
        self.repeated = len(self._entries) - len(kept)
        return tuple(replace(_finish(entry), index=index) for index, entry in enumerate(kept))


def _finish(entry: _Entry) -> Kernel:
    kernel, metrics = entry.kernel, entry.metrics
    launch, device = identity.launch(metrics), identity.device(metrics)
    return replace(
        kernel,
        metrics=metrics,
        launch=replace(
            kernel.launch,
            grid=kernel.launch.grid or launch.grid,
            block=kernel.launch.block or launch.block,
        ),
        device=replace(
            kernel.device, name=kernel.device.name or device.name, cc=kernel.device.cc or device.cc, sms=device.sms
        ),
        warnings=() if metrics else ("the result carries no metric",),
    )
