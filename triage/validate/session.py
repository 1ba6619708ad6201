"""``triage validate`` from end to end: run or read, add ncu's advice, show, end with the right error."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from triage import output
from triage.errors import GateFailed, UnreadableReport, UsageError
from triage.ncu.outcome import Interrupted
from triage.paths import read as read_file
from triage.renderers.escape import clean
from triage.rules import load_rulebook
from triage.validate import advice, captures, flow, jsonform, manifest, page, textform
from triage.validate.flow import Request
from triage.validate.model import Validation, faults, merged

# A validation on several GPUs at several sizes has some hundred kilobytes.
_LARGEST = 256 << 20
_SUFFIXES = {".json": "json", ".md": "md", ".txt": "text"}


def request(
    names: Sequence[str], scale: str, repeat: bool, rules: Sequence[Path], thresholds: str, folder: Path
) -> Request:
    """What the command line asked for. Raises UsageError for scales that are none."""
    command = shlex.join(["triage", *sys.argv[1:]])
    return Request(tuple(names), flow.scales(scale), repeat, tuple(rules), str(thresholds), folder, command)


def run(request: Request) -> Validation:
    """Validate on this machine; progress goes to standard error."""
    return flow.validate(request, os.environ, lambda line: print(f"triage: {clean(line)}", file=sys.stderr, flush=True))


def earlier(request: Request, files: Sequence[Path]) -> Validation:
    """Earlier validations (JSON) and labelled captures (YAML beside a CSV), as one. Labelled captures are judged
    anew by the rules in force."""
    if request.names or request.repeat or request.scales != (1.0,):
        raise UsageError("--from runs nothing, so there is nothing to choose, repeat or scale", "leave those out")
    rulebook = load_rulebook(tuple(map(str, request.rules)), profile=request.thresholds)
    known = {entry.kernel: entry for entry in manifest.load(limiters=rulebook.limiters)}
    found = []
    for file in files:
        if file.suffix in (".yaml", ".yml"):
            found.append(captures.load(file, rulebook, known))
            continue
        try:
            text = read_file(file, _LARGEST).decode()
        except (OSError, UnicodeDecodeError) as fault:
            reason = getattr(fault, "strerror", None) or "it is not UTF-8"
            raise UnreadableReport(f"{file} cannot be read: {reason}", "check the path") from fault
        found.append(jsonform.parse(text, str(file)))
    return merged(found)


def advised(validation: Validation, reports: Sequence[Path]) -> Validation:
    """``validation`` with the first advice of ncu's own rules for each kernel that one of ``reports`` holds."""
    if not reports:
        return validation
    found = {one.function: advice.first(one) for report in reports for one in advice.load(report)}
    judged = tuple(
        replace(one, advice=found[one.entry.kernel]) if one.entry.kernel in found else one for one in validation.judged
    )
    return replace(validation, judged=judged)


def show(validation: Validation, request: Request, format_: str | None, target: Path | None) -> None:
    """Print the validation, or write it to ``target`` and print the figures alone."""
    chosen = str(format_) if format_ else _format(target)
    if chosen == "json":
        text = jsonform.render(validation)
    elif chosen == "md":
        rules = load_rulebook(tuple(map(str, request.rules)), profile=request.thresholds)
        text = page.render(validation, tuple(rules.limiters), request.command)
    else:
        text = textform.render(validation)
    if target is None or str(target) == "-":
        output.show(text)
        return
    output.write(target, text)
    output.show(textform.headline(validation))
    print(f"wrote {clean(str(target))}", file=sys.stderr)


def raise_on_faults(validation: Validation) -> None:
    """Raises GateFailed with one line a promise that did not hold, and Interrupted for a run that the user ended."""
    if found := faults(validation):
        raise GateFailed(
            f"{len(found)} promise{'s' if len(found) > 1 else ''} of the verdicts did not hold",
            "the walk of each wrong verdict is in the text output; report it with the reports kept in --folder",
            details=found,
        )
    if validation.stopped:
        raise Interrupted("interrupted; what was profiled until then holds", "run it again for the rest")


def _format(target: Path | None) -> str:
    if target is None or str(target) == "-":
        return "text"
    if target.suffix.lower() not in _SUFFIXES:
        raise UsageError(f"the suffix of {target} names no format", "give one with -f text, json or md")
    return _SUFFIXES[target.suffix.lower()]
