"""The catalogue: the rules in force as Markdown, one page a limiter, an index, the facts, the thresholds, the keys."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from triage import output, quantities
from triage.errors import UsageError
from triage.renderers.escape import fenced, link, markdown, markdown_code, prose
from triage.rules.conditions import AllOf, AnyOf, Comparison, Node
from triage.rules.limiterfile import PLACEHOLDER
from triage.rules.reference import reference
from triage.rules.rulebook import FactDef, LimiterDef, Rulebook

_WORDS = {"at_least": "at least", "above": "above", "below": "below", "at_most": "at most"}
_FAMILIES = {
    "launch": "Launch: how much work there is, and in which shape",
    "latency": "Latency: what the warps wait for",
    "memory": "Memory: which level is full, or filled with waste",
    "compute": "Compute: which pipe is full, or half empty",
    "balance": "Balance: both sides at once",
}
_MADE = "<!-- Made by `triage rules docs` from the rule files. Change those. -->\n"


def write_all(rulebook: Rulebook, folder: Path) -> int:
    """Write every page below ``folder``; how many there are. Pages of limiters that are gone are removed. Raises
    :class:`UsageError` where a page would overwrite one that was not made here."""
    output.folder(folder)
    made = pages(rulebook)
    present = {file.name: _made_here(file) for file in folder.glob("*.md")}
    if others := [name for name in made if not present.get(name, True)]:
        raise UsageError(f"{folder / others[0]} was not made by this command", "choose a folder of its own with -o")
    for name, text in made.items():
        output.write(folder / name, text)
    for name, ours in present.items():
        if ours and name not in made:
            (folder / name).unlink()
    return len(made)


def _made_here(file: Path) -> bool:
    try:
        with file.open("rb") as opened:
            return opened.read(len(_MADE)) == _MADE.encode()
    except OSError:
        return False


def pages(rulebook: Rulebook) -> dict[str, str]:
    """Every page by its file name."""
    made = {"README.md": _index(rulebook), "facts.md": _facts(rulebook), "thresholds.md": _thresholds(rulebook)}
    made["reference.md"] = _MADE + reference()
    for limiter in rulebook.limiters.values():
        if limiter.status != "retired":
            made[f"{limiter.id}.md"] = _limiter(limiter, rulebook)
    return made


def _index(rulebook: Rulebook) -> str:
    lines = [_MADE, "# What can limit a kernel", ""]
    lines += ["Every limiter has a page: what it means, how it shows, what to try, what it is confused with.", ""]
    for family, title in _FAMILIES.items():
        found = [one for one in rulebook.limiters.values() if one.family == family and one.status != "retired"]
        if not found:
            continue
        lines += [f"## {title}", "", "| limiter | what it is |", "|---|---|"]
        lines += [
            f"| [`{one.id}`]({one.id}.md) | {prose(one.title, cell=True)} |"
            for one in sorted(found, key=lambda one: one.id)
        ]
        lines.append("")
    lines += ["## In which order they are asked for", ""]
    for question in rulebook.path:
        names = ", ".join(f"[`{answer.limiter}`]({answer.limiter}.md)" for answer in question.answers)
        pick = ", pick: largest" if question.pick == "largest" else ""
        about = f"(decision {markdown(question.decision)}{pick})"
        lines.append(
            f"1. {markdown_code(f'[{question.id}]')} {prose(question.ask)} {about}{': ' + names if names else ''}"
        )
    lines += ["", "[Facts](facts.md), [thresholds](thresholds.md), [keys of every file](reference.md),"]
    lines += ["[how to write a rule](../writing-rules.md).", ""]
    return "\n".join(lines)


def _limiter(limiter: LimiterDef, rulebook: Rulebook) -> str:
    lines = [_MADE, f"# {prose(limiter.title)}", "", f"`{limiter.id}`, family {limiter.family}, {limiter.status}", ""]
    lines += [prose(limiter.because), "", "## How it shows", ""]
    lines += [f"> {prose(_evidence(limiter, rulebook))}", "", "Said when", ""]
    lines += list(_node(limiter.when, rulebook, 0))
    if limiter.veto is not None:
        lines += ["", "and not when it is known that", "", *_node(limiter.veto, rulebook, 0)]
    if limiter.contributes is not None:
        lines += ["", "Named behind another limiter when", "", *_node(limiter.contributes, rulebook, 0)]
    lines += ["", "Asked at", "", *_asked(limiter, rulebook)]
    lines += ["", "## What to try", ""]
    lines += [f"1. {prose(fix.text)}" + (f" *({fix.effort} effort)*" if fix.effort else "") for fix in limiter.fixes]
    if limiter.unless:
        lines += ["", "Not if", "", *(f"* {prose(text)}" for text in limiter.unless)]
    if limiter.guide.before:
        lines += ["", "Before", "", *fenced(limiter.guide.before, "cuda")]
        lines += ["", "After", "", *fenced(limiter.guide.after, "cuda")]
    if limiter.headroom is not None:
        bound = limiter.headroom.formula.text if limiter.headroom.formula is not None else ""
        lines += [
            "",
            "What it can bring: "
            + (f"at most a factor of {markdown_code(bound)}. " if bound else "")
            + prose(limiter.headroom.because),
        ]
    if limiter.experiment:
        lines += ["", f"To be sure: {prose(limiter.experiment)}"]
    if limiter.guide.library:
        lines += ["", "## When a library or Triton already solves it", "", prose(limiter.guide.library)]
    if limiter.guide.confused_with:
        lines += ["", "## What it is confused with", ""]
        lines += [f"* [`{one.limiter}`]({one.limiter}.md): {prose(one.tell)}" for one in limiter.guide.confused_with]
    lines += ["", "## Thresholds and where they come from", "", "| compared | with | source |", "|---|---|---|"]
    lines += list(_sources(limiter, rulebook))
    lines += ["", "## What proves it", ""]
    if limiter.guide.proof:
        names = ", ".join(markdown_code(name) for name in limiter.guide.proof)
        lines.append(f"Calibration kernels that have it by construction (`triage validate` runs them): {names}.")
        lines.append("")
    lines += ["| test | expects |", "|---|---|"]
    lines += [f"| {prose(case.name, cell=True)} | {case.expect} |" for case in limiter.tests]
    if limiter.see:
        lines += ["", "## Read on", "", *(f"* {link(title, url)}" for title, url in limiter.see)]
    return "\n".join(lines) + "\n"


def _evidence(limiter: LimiterDef, rulebook: Rulebook) -> str:
    """The sentence with the values of the first case that fires; a dash where the case does not say one."""
    given = next((case.facts for case in limiter.tests if case.expect == "fires"), {})

    def value(match: re.Match[str]) -> str:
        name = match.group(1)
        return quantities.quantity(given[name], rulebook.facts[name].unit) if name in given else "..."

    return PLACEHOLDER.sub(value, limiter.evidence)


def _node(node: Node, rulebook: Rulebook, depth: int) -> Iterator[str]:
    indent = "  " * depth
    if isinstance(node, Comparison):
        yield f"{indent}* {_comparison(node, rulebook)}"
    elif isinstance(node, (AllOf, AnyOf)):
        yield f"{indent}* {'all' if isinstance(node, AllOf) else 'any'} of"
        for part in node.parts:
            yield from _node(part, rulebook, depth + 1)
    else:
        yield f"{indent}* not"
        yield from _node(node.part, rulebook, depth + 1)


def _comparison(leaf: Comparison, rulebook: Rulebook) -> str:
    definition = rulebook.facts[leaf.fact]
    limit = quantities.quantity(leaf.threshold.value, definition.unit)
    return f"[{markdown(definition.label)}](facts.md#{leaf.fact}) (`{leaf.fact}`) {_WORDS[leaf.op]} {markdown(limit)}"


def _asked(limiter: LimiterDef, rulebook: Rulebook) -> Iterator[str]:
    for question in rulebook.path:
        for answer in question.answers:
            if answer.limiter != limiter.id:
                continue
            rivals = list(dict.fromkeys(f"`{rival.limiter}`" for rival in answer.blocked_by))
            blocked = f" Undecided while one of these is unknown: {', '.join(rivals)}." if rivals else ""
            yield f"* decision {markdown(question.decision)}: {prose(question.ask)}{blocked}"


def _sources(limiter: LimiterDef, rulebook: Rulebook) -> Iterator[str]:
    nodes = [node for node in (limiter.when, limiter.veto, limiter.contributes) if node is not None]
    for leaf in dict.fromkeys(leaf for node in nodes for leaf in node.leaves()):
        limit = quantities.quantity(leaf.threshold.value, rulebook.facts[leaf.fact].unit)
        name = f" ({markdown_code(leaf.threshold.name, cell=True)})" if leaf.threshold.name else ""
        source = prose(leaf.threshold.source, cell=True)
        yield f"| `{leaf.fact}` {_WORDS[leaf.op]} | {markdown(limit)}{name} | {source} |"


def _facts(rulebook: Rulebook) -> str:
    lines = [_MADE, "# Facts", "", "The quantities that rules compare, and the ways to get each, best first.", ""]
    for definition in rulebook.facts.values():
        unit = f", in {markdown(definition.unit)}" if definition.unit else ""
        lines += [
            f'<a id="{definition.id}"></a>',
            f"## `{definition.id}`",
            "",
            f"{prose(definition.label)}{unit}. {prose(definition.says)}",
            "",
        ]
        lines += [*_ways(definition), ""]
    return "\n".join(lines)


def _ways(definition: FactDef) -> Iterator[str]:
    if definition.largest_of:
        yield f"* the largest of {', '.join(f'`{name}`' for name in definition.largest_of)}"
    if definition.sum_of_known:
        yield f"* the sum of those collected of {', '.join(f'`{name}`' for name in definition.sum_of_known)}"
    for way in definition.alternatives:
        chips = (
            f", on compute capability {markdown_code(way.cc.text)}" if way.cc is not None and way.chips_given else ""
        )
        read = "" if way.collect else ", read where a report holds it"
        yield f"* {markdown_code(way.formula.text)}{chips}{read}"
    for word, bounds in (("at most", definition.at_most), ("at least", definition.at_least)):
        if bounds:
            formulas = ", ".join(markdown_code(bound.text) for bound in bounds)
            yield f"* {word} {formulas}, where it was not measured itself"


def _thresholds(rulebook: Rulebook) -> str:
    lines = [
        _MADE,
        f"# Thresholds (profile {markdown(rulebook.identity.profile)})",
        "",
        "| name | value | source |",
        "|---|---|---|",
    ]
    for name, threshold in rulebook.thresholds.items():
        value = markdown(quantities.quantity(threshold.value, threshold.unit))
        lines.append(f"| {markdown_code(name, cell=True)} | {value} | {prose(threshold.source, cell=True)} |")
    return "\n".join(lines) + "\n"
