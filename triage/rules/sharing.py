"""Makes equal conditions of a rulebook one object, so that a kernel's facts judge and describe each of them once."""

from __future__ import annotations

from dataclasses import replace

from triage.rules.conditions import Comparison, Node, Not
from triage.rules.rulebook import Rulebook


def shared(rulebook: Rulebook) -> Rulebook:
    """The same rules, with one object for each condition that is written several times."""
    pool: dict[Node, Node] = {}

    def one(node: Node | None) -> Node | None:
        return None if node is None else _one(node, pool)

    limiters = {
        name: replace(
            limiter, when=_one(limiter.when, pool), veto=one(limiter.veto), contributes=one(limiter.contributes)
        )
        for name, limiter in rulebook.limiters.items()
    }
    path = tuple(
        replace(
            question,
            gate=one(question.gate),
            answers=tuple(
                replace(
                    answer,
                    only_when=one(answer.only_when),
                    blocked_by=tuple(rival.mapped(one) for rival in answer.blocked_by),
                )
                for answer in question.answers
            ),
        )
        for question in rulebook.path
    )
    return replace(rulebook, limiters=limiters, path=path)


def _one(node: Node, pool: dict[Node, Node]) -> Node:
    if isinstance(node, Not):
        node = Not(_one(node.part, pool))
    elif not isinstance(node, Comparison):
        node = type(node)(tuple(_one(part, pool) for part in node.parts))
    return pool.setdefault(node, node)
