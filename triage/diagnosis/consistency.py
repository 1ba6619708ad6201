"""Whether the counters of one kernel agree with each other: what one flipped bit in a report or a bad pass breaks.

Nsight Compute writes many quantities more than once: a grid size and its three dimensions, bytes and bytes per second
and the duration, a roll-up and its constituents, stall reasons and the latency that they add up to. A report carries no
checksum, so these are what tells an altered value from a measured one. :func:`check` says which relations fail and
which metrics must therefore be left out; a metric that other relations confirm is kept.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain

from triage.diagnosis import definitions, relations
from triage.magnitude import plausible
from triage.model import Kernel, Launch, Quantity, RulebookId
from triage.rules.rulebook import Rulebook

# How every warning of this module begins.
CONTRADICTION = "its counters contradict each other, so the file may be damaged or its passes differ"


@dataclass(frozen=True, slots=True)
class Doubts:
    """``warnings`` for the kernel, and the metrics that no rule may use."""

    warnings: tuple[str, ...] = ()
    doubtful: frozenset[str] = frozenset()

    def trusted(self, kernel: Kernel) -> Kernel:
        """The kernel without what is doubtful, and without launch sizes where it is many launches in one result (a
        graph, a range): facts are made of this one."""
        many = kernel.workload != "kernel"
        if not self.doubtful and not many:
            return kernel
        metrics = {
            name: value
            for name, value in kernel.metrics.items()
            if name not in self.doubtful and not (many and name.startswith("launch__"))
        }
        return replace(kernel, metrics=metrics, launch=Launch() if many else kernel.launch)


_read_by: dict[RulebookId, frozenset[str]] = {}


def read_by(rules: Rulebook) -> frozenset[str]:
    """Every metric that any way to any fact may use."""
    found = _read_by.get(rules.identity)
    if found is None:
        formulas = (formula for definition in rules.facts.values() for formula in definition.formulas)
        found = _read_by[rules.identity] = frozenset(name for formula in formulas for name in formula.metrics)
    return found


@lru_cache(maxsize=16)
def wanted(names: frozenset[str]) -> frozenset[str]:
    """``names`` with the metrics that bear witness for them."""
    return names | relations.WITNESSES | definitions.WITNESSES | frozenset(definitions.rolled_up(names).values())


@lru_cache(maxsize=16)
def _defined(names: frozenset[str]) -> definitions.Definitions:
    return definitions.Definitions.among(names)


def _measured(kernel: Kernel) -> Kernel:
    """The kernel without numbers that no kernel has."""
    odd = {name for name, value in kernel.metrics.items() if isinstance(value, Quantity) and not plausible(value.value)}
    if not odd:
        return kernel
    return replace(kernel, metrics={name: value for name, value in kernel.metrics.items() if name not in odd})


def check(kernel: Kernel, names: frozenset[str]) -> Doubts:
    """The contradictions among those metrics of a kernel that are in ``names``, and what :func:`wanted` adds to them.

    Values that are impossible by themselves (negative, above 110 % of a peak, of a size that nothing measured has) are
    left to the facts, which leave them out as they meet them. The last bear no witness either: what is worked out with
    them leaves what a float holds.
    """
    kernel = _measured(kernel)
    found = list(chain(relations.relations(kernel, names), _defined(names).relations(kernel.metrics)))
    broken = [relation for relation in found if not relation.holds]
    if not broken:
        return Doubts()
    confirmed = {name for relation in found if relation.holds and relation.exact for name in relation.names}
    doubtful: set[str] = set()
    for relation in broken:
        left = [name for name in relation.names if name not in confirmed]
        # Where every one of them is confirmed elsewhere nobody can say which is wrong.
        doubtful.update(left or relation.names)
    texts = list(dict.fromkeys(relation.text for relation in broken))
    shown = "; ".join(texts[:3]) + (f"; and {len(texts) - 3} more" if len(texts) > 3 else "")
    return Doubts((f"{CONTRADICTION}: {shown}",), frozenset(doubtful))
