"""Entries for single kernels that are about no kernel: a misspelt name must not pass for a gate that holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from triage.gates.model import Config, Outcome, Scope
from triage.model import Kernel
from triage.renderers.escape import clean, shorten
from triage.rules import checks

_NAMES = 5


def unmatched(kernels: Sequence[Kernel], config: Config) -> Iterator[Outcome]:
    """A violated outcome for each entry that asks something and is about none of ``kernels``."""
    for scope in config.kernels:
        changes = dict(scope.changes)
        if not changes or changes.get("skip") or not changes.get("unmatched", config.gates.unmatched):
            continue
        if any(scope.applies(kernel) for kernel in kernels):
            continue
        names = list(dict.fromkeys(kernel.function for kernel in kernels))
        yield Outcome("unmatched", shorten(clean(scope.match), 400), "violated", _text(scope, names), place=scope.place)


def _text(scope: Scope, names: Sequence[str]) -> str:
    shown = ", ".join(shorten(name, 60) for name in names[:_NAMES]) or "none"
    more = f" and {len(names) - _NAMES:,} more" if len(names) > _NAMES else ""
    hint = checks.suggestion(scope.match, names) or f"; kernels: {shown}{more}"
    return clean(f"{shorten(scope.match, 100)}: {at(scope.place)}: the gate matches no kernel of the report{hint}")


def at(place: str) -> str:
    """``triage.yaml:7`` of ``triage.yaml:7:3``."""
    return place.rsplit(":", 1)[0]
