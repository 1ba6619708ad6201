"""``path.yaml``: the order of the questions, which limiters each may end in, and which unknown rivals block them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from triage.rules import checks
from triage.rules.checks import ConditionReader
from triage.rules.rulebook import Answer, Blocker, FactDef, LimiterDef, Question
from triage.rules.yamlfile import Document, List, Map


def read_path(document: Document, facts: Mapping[str, FactDef], conditions: ConditionReader) -> tuple[Question, ...]:
    """The questions of a path file, in order; faults are noted in the document."""
    root = document.root if isinstance(document.root, Map) else Map()
    checks.keys(document, root, ["path"], ["rivals"], "path.yaml")
    entries = root.get("path")
    if not isinstance(entries, List):
        document.fault(root, "path", "type", "'path' must be a list of questions")
        return ()
    groups = _groups(document, root, conditions)
    questions: list[Question] = []
    for entry, place in zip(entries, entries.places, strict=True):
        if not isinstance(entry, Map):
            document.at(place, "type", "a question is a map: {id: ..., ask: ..., answers: [...]}")
            continue
        questions.append(_question(document, entry, facts, conditions, groups))
    seen: set[str] = set()
    for entry, question in zip((e for e in entries if isinstance(e, Map)), questions, strict=True):
        if question.id in seen:
            document.fault(entry, "id", "duplicate-id", f"two questions are called {question.id!r}")
        seen.add(question.id)
    return tuple(questions)


def _groups(document: Document, root: Map, conditions: ConditionReader) -> dict[str, tuple[Blocker, ...]]:
    """Named lists of rivals, so that answers can say ``blocked_by: [serialisers, sleep]``."""
    value = root.get("rivals", Map())
    if not isinstance(value, Map):
        document.fault(root, "rivals", "type", "'rivals' must be a map of names to lists of rivals")
        return {}
    return {name: _blockers(document, value, name, conditions, {}) for name in value}


def _question(
    document: Document,
    entry: Map,
    facts: Mapping[str, FactDef],
    conditions: ConditionReader,
    groups: Mapping[str, tuple[Blocker, ...]],
) -> Question:
    checks.keys(
        document,
        entry,
        ["id", "decision", "ask"],
        ["gate", "pick", "answers", "shows", "covered", "note"],
        "a question",
    )
    shows = checks.texts(document, entry, "shows")
    for name in shows:
        if name not in facts:
            document.fault(
                entry, "shows", "unknown-fact", f"no fact is called {name!r}{checks.suggestion(name, facts)}"
            )
    answers = entry.get("answers", List())
    if not isinstance(answers, List):
        document.fault(entry, "answers", "type", "'answers' must be a list")
        answers = List()
    made = [
        _answer(document, item, place, conditions, groups) for item, place in zip(answers, answers.places, strict=True)
    ]
    covered = entry.get("covered", True)
    if not isinstance(covered, bool):
        document.fault(entry, "covered", "type", "'covered' must be true or false")
    return Question(
        id=checks.text(document, entry, "id"),
        decision=str(entry.get("decision", "")),
        ask=checks.text(document, entry, "ask"),
        gate=conditions.read(document, entry, "gate") if "gate" in entry else None,
        pick=checks.choice(document, entry, "pick", ("first", "largest"), "first"),
        answers=tuple(answer for answer in made if answer is not None),
        shows=tuple(name for name in shows if name in facts),
        covered=bool(covered),
        note=checks.text(document, entry, "note"),
    )


def _answer(
    document: Document,
    item: Any,
    place: tuple[int, int],
    conditions: ConditionReader,
    groups: Mapping[str, tuple[Blocker, ...]],
) -> Answer | None:
    if isinstance(item, str):
        return Answer(item)
    if not isinstance(item, Map):
        document.at(place, "type", "an answer is a limiter id or {limiter: ..., blocked_by: [...]}")
        return None
    checks.keys(document, item, ["limiter"], ["blocked_by", "when"], "an answer")
    only = conditions.read(document, item, "when") if "when" in item else None
    blockers = _blockers(document, item, "blocked_by", conditions, groups) if "blocked_by" in item else ()
    return Answer(checks.text(document, item, "limiter"), blockers, only)


def _blockers(
    document: Document,
    where: Map,
    key: str,
    conditions: ConditionReader,
    groups: Mapping[str, tuple[Blocker, ...]],
) -> tuple[Blocker, ...]:
    value = where.get(key)
    if not isinstance(value, List):
        document.fault(where, key, "type", f"{key!r} must be a list of limiters")
        return ()
    found: list[Blocker] = []
    for item, place in zip(value, value.places, strict=True):
        if isinstance(item, str):
            found += groups.get(item, (Blocker(item),))
        elif isinstance(item, Map):
            checks.keys(document, item, ["limiter"], ["unless"], "a rival")
            unless = conditions.read(document, item, "unless") if "unless" in item else None
            name = checks.text(document, item, "limiter")
            # A group of rivals under one exception: each of them carries it.
            found += [Blocker(rival.limiter, unless or rival.unless) for rival in groups.get(name, (Blocker(name),))]
        else:
            document.at(place, "type", "a rival is a limiter id or {limiter: ..., unless: condition}")
    return tuple(found)


def check_path(document: Document, path: tuple[Question, ...], limiters: Mapping[str, LimiterDef]) -> None:
    """Note limiters that the path names but no file defines, and stable limiters that no question may end in."""
    named: set[str] = set()
    entries = document.root.get("path") if isinstance(document.root, Map) else None
    entry_maps = [entry for entry in entries if isinstance(entry, Map)] if isinstance(entries, List) else []
    for entry, question in zip(entry_maps, path, strict=False):
        for answer in question.answers:
            named.add(answer.limiter)
            for name in (answer.limiter, *(rival.limiter for rival in answer.blocked_by)):
                if name not in limiters:
                    document.fault(
                        entry,
                        "answers",
                        "unknown-limiter",
                        f"no limiter is called {name!r}{checks.suggestion(name, limiters)}",
                    )
    for limiter in limiters.values():
        if limiter.status != "retired" and limiter.id not in named:
            document.fault(None, None, "unreachable", f"no question of the path may end in {limiter.id!r}")
