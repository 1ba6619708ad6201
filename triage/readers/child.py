"""Reads a range of results of a ``.ncu-rep`` with NVIDIA's library; runs as a script, alone in its process.

The library aborts or hangs on some damaged files and keeps the memory of every result it touched, so it never runs in
the parent. This script imports nothing of ours and nothing heavy. It takes one JSON request, a line, on standard
input and writes one JSON line for each result, as soon as it is read, so that what was read survives a crash. It ends
when standard input does: that of a parent that is gone.

Request: ``library`` (folder of ncu_report), ``path``, ``start``, ``stop`` (results, flat over all ranges),
``metrics`` (names or null for all), ``lines`` (bool), ``pick`` (only these results), ``budget`` (resident bytes after
which it stops), ``seconds`` (after which it ends, whatever happens). Lines: ``{"count": n}`` first, then results, then
``{"end": n}``, the result behind the last one read.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import signal
import sys
from typing import Any, TextIO

IDENTITY = (
    "launch__grid_dim_x", "launch__grid_dim_y", "launch__grid_dim_z",
    "launch__block_dim_x", "launch__block_dim_y", "launch__block_dim_z",
    "launch__stream_id", "launch__context_id", "launch__device_id", "launch__sm_count",
    "device__attribute_display_name", "device__attribute_compute_capability_major",
    "device__attribute_compute_capability_minor", "device__attribute_multiprocessor_count",
)  # fmt: skip
LINE_METRICS = (
    "memory_l2_theoretical_sectors_global", "memory_l2_theoretical_sectors_global_ideal",
    "memory_l1_wavefronts_shared", "memory_l1_wavefronts_shared_ideal",
    "memory_l2_theoretical_sectors_local", "inst_executed", "thread_inst_executed",
)  # fmt: skip
SASS_PER_LINE = 12
_WORKLOADS = ("kernel", "range", "cmdlist", "graph")


def _metrics(action: Any, wanted: list[str] | None) -> tuple[dict[str, Any], int]:
    """The values of one result as ``{name: [value, unit] | text}``, and how many metrics it holds in all."""
    known = action.metric_names()
    names = known
    if wanted is not None:
        # Asking for what is not there costs as much as for what is.
        there = set(known)
        names = [name for name in (*IDENTITY, *wanted) if name in there]
    found: dict[str, Any] = {}
    for name in names:
        # metric_by_name(None) aborts the process; a damaged file can list such a name.
        metric = action.metric_by_name(name) if isinstance(name, str) else None
        if metric is None or not metric.has_value():
            continue
        value = metric.value()
        if isinstance(value, str):
            if value:
                found[name] = value
        elif value is not None and math.isfinite(value):
            found[name] = [value, metric.unit()]
    return found, len(known)


def _nvtx(action: Any) -> list[str]:
    state = action.nvtx_state()
    if state is None:
        return []
    names: list[str] = []
    for key in state.domains():
        domain = state.domain_by_id(key)
        if domain is None:
            continue
        prefix = domain.name()
        prefix = "" if not prefix or prefix.startswith("<default") else prefix + ":"
        names += [f"{prefix}{name}" for name in (*domain.push_pop_ranges(), *domain.start_end_ranges())]
    return names


def _per_pc(action: Any, wanted: list[str] | None) -> dict[int, dict[str, float]]:
    """``{address: {metric: value}}`` of the metrics that are attributed to instructions (``wanted``, or all known)."""
    names = [name for name in action.metric_names() if isinstance(name, str)]
    # Of the samples, those of all warps: the variants for cycles without issue double the work and rank no line anew.
    sampled = [name for name in names if name.startswith("smsp__pcsamp_") and not name.endswith("_not_issued")]
    chosen = [name for name in names if name in LINE_METRICS] + sampled
    if wanted is not None:
        chosen = [name for name in names if name in wanted]
    table: dict[int, dict[str, float]] = {}
    for name in chosen:
        metric = action.metric_by_name(name)
        if metric is None or not metric.has_correlation_ids() or metric.value() == 0:
            continue
        ids = metric.correlation_ids()
        for i in range(metric.num_instances()):
            pc, value = ids.value(i), metric.value(i)
            if not isinstance(pc, int) or not isinstance(value, (int, float)) or not math.isfinite(value):
                continue
            # Dozens of stall reasons are 0 on nearly every instruction; a sum does not miss them.
            if value or not name.startswith("smsp__pcsamp_warps"):
                table.setdefault(pc, {})[name] = value
    return table


def _lines(
    action: Any, sources: dict[str, list[str]], wanted: list[str] | None = None, machine_code: bool = True
) -> list[list[Any]]:
    """``[file, line, text or None, {metric: sum}, [[address, sass, {metric: value}]]]`` for every source line.

    ``sources`` keeps imported files between results: asking for them costs more than reading a result does.
    """
    lines: dict[tuple[str, int], list[Any]] = {}
    for pc, values in sorted(_per_pc(action, wanted).items()):
        info = action.source_info(pc)
        if info is None:
            continue
        file, number = info.file_name(), int(info.line())
        if not file or number < 1:
            continue
        if (file, number) not in lines:
            lines[file, number] = [file, number, _source_line(action, file, number, sources), {}, []]
        sums, sass = lines[file, number][3:]
        for name, value in values.items():
            sums[name] = sums.get(name, 0) + value
        sass.append([pc, "", values])
    for line in lines.values():
        line[4] = _instructions(action, line[4]) if machine_code else []
    return [lines[key] for key in sorted(lines)]


def _source_line(action: Any, file: str, number: int, sources: dict[str, list[str]]) -> str | None:
    if file not in sources:
        for name, content in dict(action.source_files() or {}).items():
            sources[name] = content.splitlines()
        sources.setdefault(file, [])
    text = sources[file]
    return text[number - 1] if number <= len(text) else None


def _instructions(action: Any, entries: list[list[Any]]) -> list[list[Any]]:
    """The hottest instructions of a line, in address order, with their text: looking up one takes 0.2 ms, and a line of
    an unrolled loop has hundreds."""

    def heat(entry: list[Any]) -> tuple[float, float]:
        values = entry[2]
        return (values.get("smsp__pcsamp_sample_count", 0), sum(values.values()))

    shown = sorted(sorted(entries, key=heat, reverse=True)[:SASS_PER_LINE])
    return [[pc, (action.sass_by_pc(pc) or "").strip(), values] for pc, _, values in shown]


def _result(action: Any, request: dict[str, Any], sources: dict[str, list[str]]) -> dict[str, Any]:
    record: dict[str, Any] = {"name": None, "function": None, "faults": []}

    def attempt(key: str, read: Any) -> None:
        # Damaged names raise UnicodeDecodeError, TypeError or AttributeError; the rest of the result is still good.
        try:
            record[key] = read()
        except (UnicodeError, TypeError, AttributeError, ValueError, OverflowError, RuntimeError, KeyError) as error:
            record["faults"].append(f"{key}: {type(error).__name__}")

    attempt("name", lambda: action.name(1))
    attempt("function", lambda: action.name(0))
    attempt("workload", lambda: _WORKLOADS[action.workload_type()] if 0 <= action.workload_type() < 4 else "kernel")
    attempt("found", lambda: _metrics(action, request["metrics"]))
    attempt("nvtx", lambda: _nvtx(action))
    if request["lines"]:
        attempt("lines", lambda: _lines(action, sources))
    return record


def serve(request: dict[str, Any], out: TextIO) -> None:
    """Reads what the request asks for and writes it to ``out``."""
    sys.path.append(request["library"])
    import ncu_report

    context = ncu_report.load_report(request["path"])
    places = [(i, j) for i in range(context.num_ranges()) for j in range(context.range_by_idx(i).num_actions())]
    out.write(json.dumps({"count": len(places)}) + "\n")
    out.flush()
    if request.get("only"):
        _serve_lines(context, places, request, out)
        return
    stop = len(places) if request["stop"] is None else min(request["stop"], len(places))
    sources: dict[str, list[str]] = {}
    picked = request.get("pick")
    chosen = range(request["start"], stop) if picked is None else [n for n in picked if request["start"] <= n < stop]
    for index in chosen:
        if index > chosen[0] and _resident() > request.get("budget", math.inf):
            stop = index
            break
        i, j = places[index]
        # Each result is fetched once only: every fetch copies it and keeps the copy.
        action = context.range_by_idx(i).action_by_idx(j)
        record: dict[str, Any] = {"faults": ["result cannot be read"]}
        if action is not None:
            record = _result(action, request, sources)
        record["index"] = index
        out.write(json.dumps(record) + "\n")
        out.flush()
    out.write(json.dumps({"end": stop}) + "\n")


def _resident() -> int:
    """Resident bytes of this process, 0 where the system does not tell."""
    try:
        with open("/proc/self/statm") as file:  # noqa: PTH123 - pathlib would cost the start a few milliseconds
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


def _serve_lines(context: Any, places: list[tuple[int, int]], request: dict[str, Any], out: TextIO) -> None:
    """Lines alone, of the results and metrics in ``only`` (index to names); machine code for those in ``sass``."""
    sources: dict[str, list[str]] = {}
    for key, wanted in request["only"].items():
        index = int(key)
        record: dict[str, Any] = {"index": index, "lines": []}
        i, j = places[index] if index < len(places) else (0, 0)
        action = context.range_by_idx(i).action_by_idx(j) if index < len(places) else None
        if action is not None:
            # Lines are an extra: what cannot be attributed leaves the verdict as it is.
            with contextlib.suppress(UnicodeError, TypeError, AttributeError, ValueError, RuntimeError, KeyError):
                record["lines"] = _lines(action, sources, wanted, index in request["sass"])
        out.write(json.dumps(record) + "\n")
        out.flush()
    out.write(json.dumps({"end": len(places)}) + "\n")


def _end_with_the_parent() -> None:
    """From now on the end of standard input, which the parent holds open, ends this process, even inside the library
    (where no Python code would run): the system's signal for news on a descriptor does that by default."""
    try:
        import fcntl
        import select

        fcntl.fcntl(0, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(0, fcntl.F_SETFL, fcntl.fcntl(0, fcntl.F_GETFL) | os.O_ASYNC)
        waiting = select.poll()
        waiting.register(0, select.POLLIN)
        gone = any(event & select.POLLHUP for _, event in waiting.poll(0))
    except (ImportError, AttributeError, OSError):
        # Elsewhere it ends at the next result, which nobody takes.
        return
    if gone:
        os._exit(1)


def main() -> None:
    # Whatever C++ prints must not mix with the results: they get a descriptor of their own.
    out = os.fdopen(os.dup(1), "w", encoding="ascii", newline="\n")
    os.dup2(2, 1)
    request = json.loads(sys.stdin.readline())
    _end_with_the_parent()
    if hasattr(signal, "alarm"):
        # The system ends the process then, wherever the library hangs and whatever became of the parent.
        signal.alarm(request.get("seconds", 0))
    limit = request.get("address_space")
    if limit:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    serve(request, out)
    out.flush()
    # Tearing down the library takes as long as reading a dozen results and frees nothing that exit would not.
    os._exit(0)


if __name__ == "__main__":
    main()
