"""The raw page: one row a result, one column a metric, a row of units below the header."""

from __future__ import annotations

import re
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from triage.model import Kernel, Quantity
from triage.readers import cells, identity
from triage.readers.child import IDENTITY
from triage.readers.columns import Columns, workload
from triage.readers.misspelt import misspelt
from triage.readers.strays import Strays, is_error, is_number
from triage.readers.units import to_base

_JOINT = "\x1f"
# What most cells are, alone or joined; only the others are worth a second look.
_PLAIN = re.compile(rf"[-+]?[\d.,]*(?:{_JOINT}[-+]?[\d.,]*)*")


class Sheet:
    """What the rows of one raw table share: metric columns with their units, and how numbers are written."""

    __slots__ = (
        "_doubled",
        "_numbers",
        "_others",
        "_sizes",
        "columns",
        "convention",
        "keep",
        "places",
        "scales",
        "strays",
        "wanted",
    )

    def __init__(
        self,
        columns: Columns,
        units: Sequence[str],
        convention: cells.Convention,
        wanted: Collection[str] | None = None,
        *,
        keep: bool = True,
        strays: Strays | None = None,
    ) -> None:
        self.columns = columns
        self.strays = strays if strays is not None else Strays()
        # Whether the metrics that are not wanted stay within reach: a verdict alone does not need them.
        self.keep = keep or wanted is None
        self.places = columns.metrics
        self.convention = convention
        # Names to convert at once; None: every one when it is asked for.
        self.wanted: list[str] | None = None
        if wanted is not None:
            self.wanted = [name for name in dict.fromkeys([*IDENTITY, *wanted]) if name in self.places]
            self.strays.misspelt.update(misspelt(frozenset(self.places), frozenset([*IDENTITY, *wanted])))
        self.scales = {name: to_base(units[at] if at < len(units) else "") for name, at in self.places.items()}
        read = self.places if self.wanted is None else self.wanted
        self._numbers = tuple(self.places[name] for name in read if is_number(name, self.scales[name][1]))
        known = set(self._numbers)
        self._others = tuple(at for name in read if (at := self.places[name]) not in known)
        self._doubled = tuple(name for name in read if name in columns.doubled)
        self._sizes = tuple(
            place for name in ("Grid Size", "Block Size") if (place := columns.place.get(name)) is not None
        )

    def look(self, row: Sequence[str]) -> None:
        """Counts the cells of a result that should hold a number and do not, of the metrics wanted."""
        wide = len(row)
        numbers = [row[at] for at in self._numbers if at < wide]
        # One look at the whole row: most hold nothing odd.
        odd = [] if _PLAIN.fullmatch(_JOINT.join(numbers)) else numbers
        odd += [row[at] for at in self._others if at < wide and is_error(row[at])]
        self.strays.disputed += sum(self._disputed(row, name) for name in self._doubled)
        for at in self._sizes:
            if at < wide and identity.no_size(row[at]):
                self.strays.no_number(row[at])
        for cell in odd:
            value = None if _PLAIN.fullmatch(cell) else self.convention.value(cell)
            if isinstance(value, str):
                self.strays.no_number(value)

    def _disputed(self, row: Sequence[str], name: str) -> bool:
        """Whether columns of one name say different things of a result."""
        return len({row[at].strip() for at in self.columns.doubled[name] if at < len(row)}) > 1

    def metric(self, row: Sequence[str], name: str) -> Quantity | str | None:
        """The value of a metric in a row, ``None`` where there is none."""
        at = self.places[name]
        if name in self.columns.doubled and self._disputed(row, name):
            return None
        value = self.convention.value(row[at]) if at < len(row) else None
        if value is None or isinstance(value, str):
            return value
        factor, unit = self.scales[name]
        return Quantity(value * factor, unit)


class RowMetrics(Mapping[str, "Quantity | str"]):
    """The metrics of one row, converted when they are first asked for.

    A row has more than a thousand cells and a verdict needs some dozens, so the rest stays text: a list of cells, or
    compressed when only some metrics were wanted, so that 10,000 rows fit into little memory.
    """

    __slots__ = ("_cells", "_known", "_packed", "_sheet")

    def __init__(self, sheet: Sheet, row: list[str]) -> None:
        self._sheet = sheet
        self._known: dict[str, Quantity | str | None] = {}
        self._cells: list[str] | None = row
        self._packed = b""
        if sheet.wanted is not None:
            self._known = {name: sheet.metric(row, name) for name in sheet.wanted}
            self._cells = None
            self._packed = zlib.compress(_JOINT.join(row).encode("utf-8", "surrogatepass"), 1)

    def _row(self) -> list[str]:
        if self._cells is not None:
            return self._cells
        return zlib.decompress(self._packed).decode("utf-8", "surrogatepass").split(_JOINT)

    def __getitem__(self, name: str) -> Quantity | str:
        known = self._known
        if name not in known:
            if name not in self._sheet.places:
                raise KeyError(name)
            known[name] = self._sheet.metric(self._row(), name)
        value = known[name]
        if value is None:
            raise KeyError(name)
        return value

    def __iter__(self) -> Iterator[str]:
        if len(self._known) < len(self._sheet.places):
            row = self._row()
            for name in self._sheet.places:
                if name not in self._known:
                    self._known[name] = self._sheet.metric(row, name)
        for name in self._sheet.places:
            if self._known[name] is not None:
                yield name

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return f"RowMetrics({dict(self)!r})"


def kernel(index: int, sheet: Sheet, row: list[str]) -> Kernel:
    """One row as a Kernel; what the leading columns of an old layout lack comes from the metrics."""
    columns = sheet.columns
    sheet.look(row)
    name = columns.name(row)
    metrics: Mapping[str, Quantity | str]
    if sheet.keep:
        metrics = RowMetrics(sheet, [cell.replace(_JOINT, " ") for cell in row] if _JOINT in "".join(row) else row)
    else:
        values = ((name, sheet.metric(row, name)) for name in sheet.wanted or ())
        metrics = {name: value for name, value in values if value is not None}
    launch, device = columns.launch(row), columns.device(row)
    told_launch, told_device = identity.launch(metrics), identity.device(metrics)
    return Kernel(
        index=index,
        name=name or "(unnamed)",
        function=identity.function_name(name or "(unnamed)"),
        launch=replace(
            launch,
            grid=launch.grid or told_launch.grid,
            block=launch.block or told_launch.block,
            stream=launch.stream or told_launch.stream,
            context=launch.context or told_launch.context,
        ),
        device=replace(told_device, cc=device.cc or told_device.cc, index=device.index or told_device.index),
        metrics=metrics,
        nvtx=columns.ranges(row),
        workload=workload(name),
        process=columns.process(row),
        warnings=() if sheet.places else ("the result carries no metric",),
    )
