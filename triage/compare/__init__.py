"""Two snapshots to a :class:`~triage.compare.model.Comparison`: what moved between them, and whether it matters."""

from __future__ import annotations

from dataclasses import replace

from triage.compare import comparable, quantities
from triage.compare.matching import Matched, match
from triage.compare.model import Comparison, Pair, Snapshot, State, Timing
from triage.compare.noise import Noise, judge
from triage.compare.snapshot import snapshot
from triage.model import Report
from triage.rules.rulebook import Rulebook

__all__ = ["Comparison", "Noise", "Pair", "Snapshot", "compare"]

_SHAKY = "the time did not change and a verdict stands near its thresholds: the limiter may not have moved either"


def compare(
    base: Snapshot | Report, head: Snapshot | Report, rulebook: Rulebook | None = None, noise: Noise | None = None
) -> Comparison:
    """Match the kernels of both sides and say for each what its duration, its limiter and its facts did.

    ``rulebook`` gives the facts their names (the default one unless given), ``noise`` says how much of a duration is
    noise. The result depends on nothing but the arguments: the same comparison twice is the same to the byte.
    """
    from triage import __version__
    from triage.rules.loader import default_rulebook

    rules = rulebook or default_rulebook()
    old, new = (side if isinstance(side, Snapshot) else snapshot(side) for side in (base, head))
    pairs = tuple(_pair(found, rules, noise or Noise()) for found in match(old.states, new.states))
    return Comparison(old, new, pairs, comparable.rules(old, new), __version__)


def _pair(found: Matched, rules: Rulebook, noise: Noise) -> Pair:
    kind, base, head = found
    if base is None or head is None:
        return Pair(kind, base, head)
    reasons = comparable.reasons(base, head)
    in_order = all(len(side.durations) == side.launches for side in (base, head))
    time = judge(base.durations, head.durations, noise, in_order=in_order)
    if reasons:
        time = Timing(time.base_ns, time.head_ns, time.ratio, time.band, "unknown", f"not compared: {reasons[0]}")
    pair = Pair(
        match=kind,
        base=base,
        head=head,
        time=time,
        reasons=reasons,
        hypothesis=comparable.other_gpu(base, head),
        resources=quantities.resources(base, head, rules),
        moves=quantities.moves(base, head, rules),
        notes=(*comparable.notes(base, head), *_mixed(base, "base"), *_mixed(head, "head")),
    )
    return replace(pair, notes=(*pair.notes, _SHAKY)) if _shaky(pair, base, head) else pair


def _mixed(state: State, side: str) -> tuple[str, ...]:
    """Launches of one kernel that ended in different answers."""
    if len(state.limiters) < 2:
        return ()
    shown = ", ".join(f"{limiter or 'undecided'} {count:,} times" for limiter, count in state.limiters[:4])
    return (f"the launches of the {side} have several limiters: {shown}",)


def _shaky(pair: Pair, base: State, head: State) -> bool:
    """Whether a limiter moved while the time did not, on a verdict that was not sure of itself."""
    sure = base.confidence == head.confidence == "high"
    return bool(pair.limiter_moved) and not sure and pair.change == "same"
