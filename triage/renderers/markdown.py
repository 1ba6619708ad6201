"""The report as GitHub-flavoured Markdown, for a comment on a pull request.

A headline, one table, and a folded block for each kernel, as many as fit into a comment.
"""

from __future__ import annotations

from html import escape

from triage import amdahl, quantities
from triage.model import Diagnosis, Evidence, Report
from triage.renderers import bounds, overview, page, wording
from triage.renderers.escape import clean, markdown, markdown_code, shorten
from triage.renderers.ranking import Group, by_time, groups

# GitHub refuses a comment of more than 65,536 characters; the rest is for what a workflow adds.
_COMMENT = 60_000
_TABLE_ROWS = 50
_NAME = 100
_TEXT = 1_500
# Of files, warnings and hints there may be dozens before the first kernel.
_NOTE = 500


def render(report: Report, *, width: int = 80, color: bool = False) -> str:
    """The report as Markdown, at most 60,000 characters; ``width`` and ``color`` have no effect."""
    ranked = by_time(groups(report))
    parts = [f"### {_prose(wording.headline(report))}", _prose(wording.undecided(report))]
    files, more = bounds.sources(report)
    names = [*(wording.source(source) for source in files), *([more] if more else [])]
    parts.append("\n".join(f"{_prose(name, _NOTE)}  " for name in names).rstrip())
    common = wording.common_warnings(report)
    notes = overview.report_warnings(report, common)
    if notes:
        parts.append("\n".join(f"- Warning: {_prose(note, _NOTE)}" for note in notes))
    if ranked:
        parts.append(_table(ranked))
    hints, others = bounds.hints(report)
    if hints:
        parts.append("\n".join(_items("Across kernels", [_prose(hint.text, _NOTE) for hint in hints])).rstrip())
        parts.append(_prose(others))
    closing = _closing(report)
    used = sum(len(part) + 2 for part in parts) + len(closing)
    for position, group in enumerate(ranked):
        block = _block(group, common, report.surveyed)
        if used + len(block) > _COMMENT:
            left = len(ranked) - position
            parts.append(
                f"{wording.count(left, 'kernel')} left out here: a comment holds no more. "
                "`--kernel GLOB` chooses kernels by name, `-f json` holds all."
            )
            break
        parts.append(block)
        used += len(block) + 2
    parts.append(closing)
    return "\n\n".join(part for part in parts if part) + "\n"


def _table(ranked: tuple[Group, ...]) -> str:
    rows = ["| kernel | limiter | confidence | time | share |", "|:--|:--|:--|--:|--:|"]
    for group in ranked[:_TABLE_ROWS]:
        diagnosis = group.shown.diagnosis
        name = markdown_code(wording.label(group.shown.kernel, _NAME), cell=True)
        if len(group.findings) > 1:
            name += f" ({len(group.findings):,} launches)"
        limiter = markdown_code(diagnosis.limiter, cell=True) if diagnosis.limiter else f"*{wording.UNDECIDED}*"
        confidence = diagnosis.confidence if diagnosis.limiter else ""
        time, share = quantities.duration(group.duration_ns), quantities.percent(group.share)
        rows.append(f"| {name} | {limiter} | {confidence} | {time} | {share} |")
    left = len(ranked) - _TABLE_ROWS
    table = "\n".join(rows)
    if left <= 0:
        return table
    rest = sum(group.share or 0.0 for group in ranked[_TABLE_ROWS:])
    return f"{table}\n\nand {wording.count(left, 'more kernel')}, {quantities.whole_percent(rest)} of the time."


def kernel(group: Group, common: tuple[str, ...] = (), *, surveyed: bool = False) -> str:
    """One kernel as Markdown, for an issue or a review: what limits it, how that is known, what to try. ``common`` are
    warnings said elsewhere, ``surveyed`` that of the report."""
    word = wording.limiter_word(group.shown.diagnosis)
    name = markdown_code(wording.label(group.shown.kernel, _NAME))
    return "\n".join([f"#### {name}: {_prose(word)}", "", *_body(group, common, surveyed)]).rstrip() + "\n"


def _block(group: Group, common: tuple[str, ...], surveyed: bool) -> str:
    # Inside a summary everything is HTML until the first blank line, so Markdown's own escapes do not apply.
    name = escape(wording.label(group.shown.kernel, _NAME))
    word = escape(wording.limiter_word(group.shown.diagnosis))
    summary = f"<details><summary><code>{name}</code>: {word}</summary>"
    return "\n".join([summary, "", *_body(group, common, surveyed), "</details>"])


def _body(group: Group, common: tuple[str, ...], surveyed: bool) -> list[str]:
    diagnosis = group.shown.diagnosis
    lines = [_prose(diagnosis.summary), ""]
    measured = page.measured_line(group)
    lines += [f"{_prose(measured)}.", ""]
    if diagnosis.limiter:
        why = f": {'; '.join(diagnosis.confidence_why)}" if diagnosis.confidence_why else ""
        lines += [f"Confidence is {diagnosis.confidence}{_prose(why)}.", ""]
    lines += _fixes(group, surveyed)
    lines += _unsettled(diagnosis)
    if diagnosis.experiment and (diagnosis.limiter is None or diagnosis.confidence == "low"):
        lines += [f"**An experiment that would settle it:** {_prose(diagnosis.experiment)}", ""]
    lines += _items("Evidence", [_evidence(item) for item in diagnosis.evidence])
    lines += _items(
        "Source lines",
        [f"{markdown_code(wording.place(line))}: {quantities.percent(line.share)}" for line in diagnosis.lines[:5]],
    )
    lines += _items(
        "Also holds, behind the limiter",
        [f"{_prose(item.title or item.limiter)}: {_prose(item.text)}" for item in diagnosis.contributors],
    )
    lines += _items(
        "The path as walked",
        [f"{_prose(step.question)} {_prose(step.answer)} *{page.step_word(step)}*" for step in diagnosis.steps],
    )
    warnings = page.own_warnings(group.shown, common)
    return lines + _items("Warnings", [_prose(text) for text in warnings])


def _fixes(group: Group, surveyed: bool) -> list[str]:
    diagnosis = group.shown.diagnosis
    if not diagnosis.fixes:
        return []
    first, *others = (
        _prose(fix.text) + (f" ({_prose(fix.effort)} effort)" if fix.effort else "") for fix in diagnosis.fixes
    )
    lines = [f"**Try first:** {first}"]
    bound = diagnosis.bound
    if bound is not None and bound.speedup is not None:
        colon = ":" if bound.text else "."
        lines.append(f"At most {quantities.factor(bound.speedup)} as fast{colon} {_prose(bound.text)}".rstrip())
        whole = amdahl.sentence(group.headroom, surveyed=surveyed)
        lines[-1] += f" {_prose(whole)}" if whole else ""
    lines.append("")
    return lines + _items("Then", others) + _items("Not if", [_prose(text) for text in diagnosis.unless])


def _unsettled(diagnosis: Diagnosis) -> list[str]:
    if diagnosis.limiter is not None:
        return []
    if wording.named_in_command(diagnosis):
        said = f"{wording.count(len(diagnosis.missing), 'counter')} would settle it, collected by"
        return [said, "", *_command(diagnosis.collect), ""]
    lines = _items("Counters that would settle it", [markdown_code(name) for name in diagnosis.missing[:20]])
    if diagnosis.collect:
        lines += ["They are collected by", "", *_command(diagnosis.collect), ""]
    return lines


def _command(command: str) -> list[str]:
    text = clean(command)
    fence = "```"
    while fence in text:
        fence += "`"
    return [f"{fence}sh", text, fence]


def _items(heading: str, items: list[str]) -> list[str]:
    return [f"**{heading}**", "", *(f"- {item}" for item in items), ""] if items else []


def _evidence(item: Evidence) -> str:
    return f"{_prose(page.evidence_text(item))}: {_prose(item.label or item.fact)}"


def _prose(text: str, limit: int = _TEXT) -> str:
    return markdown(shorten(clean(text), limit))


def _closing(report: Report) -> str:
    rules = f", rules {report.rulebook.digest}" if report.rulebook.digest else ""
    return f"<sub>triage {_prose(report.version)}{_prose(rules)}</sub>"
