"""What both HTML pages are made of: one Jinja2 environment, and style and script inlined under a security policy."""

from __future__ import annotations

import base64
import hashlib
import re
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from triage.renderers import page
from triage.renderers.escape import clean
from triage.resources import folder

if TYPE_CHECKING:
    from jinja2 import Environment

# Behind these a name may go on in the next line.
_WORDS = re.compile(r"(?<=[_,<:/.])(?=[^\s_,<:/.])")


def fill(template: str, context: dict[str, Any], *, css: tuple[str, ...], js: tuple[str, ...] = ()) -> str:
    """The page that ``template`` makes of ``context``, with the named files of ``templates/`` inlined.

    The template finds them as ``css``, ``js`` and ``policy``.
    """
    from markupsafe import Markup

    templates = folder("templates")
    style, script = ("".join(asset(templates / name) for name in names) for names in (css, js))
    inlined = {"css": Markup(style), "js": Markup(script), "policy": _policy(style, script)}
    return _environment(str(templates)).get_template(template).render(context | inlined) + "\n"


def asset(path: Path) -> str:
    """A file with line ends as a browser's parser sees them, so that its hash holds for a checkout with CRLF too."""
    return path.read_text(encoding="utf-8").replace("\r\n", "\n")


def _policy(css: str, js: str) -> str:
    """A content security policy under which only our own inline style and script run and nothing is fetched."""
    parts = ["default-src 'none'", f"style-src {_hash(css)}"]
    if js:
        parts.append(f"script-src {_hash(js)}")
    return "; ".join((*parts, "base-uri 'none'", "form-action 'none'"))


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@lru_cache(maxsize=1)
def _environment(templates: str) -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(templates),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        finalize=_finalize,
    )
    environment.filters.update(page.FILTERS)
    environment.filters["breakable"] = _breakable
    return environment


def _breakable(name: str) -> Any:
    """A kernel's name that may wrap behind the marks that part its words, so that no word is broken in its middle."""
    from markupsafe import Markup, escape

    return Markup("<wbr>").join(escape(part) for part in _WORDS.split(clean(name)))


def _finalize(value: Any) -> Any:
    """Last stop of every printed value: plain strings are cleaned (then escaped by Jinja), ``None`` prints nothing."""
    if type(value) is str:
        return clean(value)
    return "" if value is None else value
