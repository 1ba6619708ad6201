"""What a rule file leaves unsaid: whether a way to a fact is worth a pass, on which chips a plain number holds, what a
stable rule owes its readers, and which thresholds nothing uses."""

from __future__ import annotations

from collections.abc import Iterator

from triage.rules.conditions import AllOf, Comparison, Node, Not
from triage.rules.lint.counters import FREE, SUPPORTED
from triage.rules.rulebook import Alternative, FactDef, LimiterDef, Rulebook
from triage.rules.yamlfile import Fault


def check_explicit(rulebook: Rulebook) -> Iterator[Fault]:
    """All of these checks."""
    for definition in rulebook.facts.values():
        yield from _constants(definition)
        yield from _collection(definition)
    for limiter in rulebook.limiters.values():
        if limiter.status == "stable":
            yield from _stable(limiter)
        if limiter.status != "retired":
            yield from _decided(limiter, rulebook)
    yield from _unused(rulebook)


def _constants(definition: FactDef) -> Iterator[Fault]:
    if len(definition.alternatives) < 2:
        return
    for way in definition.alternatives:
        plain = not way.formula.metrics and not way.formula.facts
        if plain and not way.chips_given and way.when is None:
            message = (
                f"{definition.id!r}: a plain number among other ways says for which chips ('cc') or 'when' it holds"
            )
            yield Fault(*way.spot, "constant", message)


def _modern(way: Alternative) -> bool:
    """Whether it holds on a chip that this ncu profiles."""
    return way.cc is None or any(way.cc.holds(cc) for cc in SUPPORTED if cc >= 7.0)


def _costs(way: Alternative) -> bool:
    """Whether it takes a pass on a chip that this ncu profiles."""
    return _modern(way) and any(not name.startswith((*FREE, "sm__maximum_")) for name in way.formula.metrics)


def _collection(definition: FactDef) -> Iterator[Fault]:
    dear = [way for way in definition.alternatives if _costs(way)]
    if not definition.collect:
        for way in dear:
            if way.collect:
                message = f"{definition.id!r} is never worth a pass: its way says 'collect: false' too"
                yield Fault(*way.spot, "collect", message)
        return
    ways = definition.alternatives
    if ways and len(dear) == len(ways) and not any(way.collect for way in dear):
        message = f"no way to {definition.id!r} is worth a pass: say 'collect: false' for the fact too"
        yield Fault(*definition.spot, "collect", message)


def _decided(limiter: LimiterDef, rulebook: Rulebook) -> Iterator[Fault]:
    """A rule that what `triage profile` collects can never make fire. A comparison with a fact that is read but never
    collected is fine where it only adds to the rule: beside another part of an 'any'."""
    known: dict[str, bool] = {}
    facts = dict.fromkeys(leaf.fact for leaf in limiter.when.leaves())
    never = [name for name in facts if not collected(name, rulebook, known)]
    if never and not _can(limiter.when, True, set(never)):
        roots = dict.fromkeys(root for name in never for root in _roots(name, rulebook, known))
        why = "" if list(roots) == never else f" (it needs {', '.join(map(repr, roots))})"
        message = (
            f"'when' of {limiter.id!r} compares {', '.join(map(repr, never))}{why}, which is never collected; name the "
            "metric itself or drop 'collect: false'"
        )
        spot = limiter.spots.get("when", ("", 0, 0))
        yield Fault(*spot, "collect", message)


def _can(node: Node, wanted: bool, never: set[str]) -> bool:
    """Whether the condition can fire (``wanted``) or be clear while the facts ``never`` are unknown."""
    if isinstance(node, Comparison):
        return node.fact not in never
    if isinstance(node, Not):
        return _can(node.part, not wanted, never)
    parts = (_can(part, wanted, never) for part in node.parts)
    return all(parts) if isinstance(node, AllOf) == wanted else any(parts)


def collected(name: str, rulebook: Rulebook, known: dict[str, bool]) -> bool:
    """Whether a report of `triage profile` can say the fact, by a way that is worth a pass or takes none, or bound it.
    ``known`` keeps what was found."""
    if name not in known:
        known[name] = False  # facts that need each other are never had
        definition = rulebook.facts[name]
        ways = [way for way in definition.alternatives if way.collect or not _costs(way)]
        formulas = [way.formula for way in ways if _modern(way)]
        formulas += [one for one in (*definition.at_most, *definition.at_least) if one.facts]
        known[name] = any(
            all(collected(part, rulebook, known) for part in formula.facts) for formula in formulas
        ) or any(collected(part, rulebook, known) for part in (*definition.largest_of, *definition.sum_of_known))
    return known[name]


def _roots(name: str, rulebook: Rulebook, known: dict[str, bool]) -> list[str]:
    """The facts below ``name`` that are not collected for themselves, not for what they are made of."""
    parts = [
        part
        for way in rulebook.facts[name].alternatives
        if way.collect
        for part in way.formula.facts
        if not collected(part, rulebook, known)
    ]
    return [root for part in parts if part != name for root in _roots(part, rulebook, known)] or [name]


def _stable(limiter: LimiterDef) -> Iterator[Fault]:
    """A stable rule has more than the keys that make it work."""
    spot = limiter.spots.get("status", ("", 0, 0))
    missing = [
        key
        for key, there in (
            ("headroom", limiter.headroom is not None),
            ("experiment", bool(limiter.experiment)),
            ("example", bool(limiter.guide.before)),
            ("library", bool(limiter.guide.library)),
            ("confused_with", bool(limiter.guide.confused_with)),
            ("see", bool(limiter.see)),
        )
        if not there
    ]
    if missing:
        yield Fault(*spot, "incomplete", f"a stable limiter also has {', '.join(missing)}; until then it is a 'draft'")
    if any(not fix.effort for fix in limiter.fixes):
        yield Fault(*limiter.spots.get("fixes", spot), "incomplete", "a fix of a stable limiter says its 'effort'")


def _unused(rulebook: Rulebook) -> Iterator[Fault]:
    """Thresholds that nothing compares with: mostly what is left of a name that was changed at one place."""
    nodes: list[Node | None] = []
    for limiter in rulebook.limiters.values():
        nodes += [limiter.when, limiter.veto, limiter.contributes]
    for question in rulebook.path:
        nodes.append(question.gate)
        for answer in question.answers:
            nodes += [answer.only_when, *(node for rival in answer.blocked_by for node in rival.conditions)]
    for definition in rulebook.facts.values():
        nodes += [way.when for way in definition.alternatives]
    used = {leaf.threshold.name for node in nodes if node is not None for leaf in node.leaves()}
    for name, threshold in rulebook.thresholds.items():
        if name not in used:
            yield Fault(*threshold.spot, "unused", f"no rule compares with the threshold {name!r}")
