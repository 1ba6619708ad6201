"""What a GitHub workflow understands: annotations on lines, and the step summary."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from triage.errors import UsageError
from triage.gates.model import Result
from triage.gates.places import Places
from triage.paths import exists, is_file
from triage.renderers import diff_markdown
from triage.renderers.escape import clean, markdown, shorten

# GitHub shows ten annotations of a kind for each step.
_SHOWN = 10
_ROWS = 40
# GitHub refuses a comment of more than 65,536 characters.
_COMMENT = 60_000
_LEVELS = {"violated": "error", "unknown": "warning"}


def workflow_commands(result: Result, root: Path) -> list[str]:
    """One workflow command for each gate that does not hold, at most ten: they show on the line in the pull request."""
    places = Places(root)
    lines: list[str] = []
    for outcome in result.outcomes:
        if outcome.result == "held" or len(lines) == _SHOWN:
            continue
        fields = {"title": f"triage {outcome.gate}"}
        file = places.relative(outcome.file) if outcome.file else None
        if file is not None:
            fields = {"file": file, "line": str(outcome.line), **fields}
        shown = ",".join(f"{key}={_property(value)}" for key, value in fields.items())
        lines.append(f"::{_LEVELS[outcome.result]} {shown}::{_data(outcome.text)}")
    return lines


def summary(result: Result) -> str:
    """The check as Markdown: what did not hold, then the comparison."""
    bad = [outcome for outcome in result.outcomes if outcome.result != "held"]
    kernels = len(result.head.states)
    asked = f"{len(result.outcomes):,} gates asked of {kernels:,} kernel{'' if kernels == 1 else 's'}"
    if not bad:
        parts = [f"## triage: all gates hold\n\n{asked}."]
    else:
        violated = len(result.violated)
        head = f"{violated:,} gate{'' if violated == 1 else 's'} violated" if violated else "some gates were not judged"
        rows = [f"| `{one.gate}` | {one.result} | {markdown(shorten(one.text, 300))} |" for one in bad[:_ROWS]]
        parts = [
            f"## triage: {head}\n\n{asked}.",
            "\n".join(["| gate | result | what was found |", "|:--|:--|:--|", *rows]),
            f"and {len(bad) - _ROWS:,} more." if len(bad) > _ROWS else "",
        ]
    if result.comparison is not None:
        left = _COMMENT - sum(len(part) + 2 for part in parts)
        parts.append(diff_markdown.render(result.comparison, limit=left).rstrip())
    return "\n\n".join(part for part in parts if part) + "\n"


def append_summary(result: Result, env: Mapping[str, str] = os.environ) -> None:
    """Append the summary to the file that ``GITHUB_STEP_SUMMARY`` names; nothing without it."""
    target = env.get("GITHUB_STEP_SUMMARY")
    if not target:
        return
    try:
        if exists(Path(target)) and not is_file(Path(target)):
            # A pipe would be waited for.
            raise OSError(0, "it is no file")
        with Path(target).open("a", encoding="utf-8", newline="\n") as file:
            file.write(summary(result))
    except (OSError, ValueError) as fault:
        raise UsageError(
            f"cannot write the step summary {target}: {getattr(fault, 'strerror', None) or fault}", "unset it"
        ) from None


def _data(text: str) -> str:
    return clean(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
