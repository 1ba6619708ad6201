"""A comparison as GitHub-flavoured Markdown, for a comment on a pull request: a headline, one table, folded details."""

from __future__ import annotations

from html import escape

from triage import quantities
from triage.compare.model import Comparison, Pair
from triage.renderers import diff_wording as words
from triage.renderers import wording
from triage.renderers.escape import clean, markdown, markdown_code, shorten

# GitHub refuses a comment of more than 65,536 characters; the rest is for what a workflow adds.
_COMMENT = 60_000
_ROWS = 50
_NAME = 100
_TEXT = 1_500
_SIGNS = {"slower": "\N{BLACK UP-POINTING TRIANGLE}", "faster": "\N{BLACK DOWN-POINTING TRIANGLE}"}


def render(comparison: Comparison, *, width: int = 80, color: bool = False, limit: int = _COMMENT) -> str:
    """The comparison as Markdown; details are left out beyond ``limit`` characters. ``width`` and ``color`` have no
    effect."""
    pairs = words.ranked(comparison)
    names = words.Names(comparison)
    loud, _ = words.sections(comparison)
    parts = [f"### {_prose(words.headline(comparison))}"]
    parts.append(f"base {_prose(words.side(comparison.base))}  \nhead {_prose(words.side(comparison.head))}")
    notes = words.warnings(comparison)
    if notes:
        parts.append("\n".join(f"- Warning: {_prose(note)}" for note in notes[:10]))
    if pairs:
        parts.append(_table(names, pairs))
    closing = f"<sub>triage {_prose(comparison.version)}</sub>"
    used = sum(len(part) + 2 for part in parts) + len(closing)
    for position, pair in enumerate(loud):
        block = _block(names, pair)
        if used + len(block) > limit:
            left = wording.count(len(loud) - position, "kernel")
            parts.append(f"The details of {left} are left out here: a comment holds no more.")
            break
        parts.append(block)
        used += len(block) + 2
    parts.append(closing)
    return "\n\n".join(part for part in parts if part) + "\n"


def _table(names: words.Names, pairs: tuple[Pair, ...]) -> str:
    rows = ["| kernel | base | head | change | limiter |", "|:--|--:|--:|--:|:--|"]
    for pair in pairs[:_ROWS]:
        name = markdown_code(names.of(pair, _NAME), cell=True)
        cells = (name, words.time(pair.base), words.time(pair.head), _change(pair), _limiter(pair))
        rows.append(f"| {' | '.join(cells)} |")
    table = "\n".join(rows)
    left = len(pairs) - _ROWS
    return table if left <= 0 else f"{table}\n\nand {wording.count(left, 'more kernel')}: `-f json` holds all."


def _change(pair: Pair) -> str:
    if pair.time is None:
        return f"**{words.change(pair).split(':')[0]}**"
    signed = words.signed(pair.time)
    if pair.change == "unknown":
        return f"no verdict ({signed})" if signed else "no verdict"
    if pair.change == "same":
        return f"{signed} (noise)"
    amount = words.amount(pair.time)
    # A factor reads better than a large percentage; next to a small one it would say the same twice.
    more = f" ({amount})" if "x" in amount else f" {pair.change}"
    return f"{_SIGNS[pair.change]} **{signed}**{more}"


def _limiter(pair: Pair) -> str:
    sides = [_code(words.limiter(state)) for state in (pair.base, pair.head) if state is not None]
    if len(sides) == 2 and sides[0] != sides[1]:
        word = "or" if pair.limiter_between else "\N{RIGHTWARDS ARROW}"
        return f"{sides[0]} {word} {sides[1]}"
    return sides[-1]


def _code(limiter: str) -> str:
    return f"*{limiter}*" if limiter == wording.UNDECIDED else markdown_code(limiter, cell=True)


def _block(names: words.Names, pair: Pair) -> str:
    # Inside a summary everything is HTML until the first blank line, so Markdown's own escapes do not apply.
    name = escape(names.of(pair, _NAME))
    lines = [f"<details><summary><code>{name}</code>: {escape(words.change(pair))}</summary>", ""]
    launch = wording.launch(pair.shown.kernel)
    sentences = [words.capital(words.limiters(pair)), words.capital(words.matched(pair)), words.capital(launch)]
    lines += [" ".join(f"{_prose(text)}." for text in sentences if text), ""]
    lines += [f"- Not compared: {_prose(reason)}" for reason in pair.reasons]
    lines += [
        f"- {side.capitalize()}, source line: {markdown_code(wording.place(line))}"
        f" ({quantities.whole_percent(line.share)}"
        f" of {_code(words.limiter(pair.base if side == 'base' else pair.head))})"
        for side, line in words.lines(pair)
    ]
    for side, state in (("base", pair.base), ("head", pair.head)):
        if state is not None and state.summary:
            lines.append(f"- {side.capitalize()}: {_prose(state.summary)}")
        spread = words.spread(state)
        if spread:
            lines.append(f"- Spread of the {side}: {_prose(spread)}")
    lines += [f"- Note: {_prose(note)}" for note in pair.notes]
    if pair.time is not None and not pair.reasons:
        lines.append(f"- Noise: {_prose(pair.time.why)}")
    if pair.head is not None and pair.head.fix and pair.change == "slower":
        lines.append(f"- Try first: {_prose(pair.head.fix)}")
    facts = _facts(pair)
    if facts:
        lines += ["", *facts]
    return "\n".join([*lines, "", "</details>"])


def _facts(pair: Pair) -> list[str]:
    moves = [*pair.resources, *pair.moves]
    if not moves:
        return []
    rows = ["| fact | base | head | change |", "|:--|--:|--:|--:|"]
    for move in moves[:40]:
        before, after = words.cell(move.base, move.unit), words.cell(move.head, move.unit)
        rows.append(f"| {_prose(move.label)} | {_prose(before)} | {_prose(after)} | {_prose(words.difference(move))} |")
    return rows


def _prose(text: str) -> str:
    return markdown(shorten(clean(text), _TEXT))
