"""``path.yaml``: the order of the questions, which limiters each may end in, and which unknown rivals block them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from triage.rules import checks
from triage.rules.checks import ConditionReader
from triage.rules.kinds import Shape
from triage.rules.rulebook import Answer, Blocker, FactDef, Question
from triage.rules.shapes import ADDITION, ANSWER, PLACED, QUESTION, RIVAL
from triage.rules.yamlfile import Document, List, Map

Groups = dict[str, tuple[Blocker, ...]]


def read_path(
    document: Document,
    root: Map,
    earlier: tuple[Question, ...],
    groups: Groups,
    facts: Mapping[str, FactDef],
    conditions: ConditionReader,
) -> tuple[Question, ...]:
    """The path after a file: its own ``path`` instead of the ``earlier`` one, its ``questions`` worked into it.

    ``groups`` holds the named groups of rivals and takes those of the file. Faults are noted in the document.
    """
    groups |= _groups(document, root, conditions)
    path = _full(document, root, groups, facts, conditions) if "path" in root else earlier
    entries = root.get("questions", List())
    if not isinstance(entries, List):
        document.fault(
            root, "questions", "type", "'questions' must be a list of questions, or of {to: ..., answers: ...}"
        )
        return path
    for entry, place in zip(entries, entries.places, strict=True):
        if not isinstance(entry, Map):
            document.at(place, "type", "a question is a map: {id: ..., ask: ..., after: ..., answers: [...]}")
        elif "to" in entry:
            path = _added(document, entry, path, groups, conditions)
        else:
            path = _placed(document, entry, path, groups, facts, conditions)
    return path


def _added(
    document: Document, entry: Map, path: tuple[Question, ...], groups: Groups, conditions: ConditionReader
) -> tuple[Question, ...]:
    """More answers to a question that is there."""
    checks.keys(document, entry, ADDITION)
    answers = _answers(document, entry, conditions, groups)
    last = checks.choice(document, entry, "at", ("first", "last"), "last") == "last"
    name = checks.text(document, entry, "to")
    if not _known(document, entry, "to", name, path):
        return path
    return tuple(
        replace(question, answers=question.answers + answers if last else answers + question.answers)
        if question.id == name
        else question
        for question in path
    )


def _placed(
    document: Document,
    entry: Map,
    path: tuple[Question, ...],
    groups: Groups,
    facts: Mapping[str, FactDef],
    conditions: ConditionReader,
) -> tuple[Question, ...]:
    """A new question, before or after one that is there; one with the id of another replaces it where it stands."""
    made = _question(document, entry, facts, conditions, groups, PLACED)
    names = [question.id for question in path]
    given = [key for key in ("after", "before") if key in entry]
    if made.id in names and not given:
        return tuple(made if question.id == made.id else question for question in path)
    if made.id in names:
        document.fault(entry, "id", "duplicate-id", f"two questions are called {made.id!r}")
        return path
    if len(given) != 1:
        document.fault(entry, "id", "missing-key", "a new question says 'after' or 'before' which other it stands")
        return path
    other = checks.text(document, entry, given[0])
    if not _known(document, entry, given[0], other, path):
        return path
    place = names.index(other) + (given[0] == "after")
    return (*path[:place], made, *path[place:])


def _known(document: Document, entry: Map, key: str, name: str, path: tuple[Question, ...]) -> bool:
    names = [question.id for question in path]
    if key in entry and name not in names:
        hint = checks.suggestion(name, names)
        message = f"no question is called {name!r}{hint}; there are {', '.join(names)}"
        document.fault(entry, key, "unknown-question", message)
    return name in names


def _full(
    document: Document, root: Map, groups: Groups, facts: Mapping[str, FactDef], conditions: ConditionReader
) -> tuple[Question, ...]:
    entries = root.get("path")
    if not isinstance(entries, List):
        document.fault(root, "path", "type", "'path' must be a list of questions")
        return ()
    questions: list[Question] = []
    for entry, place in zip(entries, entries.places, strict=True):
        if not isinstance(entry, Map):
            document.at(place, "type", "a question is a map: {id: ..., ask: ..., answers: [...]}")
            continue
        questions.append(_question(document, entry, facts, conditions, groups, QUESTION))
    seen: set[str] = set()
    for entry, question in zip((e for e in entries if isinstance(e, Map)), questions, strict=True):
        if question.id in seen:
            document.fault(entry, "id", "duplicate-id", f"two questions are called {question.id!r}")
        seen.add(question.id)
    return tuple(questions)


def _groups(document: Document, root: Map, conditions: ConditionReader) -> Groups:
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
    shape: Shape,
) -> Question:
    checks.keys(document, entry, shape)
    shows = checks.texts(document, entry, "shows")
    for name in shows:
        if name not in facts:
            document.fault(
                entry, "shows", "unknown-fact", f"no fact is called {name!r}{checks.suggestion(name, facts)}"
            )
    decision = entry.get("decision", "")
    if isinstance(decision, bool) or not isinstance(decision, (str, int, float)):
        document.fault(entry, "decision", "type", "'decision' must be text")
    return Question(
        id=checks.text(document, entry, "id"),
        decision=str(decision),
        ask=checks.text(document, entry, "ask"),
        gate=conditions.read(document, entry, "gate") if "gate" in entry else None,
        pick=checks.choice(document, entry, "pick", ("first", "largest"), "first"),
        answers=_answers(document, entry, conditions, groups),
        shows=tuple(name for name in shows if name in facts),
        covered=checks.flag(document, entry, "covered", True),
        note=checks.text(document, entry, "note"),
        spot=document.spot(entry),
    )


def _answers(
    document: Document, entry: Map, conditions: ConditionReader, groups: Mapping[str, tuple[Blocker, ...]]
) -> tuple[Answer, ...]:
    answers = entry.get("answers", List())
    if not isinstance(answers, List):
        document.fault(entry, "answers", "type", "'answers' must be a list")
        return ()
    made = [
        _answer(document, item, place, conditions, groups) for item, place in zip(answers, answers.places, strict=True)
    ]
    return tuple(answer for answer in made if answer is not None)


def _answer(
    document: Document,
    item: Any,
    place: tuple[int, int],
    conditions: ConditionReader,
    groups: Mapping[str, tuple[Blocker, ...]],
) -> Answer | None:
    spot = (document.shown, *place)
    if isinstance(item, str):
        return Answer(item, spot=spot)
    if not isinstance(item, Map):
        document.at(place, "type", "an answer is a limiter id or {limiter: ..., blocked_by: [...]}")
        return None
    checks.keys(document, item, ANSWER)
    only = conditions.read(document, item, "when") if "when" in item else None
    blockers = _blockers(document, item, "blocked_by", conditions, groups) if "blocked_by" in item else ()
    if len(item) == 1:
        document.advise(
            item, None, "bare", "an answer without 'when' and 'blocked_by' is written as the bare limiter id"
        )
    return Answer(checks.text(document, item, "limiter"), blockers, only, spot)


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
        spot = (document.shown, *place)
        if isinstance(item, str):
            found += [replace(rival, spot=spot) for rival in groups.get(item, (Blocker(item),))]
        elif isinstance(item, Map):
            checks.keys(document, item, RIVAL)
            if len(item) == 1:
                document.advise(
                    item, None, "bare", "a rival without 'unless' and 'where' is written as the bare limiter id"
                )
            unless, only = (
                conditions.read(document, item, key) if key in item else None for key in ("unless", "where")
            )
            name = checks.text(document, item, "limiter")
            # A group of rivals under one exception: each of them carries it.
            rivals = groups.get(name, (Blocker(name),))
            found += [Blocker(rival.limiter, unless or rival.unless, only or rival.where, spot) for rival in rivals]
        else:
            document.at(place, "type", "a rival is a limiter id or {limiter: ..., unless: condition, where: condition}")
    # The same rival twice says nothing more.
    return tuple(dict.fromkeys(found))
