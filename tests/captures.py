"""Labelled captures as tests use them: kernels with what is right and what is plainly wrong about them."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from triage.facts import FactSet, launch_metrics
from triage.model import Kernel, Quantity
from triage.readers import load
from triage.rules import Rulebook
from triage.rules.conditions import Comparison, Node, Threshold, map_thresholds
from triage.rules.walk import walk

DATA = Path(__file__).parent / "data"


@dataclass(frozen=True)
class Labelled:
    """A kernel whose limiter is known from how it was built and from its repaired twin."""

    kernel: Kernel
    name: str
    accept: tuple[str, ...]
    forbid: tuple[str, ...]

    def judge(self, limiter: str | None) -> str:
        """right, wrong, undecided or miss, as the captures' own scoring has it."""
        word = limiter or "undecided"
        if word in self.forbid:
            return "wrong"
        if word in self.accept:
            return "right"
        return "undecided" if limiter is None else "miss"

    @property
    def metrics(self) -> dict[str, Quantity | str]:
        return launch_metrics(self.kernel) | dict(self.kernel.metrics)


@cache
def labelled(capture: str = "limiters_h200.csv", labels: str = "limiters_h200.yaml") -> tuple[Labelled, ...]:
    kernels = load(DATA / capture).kernels
    entries = yaml.safe_load((DATA / labels).read_text(encoding="utf-8"))["labels"]
    return tuple(
        Labelled(kernels[e["index"]], e["kernel"], tuple(e["accept"]), tuple(e.get("forbid", ()))) for e in entries
    )


@cache
def cases() -> tuple[dict[str, Any], ...]:
    return tuple(yaml.safe_load((DATA / "published_cases.yaml").read_text(encoding="utf-8"))["cases"])


@cache
def other_gpus() -> tuple[dict[str, Any], ...]:
    return tuple(json.loads((DATA / "other_gpus.json").read_text(encoding="utf-8")))


def verdict(
    rulebook: Rulebook, metrics: dict[str, Quantity | str], cc: str | None, given: dict[str, float] | None = None
) -> str | None:
    """The limiter's id alone, without the rest of a diagnosis."""
    named = walk(rulebook, FactSet(rulebook, metrics, cc, given=given)).named
    return named.limiter.id if named else None


def with_threshold(rulebook: Rulebook, name: str, delta: float) -> Rulebook:
    """The same rules with one named threshold moved."""

    def change(leaf: Comparison) -> Threshold:
        moved = leaf.threshold.name == name
        return replace(leaf.threshold, value=leaf.threshold.value + delta) if moved else leaf.threshold

    def moved(node: Node | None) -> Node | None:
        return None if node is None else map_thresholds(node, change)

    limiters = {
        key: replace(limiter, when=moved(limiter.when), veto=moved(limiter.veto))
        for key, limiter in rulebook.limiters.items()
    }
    path = tuple(
        replace(
            question,
            gate=moved(question.gate),
            answers=tuple(
                replace(
                    answer,
                    only_when=moved(answer.only_when),
                    blocked_by=tuple(rival.mapped(moved) for rival in answer.blocked_by),
                )
                for answer in question.answers
            ),
        )
        for question in rulebook.path
    )
    return replace(rulebook, limiters=limiters, path=path)
