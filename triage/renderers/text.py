"""The report for a terminal: one headline, then one sentence a kernel, longest first.

Right at 80 columns and when piped: no trailing blanks, no word broken that fits on a line, and a command to copy
always on one line, however long.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from triage import amdahl, quantities
from triage.model import Diagnosis, Report
from triage.renderers import bounds, wording
from triage.renderers.escape import clean, shorten
from triage.renderers.ranking import Group, by_time, groups

if TYPE_CHECKING:
    from rich.console import Console

_FAMILY_STYLE = {
    "memory": "bold blue",
    "latency": "bold yellow",
    "compute": "bold green",
    "launch": "bold magenta",
    "balance": "bold red",
}
_NARROWEST = 40
_MISSING_SHOWN = 4
# Of more kernels those that take most of the time are shown.
_KERNELS = 100
# A command longer than this (characters) is printed once, for the first kernel that needs one.
_COMMAND = 400


def render(report: Report, *, width: int = 80, color: bool = False) -> str:
    """The report in ``width`` columns, with ANSI colours where ``color`` is true."""
    page = Page(max(width, _NARROWEST), color)
    page.line(wording.headline(report), style="bold")
    page.line(wording.undecided(report))
    files, more = bounds.sources(report)
    for source in files:
        page.line(wording.source(source), style="dim")
    page.line(more, style="dim")
    for warning in bounds.warnings(report):
        page.line(f"Warning: {warning}")
    common = wording.common_warnings(report)
    for warning in common:
        page.line(f"Warning, for all kernels: {warning}")
    ranked = by_time(groups(report))
    listed = bounds.shown(ranked, _KERNELS)
    digits = len(str(len(listed)))
    for rank, group in enumerate(listed, 1):
        page.blank()
        _kernel(page, report, rank, digits, group, common)
    if len(listed) < len(ranked):
        page.blank()
        page.line(bounds.left_out(ranked, listed), style="bold")
    hints, others = bounds.hints(report)
    if hints:
        page.blank()
        page.line("Across kernels", style="bold")
        for hint in hints:
            page.line(hint.text, lead="  - ", indent=4)
        page.line(others, indent=4)
    return page.text()


def _kernel(page: Page, report: Report, rank: int, digits: int, group: Group, common: tuple[str, ...]) -> None:
    diagnosis = group.shown.diagnosis
    indent = digits + 2
    name = wording.label(group.shown.kernel, 10_000)
    page.line(shorten(name, page.width - indent), lead=f"{rank:>{digits}}. ", style="bold", indent=indent)
    page.line(_measured(group), indent=indent, style="dim")
    word = wording.limiter_word(diagnosis)
    style = _FAMILY_STYLE.get(diagnosis.family or "", "bold")
    if diagnosis.limiter is None:
        page.line(f": {diagnosis.summary}", indent=indent, opening=(word, style))
        _unsettled(page, report, group, indent)
    else:
        opening = f" ({diagnosis.confidence} confidence): {diagnosis.summary}"
        page.line(opening, indent=indent, opening=(word, style))
    if diagnosis.fixes:
        page.line(f"Try first: {diagnosis.fixes[0].text}", indent=indent)
        if diagnosis.bound is not None and diagnosis.bound.speedup is not None:
            whole = amdahl.sentence(group.headroom, surveyed=report.surveyed)
            most = quantities.factor(diagnosis.bound.speedup)
            page.line(f"At most {most} as fast without this limiter. {whole}".rstrip(), indent=indent)
    if diagnosis.lines:
        line = diagnosis.lines[0]
        page.line(
            f"Where: {wording.place(line)} ({quantities.whole_percent(line.share)} of {wording.line_share(line)})",
            indent=indent,
        )
    if diagnosis.limiter is not None and diagnosis.confidence == "low":
        for why in diagnosis.confidence_why:
            page.line(f"Low confidence: {why}", indent=indent)
    if diagnosis.experiment and (diagnosis.limiter is None or diagnosis.confidence == "low"):
        page.line(f"To settle it: {diagnosis.experiment}", indent=indent)
    for warning in wording.warnings(group.shown):
        if warning not in common:
            page.line(f"Warning: {warning}", indent=indent)


def _unsettled(page: Page, report: Report, group: Group, indent: int) -> None:
    diagnosis = group.shown.diagnosis
    # The sentence or the command below often names the missing counters itself: once is enough.
    told = wording.named_in_command(diagnosis) and _shows_command(page, diagnosis)
    if diagnosis.missing and not told and diagnosis.missing[0] not in diagnosis.summary:
        shown = [clean(name) for name in diagnosis.missing[:_MISSING_SHOWN]]
        more = len(diagnosis.missing) - len(shown)
        tail = f" and {more} more" if more else ""
        verb = "is" if len(diagnosis.missing) == 1 else "are"
        page.line(f"Not collected, and would settle it, {verb}: {', '.join(shown)}{tail}", indent=indent)
    if not diagnosis.collect:
        return
    if _shows_command(page, diagnosis):
        page.long_command_shown |= len(clean(diagnosis.collect)) > _COMMAND
        count = wording.count(len(diagnosis.missing), "counter")
        page.line(f"{count} would settle it, collected with:" if told else "Collect them with:", indent=indent)
        page.verbatim(diagnosis.collect, indent=indent + 2)
    else:
        # A screen full of counters once is help; once for each of thirty kernels it hides the other answers.
        page.line("The command that collects them is printed by:", indent=indent)
        page.verbatim(wording.explain_command(report, group), indent=indent + 2)


def _shows_command(page: Page, diagnosis: Diagnosis) -> bool:
    return bool(diagnosis.collect) and (len(clean(diagnosis.collect)) <= _COMMAND or not page.long_command_shown)


def _measured(group: Group) -> str:
    parts = []
    if group.share is not None:
        parts.append(f"{quantities.percent(group.share)} of the time")
    parts.append("not timed" if group.duration_ns is None else quantities.duration(group.duration_ns))
    # What `triage explain --kernel` takes: the place of the result in its file, not the rank by time.
    parts.append(f"kernel {group.shown.kernel.index}")
    parts.extend(part for part in (wording.launches(group), wording.launch(group.shown.kernel)) if part)
    return ", ".join(parts)


class Page:
    """Lines with a hanging indent, through Rich; no trailing blanks."""

    def __init__(self, width: int, color: bool) -> None:
        from rich.console import Console

        self.width = width
        self.long_command_shown = False
        self._file = io.StringIO()
        # The environment is not consulted: the caller decides about width and colour.
        self._console: Console = Console(
            file=self._file,
            width=width,
            color_system="standard" if color else None,
            force_terminal=color,
            no_color=not color,
            highlight=False,
            markup=False,
            emoji=False,
            legacy_windows=False,
            _environ={},
        )

    def line(
        self,
        text: str,
        *,
        indent: int = 0,
        style: str = "",
        lead: str = "",
        opening: tuple[str, str] = ("", ""),
    ) -> None:
        """``text`` wrapped under a hanging ``indent`` with ``lead`` in it; ``opening`` comes first in its own style."""
        from rich.text import Text

        if not text and not opening[0]:
            return
        content = Text(clean(opening[0]), style=opening[1]) + Text(clean(text), style=style)
        for number, part in enumerate(content.wrap(self._console, self.width - indent, overflow="fold")):
            part.rstrip()
            margin = lead if lead and number == 0 else " " * indent
            self._console.print(Text(margin) + part, soft_wrap=True)

    def verbatim(self, text: str, *, indent: int, opening: tuple[str, str] = ("", "")) -> None:
        """``text`` on one line whatever its length, so that it can be copied; ``opening`` first in its own style."""
        from rich.text import Text

        self._console.print(
            Text(" " * indent) + Text(clean(opening[0]), style=opening[1]) + clean(text), soft_wrap=True
        )

    def blank(self) -> None:
        self._console.print()

    def text(self) -> str:
        return self._file.getvalue()
