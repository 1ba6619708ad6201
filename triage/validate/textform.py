"""A validation for a terminal: figures, confusion matrix, pairs, what was wrong with its walk, what was skipped."""

from __future__ import annotations

from collections.abc import Sequence

from triage.driver.table import render as table
from triage.quantities import factor
from triage.renderers.escape import clean
from triage.validate.model import (
    CLEARLY_FASTER,
    About,
    Judged,
    Moved,
    Pair,
    Skipped,
    Validation,
    compared_rounds,
    faults,
    moved,
    pairs,
)
from triage.validate.scores import count_pairs, matrix, outcomes, score_advice


def render(validation: Validation) -> str:
    """The validation as text."""
    wrong = [one for one in validation.judged if one.outcome != "right"]
    parts = [
        "\n".join(about(one) for one in validation.about),
        headline(validation),
        "Confusion matrix, a row a limiter\n" + _matrix(validation.judged),
        _pairs(pairs(validation)),
        _moved(moved(validation), len(compared_rounds(validation))),
        _advice(validation.judged),
        _skipped(validation.skipped),
        *(_wrong(one) for one in wrong),
        _closing(faults(validation)),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def about(one: About) -> str:
    """Where and with what, on one line."""
    words = [one.gpu or "GPU not recorded"]
    words += [
        f"{name} {value}" for name, value in (("driver", one.driver), ("ncu", one.ncu), ("nvcc", one.nvcc)) if value
    ]
    words += [f"triage {one.triage}"] if one.triage else []
    words += [one.date or "date not recorded"]
    return clean(", ".join(words))


def headline(validation: Validation) -> str:
    """How many kernels were named right, in one sentence."""
    count = outcomes(validation)
    total = len(validation.judged)
    traps = sum(one.entry.trap for one in validation.judged)
    others = [f"{number} {word}" for word, number in count.items() if word != "right" and number]
    text = f"{count['right']} of {total} kernels are named right ({traps} of them traps)"
    return text + (f"; {', '.join(others)}." if others else ".")


def _matrix(judged: Sequence[Judged]) -> str:
    rows = [
        (
            row.limiter,
            str(row.kernels),
            str(row.right),
            ", ".join(f"{name} {count}" for name, count in row.named.items() if name != row.limiter) or "-",
        )
        for row in matrix(judged)
    ]
    return table(("limiter", "kernels", "named right", "named something else"), rows, right=(1, 2))


def _pairs(found: Sequence[Pair]) -> str:
    if not found:
        return ""
    rows = [
        (
            pair.kernel.entry.kernel,
            pair.kernel.limiter or "undecided",
            (pair.twin_limiter or "undecided") if pair.twin_judged else "not judged",
            factor(pair.speedup),
            "not bounded" if pair.kernel.bound is None else factor(pair.kernel.bound) + (" BEATEN" * pair.beaten),
            "first" if pair.first else "listed" if pair.listed else "-",
            {True: "yes", False: "NO", None: "not checked"}[pair.same_result],
        )
        for pair in found
    ]
    header = ("kernel", "limiter", "twin's limiter", "measured", "bound", "twin's fix", "same result")
    return f"Pairs of a kernel and its repaired twin\n{table(header, rows, right=(3, 4))}\n{pair_sentence(found)}"


def pair_sentence(found: Sequence[Pair]) -> str:
    """The figures of the pairs in two sentences."""
    count = count_pairs(found)
    return (
        f"{count.first} twins do what the report lists first and are at least {CLEARLY_FASTER:g}x as fast; "
        f"{count.listed} do one of the listed fixes. "
        f"{count.beaten} of {count.bounded} stated bounds are beaten by more than a tenth."
    )


def _moved(changes: Sequence[Moved], rounds: int) -> str:
    if not rounds:
        return ""
    lines = [
        f"  {one.kernel} at {one.scale:g}: {one.before or 'undecided'} -> {one.after or 'undecided'}"
        + (" (as the manifest says)" if one.allowed else "")
        for one in changes
    ]
    return "\n".join(
        [f"Verdicts that changed in {rounds} more round{'' if rounds == 1 else 's'}: {len(changes)}", *lines]
    )


def _advice(judged: Sequence[Judged]) -> str:
    score = score_advice(judged)
    if not score.kernels:
        return ""
    return (
        f"On the {score.kernels} kernels with results of ncu's own rules, its highest estimated advice names the "
        f"limiter of {score.theirs}, triage of {score.ours}."
    )


def _skipped(skipped: Sequence[Skipped]) -> str:
    lines = [f"  {one.kernel} ({one.program}): {clean(one.reason)}" for one in skipped]
    return "\n".join([f"{len(lines)} kernel{'' if len(lines) == 1 else 's'} skipped", *lines]) if lines else ""


def _wrong(one: Judged) -> str:
    expected = " or ".join(one.entry.accept)
    head = f"{one.outcome.upper()}: {one.entry.kernel} is {one.limiter or 'undecided'}, expected {expected}"
    return f"{head}\n  Built so: {one.entry.why}.\n\n{one.walk.rstrip()}"


def _closing(found: Sequence[str]) -> str:
    return "\n".join(["What did not hold:", *(f"  {line}" for line in found)]) if found else "All hold."
