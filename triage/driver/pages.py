"""What the commands print: lists, checks and measurements as plain text, a measurement as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from triage.driver import table
from triage.driver.bench import Bench, Row
from triage.driver.sources import Program
from triage.driver.variants import VARIANTS

SCHEMA = "triage/bench/1"

_CACHE_NOTE = (
    "A profiler flushes the caches before each pass and may lock the clocks (`--clock-control`), and its duration "
    "leaves out the launch that two events include: its times differ from these, and its percentages follow its times."
)


def program_list(programs: Sequence[Program]) -> str:
    """Every program with its kernels, then the variants of the transposes with what a profile of each should say."""
    rows = [[p.name, str(len(p.kernels)), p.what] for p in programs]
    variants = [[v.name, _block(v.block), v.what, " or ".join(v.limiters) or "-"] for v in VARIANTS]
    return "\n\n".join(
        [
            table.render(["program", "kernels", "what"], rows, right=[1]),
            table.render(["transpose", "block", "what", "limiter"], variants),
        ]
    )


def program_json(programs: Sequence[Program]) -> str:
    """The same as JSON."""
    found = [{"name": p.name, "path": str(p.path), "what": p.what, "kernels": list(p.kernels)} for p in programs]
    variants = [
        {
            "name": v.name,
            "kernel": v.symbol("float"),
            "block": list(v.block),
            "tile": v.tile("float"),
            "what": v.what,
            "right": v.right,
            "limiters": list(v.limiters),
        }
        for v in VARIANTS
    ]
    return json.dumps({"schema": "triage/kernels/1", "programs": found, "transposes": variants}, indent=2)


def check_table(results: Mapping[str, Mapping[str, Sequence[Row]]]) -> str:
    """Element type, shape and contestant down, verdict across: ``results[dtype][shape]`` lists the rows."""
    rows = [
        [dtype, shape, row.contestant.name, row.verdict]
        for dtype, by_shape in results.items()
        for shape, found in by_shape.items()
        for row in found
    ]
    return table.render(["type", "shape", "kernel", "check"], rows)


def bench_text(bench: Bench) -> str:
    """A measurement as a person reads it: what was measured, the table, the roof, the stop rule, the warnings."""
    gpu, setup = bench.gpu, bench.setup
    peak = (
        f"{gpu.dram_bytes_per_s / 1e9:,.0f} GB/s by memory clock and bus width" if gpu.dram_bytes_per_s else "unknown"
    )
    head = [
        f"{gpu.name} (compute capability {gpu.cc}, {gpu.sms} SMs, L2 {gpu.l2_bytes / 1e6:.0f} MB, DRAM peak {peak})",
        f"{setup.shape} {setup.dtype}s: {bench.moved_bytes / 1e6:,.1f} MB must move a launch; buffers in use "
        f"{bench.footprint / 1e6:,.1f} MB, {bench.cache}",
        f"{setup.repetitions} launches each after {setup.warm_up} discarded, median, spread from the 10th to the 90th "
        f"percentile, CUDA events; kernels: {setup.kernels}",
    ]
    lines = [_bench_line(row) for row in bench.rows]
    header = ["kernel", "block", "us", "spread", "GB/s", "of copy", "of peak", "check"]
    tail = [
        f"Measured roof: {bench.roofs.dram_bytes_per_s / 1e9:,.0f} GB/s ({bench.roofs.how})",
        bench.stop_rule,
        _CACHE_NOTE,
        *(f"Not measured: {line}" for line in bench.absent),
        *(f"Warning: {line}" for line in bench.warnings),
    ]
    return "\n".join([*head, "", table.render(header, lines, right=[2, 3, 4, 5, 6]), "", *tail])


def bench_json(bench: Bench) -> str:
    """A measurement as JSON: times in microseconds, rates in bytes per second, shares as factors."""
    setup = bench.setup
    return json.dumps(
        {
            "schema": SCHEMA,
            "gpu": asdict(bench.gpu),
            "rows": setup.shape.rows,
            "cols": setup.shape.cols,
            "dtype": setup.dtype,
            "repetitions": setup.repetitions,
            "warm_up": setup.warm_up,
            "rotated": setup.rotate,
            "kernels": setup.kernels,
            "moved_bytes": bench.moved_bytes,
            "footprint": bench.footprint,
            "cache": bench.cache,
            "results": [_row_json(row) for row in bench.rows],
            "roof_bytes_per_s": bench.roofs.dram_bytes_per_s,
            "stop_rule": bench.stop_rule,
            "warnings": list(bench.warnings),
            "not_measured": list(bench.absent),
        },
        indent=2,
    )


def _row_json(row: Row) -> dict[str, object]:
    contestant = row.contestant
    return {
        "name": contestant.name,
        "block": list(contestant.variant.block) if contestant.variant else None,
        "peer": contestant.peer,
        "transposes": contestant.transposes,
        "planted_fault": not contestant.right,
        "wrong_elements": row.wrong,
        "median_us": row.sample.median if row.sample else None,
        "p10_us": row.sample.p10 if row.sample else None,
        "p90_us": row.sample.p90 if row.sample else None,
        "least_us": row.sample.least if row.sample else None,
        "bytes_per_s": row.bytes_per_s,
        "of_copy": row.of_copy,
        "of_peak": row.of_peak,
    }


def _bench_line(row: Row) -> list[str]:
    block = _block(row.contestant.variant.block) if row.contestant.variant else "-"
    if row.sample is None:
        return [row.contestant.name, block, "-", "-", "-", "-", "-", row.verdict]
    return [
        row.contestant.name,
        block,
        f"{row.sample.median:,.1f}",
        f"{row.sample.spread:.1%}",
        f"{(row.bytes_per_s or 0.0) / 1e9:,.0f}",
        "-" if row.of_copy is None else f"{row.of_copy:.1%}",
        "-" if row.of_peak is None else f"{row.of_peak:.1%}",
        row.verdict,
    ]


def _block(block: tuple[int, int]) -> str:
    return f"{block[0]} x {block[1]}"
