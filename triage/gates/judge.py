"""Asks every gate of every kernel. Three-valued: what cannot be judged is ``unknown`` and by default counts as
violated, because a gate that silently passes is worse than none."""

from __future__ import annotations

from collections.abc import Iterator

from triage import quantities
from triage.compare import Comparison, compare
from triage.compare.model import Pair, Snapshot, State
from triage.compare.snapshot import SPILLS, snapshot
from triage.gates.config import changed
from triage.gates.model import Config, Gates, Outcome, Result, State3
from triage.gates.peaks import dram_peak
from triage.gates.unmatched import at, unmatched
from triage.gates.values import Bandwidth
from triage.model import Report
from triage.renderers import diff_wording as words
from triage.renderers import wording
from triage.renderers.escape import clean, shorten
from triage.rules.rulebook import Rulebook

_SECTOR = 32


def check(head: Snapshot | Report, base: Snapshot | Report | None, config: Config, rulebook: Rulebook) -> Result:
    """Every gate of ``config`` asked of ``head``, against ``base`` where there is one."""
    from triage import __version__

    new = head if isinstance(head, Snapshot) else snapshot(head)
    if base is None:
        pairs = tuple(Pair("added", None, state) for state in new.states)
        comparison = Comparison(Snapshot("", "baseline", ()), new, pairs)
    else:
        comparison = compare(base, new, rulebook, config.noise)
    asked = _Asked(comparison, config, has_base=base is not None)
    outcomes = [outcome for pair in comparison.pairs for outcome in asked.of(pair)]
    # What is gone is told by the gate removed_kernels, where that is asked; else its entries ask nobody.
    kernels = [
        pair.shown.kernel
        for pair in comparison.pairs
        if pair.head is not None or gates_of(pair.shown, config).removed_kernels
    ]
    outcomes += unmatched(kernels, config)
    return Result(tuple(outcomes), new, comparison if base is not None else None, config, __version__)


def gates_of(state: State, config: Config) -> Gates:
    """The gates in force for a kernel: the general ones, changed by every entry that matches it, in order."""
    gates = config.gates
    for scope in config.kernels:
        if scope.applies(state.kernel):
            gates = changed(gates, scope.changes)
    return gates


class _Asked:
    def __init__(self, comparison: Comparison, config: Config, *, has_base: bool) -> None:
        self.names, self.config, self.has_base = words.Names(comparison), config, has_base
        self.states = comparison.head.states

    def of(self, pair: Pair) -> Iterator[Outcome]:
        """What came of each gate that is on for this kernel."""
        gates = gates_of(pair.shown, self.config)
        if gates.skip:
            return
        if pair.head is None:
            if gates.removed_kernels:
                yield self._made("removed_kernels", pair, "violated", "is in the baseline and did not run")
            return
        if self.has_base:
            yield from self._against(pair, gates)
        yield from self._alone(pair, pair.head, gates)

    def _against(self, pair: Pair, gates: Gates) -> Iterator[Outcome]:
        if pair.base is None or pair.head is None:
            if gates.new_kernels:
                yield self._made("new_kernels", pair, "violated", "runs and is not in the baseline")
            return
        if pair.reasons:
            if gates.comparable:
                yield self._made("comparable", pair, "violated", f"cannot be compared: {'; '.join(pair.reasons)}")
            return
        if gates.slower_than is not None:
            yield self._slower(pair, gates, gates.slower_than)
        if gates.limiter_changed != "never":
            yield self._limiter_changed(pair, gates)

    def _slower(self, pair: Pair, gates: Gates, limit: float) -> Outcome:
        timing = pair.time
        allowed = f"allowed are {quantities.significant(100 * limit)} % more"
        if timing is None or timing.ratio is None:
            why = timing.why if timing else "not timed"
            return self._unknown("slower_than", pair, gates, f"may be slower: {why}")
        times = f"{quantities.duration(timing.base_ns)} to {quantities.duration(timing.head_ns)}"
        slow = timing.change == "slower" and timing.ratio - 1 > limit
        amount = words.amount(timing)
        if amount == "no change":
            return self._made("slower_than", pair, "held", f"did not change ({times}; {timing.why})")
        verb = amount if amount.startswith("takes") else f"is {amount}"
        text = f"{verb} ({times}); {allowed}" if slow else f"{verb} ({times})"
        return self._made("slower_than", pair, "violated" if slow else "held", text)

    def _limiter_changed(self, pair: Pair, gates: Gates) -> Outcome:
        moved = pair.limiter_moved
        if moved is None:
            undecided = "on both sides" if pair.base and pair.base.limiter is None else "here"
            known = pair.base is not None and pair.base.limiter is None
            text = f"its limiter is undecided {undecided}; {words.limiters(pair)}"
            # What was never decided cannot have moved; that is the gate `undecided`'s to tell.
            if known:
                return self._made("limiter_changed", pair, "held", words.limiters(pair))
            return self._unknown("limiter_changed", pair, gates, text)
        if not moved:
            return self._made("limiter_changed", pair, "held", words.limiters(pair))
        fine = gates.limiter_changed == "unless_faster" and pair.change == "faster"
        text = f"its {words.limiters(pair)}"
        return self._made("limiter_changed", pair, "held" if fine else "violated", text)

    def _alone(self, pair: Pair, state: State, gates: Gates) -> Iterator[Outcome]:
        if gates.limiters is not None:
            yield self._limiters(pair, state, gates, gates.limiters)
        if gates.max_duration is not None:
            yield self._duration(pair, state, gates, gates.max_duration)
        if gates.min_effective_bandwidth is not None:
            yield self._bandwidth(pair, state, gates, gates.min_effective_bandwidth)
        if gates.spills:
            yield from self._spills(pair, state)
        if gates.undecided:
            partly = next((share for limiter, share in state.beside if limiter is None), None)
            if state.limiter is None:
                yield self._made("undecided", pair, "violated", "is undecided: what limits it is not known")
            elif partly is not None:
                text = f"is undecided in launches that take {quantities.percent(partly)} of its time"
                yield self._made("undecided", pair, "violated", text)
            else:
                yield self._made("undecided", pair, "held", f"is decided: {words.limiter(state)}")

    def _limiters(self, pair: Pair, state: State, gates: Gates, expected: tuple[str, ...]) -> Outcome:
        """Holds where every answer that counts is among the expected ones, whichever of them most of the time has."""
        text = f"is limited by {state.limiter}" if state.limiter else "is undecided"
        others = [(limiter or wording.UNDECIDED, share) for limiter, share in state.beside]
        wrong = [(found, share) for found, share in others if found not in expected]
        spoken = (state.limiter or wording.UNDECIDED) in expected
        shown = wrong if spoken else others
        text += "".join(f", by {found} in {quantities.percent(share)} of its time" for found, share in shown)
        if spoken and not wrong:
            return self._made("limiters", pair, "held", text)
        text = f"{text}; expected is {', '.join(expected)}"
        only_unknown = (spoken or state.limiter is None) and all(found == wording.UNDECIDED for found, _ in wrong)
        if only_unknown:
            return self._unknown("limiters", pair, gates, text)
        return self._made("limiters", pair, "violated", text)

    def _duration(self, pair: Pair, state: State, gates: Gates, limit: float) -> Outcome:
        if state.median_ns is None:
            return self._unknown("max_duration", pair, gates, "was not timed")
        text = f"takes {quantities.duration(state.median_ns)}; allowed are {quantities.duration(limit)}"
        return self._made("max_duration", pair, "violated" if state.median_ns > limit else "held", text)

    def _bandwidth(self, pair: Pair, state: State, gates: Gates, asked: Bandwidth) -> Outcome:
        gate = "min_effective_bandwidth"
        found = effective_bandwidth(state, gates.ideal_bytes)
        if found is None:
            return self._unknown(gate, pair, gates, "has no known effective bandwidth: give ideal_bytes, and time it")
        limit = asked.value
        shown = quantities.quantity(limit, "byte/s")
        if asked.percent:
            peak = dram_peak(state, self.states)
            if peak is None:
                text = "has no known DRAM peak: collect DRAM bytes and DRAM use, or ask for a bandwidth in GB/s"
                return self._unknown(gate, pair, gates, text)
            limit = asked.value / 100 * peak
            shown = f"{quantities.percent(asked.value)} of the DRAM's peak, {quantities.quantity(limit, 'byte/s')}"
        text = f"moves the bytes it needs at {quantities.quantity(found, 'byte/s')}; asked are {shown}"
        return self._made(gate, pair, "held" if found >= limit else "violated", text)

    def _spills(self, pair: Pair, state: State) -> Iterator[Outcome]:
        """Only what was measured: without the counters there is nothing to say, and most reports do not have them."""
        for fact in SPILLS:
            now = state.facts.get(fact)
            if now is None:
                continue
            before = pair.base.facts.get(fact) if pair.base else None
            grew = now > 0 and (before == 0 or (pair.base is None and not self.has_base))
            kind = "spill requests" if fact == "spill_requests" else "sectors of local memory"
            if grew:
                text = f"spills: {quantities.significant(now)} {kind}" + (", none in the baseline" if pair.base else "")
                yield self._made("spills", pair, "violated", text)
            else:
                yield self._made("spills", pair, "held", "does not spill" if now == 0 else "spilled before as well")
            return

    def _unknown(self, gate: str, pair: Pair, gates: Gates, text: str) -> Outcome:
        result: State3 = "violated" if gates.unknown == "violated" else "unknown"
        return self._made(gate, pair, result, f"{text} (cannot be judged)")

    def _made(self, gate: str, pair: Pair, result: State3, text: str) -> Outcome:
        line = next((state.lines[0] for state in (pair.head, pair.base) if state is not None and state.lines), None)
        name = self.names.of(pair)
        place = self._place(pair.shown, gate)
        # The file alone says nothing that the hint below the lines does not: a default was set nowhere.
        set_at = at(place) if place != self.config.source else ""
        shown = wording.place(line) if line is not None else set_at
        where = f" [{shown}]" if shown else ""
        return Outcome(
            gate=gate,
            kernel=shorten(clean(pair.shown.kernel.name), 400),
            result=result,
            text=f"{name}: {text}{where}",
            file=line.file if line else None,
            line=line.line if line else None,
            place=place,
            pair=pair,
            state=pair.head,
        )

    def _place(self, state: State, gate: str) -> str:
        """Where the gate was set."""
        for scope in reversed(self.config.kernels):
            if scope.applies(state.kernel) and gate in dict(scope.changes):
                return scope.place
        return dict(self.config.places).get(gate, self.config.source)


def effective_bandwidth(state: State, ideal_bytes: float | None = None) -> float | None:
    """Bytes that the kernel needs over its median duration, in byte/s; the bytes are ``ideal_bytes``, or those of the
    sectors that its global accesses need when each warp's bytes lie side by side. ``None`` where that is not known."""
    if not state.median_ns:
        return None
    needed = ideal_bytes
    if needed is None and state.facts.get("ideal_sectors"):
        needed = _SECTOR * state.facts["ideal_sectors"]
    seconds = state.median_ns * 1e-9
    # The time of a damaged file may be too small for a float.
    return needed / seconds if needed and seconds else None
