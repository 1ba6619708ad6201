"""A comparison for a terminal: one headline, then a few lines for each kernel that changed."""

from __future__ import annotations

from triage.compare.model import Comparison, Pair
from triage.renderers import diff_wording as words
from triage.renderers import wording
from triage.renderers.escape import shorten
from triage.renderers.text import Page

_STYLES = {"slower": "bold red", "faster": "bold green", "same": "", "unknown": "bold yellow"}
_NARROWEST = 40
_INDENT = 2
# Of more kernels that changed those that changed most are shown.
_DETAILED = 100
# What did not change is named up to here, then counted.
_NAMED = 12


def render(comparison: Comparison, *, width: int = 80, color: bool = False) -> str:
    """The comparison in ``width`` columns, with ANSI colours where ``color`` is true."""
    page = Page(max(width, _NARROWEST), color)
    page.line(words.headline(comparison), style="bold")
    page.line(f"base: {words.side(comparison.base)}", style="dim")
    page.line(f"head: {words.side(comparison.head)}", style="dim")
    for text in words.warnings(comparison):
        page.line(f"Warning: {text}")
    names = words.Names(comparison)
    loud, quiet = words.sections(comparison)
    for pair in loud[:_DETAILED]:
        page.blank()
        _pair(page, names, pair)
    left = words.left_out(len(loud) - _DETAILED)
    if left:
        page.blank()
        page.line(left, style="bold")
    if quiet:
        page.blank()
        page.line(f"No change in {wording.count(len(quiet), 'kernel')}:")
        for pair in quiet[:_NAMED]:
            name = shorten(names.of(pair), page.width - _INDENT)
            page.line(f"{name}: {words.change(pair).removeprefix('no change: ')}, {words.limiters(pair)}", indent=2)
        if len(quiet) > _NAMED:
            page.line(f"and {wording.count(len(quiet) - _NAMED, 'more kernel')}", indent=2)
    return page.text()


def _pair(page: Page, names: words.Names, pair: Pair) -> None:
    page.line(shorten(names.of(pair, 10_000), page.width), style="bold")
    page.line(wording.launch(pair.shown.kernel), indent=_INDENT, style="dim")
    page.line(words.capital(words.matched(pair)), indent=_INDENT)
    first, _, rest = words.change(pair).partition(":")
    page.line(f":{rest}" if rest else "", indent=_INDENT, opening=(first, _STYLES[pair.change]))
    for reason in pair.reasons:
        page.line(f"Not compared: {reason}", indent=_INDENT)
    page.line(words.capital(words.limiters(pair)), indent=_INDENT)
    place = words.where(pair)
    if place:
        page.line(f"Where: {place}", indent=_INDENT)
    causes = "; ".join(words.moved(move, lower=True) for move in words.causes(pair))
    if causes:
        page.line(f"What moved: {causes}", indent=_INDENT)
    resources = words.resources(pair)
    if resources:
        page.line(f"Cost: {resources}", indent=_INDENT)
    for side, state in (("base", pair.base), ("head", pair.head)):
        spread = words.spread(state)
        if spread:
            page.line(f"Spread of the {side}: {spread}", indent=_INDENT)
    if pair.time is not None and not pair.reasons:
        page.line(f"Noise: {pair.time.why}", indent=_INDENT)
    for note in pair.notes:
        page.line(f"Note: {note}", indent=_INDENT)
    if pair.head is not None and pair.head.fix and pair.change == "slower":
        page.line(f"Try first: {pair.head.fix}", indent=_INDENT)
