"""Canonical quantities of one kernel, computed from its raw metrics; each is known, bounded or unknown.

The definitions come from ``rules/facts.yaml``. A fact is first taken from the first of its alternatives whose operands
were all collected; otherwise every alternative and every declared bound narrows the interval it must lie in.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from triage.magnitude import plausible
from triage.model import Condition, Fact, Kernel, Quantity, Verdict
from triage.rules.chips import chip_number
from triage.rules.conditions import Node
from triage.rules.formulas import UNKNOWN, Interval
from triage.rules.rulebook import Alternative, FactDef, Rulebook

# Bounds of bounds of bounds ...: beyond this many a bound is not worked out, before Python runs out of nested calls.
_DEEPEST = 100
_NONE: Mapping[str, Quantity | str] = {}

# Percentages above this are contradictions, not rounding (NVIDIA's guide, decision 0: "significantly above 100 %").
DOUBTFUL_PERCENT = 110.0


class FactSet:
    """The facts of one kernel, computed when asked for and kept.

    ``given`` presets facts by id (rule tests do that); ``fallback`` holds metrics that stand in for absent ones;
    ``doubtful`` collects the metrics that were left out because their value cannot be right (NaN, negative, of
    a size that nothing measured has, a percentage above 110). ``texts`` and ``conditions`` are kept for those who
    describe facts: the same comparison stands at many places of a report.
    """

    def __init__(
        self,
        rulebook: Rulebook,
        metrics: Mapping[str, Quantity | str],
        cc: str | None = None,
        given: Mapping[str, float] | None = None,
        fallback: Mapping[str, Quantity | str] = _NONE,
    ) -> None:
        self.rulebook = rulebook
        self.metrics = metrics
        self.fallback = fallback
        self.cc = chip_number(cc)
        self.doubtful: dict[str, float] = {}
        self.texts: dict[str, str] = {}
        self.conditions: dict[int, tuple[Node, Condition]] = {}
        self._verdicts: dict[int, tuple[Node, Verdict]] = {}
        self._intervals: dict[str, Interval] = {name: (value, value) for name, value in (given or {}).items()}
        self._sources: dict[str, str] = dict.fromkeys(given or (), "given")
        self._busy: set[str] = set()
        self._missing: dict[str, list[str]] = {}
        self._chip_has: dict[str, bool] = {}

    def supposing(self, values: Mapping[str, float]) -> FactSet:
        """The same kernel, had these facts these values: what is computed from them follows, the rest stays."""
        other = FactSet(self.rulebook, self.metrics, given=values, fallback=self.fallback)
        other.cc, other._chip_has = self.cc, self._chip_has
        moved = self.rulebook.made_of(values)
        other._intervals.update((name, known) for name, known in self._intervals.items() if name not in moved)
        return other

    def metric(self, name: str) -> Interval:
        """The interval of a raw metric: its value twice, or ``(0, inf)`` when absent or impossible."""
        quantity = self.metrics.get(name)
        if not isinstance(quantity, Quantity):
            quantity = self.fallback.get(name)
            if not isinstance(quantity, Quantity):
                return UNKNOWN
        value = quantity.value
        if not plausible(value) or value < 0 or (value > DOUBTFUL_PERCENT and "pct_of_peak" in name):
            self.doubtful[name] = value
            return UNKNOWN
        return (value, value)

    def interval(self, fact: str) -> Interval:
        """The interval of a fact; ``(0, inf)`` when nothing is known about it."""
        found = self._intervals.get(fact)
        if found is None:
            if fact in self._busy or len(self._busy) > _DEEPEST:
                return UNKNOWN
            self._busy.add(fact)
            found = self._intervals[fact] = self._compute(self.rulebook.facts[fact])
            self._busy.discard(fact)
        return found

    def judge(self, node: Node) -> Verdict:
        """What a condition of the rulebook says of this kernel; gates are shared, so each is judged once."""
        kept = self._verdicts.get(id(node))
        if kept is not None and kept[0] is node:
            return kept[1]
        verdict = node.judge(self)
        self._verdicts[id(node)] = (node, verdict)
        return verdict

    def value(self, fact: str) -> float | None:
        """The value of a fact, ``None`` when it is not known exactly."""
        low, high = self.interval(fact)
        return low if low == high else None

    def known(self, fact: str) -> bool:
        """Whether the fact has an exact value."""
        low, high = self.interval(fact)
        return low == high

    def sayable(self, fact: str) -> bool:
        """Whether there is something to say: an exact value, or a roll-up of which a part was collected."""
        low, high = self.interval(fact)
        return low == high or (low > 0 and bool(self.rulebook.facts[fact].largest_of))

    def _compute(self, definition: FactDef) -> Interval:
        if definition.largest_of:
            rolled = self._largest(definition)
            if rolled is not None:
                return rolled
        low, high = -math.inf, math.inf
        applied = False
        for alternative in definition.alternatives:
            if not self._applies(alternative):
                continue
            a, b = alternative.formula.evaluate(self.metric, self.interval)
            if a == b and not plausible(a):
                # What such a number was made of cannot be right either.
                continue
            if a == b:
                self._sources[definition.id] = alternative.formula.text
                return (a, b)
            low, high, applied = max(low, a), min(high, b), True
        if definition.sum_of_known:
            total = sum(self.interval(part)[0] for part in definition.sum_of_known if self.known(part))
            self._sources[definition.id] = "sum of what was collected"
            return (total, total)
        measured = (low, high)
        if definition.largest_of:
            # The largest constituent that is known bounds a roll-up from below, the largest that can be from above.
            low = max(low, *(self.interval(part)[0] for part in definition.largest_of))
            counted = [
                p for p in definition.largest_of if self.known(p) or (p not in definition.optional and self._exists(p))
            ]
            high = min(high, max((self.interval(part)[1] for part in counted), default=math.inf))
        for formula in definition.at_most:
            high = min(high, formula.evaluate(self.metric, self.interval)[1])
        for formula in definition.at_least:
            low = max(low, formula.evaluate(self.metric, self.interval)[0])
        if low == -math.inf and not applied:
            low = 0.0  # a quantity is not negative; a difference of two may be
        if low > high:
            # Bounds of different bases or passes cross. What was measured wins; else the truth lies between them.
            return measured if applied and math.isfinite(measured[1]) else (high, low)
        return (low, high)

    def _applies(self, alternative: Alternative) -> bool:
        if alternative.cc is not None and not alternative.cc.holds(self.cc):
            return False
        return alternative.when is None or alternative.when.judge(self) is Verdict.FIRES

    def _largest(self, definition: FactDef) -> Interval | None:
        """The roll-up from its constituents, when all that count were collected."""
        values: list[float] = []
        for part in definition.largest_of:
            low, high = self.interval(part)
            if low == high:
                values.append(low)
            elif part not in definition.optional and self._exists(part):
                return None
        if not values:
            return None
        top = max(values)
        self._sources[definition.id] = "the largest of " + ", ".join(
            part for part in definition.largest_of if self.known(part)
        )
        return (top, top)

    def _exists(self, fact: str) -> bool:
        """Whether this chip has the fact at all: a fact whose every alternative belongs to other chips does not."""
        known = self._chip_has.get(fact)
        if known is None:
            definition = self.rulebook.facts[fact]
            if definition.largest_of:
                known = any(self._exists(part) for part in definition.largest_of)
            else:
                known = any(a.cc is None or a.cc.holds(self.cc) for a in definition.alternatives)
            self._chip_has[fact] = known
        return known

    def missing(self, fact: str) -> tuple[str, ...]:
        """The metrics that would make an unknown fact known, by the names that this chip's ``ncu`` uses.

        Of the alternatives for this chip the one is named that lacks least.
        """
        found = self._missing.get(fact)
        if found is None:
            found = self._missing[fact] = self._lacking(fact, frozenset())
        return tuple(dict.fromkeys(found))

    def _lacking(self, fact: str, seen: frozenset[str]) -> list[str]:
        if fact in seen or self.known(fact):
            return []
        if fact in self._missing:
            return self._missing[fact]
        definition = self.rulebook.facts[fact]
        seen = seen | {fact}
        if definition.largest_of:
            return [
                name
                for part in definition.largest_of
                if part not in definition.optional and self._exists(part)
                for name in self._lacking(part, seen)
            ]
        # Ways that are not worth a pass of every run count where no other would do.
        for worth in (True, False):
            best: list[str] = []
            for alternative in definition.alternatives:
                if (alternative.cc is not None and not alternative.cc.holds(self.cc)) or alternative.collect != worth:
                    continue
                lacking = [name for name in alternative.formula.metrics if not self._has(name)]
                for part in alternative.formula.facts:
                    lacking += self._lacking(part, seen)
                if lacking and (not best or len(lacking) < len(best)):
                    best = lacking
            if best:
                return best
        return []

    def _has(self, metric: str) -> bool:
        return metric in self.metrics or metric in self.fallback

    def fact(self, fact: str) -> Fact:
        """The public form of a fact, with how it was had and what was missing."""
        definition = self.rulebook.facts[fact]
        low, high = self.interval(fact)
        if low == high:
            return Fact(fact, Quantity(low, definition.unit), self._sources.get(fact, ""), low, high)
        # A partial roll-up is shown as what is known of it: at least the largest constituent that was collected.
        partial = bool(definition.largest_of) and low > 0
        how = "at least: not every constituent was collected" if partial else ""
        quantity = Quantity(low, definition.unit) if partial else None
        return Fact(fact, quantity, how, low, high, self.missing(fact))


class Known(Mapping[str, Fact]):
    """The facts that can be said of a kernel, by id; each is made when it is looked up. Pickled as a plain dict."""

    __slots__ = ("_facts", "_made", "_names")

    def __init__(self, facts: FactSet) -> None:
        self._facts = facts
        self._names: tuple[str, ...] | None = None
        self._made: dict[str, Fact] = {}

    def __getitem__(self, name: str) -> Fact:
        made = self._made.get(name)
        if made is None:
            if name not in self:
                raise KeyError(name)
            made = self._made[name] = self._facts.fact(name)
        return made

    def __contains__(self, name: object) -> bool:
        return name in self._facts.rulebook.facts and self._facts.sayable(str(name))

    def __iter__(self) -> Iterator[str]:
        if self._names is None:
            self._names = tuple(name for name in self._facts.rulebook.facts if self._facts.sayable(name))
        return iter(self._names)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __reduce__(self) -> tuple[type[dict[str, Fact]], tuple[list[tuple[str, Fact]]]]:
        return (dict, (list(self.items()),))


def of_kernel(kernel: Kernel, rulebook: Rulebook) -> FactSet:
    """The facts of a kernel; what its launch says stands in for launch metrics that were not collected."""
    return FactSet(rulebook, kernel.metrics, kernel.device.cc, fallback=launch_metrics(kernel))


def launch_metrics(kernel: Kernel) -> dict[str, Quantity | str]:
    """Grid and block size (counts) and the number of SMs, as metrics, where the report has them outside its metrics."""
    found: dict[str, Quantity | str] = {}
    if kernel.launch.grid:
        found["launch__grid_size"] = Quantity(float(math.prod(kernel.launch.grid)))
    if kernel.launch.block:
        found["launch__block_size"] = Quantity(float(math.prod(kernel.launch.block)))
    if kernel.device.sms:
        found["device__attribute_multiprocessor_count"] = Quantity(float(kernel.device.sms))
    return found
