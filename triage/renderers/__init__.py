"""One module a format; each takes a :class:`~triage.model.Report` and returns text.

The registry is explicit: a new format is a module with ``render`` and one line here.
"""

from __future__ import annotations

from typing import Protocol

from triage.errors import UsageError
from triage.model import Report
from triage.renderers import html, json, markdown, sarif, text


class Renderer(Protocol):
    """What every format module offers. ``width`` (columns) and ``color`` mean something to ``text`` only."""

    def __call__(self, report: Report, *, width: int = 80, color: bool = False) -> str: ...


RENDERERS: dict[str, Renderer] = {
    "html": html.render,
    "md": markdown.render,
    "json": json.render,
    "text": text.render,
    "sarif": sarif.render,
}
FORMATS: tuple[str, ...] = tuple(RENDERERS)


def render(report: Report, format: str, *, width: int = 80, color: bool = False) -> str:
    """``report`` in ``format``, ending in a newline. Raises ``UsageError`` where that is not one of :data:`FORMATS`."""
    try:
        renderer = RENDERERS[format]
    except KeyError:
        raise UsageError(f"there is no report format {format!r}", f"choose one of {', '.join(FORMATS)}") from None
    return renderer(report, width=width, color=color)
