"""The page: one self-contained HTML file, made with Jinja2 from ``templates/``.

It loads nothing: the style sheet and the script are inlined and allowed by their hashes in a content security
policy that forbids everything else. Every string that a template prints is cleaned and escaped on the way out.
"""

from __future__ import annotations

import base64
import hashlib
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from triage.model import Report
from triage.renderers import markdown, memory, metrics, overview, page, ranking, roofline, shared, timebar, wording
from triage.renderers.escape import clean
from triage.renderers.packed import Packed
from triage.resources import folder

if TYPE_CHECKING:
    from jinja2 import Environment

# Beyond this many kernels a section keeps the verdict, the first fix and the evidence; the page stays quick to open.
_DETAILED = 100
# Beyond this many the walked path waits deflated for the script (`triage explain` prints it too).
_INLINE_PATHS = 12
# So many sections come with their measurements unfolded.
_OPENED = 3


def render(report: Report, *, width: int = 80, color: bool = False) -> str:
    """The report as one HTML page; ``width`` and ``color`` have no effect."""
    from markupsafe import Markup

    templates = folder("templates")
    css, js = _asset(templates / "report.css"), _asset(templates / "report.js")
    ranked = ranking.by_saving(ranking.groups(report))
    shown = tuple(ranked[:_DETAILED])
    table = metrics.collect(tuple((group.place, group.shown) for group in shown), report.glossary)
    common = wording.common_warnings(report)
    kept = Packed(table.block, markdown={str(group.place): markdown.kernel(group, common) for group in shown})
    references = page.References()
    context: dict[str, Any] = {
        "report": report,
        "title": overview.title(report),
        "headline": wording.headline(report),
        "more": overview.second_sentence(report, ranked),
        "groups": ranked,
        "ranking_note": overview.ranking_note(report, ranked),
        "families": overview.families(report),
        "warnings": overview.report_warnings(report, common),
        "rooflines": roofline.figures(ranked, report.roofs),
        "time_segments": timebar.segments(ranked),
        "hints": overview.hints(report, ranked),
        "measured": overview.how_measured(report),
        "detailed": _DETAILED,
        "opened": _OPENED,
        "references": references,
        "tick_sets": page.tick_sets(report),
        "metric_table": table.rows,
        "has_metrics": table.has,
        "own_warnings": lambda finding: page.own_warnings(finding, common),
        "packed": kept,
        "inline_paths": _INLINE_PATHS,
        "kernel_memory": memory.picture,
        "kernel_shared": shared.shared,
        "explain_hint": lambda group: page.explain_hint(report, group),
        "export_hint": lambda group: page.export_hint(report, group),
        "launches_note": page.launches_note,
        "css": Markup(css),
        "js": Markup(js),
        "policy": _policy(css, js),
    }
    return _environment(str(templates)).get_template("report.html.j2").render(context) + "\n"


def _policy(css: str, js: str) -> str:
    """A content security policy under which only our own inline style and script run and nothing is fetched."""
    return "; ".join(
        (
            "default-src 'none'",
            f"style-src {_hash(css)}",
            f"script-src {_hash(js)}",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _asset(path: Path) -> str:
    # Line ends as a browser's parser sees them, so that the hash holds for a checkout with CRLF too.
    return path.read_text(encoding="utf-8").replace("\r\n", "\n")


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
    return environment


def _finalize(value: Any) -> Any:
    """Last stop of every printed value: plain strings are cleaned (then escaped by Jinja), ``None`` prints nothing."""
    if type(value) is str:
        return clean(value)
    return "" if value is None else value
