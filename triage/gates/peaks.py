"""The DRAM's peak that a percentage is of: told by the report, or worked out from what it tells."""

from __future__ import annotations

from collections.abc import Iterable

from triage.compare.model import State

_PEAK = "dram_peak_bytes_per_s"
# Below this use of the DRAM, in percent, bytes and use come from passes that differ by more than 1 % of either: over
# 140 kernels captured on an H200 what is worked out above it is within 0.5 % of the peak that the report tells.
_LEAST_USE = 1.0


def dram_peak(state: State, states: Iterable[State]) -> float | None:
    """Peak of the DRAM interface that ``state`` ran with, in byte/s.

    That of its own report entry, else the highest that another of ``states`` on the same GPU has, else what the bytes
    over the time over the share of the peak make (``dram_bytes / duration_ns / dram_pct``) of the one on that GPU that
    uses the DRAM most. ``None`` where nothing of that was collected, or nothing uses the DRAM enough to tell.
    """
    own = _told(state)
    if own is not None:
        return own
    alike = [one for one in (state, *states) if one.kernel.device == state.kernel.device]
    told = [peak for one in alike if (peak := _told(one)) is not None]
    if told:
        return max(told)
    worked_out = [found for one in alike if (found := _worked_out(one)) is not None]
    return max(worked_out)[1] if worked_out else None


def _told(state: State) -> float | None:
    peak = state.facts.get(_PEAK)
    return peak if peak is not None and peak > 0 else None


def _worked_out(state: State) -> tuple[float, float] | None:
    """Use of the DRAM in percent, and the peak in byte/s that follows from it."""
    moved, used, took = (state.facts.get(fact) for fact in ("dram_bytes", "dram_pct", "duration_ns"))
    if moved is None or used is None or took is None or used < _LEAST_USE or moved <= 0 or took <= 0:
        return None
    return used, moved / (took * 1e-9) / (used / 100)
