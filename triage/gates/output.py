"""Where a check goes: files for machines, annotations for GitHub, and one line a violated gate for everybody."""

from __future__ import annotations

from pathlib import Path

from triage import output as out
from triage.errors import GateFailed
from triage.gates.model import Result
from triage.renderers.escape import clean

# Gates that could not be judged are named up to here.
_SHOWN = 50


def files(
    result: Result, root: Path, *, sarif: Path | None = None, junit: Path | None = None, markdown: Path | None = None
) -> None:
    """Write what was asked for, each to its file or (``-``) to standard output, whether the gates hold or not."""
    if sarif is not None:
        from triage.renderers.sarif import render_check

        _put(sarif, render_check(result, root))
    if junit is not None:
        from triage.renderers.junit import render

        _put(junit, render(result))
    if markdown is not None:
        from triage.gates.github import summary

        _put(markdown, summary(result))


def _put(target: Path, text: str) -> None:
    if out.is_standard(target):
        out.show(text)
    else:
        out.write(target, text)


def github(result: Result, root: Path, *, aside: bool = False) -> None:
    """Annotations and the step summary. The runner reads standard output and, for ``aside``, standard error."""
    from triage.gates.github import append_summary, workflow_commands

    for line in workflow_commands(result, root):
        out.show(line, aside=aside)
    append_summary(result)


def conclude(result: Result, *, aside: bool = False) -> None:
    """Say what was asked and what came of it, ``aside`` on standard error. Raises :class:`GateFailed` with one line for
    each violated gate."""
    from triage.renderers.diff_wording import headline

    kernels = len(result.head.states)
    asked = f"{len(result.outcomes):,} gates asked of {kernels:,} kernel{'' if kernels == 1 else 's'}"
    if result.comparison is not None:
        out.show(headline(result.comparison), aside=aside)
    else:
        out.show("no baseline: the gates that compare with one were not asked", aside=aside)
    unknown = [outcome for outcome in result.outcomes if outcome.result == "unknown"]
    for outcome in unknown[:_SHOWN]:
        out.show(clean(f"not judged: {outcome.gate}: {outcome.text}"), aside=aside)
    if len(unknown) > _SHOWN:
        out.show(f"not judged: {len(unknown) - _SHOWN:,} more; --junit FILE writes all", aside=aside)
    bad = result.violated
    source = "the defaults" if result.config.source == "defaults" else f"those of {result.config.source}"
    if bad:
        raise GateFailed(
            f"{len(bad):,} of {asked} {'is' if len(bad) == 1 else 'are'} violated",
            f"the gates are {source}; triage's docs/gates.md describes each",
            details=tuple(f"{outcome.gate}: {outcome.text}" for outcome in bad),
        )
    names = ", ".join(dict.fromkeys(outcome.gate for outcome in result.outcomes))
    where = "no triage.yaml found, so the defaults" if result.config.source == "defaults" else result.config.source
    out.show(clean(f"{asked} ({where}{f': {names}' if names else ''}): all hold"), aside=aside)
