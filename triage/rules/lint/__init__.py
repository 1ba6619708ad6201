"""What is wrong with rule files, each fault at its place.

The loader refuses what it cannot use; the linter reports all of that and, of everything that could be read, more: what
cannot be true, is never reached, has no source, names a counter that no chip has, fails its own tests, or differs from
its lock.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from triage.errors import FaultyRules
from triage.numerals import whole
from triage.paths import exists
from triage.rules import cases
from triage.rules.layers import Layer
from triage.rules.lint.counters import check_counters
from triage.rules.lint.explicit import check_explicit
from triage.rules.lint.lock import check_lock
from triage.rules.lint.logic import check_logic
from triage.rules.lint.units import check_units
from triage.rules.loader import DEFAULT_PROFILE, assemble
from triage.rules.rulebook import Rulebook
from triage.rules.yamlfile import Document, Fault, List, Map

# A fault as text: its place, code and message; the name of a folder may hold blanks and colons.
_SHOWN = re.compile(r".+?:([0-9]+):([0-9]+): (\S+) (.*)", re.DOTALL)
# Faults that say nothing about the rule itself: its tests can run all the same.
_ABOUT_OTHERS = ("unreachable", "unknown-limiter", "clash", "missing-test")


def lint(layers: Sequence[Layer], profile: str = DEFAULT_PROFILE, others: Sequence[Document] = ()) -> list[Fault]:
    """Every fault of the layers that are not shipped (of the shipped rules too, when nothing else is given), in order
    of file and line. ``others`` are further documents that were read and checked elsewhere."""
    made = assemble(layers, profile)
    found = {fault for document in (*made.documents, *others) for fault in (*document.faults, *document.advice)}
    if made.rulebook is not None:
        found |= set(_deep(made.rulebook, layers))
    elif made.loaded is not None:
        # What could be read is checked as well, so that one run names every fault; tests of faulty files wait.
        faulty = {fault.file for fault in made.faults if fault.code not in _ABOUT_OTHERS}
        found |= set(_deep(made.loaded, layers, faulty))
    for layer in layers:
        found |= set(check_lock(layer))
        found |= set(_sets(layer))
    own = [layer for layer in layers if layer.kind != "shipped"] or list(layers)
    shipped = {document.shown for layer in layers if layer not in own for document in layer.documents}
    return sorted(fault for fault in found if fault.file not in shipped)


def _deep(rulebook: Rulebook, layers: Sequence[Layer], faulty: Collection[str] = ()) -> Iterator[Fault]:
    yield from check_units(rulebook)
    yield from check_logic(rulebook)
    yield from check_counters(rulebook, _declared(layers))
    yield from check_explicit(rulebook)
    for limiter in rulebook.limiters.values():
        if limiter.status == "retired" or limiter.place in faulty:
            continue
        for case in limiter.tests:
            found = cases.verdict(rulebook, limiter, case)
            if found != case.expect:
                message = f"{limiter.id!r}, {case.name!r}: expected {case.expect}, was {found}"
                yield Fault(*case.spot, "test", message)
    for walk_case in rulebook.cases:
        # A report that cannot be had is a fault of its own, noted where its path stands.
        failure = "" if walk_case.fault else cases.failed(rulebook, walk_case)
        if failure:
            yield Fault(*walk_case.spot, "test", failure)


def _declared(layers: Sequence[Layer]) -> list[str]:
    """Counters that files declare to exist."""
    found: list[str] = []
    for part in (part for layer in layers for part in layer.parts):
        counters = part.root.get("counters", List()) if isinstance(part.root, Map) else List()
        if isinstance(counters, List):
            found += [name for name in counters if isinstance(name, str)]
    return found


def _sets(layer: Layer) -> Iterator[Fault]:
    """Faults of the metric sets of a folder, which another room reads."""
    from triage.ncu.sets import load_sets

    if layer.folder is None or not exists(layer.folder / "sets.yaml"):
        return
    try:
        load_sets([layer.folder / "sets.yaml"])
    except FaultyRules as error:
        for line in error.details:
            found = _SHOWN.fullmatch(line)
            number, column = (whole(found[1]), whole(found[2])) if found is not None else (None, None)
            if found is not None and number is not None and column is not None:
                yield Fault(f"{layer.name}/sets.yaml", number, column, found[3], found[4])
