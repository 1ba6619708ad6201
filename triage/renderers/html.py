"""The page: one self-contained HTML file, made with Jinja2 from ``templates/``.

It loads nothing: the style sheet and the script are inlined and allowed by their hashes in a content security
policy that forbids everything else. Every string that a template prints is cleaned and escaped on the way out.
"""

from __future__ import annotations

from typing import Any

from triage import amdahl
from triage.model import Report
from triage.renderers import (
    bounds,
    inlined,
    markdown,
    memory,
    metrics,
    overview,
    page,
    ranking,
    roofline,
    shared,
    timebar,
    wording,
)
from triage.renderers.packed import Packed

# Beyond this many kernels a section keeps the verdict, the first fix and the evidence; the page stays quick to open.
_DETAILED = 100
# Beyond this many kernels the others are counted.
_LISTED = 1000
# Beyond this many the walked path waits deflated for the script (`triage explain` prints it too).
_INLINE_PATHS = 12
# Launches of one kernel that are listed with their times.
_LAUNCHES = 200
# So many sections come with their measurements unfolded.
_OPENED = 3


def render(report: Report, *, width: int = 80, color: bool = False) -> str:
    """The report as one HTML page; ``width`` and ``color`` have no effect."""
    ranked = ranking.by_saving(ranking.groups(report))
    listed = bounds.shown(ranked, _LISTED, timebar.SEGMENTS)
    shown = listed[:_DETAILED]
    table = metrics.collect(tuple((group.place, group.shown) for group in shown), report.glossary)
    common = wording.common_warnings(report)
    copied = {str(group.place): markdown.kernel(group, common, surveyed=report.surveyed) for group in shown}
    kept = Packed(table.block, markdown=copied)
    references = page.References()
    context: dict[str, Any] = {
        "report": report,
        "title": overview.title(report),
        "headline": wording.headline(report),
        "more": overview.second_sentence(report, ranked),
        "groups": listed,
        "left_out": bounds.left_out(ranked, listed),
        "sources": bounds.sources(report),
        "ranking_note": overview.ranking_note(report, ranked, listed),
        "families": overview.families(report),
        "warnings": overview.report_warnings(report, common),
        "rooflines": roofline.figures(listed, report.roofs, len(ranked) - len(listed)),
        "time_segments": timebar.segments(listed, ranked),
        "hints": overview.hints(report, listed),
        "measured": overview.how_measured(report),
        "detailed": _DETAILED,
        "opened": _OPENED,
        "launches_listed": _LAUNCHES,
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
        "in_all": lambda group: amdahl.sentence(group.headroom, surveyed=report.surveyed),
    }
    return inlined.fill("report.html.j2", context, css=("report.css",), js=("report.js",))
