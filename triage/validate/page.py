"""``docs/accuracy.md``: how often the verdicts are right, measured, with everything that it takes to repeat it."""

from __future__ import annotations

from collections.abc import Sequence

from triage.quantities import factor
from triage.renderers.escape import markdown
from triage.validate import textform
from triage.validate.model import Judged, Pair, Validation, compared_rounds, faults, moved, pairs
from triage.validate.scores import advice_right, matrix, score_advice, uncovered

_REPRODUCE = """\
On a machine with an NVIDIA GPU of compute capability 7.5 or newer, the CUDA toolkit and `ncu`:

```
triage validate --repeat -f json -o validate.json
triage validate --scale 0.5,2 -f json -o sizes.json
triage validate --from validate.json --from sizes.json -f md -o accuracy.md
```

The command builds the programs of `kernels/limiters`, times every kernel and its twin with CUDA events (the median of
21 launches), compares their results, profiles each program with the `triage` set, and compares every verdict with
`kernels/limiters/manifest.yaml`. It ends with 10 when something does not hold."""

_MADE_ANEW = """\
Labels and counters are those of the capture named above, from kernels that are not in `kernels/limiters`; where they
come from stands beside the capture. The verdicts are made anew by the command at the top of this page, without a GPU.
It ends with 10 when something does not hold."""

_READING = """\
A kernel of the set is bound by one thing by construction. Its twin does the same job without that limiter, and the time
of both is measured without the profiler. A verdict is right when it is one of the limiters that the manifest accepts
(more than one only where a kernel sits between two); it is plainly wrong when the manifest forbids it. Traps are
kernels whose most striking counter is not their limiter."""

_COLUMNS = """\
`measured` is the time of the kernel over the time of its twin; `bound` the most that the report had said removing the
limiter can bring. It says none where the fix changes the amount of work. `fix` tells whether what the twin does is the
first of the fixes that the report lists, or one of the others (`listed`)."""

_SCORING = """\
Scored where a report holds results of ncu's rules: the advice with the highest estimated speed-up, of the whole kernel
where there is such an estimate, else of a part of it. What each rule names in our vocabulary is written down in
`triage/validate/ncu_rules.yaml`; advice that says only that something is idle names no limiter."""

_SINGLE = """\
- The rules were made with these kernels at hand: a full score shows that no rule contradicts them, and is no estimate
  for kernels that nobody here has seen. The labels come from how a kernel is built and from its twin's time, not from
  the verdict.
- Calibration kernels do one thing each. Real kernels do several: the report then lists what also holds behind the
  limiter, and the confidence says how near the next answer is.
- Questions that no report of single kernels can answer: gaps between launches, overlap, copies."""


def render(validation: Validation, limiters: Sequence[str], command: str) -> str:
    """The page. ``limiters`` are all ids that the rules can name, ``command`` is what makes this page."""
    found = pairs(validation)
    parts = [
        "# How often triage is right",
        f"<!-- Made by: {command} -->",
        "\n".join(f"- {markdown(textform.about(one))}: {markdown(one.command)}" for one in validation.about),
        markdown(textform.headline(validation)) + " " + markdown(textform.pair_sentence(found)),
        _READING,
        "## Confusion matrix",
        _matrix(validation.judged),
        _wrong(validation),
        "## Kernels and their repaired twins",
        _COLUMNS,
        _pairs(found),
        "## Repeated, and at other sizes",
        _rounds(validation),
        "## The advice of ncu itself",
        _advice(validation.judged),
        "## How to reproduce it",
        _REPRODUCE if any(one.entry.file for one in validation.judged) else _MADE_ANEW,
        "## What is not covered",
        _uncovered(validation, limiters),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _matrix(judged: Sequence[Judged]) -> str:
    lines = [
        "| limiter | kernels | only right answer of | named right | named something else |",
        "|---|--:|--:|--:|---|",
    ]
    for row in matrix(judged):
        others = ", ".join(f"{name} {count}" for name, count in row.named.items() if name != row.limiter)
        lines.append(f"| {row.limiter} | {row.kernels} | {row.only} | {row.right} | {others} |")
    return (
        "\n".join(lines)
        + "\n\nA kernel counts for the limiter that it was named where that is right, else for the first right one."
    )


def _wrong(validation: Validation) -> str:
    lines = [f"- {markdown(line)}" for line in faults(validation)]
    return "\n".join(["What did not hold:", "", *lines]) if lines else ""


def _pairs(found: Sequence[Pair]) -> str:
    lines = [
        "| kernel | limiter | twin | limiter of the twin | measured | bound | fix |",
        "|---|---|---|---|--:|--:|---|",
    ]
    for pair in found:
        twin = (pair.twin_limiter or "undecided") if pair.twin_judged else "not judged"
        bound = "none" if pair.kernel.bound is None else factor(pair.kernel.bound)
        fix = "first" if pair.first else "listed" if pair.listed else ""
        speedup = "not measured" if pair.speedup is None else factor(pair.speedup)
        kernel = pair.kernel
        lines.append(
            f"| {kernel.entry.kernel} | {kernel.limiter or 'undecided'} | {pair.twin} | {twin} | {speedup} | {bound} "
            f"| {fix} |"
        )
    return "\n".join(lines)


def _rounds(validation: Validation) -> str:
    compared = compared_rounds(validation)
    if not compared:
        return "Not measured here: each kernel was profiled once, at its normal size."
    kernels: dict[float, set[str]] = {}
    for one in compared:
        kernels.setdefault(one.scale, set()).update(one.answers)
    sizes = ", ".join(f"{scale:g} ({len(names)} kernels)" for scale, names in kernels.items())
    changes = moved(validation)
    lines = [
        f"- `{one.kernel}` at {one.scale:g}: {one.before or 'undecided'}, then {one.after or 'undecided'}"
        + (" (it truly changes)" if one.allowed else "")
        for one in changes
    ]
    told = "every verdict stayed." if not lines else "these verdicts changed.\n\n" + "\n".join(lines)
    return f"Profiled again at the sizes {sizes}; 1 is the normal one: {told}"


def _advice(judged: Sequence[Judged]) -> str:
    score = score_advice(judged)
    silent = len(judged) - score.kernels
    if not score.kernels:
        return f"{_SCORING}\n\nNone of the {silent} reports behind this page holds rule results, so there is no score."
    lines = [
        "| kernel | limiter | triage | ncu's rule | estimate | it names | right |",
        "|---|---|---|---|--:|---|---|",
    ]
    for one in judged:
        if one.advice is None:
            continue
        named = ", ".join(one.advice.limiters) or "no limiter"
        estimate = f"{one.advice.speedup:.0f} %" + (" (part)" if one.advice.kind == "local" else "")
        right = "yes" if advice_right(one) else "no"
        cells = (one.entry.kernel, " or ".join(one.entry.accept), one.limiter or "undecided", one.advice.rule)
        lines.append(f"| {' | '.join(cells)} | {estimate} | {named} | {right} |")
    tail = f" The other {silent} were collected without rules." if silent else ""
    told = (
        f"On {score.kernels} kernels with rule results ncu's highest estimate names an accepted limiter for "
        f"{score.theirs}, triage for {score.ours}.{tail}"
    )
    return "\n\n".join([_SCORING, told, "\n".join(lines)])


def _uncovered(validation: Validation, limiters: Sequence[str]) -> str:
    gpus = ", ".join(dict.fromkeys(markdown(one.gpu) for one in validation.about if one.gpu)) or "not recorded"
    lines = [
        f"- The GPU is {gpus}. The rules use percentages of each chip's own peak; reports of other generations",
        "  are read (their counter names are tested), but no kernels were timed there.",
    ]
    if few := uncovered(validation.judged, limiters):
        lines.append(f"- The only right answer of fewer than two kernels here: {', '.join(few)}.")
    if not validation.checks:
        lines.append("- Whether twins gave the same results was not recorded with these captures.")
    lines += [f"- Skipped: `{one.kernel}` ({markdown(one.reason)})." for one in validation.skipped]
    return "\n".join([*lines, _SINGLE])
