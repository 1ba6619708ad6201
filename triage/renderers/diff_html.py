"""A comparison as one self-contained HTML page with both sides, made with Jinja2 from ``templates/diff.html.j2``."""

from __future__ import annotations

from typing import Any

from triage import quantities
from triage.compare.model import Comparison, Pair, State
from triage.renderers import diff_wording as words
from triage.renderers import inlined, page, wording
from triage.renderers.escape import shorten

# Beyond so many kernels a section of its own each would bury the first ones; the table still has them.
_DETAILED = 100
# Beyond so many kernels the others are counted.
_LISTED = 1000


def render(comparison: Comparison, *, width: int = 80, color: bool = False) -> str:
    """The comparison as one HTML page without script; ``width`` and ``color`` have no effect."""
    pairs = words.ranked(comparison)
    loud = words.sections(comparison)[0][:_DETAILED]
    context: dict[str, Any] = {
        "comparison": comparison,
        "title": shorten(f"{_file(comparison.base.path)} to {_file(comparison.head.path)}", 120),
        "words": words,
        "names": words.Names(comparison),
        "pairs": pairs[:_LISTED],
        "left_out": words.left_out(len(pairs) - _LISTED),
        "loud": loud,
        "anchor": {id(pair): f"k{place}" for place, pair in enumerate(loud)}.get,
        "ident": id,
        "tick_sets": (),
        "family": _family,
        "bars": _bars,
        "launch": wording.launch,
        "place": wording.place,
    }
    # Under the same policy as the report, and no script at all.
    return inlined.fill("diff.html.j2", context, css=("report.css", "diff.css"))


def _bars(pair: Pair) -> tuple[tuple[str, str, str], ...]:
    """Both durations as (side, width in percent of the longer, words)."""
    times = [(side, state.median_ns) for side, state in (("base", pair.base), ("head", pair.head)) if state]
    longest = max((value for _, value in times if value is not None), default=0.0)
    return tuple(
        (side, f"{100 * value / longest:.1f}%", quantities.duration(value))
        for side, value in times
        if value is not None and longest > 0
    )


def _family(state: State) -> str:
    if state.limiter is None:
        return "undecided"
    return state.family if state.family in page.FAMILIES else "other"


def _file(path: str) -> str:
    return wording.file_name(path.split(", ")[0])
