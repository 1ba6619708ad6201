"""What the path, the guides and a team's list of retired rules say about limiters must exist."""

from __future__ import annotations

from collections.abc import Mapping

from triage.rules import checks
from triage.rules.rulebook import LimiterDef, Question, Spot
from triage.rules.yamlfile import Document, Fault, List, Map


def check_references(
    documents: Mapping[str, Document],
    path: tuple[Question, ...],
    limiters: Mapping[str, LimiterDef],
    retired: Mapping[str, Spot],
) -> None:
    """Note limiters that are named but not defined, and limiters that no question may end in."""

    def unknown(name: str, spot: Spot) -> None:
        if name not in limiters and spot[0] in documents:
            message = f"no limiter is called {name!r}{checks.suggestion(name, limiters)}"
            documents[spot[0]].faults.append(Fault(*spot, "unknown-limiter", message))

    named: set[str] = set()
    for question in path:
        for answer in question.answers:
            named.add(answer.limiter)
            unknown(answer.limiter, answer.spot)
            for rival in answer.blocked_by:
                unknown(rival.limiter, rival.spot)
    for limiter in limiters.values():
        for confusion in limiter.guide.confused_with:
            unknown(confusion.limiter, confusion.spot)
        if limiter.status == "retired" or limiter.id in retired or limiter.id in named:
            continue
        spot = limiter.spots.get("id", limiter.spots.get("", ("", 0, 0)))
        if spot[0] in documents:
            message = f"no question of the path may end in {limiter.id!r}: add it to one with 'questions'"
            documents[spot[0]].faults.append(Fault(*spot, "unreachable", message))


def check_retired(document: Document, root: Map, limiters: Mapping[str, LimiterDef]) -> dict[str, Spot]:
    """The limiters under the key ``retire`` of ``root``, with the place where they are retired."""
    entries = root.get("retire")
    if not isinstance(entries, List) or not all(isinstance(item, str) for item in entries):
        document.fault(root, "retire", "type", "'retire' must be a list of limiter ids")
        return {}
    found: dict[str, Spot] = {}
    for name, place in zip(entries, entries.places, strict=True):
        if name not in limiters:
            hint = checks.suggestion(name, limiters)
            document.at(place, "unknown-limiter", f"no limiter is called {name!r}{hint}")
        found[name] = (document.shown, *place)
    return found
