"""Shared memory of one kernel: wavefronts, how many of them are bank-conflict replays, and what would be ideal."""

from __future__ import annotations

from dataclasses import dataclass

from triage import quantities
from triage.model import Diagnosis
from triage.renderers.known import known_fact

# Without the count by source line: below this use of the data stage the wavefronts are bookkeeping of the hardware.
_USED_PCT = 1.0


@dataclass(frozen=True, slots=True)
class Row:
    """A kind of access: ``ideal`` and ``replays`` are percent of the widest row's wavefronts, for the bar; ``note``
    counts wavefronts, ``share`` says how many of them are replays."""

    name: str
    ideal: float
    replays: float
    note: str
    share: str


@dataclass(frozen=True, slots=True)
class Shared:
    """What the template draws; ``missing`` names what was not collected."""

    sentence: str
    rows: tuple[Row, ...]
    missing: tuple[str, ...]


def shared(diagnosis: Diagnosis) -> Shared | None:
    """The section, or ``None`` where the kernel does not use shared memory or nothing about it is known."""
    by_code, ideal = known_fact(diagnosis, "shared_access_wavefronts"), known_fact(diagnosis, "shared_ideal_wavefronts")
    total, replays = known_fact(diagnosis, "shared_wavefronts"), known_fact(diagnosis, "shared_conflicts")
    share = known_fact(diagnosis, "shared_conflict_pct")
    if replays is None and total is not None and share is not None:
        replays = total * share / 100
    if by_code == 0 or (by_code is None and not _used(diagnosis, replays)):
        return None
    named = (
        ("All accesses", total, replays),
        ("Loads", known_fact(diagnosis, "shared_ld_wavefronts"), known_fact(diagnosis, "shared_ld_conflicts")),
        ("Stores", known_fact(diagnosis, "shared_st_wavefronts"), known_fact(diagnosis, "shared_st_conflicts")),
    )
    widest = max((count for _, count, _ in named if count), default=0.0)
    rows = tuple(_row(name, count, lost, widest) for name, count, lost in named if count is not None)
    missing = []
    if replays is None:
        missing.append("bank conflicts")
    if ideal is None:
        missing.append("the ideal number of wavefronts, which the source counters hold")
    return Shared(_sentence(total, replays, by_code, ideal), rows, tuple(missing))


def _used(diagnosis: Diagnosis, replays: float | None) -> bool:
    busy = known_fact(diagnosis, "shared_stage_pct")
    return bool(replays) or (busy is not None and busy >= _USED_PCT)


def _row(name: str, count: float, replays: float | None, widest: float) -> Row:
    lost = min(replays, count) if replays is not None else 0.0
    scale = 100 / widest if widest else 0.0
    share = quantities.percent(100 * lost / count) if replays is not None and count else "not collected"
    return Row(name, (count - lost) * scale, lost * scale, quantities.quantity(count), share)


def _sentence(total: float | None, replays: float | None, by_code: float | None, ideal: float | None) -> str:
    parts = []
    if total is not None and replays is not None:
        if replays < 0.005 * total:
            parts.append(f"{quantities.quantity(total)} wavefronts, practically none of them a bank-conflict replay.")
        else:
            share = quantities.whole_percent(min(100 * replays / total, 100.0)) if total else ""
            parts.append(f"{share} of {quantities.quantity(total)} wavefronts are bank-conflict replays (hatched).")
    elif total is not None:
        parts.append(f"{quantities.quantity(total)} wavefronts.")
    if by_code and ideal:
        factor = by_code / ideal
        if factor < 1.005:
            parts.append("The accesses of the code take no more wavefronts than is ideal.")
        else:
            parts.append(
                f"The accesses of the code take {quantities.quantity(by_code)} where {quantities.quantity(ideal)} "
                f"would do: {quantities.significant(factor)} times the ideal."
            )
    return " ".join(parts) or "Shared memory is used; its wavefronts were not counted."
