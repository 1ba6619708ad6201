"""What the templates ask for: small functions from the model to words and widths, and the page's own sentences."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from triage import quantities
from triage.model import Bar, Condition, Diagnosis, Evidence, Finding, Report, Step, Verdict
from triage.renderers import wording
from triage.renderers.escape import clean
from triage.renderers.ranking import Group

FAMILIES = {
    "memory": "memory",
    "latency": "latency",
    "compute": "compute",
    "launch": "launch",
    "balance": "balance",
    "other": "a family of your own rules",
    "undecided": "undecided",
}
# What a warp waits for, in the words of a person who does not know the names.
_STALL_WORDS = {
    "barrier": "other warps at __syncthreads",
    "branch_resolving": "a branch to be decided",
    "dispatch_stall": "the dispatcher",
    "drain": "stores to leave at the end of the warp",
    "imc_miss": "a constant that missed its cache",
    "lg_throttle": "room in the queue for global accesses",
    "long_scoreboard": "data from global or local memory",
    "math_pipe_throttle": "a busy arithmetic pipe",
    "membar": "a memory fence",
    "mio_throttle": "room in the shared-memory queue",
    "misc": "other reasons",
    "no_instruction": "the next instruction to be fetched",
    "short_scoreboard": "data from shared memory",
    "sleeping": "a sleep to end",
    "tex_throttle": "room in the texture queue",
    "wait": "a fixed-latency result",
    "warpgroup_arrive": "the other warps of its warpgroup",
}
_UNIT = re.compile(r"(?<=\d) (?=(?:%|[num]?s|[kMGT]?(?:B|Hz|FLOP)(?:/s)?)(?![\w%]))")
_SIGNS = {"at_least": "\u2265", "above": ">", "below": "<", "at_most": "\u2264"}
_STEP_WORDS = {Verdict.FIRES: "answered here", Verdict.CLEAR: "no, on to the next", Verdict.UNKNOWN: "could not tell"}
_STATE_WORDS = {
    "named": "named",
    "contributor": "also holds",
    "ruled-out": "ruled out",
    "unknown": "not known",
    "hidden": "holds, but an earlier answer came first",
}


def stall_words(reason: str) -> str:
    """What a stall reason means, in a few words; empty for one that we do not know."""
    return _STALL_WORDS.get(reason, "")


def own_warnings(finding: Finding, common: Sequence[str]) -> tuple[str, ...]:
    """A kernel's warnings without those said at the top of the page."""
    return tuple(text for text in wording.warnings(finding) if text not in common)


def explain_hint(report: Report, group: Group) -> str:
    """The command that prints the walked path of a kernel."""
    return f"{wording.explain_command(report, group)} prints it."


def export_hint(report: Report, group: Group) -> str:
    """The command that writes the metrics as a table."""
    return f"triage export {wording.shell_path(report, group)} -o metrics.csv writes them to a file."


def launches_note(group: Group) -> str:
    """Which launch the section shows."""
    return (
        f"{wording.launches(group)}. Shown is launch #{group.shown.kernel.index}, whose time is nearest the median; "
        "the numbers are places in the file."
    )


def family(diagnosis: Diagnosis) -> str:
    """A key of :data:`FAMILIES`: what colour and mark a kernel gets."""
    if diagnosis.limiter is None:
        return "undecided"
    return diagnosis.family if diagnosis.family in FAMILIES else "other"


def verdict_title(diagnosis: Diagnosis) -> str:
    """The limiter in words."""
    return "Undecided" if diagnosis.limiter is None else diagnosis.title or diagnosis.limiter


def measured_line(group: Group) -> str:
    """Share, time, spread and launch of a kernel on one line."""
    parts = []
    if group.share is not None:
        parts.append(f"{quantities.percent(group.share)} of the time")
    parts.append("not timed" if group.duration_ns is None else quantities.duration(group.duration_ns))
    parts += [part for part in (wording.launches(group), wording.launch(group.shown.kernel)) if part]
    if group.shown.kernel.workload != "kernel":
        parts.append(f"profiled as one {group.shown.kernel.workload}")
    return ", ".join(parts)


def saving(group: Group) -> str:
    """The last column of the list: what removing the limiter could save at most."""
    if group.shown.diagnosis.limiter is None:
        return "not known"
    return "not stated" if group.saving_ns is None else quantities.duration(group.saving_ns)


def aside(group: Group, among: Sequence[Group]) -> str:
    """What tells a row from its namesakes: its launches with their spread, and their shape where names are the same."""
    name = wording.label(group.shown.kernel)
    namesakes = sum(wording.label(other.shown.kernel) == name for other in among) if len(among) <= 100 else 1
    parts = [wording.launches(group)] if len(group.findings) > 1 else []
    if namesakes > 1 or len(among) > 100:
        parts.append(wording.launch(group.shown.kernel))
    return ", ".join(part for part in parts if part)


def width(value: float | None) -> str:
    """A percentage as the width of a bar, kept within the scale."""
    if value is None or not math.isfinite(value):
        return "0"
    clipped = min(max(value, 0.0), 100.0)
    return f"{clipped:.1f}".removesuffix(".0") + "%"


def sentence(condition: Condition) -> str:
    """A condition as the rules put it, with value and threshold; from its parts where they left it empty."""
    if condition.text:
        return condition.text
    value = "not collected" if condition.value is None else quantities.quantity(condition.value, condition.unit)
    sign = _SIGNS.get(condition.op, condition.op)
    return f"{condition.fact}: {value}, asked for {sign} {quantities.quantity(condition.threshold, condition.unit)}"


class References:
    """Numbers the places that thresholds come from, in the order in which the page mentions them."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        """The number of ``text``, from 1."""
        return self._numbers.setdefault(clean(text), len(self._numbers) + 1)

    def texts(self) -> tuple[str, ...]:
        """All of them so far, in order."""
        return tuple(self._numbers)


def evidence_text(item: Evidence) -> str:
    """A quoted fact as it was formatted by the rules, else from its value."""
    if item.value is None:
        return "not collected"
    if item.text:
        return item.text
    return item.value if isinstance(item.value, str) else quantities.quantity(item.value, item.unit)


def step_word(step: Step) -> str:
    """How the walk left a question."""
    return _STEP_WORDS[step.verdict] if step.covered else "not covered"


def known_parts(bar: Bar) -> tuple[tuple[str, float], ...]:
    """The constituents that were collected, busiest first."""
    known = [(name, value) for name, value in bar.parts if value is not None and math.isfinite(value)]
    return tuple(sorted(known, key=lambda part: part[1], reverse=True))


def collected(bar: Bar) -> bool:
    """Whether anything of a bar is known."""
    return (bar.value is not None and math.isfinite(bar.value)) or bool(known_parts(bar))


def unknown_parts(bar: Bar) -> tuple[str, ...]:
    """The constituents that were not collected."""
    return tuple(name for name, value in bar.parts if value is None or not math.isfinite(value))


def bar_family(bar: Bar) -> str:
    """The hue of a total: the side of the chip that it measures, grey for anything else."""
    start = bar.id.lower()
    if start.startswith("mem"):
        return "memory"
    return "compute" if start.startswith(("sm", "comp")) else "other"


def tick_id(bar: Bar) -> str:
    """The id of the drawing of this bar's threshold lines, which all bars with the same ones share; or empty."""
    return "t" + "-".join(f"{tick:g}".replace(".", "_") for tick in bar.ticks) if bar.ticks else ""


def tick_sets(report: Report) -> tuple[tuple[str, tuple[float, ...]], ...]:
    """Every distinct set of threshold lines with its id."""
    sets = {tick_id(bar): bar.ticks for finding in report.findings for bar in finding.diagnosis.bars if bar.ticks}
    return tuple(sets.items())


def tick_words(bar: Bar) -> str:
    """``60 % and 80 %``."""
    return " and ".join(f"{quantities.significant(tick)} %" for tick in bar.ticks)


def command(text: str) -> Any:
    """A command as HTML that may break after a comma; what is copied from the page has no break in it."""
    from markupsafe import Markup, escape

    return Markup(",<wbr>").join(escape(part) for part in clean(text).split(","))


def web_links(links: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Only links that lead to the web: a rule pack cannot put a script behind one."""
    return tuple((text, url) for text, url in links if url.startswith(("https://", "http://")))


def prose(text: str) -> str:
    """A sentence whose numbers stay on one line with their units."""
    return _UNIT.sub("\u00a0", clean(text))


def source_text(text: str) -> str:
    """A source line with its tabs as blanks and without its indent."""
    return text.expandtabs(4).strip()


def launch_list(group: Group, limit: int) -> tuple[tuple[int, Finding], ...]:
    """The first ``limit`` launches of a group with their places in the report."""
    return tuple(zip(group.places, group.findings, strict=True))[:limit]


def _percent_or(value: float | None, otherwise: str) -> str:
    return otherwise if value is None or not math.isfinite(value) else quantities.percent(value)


def looked_at(step: Step) -> str:
    """What became of the limiters of a question: ``4 ruled out, 1 not known``."""
    states = Counter(_STATE_WORDS.get(check.state, check.state) for check in step.checks)
    words = ", ".join(f"{number} {state}" for state, number in states.items())
    return f"{wording.count(len(step.checks), 'limiter')} looked at: {words}"


FILTERS: dict[str, Callable[..., Any]] = {
    "aside": aside,
    "bar_family": bar_family,
    "clean": clean,
    "collected": collected,
    "command": command,
    "duration": quantities.duration,
    "evidence_text": evidence_text,
    "factor": quantities.factor,
    "family": family,
    "known_parts": known_parts,
    "label": wording.label,
    "launch_list": launch_list,
    "limiter": wording.limiter_word,
    "line_share": wording.line_share,
    "looked_at": looked_at,
    "measured_line": measured_line,
    "named_in_command": wording.named_in_command,
    "percent": quantities.percent,
    "reject_collected": lambda bars: tuple(bar for bar in bars if not collected(bar)),
    "percent_or": _percent_or,
    "place": wording.place,
    "prose": prose,
    "saving": saving,
    "sentence": sentence,
    "stall_words": stall_words,
    "source_line": wording.source,
    "source_text": source_text,
    "state_word": lambda state: _STATE_WORDS.get(state, state),
    "step_word": step_word,
    "tick_id": tick_id,
    "tick_words": tick_words,
    "unknown_parts": unknown_parts,
    "verdict_title": verdict_title,
    "web_links": web_links,
    "whole_percent": quantities.whole_percent,
    "width": width,
}
