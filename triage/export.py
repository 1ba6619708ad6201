"""Many reports (nights, ranks, nodes) folded into one table for pandas, DuckDB or Dask.

One row for each launch, keyed by report, rank, device, kernel and launch; then what was decided, then one column for
each metric in base units.
"""

from __future__ import annotations

import gzip
import re
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from triage import output as out
from triage.errors import UsageError
from triage.model import Finding, Quantity, Report
from triage.ncu.ranks import MOST_RANKS
from triage.numerals import whole
from triage.paths import INTERRUPTED, real
from triage.renderers.escape import clean

if TYPE_CHECKING:
    import pandas

KEYS = ("report", "rank", "device", "kernel", "launch")
DECIDED = ("limiter", "family", "confidence", "duration_ns", "share_pct")
# `run.rank3.ncu-rep` is how `triage profile` names them; the others are what people write with ncu's %q{...}.
_RANK = re.compile(r"(?:^|[._-])(?:rank|r|node|proc)[._-]?([0-9]+)(?=$|[._-])", re.IGNORECASE)
# What a spreadsheet would run as a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")

Files = Annotated[list[Path], typer.Argument(help="Reports, .ncu-rep or CSV.", show_default=False)]
Output = Annotated[Path, typer.Option("-o", "--output", help="The table: .parquet, .csv or .csv.gz.")]
Metrics = Annotated[
    list[str], typer.Option("-m", "--metrics", help="Only metrics that match this glob; 'none' for no metric at all.")
]
FactColumns = Annotated[bool, typer.Option("--facts/--no-facts", help="A column fact.ID for each fact that is known.")]
RuleFolders = Annotated[list[Path], typer.Option("--rules", help="A folder of rule files laid over the shipped ones.")]


def export(
    files: Files,
    output: Output,
    metrics: Metrics = [],  # noqa: B006 - Typer copies it
    facts: FactColumns = True,
    rules: RuleFolders = [],  # noqa: B006 - Typer copies it
) -> None:
    """Fold reports into one table: a row a launch, keyed by report, rank, device, kernel and launch.

    Interrupted, it writes the reports that were read to their end, says how many, and ends with 130.
    """
    from triage import commands

    target = check_target(output)
    if "none" in metrics and len(metrics) > 1:
        raise UsageError("-m none takes no metric at all, and other globs stand beside it", "leave one of them out")
    # A row stands once, however often a file is named: its key would not be one otherwise.
    once: dict[str, Path] = {}
    for file in files:
        once.setdefault(real(file), file)
    files = list(once.values())
    commands.claim([target], files, rules)
    rulebook = commands.rulebook(rules, None)
    wanted = commands.wanted_metrics(rulebook) if "none" in metrics else None
    reports: list[Report] = []
    try:
        for file in files:
            reports.append(_report(file, rulebook, wanted))  # noqa: PERF401 - what was read before Ctrl-C is kept
    except KeyboardInterrupt:
        if not reports:
            raise
    table = frame(reports, metrics=tuple(metrics), facts=facts)
    write(table, target)
    for said in unmatched(reports, metrics):
        print(f"note: {said}", file=sys.stderr)
    print(f"wrote {clean(str(target))}: {len(table):,} rows, {len(table.columns):,} columns", file=sys.stderr)
    if len(reports) < len(files):
        print(f"{INTERRUPTED}: it holds {len(reports):,} of {len(files):,} reports", file=sys.stderr)
        raise KeyboardInterrupt


def frame(reports: Sequence[Report], *, metrics: Sequence[str] = (), facts: bool = True) -> pandas.DataFrame:
    """The table of several reports, in their order.

    Columns: :data:`KEYS`, then ``index`` (0-based place in the file), ``name`` (with its signature), ``process``,
    ``cc``, ``grid_x`` to ``block_z``, :data:`DECIDED`, ``fact.ID`` for each fact that is known of any kernel, and the
    metrics in base units that match one of the globs ``metrics`` (all without any, none for ``none``). Names and texts
    of a report are made inert, as in every format (:func:`~triage.renderers.escape.clean`). ``launch``
    counts the launches of a kernel within its report, rank and device. What was not collected is NaN or ``None``;
    ``undecided`` kernels have no limiter. ``frame.attrs["units"]`` maps metric and fact columns to their units.
    """
    import pandas

    rows: list[dict[str, Any]] = []
    units: dict[str, str] = {}
    for report in reports:
        launches: Counter[tuple[object, ...]] = Counter()
        for finding in report.findings:
            row = _identity(report, finding)
            key = (row["report"], row["rank"], row["device"], finding.kernel.name)
            row["launch"] = launches[key]
            launches[key] += 1
            if facts:
                row |= _facts(finding, units)
            row |= _metrics(finding, metrics, units)
            rows.append(row)
    names = dict.fromkeys(name for row in rows for name in row)
    fixed = dict.fromkeys(_identity_columns())
    told = sorted(name for name in names if name.startswith("fact."))
    rest = sorted(name for name in names if name not in fixed and not name.startswith("fact."))
    table = pandas.DataFrame({name: _column([row.get(name) for row in rows], name) for name in (*fixed, *told, *rest)})
    table.attrs["units"] = units
    return table


def unmatched(reports: Sequence[Report], globs: Sequence[str]) -> list[str]:
    """A sentence for each glob of metrics that matches none of these reports; ``none`` is no glob."""
    from triage.suggest import STRICT, closest

    if not globs:
        return []
    names = {name for report in reports for finding in report.findings for name in finding.kernel.metrics}
    return [
        clean(f"-m {glob!r} matches no metric of these reports{closest(glob, names, STRICT)}")
        for glob in dict.fromkeys(globs)
        if glob != "none" and not any(fnmatchcase(name, glob) for name in names)
    ]


def check_target(path: Path) -> Path:
    """The target, refused before any report is read where its format cannot be written here."""
    if path.name.endswith((".csv", ".csv.gz")):
        return path
    if path.suffix != ".parquet":
        raise UsageError(
            f"the suffix of {path} names no table", "write to a file that ends in .parquet, .csv or .csv.gz"
        )
    if not _parquet_engine():
        raise UsageError(
            f"cannot write {path}: pandas has no Parquet engine here", "pip install pyarrow, or write to a .csv file"
        )
    return path


def write(table: pandas.DataFrame, path: Path) -> None:
    """The table as Parquet or CSV, written beside and then renamed."""
    check_target(path)

    def make(draft: Path) -> None:
        if path.suffix == ".parquet":
            table.to_parquet(draft, index=False)
            return
        with draft.open("wb") as file:
            # No name and a fixed time in the gzip header: the same table twice is the same file.
            packed = gzip.GzipFile("", "wb", fileobj=file, mtime=1) if path.suffix == ".gz" else None
            with packed or nullcontext(file) as target:
                _harmless(table).to_csv(target, index=False, lineterminator="\n", encoding="utf-8")

    out.fill(path, make)


def rank_of(path: str) -> int | None:
    """The rank that a file's name tells (``run.rank3.ncu-rep``), ``None`` where it tells none."""
    found = _RANK.search(Path(path).name)
    return whole(found[1], MOST_RANKS) if found else None


def _report(file: Path, rulebook: Any, wanted: Any) -> Report:
    from triage.diagnosis import report
    from triage.readers import load

    return report(load(file, metrics=wanted), rulebook)


def _identity(report: Report, finding: Finding) -> dict[str, Any]:
    kernel, source = finding.kernel, report.sources[finding.source]
    device = kernel.device
    grid, block = kernel.launch.grid, kernel.launch.block
    row: dict[str, Any] = {
        "report": clean(source.path),
        "rank": rank_of(source.path),
        "device": _text(device.name if device.index is None else f"{device.name or 'GPU'} #{device.index}"),
        "kernel": clean(kernel.function),
        "launch": 0,
        "index": kernel.index,
        "name": clean(kernel.name),
        "process": _text(kernel.process),
        "cc": _text(device.cc),
    }
    for shape, sizes in (("grid", grid), ("block", block)):
        row |= {f"{shape}_{axis}": sizes[place] if sizes else None for place, axis in enumerate("xyz")}
    diagnosis = finding.diagnosis
    return row | {
        "limiter": diagnosis.limiter,
        "family": diagnosis.family,
        "confidence": diagnosis.confidence if diagnosis.limiter else None,
        "duration_ns": finding.duration_ns,
        "share_pct": finding.share,
    }


def _text(value: str | None) -> str | None:
    return clean(value) if value is not None else None


def _identity_columns() -> tuple[str, ...]:
    shapes = tuple(f"{shape}_{axis}" for shape in ("grid", "block") for axis in "xyz")
    return (*KEYS, "index", "name", "process", "cc", *shapes, *DECIDED)


def _facts(finding: Finding, units: dict[str, str]) -> dict[str, float]:
    found = {}
    for name, fact in finding.diagnosis.facts.items():
        if fact.quantity is not None and fact.low == fact.high:
            found[f"fact.{name}"] = fact.quantity.value
            units[f"fact.{name}"] = fact.quantity.unit
    return found


def _metrics(finding: Finding, globs: Sequence[str], units: dict[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if "none" in globs:
        return found
    for name, value in finding.kernel.metrics.items():
        if globs and not any(fnmatchcase(name, glob) for glob in globs):
            continue
        name = clean(name)
        if isinstance(value, Quantity):
            known = units.setdefault(name, value.unit)
            if value.unit and known and value.unit != known:
                raise UsageError(
                    f"the metric {name} has the units {known!r} and {value.unit!r} in these reports",
                    "export those reports into tables of their own",
                )
            found[name] = value.value
        else:
            found[name] = clean(value)
    return found


def _column(values: list[Any], name: str) -> Any:
    import pandas

    if name in ("launch", "index"):
        return pandas.Series(values, dtype="int64")
    if name == "rank" or name.startswith(("grid_", "block_")):
        return pandas.Series(values, dtype="Int64")
    if any(isinstance(value, str) for value in values):
        # Of a metric that is text for one kernel and a number for another, all are text: Parquet wants one type.
        texts = [value if value is None or isinstance(value, str) else f"{value:g}" for value in values]
        return pandas.Series(texts, dtype="object")
    if all(value is None for value in values) and not name.startswith("fact.") and name not in DECIDED[3:]:
        return pandas.Series(values, dtype="object")
    return pandas.Series(values, dtype="float64")


def _harmless(table: pandas.DataFrame) -> pandas.DataFrame:
    """Text cells and headings that a spreadsheet would run as a formula get an apostrophe; no kernel's real name begins
    so."""
    copied = table.copy()
    for name in copied.select_dtypes(include="object").columns:
        copied[name] = [_no_formula(value) for value in copied[name]]
    return copied.set_axis([_no_formula(name) for name in copied.columns], axis="columns")


def _no_formula(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def _parquet_engine() -> bool:
    from importlib.util import find_spec

    return any(find_spec(name) is not None for name in ("pyarrow", "fastparquet"))
