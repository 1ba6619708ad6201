"""The registry of comparison formats: one module a format, each takes a comparison and returns text."""

from __future__ import annotations

from typing import Protocol

from triage.compare.model import Comparison
from triage.errors import UsageError
from triage.renderers import diff_html, diff_json, diff_markdown, diff_text


class Renderer(Protocol):
    """What every format module offers. ``width`` (columns) and ``color`` mean something to ``text`` only."""

    def __call__(self, comparison: Comparison, *, width: int = 80, color: bool = False) -> str: ...


RENDERERS: dict[str, Renderer] = {
    "html": diff_html.render,
    "md": diff_markdown.render,
    "json": diff_json.render,
    "text": diff_text.render,
}
FORMATS: tuple[str, ...] = tuple(RENDERERS)


def render(comparison: Comparison, format: str, *, width: int = 80, color: bool = False) -> str:
    """``comparison`` in ``format``, ending in a newline. Raises ``UsageError`` for a format not in :data:`FORMATS`."""
    try:
        renderer = RENDERERS[format]
    except KeyError:
        raise UsageError(f"there is no comparison format {format!r}", f"choose one of {', '.join(FORMATS)}") from None
    return renderer(comparison, width=width, color=color)
