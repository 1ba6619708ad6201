"""Ranges of results of a ``.ncu-rep``, each read by a short-lived child, so that none grows too large."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from triage.readers import framing, process

Progress = Callable[[int, int], None]
# What the library keeps for each result it touched, measured on 2025.3 reports: 0.35 MB and 13 times its payload.
_RESULT_BYTES, _PAYLOAD_FACTOR = 400_000, 13
CHUNK_BYTES = 260 << 20
# Children that end early without having read a result; damage that kills more of them is not worth the wait.
_MAX_RESTARTS = 8
# Two children of about 400 MB beside the parent stay within 1 GB.
_MAX_CHILDREN = 2


@dataclass(slots=True)
class Found:
    """What the children found: ``records`` by result, ``count`` results in the file, ``faults`` as warnings."""

    records: dict[int, dict[str, Any]] = field(default_factory=dict)
    count: int | None = None
    faults: list[str] = field(default_factory=list)
    stopped: bool = False


def collect(
    request: dict[str, Any], frame: framing.Framing, deadline: float, memory: int, progress: Progress | None
) -> Found:
    """Everything the children find; ranges of results go to children of their own, so that none grows too large."""
    found = Found()
    ranges = split(frame.payloads, min(CHUNK_BYTES, memory // 2))
    total = frame.results

    def read(span: tuple[int, int | None]) -> None:
        one(request, span, deadline, memory, found)
        if progress:
            progress(len(found.records), total)

    workers = min(len(ranges), cores(), _MAX_CHILDREN)
    if workers <= 1:
        for span in ranges:
            read(span)
        return found
    with ThreadPoolExecutor(workers) as pool:
        try:
            list(pool.map(read, ranges))
        except BaseException:
            # Interrupted: the children still at work end at their next result, the others never start.
            found.stopped = True
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    found.faults = list(dict.fromkeys(found.faults))
    return found


def split(payloads: tuple[int, ...], budget: int) -> list[tuple[int, int | None]]:
    """``(start, stop)`` of results for each child; the last stop is open, for results the frame did not promise."""
    starts, used = [0], 0
    for index, payload in enumerate(payloads):
        cost = _RESULT_BYTES + _PAYLOAD_FACTOR * payload
        if used and used + cost > budget:
            starts.append(index)
            used = 0
        used += cost
    return list(zip(starts, [*starts[1:], None], strict=True))


def cores() -> int:
    """Processors that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def one(request: dict[str, Any], span: tuple[int, int | None], deadline: float, memory: int, found: Found) -> None:
    """Reads one range; a result on which the child dies is skipped and the rest is read by another child.

    A child ends by itself once it has grown to half its bound, and another goes on behind its last result.
    """
    start, stop = span
    failed = 0
    while failed < _MAX_RESTARTS:
        ending = process.Ending()
        last, end = start - 1, 0
        for record in process.run(
            {**request, "start": start, "stop": stop, "budget": memory // 2},
            deadline=deadline,
            memory_bytes=memory,
            ending=ending,
        ):
            if found.stopped:
                return
            if "count" in record:
                found.count = record["count"]
            elif "index" in record:
                last = record["index"]
                if "name" in record:
                    found.records[last] = record
            end = record.get("end", end)
        if found.stopped:
            return
        if ending.reason == "time":
            found.faults.append("reading stopped at its time limit")
            return
        if ending.reason == "memory" and last >= start:
            # Many results together, not the next one, were too much.
            end = last + 1
        elif ending.reason:
            failed += 1
            many = "needs more memory than allowed"
            why = many if ending.reason == "memory" else f"ends the reader ({ending.detail})"
            if found.count is None:
                found.faults.append(f"opening the report {why}")
                return
            found.faults.append(f"result {last + 1} {why} and is skipped")
            end = last + 2
        if end <= start or end >= _stop(stop, found.count):
            return
        start = end
    found.faults.append(f"reading stopped at result {start}: the reader failed too often")


def _stop(stop: int | None, count: int | None) -> int:
    return min(bound for bound in (stop, count, 1 << 62) if bound is not None)
