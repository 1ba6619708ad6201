"""The marker ``triage(...)`` of a test: what it asks, of which report or program."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from triage import arguments
from triage.errors import UsageError

if TYPE_CHECKING:
    import pytest

    from triage.testing.kernels import Kernels

ASKED = ("limiter", "max_duration", "min_effective_bandwidth", "ideal_bytes")
KNOWN = ("report", "command", "kernel", *ASKED)


@dataclass(frozen=True, slots=True)
class Marker:
    """A marker that was read: ``report`` or ``command`` say where its kernels come from, one of them at most."""

    report: Path | None
    command: tuple[str, ...]
    kernel: str | None
    asked: dict[str, Any]

    @property
    def has_source(self) -> bool:
        return self.report is not None or bool(self.command)

    def kernels(self, fixture: Kernels) -> Kernels:
        """The kernels that the marker is about; those of the fixture where it names neither report nor command."""
        __tracebackhide__ = True
        if self.report is not None:
            return fixture.load(self.report)
        return fixture.profile(*self.command) if self.command else fixture


def read(mark: pytest.Mark) -> Marker:
    """What a marker says. Raises ``TypeError``, ``ValueError`` and :class:`UsageError` with what is wrong."""
    given = mark.kwargs
    report, command, kernel = (given.get(key) for key in ("report", "command", "kernel"))
    if report is not None and command is not None:
        raise UsageError("report and command are both given", "leave one of them out: either is what is checked")
    if kernel is not None:
        arguments.text(kernel, "kernel", "a pattern of names")
    return Marker(
        report=None if report is None else arguments.path(report, "report"),
        command=() if command is None else _words(command),
        kernel=kernel,
        asked={key: given[key] for key in ASKED if given.get(key) is not None},
    )


def source(markers: Iterable[Marker]) -> Marker | None:
    """The first of ``markers`` (the closest comes first) that names a report or a command: that of the fixture."""
    return next((marker for marker in markers if marker.has_source), None)


def _words(command: object) -> tuple[str, ...]:
    """A command line as a shell splits it, or its words."""
    import shlex

    what = 'a command line such as "./bench --size 4096", or a list of its words'
    if isinstance(command, str):
        try:
            words = tuple(shlex.split(command))
        except ValueError as fault:
            reason = str(fault).lower()
            raise UsageError(f"command {command!r} cannot be split: {reason}", f"give {what}") from None
        if not words:
            raise UsageError("command is empty", f"give {what}")
        return words
    if not isinstance(command, list | tuple):
        raise TypeError(arguments.wrong("command", what, command))
    return arguments.words(command, "command")
