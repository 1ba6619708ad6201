"""Whether the limiter is the same at two sizes, as text, Markdown and JSON (``"schema": "triage/same-limiter/1"``)."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from triage import quantities
from triage.compare.model import Snapshot
from triage.compare.sizes import LITTLE, LITTLE_TOGETHER, Compared, SameLimiter, Sized
from triage.errors import UsageError
from triage.renderers import diff_json, diff_wording, wording
from triage.renderers.escape import clean, markdown, markdown_code, shorten
from triage.renderers.text import Page
from triage.resources import folder

SCHEMA = "triage/same-limiter/1"
# So many kernels are shown; what is not the same comes first, and JSON has all.
_SHOWN = 50
_NAME = 60
_NARROWEST = 40
_STYLES = {"same": "green", "differs": "bold red", "undecided": "bold yellow", "missing": "bold yellow"}
_SIDES = ("small", "large")


def render(result: SameLimiter, format: str, *, width: int = 80, color: bool = False) -> str:
    """``result`` in ``format``, ending in a newline; ``width`` (columns) and ``color`` mean something to text only.
    Raises UsageError for a format not in :data:`FORMATS`."""
    if format == "text":
        return _text(result, max(width, _NARROWEST), color)
    if format not in _RENDERERS:
        raise UsageError(f"--same-limiter has no format {format!r}", f"choose one of {', '.join(FORMATS)}")
    return _RENDERERS[format](result)


def headline(result: SameLimiter) -> str:
    """The answer in one sentence."""
    deciding = result.deciding
    if result.answer == "same":
        which = _name(deciding[0], Counter()) if len(deciding) == 1 else f"all {len(deciding):,} kernels that matter"
        return f"Same limiter at both sizes for {which}: the smaller problem may stand for the larger."
    counts = Counter[str](one.answer for one in deciding)
    told = [
        f"{counts[answer]:,} {words}"
        for answer, words in (
            ("differs", "with another limiter"),
            ("undecided", "undecided at one size or both"),
            ("missing", "not run at the small size"),
        )
        if counts[answer]
    ]
    start = "Not the same limiter at both sizes" if result.answer == "differs" else "Cannot tell"
    return f"{start}: of {wording.count(len(deciding), 'kernel')} that matter{'s' if len(deciding) == 1 else ''}, " + (
        f"{', '.join(told)}."
    )


def advice(result: SameLimiter) -> str:
    """What to do about an answer that is not ``same``."""
    if result.answer == "undecided" and any(one.answer == "undecided" for one in result.deciding):
        return "profile the larger problem, or collect at both sizes the counters that triage report asks for"
    return "profile the larger problem"


def document(result: SameLimiter) -> dict[str, Any]:
    """The result as plain dictionaries, lists, strings and finite numbers, in the layout of the schema."""
    return {
        "schema": SCHEMA,
        "triage": {"version": result.version},
        "answer": result.answer,
        "headline": headline(result),
        "warnings": list(_warnings(result)),
        "small": diff_json.side(result.small),
        "large": diff_json.side(result.large),
        "kernels": [_kernel(one) for one in result.kernels],
    }


def schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of :func:`document`, as shipped."""
    text = (folder("templates") / "same-limiter.schema.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def _json(result: SameLimiter) -> str:
    return json.dumps(document(result), indent=1, ensure_ascii=True, allow_nan=False) + "\n"


def _kernel(one: Compared) -> dict[str, Any]:
    kernel = one.shown.kernel
    return {
        "name": kernel.name,
        "function": kernel.function,
        "nvtx": list(kernel.nvtx),
        "answer": one.answer,
        "decides": one.decides,
        "share": _number(one.share),
        "small": _size(one.small),
        "large": _size(one.large),
    }


def _size(one: Sized | None) -> dict[str, Any] | None:
    if one is None:
        return None
    state, launch = one.state, one.state.kernel.launch
    return {
        "name": state.kernel.name,
        "limiter": state.limiter,
        "confidence": state.confidence,
        "summary": state.summary,
        "grid": list(launch.grid) if launch.grid else None,
        "block": list(launch.block) if launch.block else None,
        "shapes": one.shapes,
        "launches": state.launches,
        "time_ns": _number(one.time_ns),
        "limiters": [{"limiter": limiter, "launches": count} for limiter, count in state.limiters],
    }


def _text(result: SameLimiter, width: int, color: bool) -> str:
    page = Page(width, color)
    page.line(headline(result), style="bold")
    for side, snapshot in zip(_SIDES, (result.small, result.large), strict=True):
        page.line(f"{side}: {diff_wording.side(snapshot)}", style="dim")
    for text in _warnings(result):
        page.line(f"Warning: {text}")
    page.blank()
    names = _shared(result)
    for one in result.kernels[:_SHOWN]:
        # One line a kernel, whatever its length: it is what scripts and eyes look for.
        text = f"{_name(one, names)}: {_limiters(one)}{_aside(one)}"
        page.verbatim(text, indent=2, opening=(f"{one.answer:<9}  ", _STYLES[one.answer]))
    page.line(_left_out(result), indent=2)
    return page.text()


def _markdown(result: SameLimiter) -> str:
    names = _shared(result)
    parts = [f"### {_prose(headline(result))}"]
    sides = zip(_SIDES, (result.small, result.large), strict=True)
    parts.append("  \n".join(f"{side}: {_prose(diff_wording.side(snapshot))}" for side, snapshot in sides))
    parts += ["\n".join(f"- Warning: {_prose(text)}" for text in _warnings(result)[:10])]
    rows = ["| kernel | answer | small | large | share |", "|:--|:--|:--|:--|--:|"]
    for one in result.kernels[:_SHOWN]:
        sizes = (one.small, one.large)
        limiters = [_code(size.limiter) if size is not None else "" for size in sizes]
        answer = one.answer if one.decides else f"{one.answer} ({_why_not(one)})"
        share = "not timed" if one.share is None else quantities.percent(one.share)
        cells = (markdown_code(_name(one, names), cell=True), answer, *limiters, share)
        rows.append(f"| {' | '.join(cells)} |")
    parts += ["\n".join(rows), _prose(_left_out(result)), f"<sub>triage {_prose(result.version)}</sub>"]
    return "\n\n".join(part for part in parts if part) + "\n"


_RENDERERS: dict[str, Callable[[SameLimiter], str]] = {"md": _markdown, "json": _json}
FORMATS = ("text", *_RENDERERS)


def _shared(result: SameLimiter) -> Counter[str]:
    return Counter(one.shown.kernel.function for one in result.kernels)


def _name(one: Compared, shared: Counter[str]) -> str:
    """The bare name where no other kernel has it, else with template arguments, NVTX range and launch shape."""
    kernel = one.shown.kernel
    function = clean(kernel.function).strip()
    if function and shared[kernel.function] <= 1:
        return shorten(function, _NAME)
    ranges = " / ".join(clean(part) for part in kernel.nvtx)
    parts = (wording.label(kernel, _NAME), shorten(ranges, _NAME), wording.launch(kernel))
    return ", ".join(part for part in parts if part)


def _limiters(one: Compared) -> str:
    small, large = (_limiter(size) for size in (one.small, one.large))
    if small == large:
        return small
    if one.small is None:
        return f"only at the large size, {large}"
    if one.large is None:
        return f"only at the small size, {small}"
    return f"{small} at the small size, {large} at the large"


def _limiter(size: Sized | None) -> str:
    """The limiter, with how many of the launches have it where not all do, and whether it is a doubtful one."""
    if size is None:
        return ""
    state = size.state
    asides = []
    if len(state.limiters) > 1:
        asides.append(f"{dict(state.limiters).get(state.limiter, 0):,} of {state.launches:,} launches")
    if state.limiter is not None and state.confidence == "low":
        asides.append("low confidence")
    return f"{diff_wording.limiter(state)} ({', '.join(asides)})" if asides else diff_wording.limiter(state)


def _aside(one: Compared) -> str:
    share = f", {quantities.percent(one.share)} of the time" if one.share is not None else ""
    return share if one.decides else f"{share}, {_why_not(one)}"


def _why_not(one: Compared) -> str:
    return "does not decide" if one.large is None else "too little to decide"


def _left_out(result: SameLimiter) -> str:
    left = result.kernels[_SHOWN:]
    if not left:
        return ""
    counts = Counter[str](one.answer for one in left)
    told = ", ".join(f"{counts[answer]:,} {answer}" for answer in _STYLES if counts[answer])
    return f"and {wording.count(len(left), 'more kernel')} ({told}); -f json lists all, -k GLOB chooses"


def _warnings(result: SameLimiter) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*result.notes, *_of_files((result.small, result.large)), *_passed_over(result))))


def _of_files(snapshots: Iterable[Snapshot]) -> Iterable[str]:
    for side, snapshot in zip(_SIDES, snapshots, strict=True):
        yield from (f"{side}: {text}" for text in snapshot.warnings)


def _passed_over(result: SameLimiter) -> Iterable[str]:
    """What was left out of the answer though it is not the same."""
    count = sum(not one.decides and one.answer in ("differs", "undecided") for one in result.kernels)
    if count:
        yield (
            f"{wording.count(count, 'kernel')} not the same or undecided, each below {LITTLE:g} % of the time and all "
            f"such kernels together at most {LITTLE_TOGETHER:g} %: too little to decide"
        )


def _code(limiter: str | None) -> str:
    return markdown_code(limiter, cell=True) if limiter else f"*{wording.UNDECIDED}*"


def _prose(text: str) -> str:
    return markdown(shorten(clean(text), 1_500))


def _number(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else float(value)
