"""Rules as text: the list of limiters, and one rule with its thresholds and where they come from."""

from __future__ import annotations

from dataclasses import replace

from triage import quantities
from triage.errors import UsageError
from triage.renderers.escape import clean
from triage.rules.checks import suggestion
from triage.rules.conditions import Comparison
from triage.rules.entries import WORDS, condition_lines, fact_page, question_page, threshold_page
from triage.rules.rulebook import NOWHERE, LimiterDef, Rulebook, shown


def listing(rulebook: Rulebook) -> str:
    """One line a limiter: id, family, title; in the order of the path."""
    order = [answer.limiter for question in rulebook.path for answer in question.answers]
    names = [name for name in dict.fromkeys(order) if name in rulebook.limiters]
    names += [name for name in rulebook.limiters if name not in names]
    width = max((len(name) for name in names), default=0)
    rows = [(rulebook.limiters[name], name) for name in names]
    return _inert([f"{name:<{width}}  {limiter.family:<8}  {limiter.title}" for limiter, name in rows])


def page(rulebook: Rulebook, name: str) -> str:
    """Everything that is called ``name``: a limiter, a question, a fact, a threshold (a fact and the threshold it is
    compared with may share a name). Raises :class:`UsageError` for an id that no file defines."""
    questions = {question.id: question for question in rulebook.path}
    found: list[list[str]] = []
    if name in rulebook.limiters:
        found.append(_limiter(rulebook.limiters[name], rulebook))
    if name in questions:
        found.append(question_page(questions[name], rulebook))
    if name in rulebook.facts:
        found.append(fact_page(rulebook.facts[name], rulebook))
    if name in rulebook.thresholds:
        found.append(threshold_page(rulebook.thresholds[name], rulebook))
    if found:
        return "\n".join(map(_inert, found))
    names = [*rulebook.limiters, *questions, *rulebook.facts, *rulebook.thresholds]
    raise UsageError(
        f"no limiter, question, fact or threshold is called {name!r}{suggestion(name, names)}",
        "`triage rules list` names the limiters, `triage explain` the questions",
    )


def _inert(lines: list[str]) -> str:
    """Lines as a terminal may print them, whoever wrote the rules (a rulebook made in Python was read by no loader)."""
    return "".join(f"{clean(line)}\n" for line in lines)


def _limiter(limiter: LimiterDef, rulebook: Rulebook) -> list[str]:
    lines = [f"{limiter.id}: {limiter.title}", f"family {limiter.family}, {limiter.status}, {limiter.place}", ""]
    lines += [limiter.because, "", "Said when"]
    lines += condition_lines(limiter.when, rulebook, 1)
    if limiter.veto is not None:
        lines += ["Not when it is known that", *condition_lines(limiter.veto, rulebook, 1)]
    lines += ["Asked at", *_places(limiter, rulebook)]
    lines += ["Evidence", f"  {limiter.evidence}", "What to try"]
    lines += [f"  {fix.text}" + (f" ({fix.effort} effort)" if fix.effort else "") for fix in limiter.fixes]
    if limiter.unless:
        lines += ["Unless", *(f"  {text}" for text in limiter.unless)]
    if limiter.experiment:
        lines += ["To be sure", f"  {limiter.experiment}"]
    lines += ["See", *(f"  {title}: {url}" for title, url in limiter.see)]
    lines += ["Tests", *(f"  {case.expect:<8} {case.name}" for case in limiter.tests)]
    return [*lines, "Where it comes from", *_origins(limiter, rulebook)]


def _origins(limiter: LimiterDef, rulebook: Rulebook) -> list[str]:
    """The layers in force, the file of the rule, and every number with the place where it is set and what it was."""
    layers = " < ".join(rulebook.layers)
    rows = [f"  layers     {layers} (profile {rulebook.identity.profile}, digest {rulebook.identity.digest})"]
    rows.append(f"  rule       {shown(limiter.spots.get('id', NOWHERE)) or limiter.place}")
    if limiter.status == "retired":
        rows.append(f"  retired    {shown(limiter.spots.get('status', NOWHERE))}")
    nodes = [node for node in (limiter.when, limiter.veto, limiter.contributes) if node is not None]
    leaves = dict.fromkeys(leaf for node in nodes for leaf in node.leaves())
    rows += dict.fromkeys(row for leaf in leaves for row in _origin(leaf, ""))
    for override in rulebook.overrides:
        if override.limiter in ("", limiter.id):
            changed = [
                replace(leaf, threshold=override.changed(leaf.threshold)) for leaf in leaves if override.concerns(leaf)
            ]
            chips = override.chips.text if override.chips else ""
            rows += dict.fromkeys(row for leaf in changed for row in _origin(leaf, f" on cc {chips}"))
    for question in rulebook.path:
        rows += [
            f"  question   {question.id}, {shown(answer.spot)}"
            for answer in question.answers
            if answer.limiter == limiter.id
        ]
    return rows


def _origin(leaf: Comparison, chips: str) -> list[str]:
    threshold = leaf.threshold
    label = threshold.name or f"{leaf.fact} {WORDS[leaf.op]}"
    value = quantities.quantity(threshold.value, threshold.unit)
    row = f"  number     {label}{chips}: {value}, {shown(threshold.spot)}"
    was = threshold.was
    while was is not None:
        row += f"; was {quantities.quantity(was.value, was.unit)}, {shown(was.spot)}"
        was = was.was
    return [row]


def _places(limiter: LimiterDef, rulebook: Rulebook) -> list[str]:
    found: list[str] = []
    for question in rulebook.path:
        for answer in question.answers:
            if answer.limiter == limiter.id:
                rivals = list(dict.fromkeys(rival.limiter for rival in answer.blocked_by))
                blocked = f"; undecided while unknown: {', '.join(rivals)}" if rivals else ""
                found.append(f"  decision {question.decision}, {question.ask}{blocked}")
    return found
