"""What the commands do, without the command line: read, diagnose, render, write."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

from triage import output, resources
from triage.errors import GateFailed, ProgramFailed, TriageError, UsageError
from triage.model import Finding, Profile, Report, SourceLine
from triage.readers import load, source_lines
from triage.rules import Rulebook, load_rulebook

SUFFIXES = {"html": ".html", "md": ".md", "json": ".json", "text": ".txt"}
# Lines of the kernels that take the time: a few milliseconds each, fifteen more with machine code.
LINES_FOR = 100
MACHINE_CODE_FOR = 10
DEMO = "transposes.ncu-repz"
DEMO_CSV = "transposes.csv"


def rulebook(folders: Sequence[Path], profile: str) -> Rulebook:
    """The rules in force for a command."""
    return load_rulebook(tuple(str(folder) for folder in folders), profile=profile)


def read(files: Sequence[Path], rules: Rulebook) -> list[Profile]:
    """Every file, with the metrics that rules and page need."""
    wanted = wanted_metrics(rules)
    return [load(file, metrics=wanted) for file in files]


def wanted_metrics(rules: Rulebook) -> frozenset[str]:
    """Every metric that any way to any fact may use: what reading a report asks for."""
    names: set[str] = {"profiler__replayer_passes"}
    for definition in rules.facts.values():
        for formula in (
            *(alternative.formula for alternative in definition.alternatives),
            *definition.at_most,
            *definition.at_least,
        ):
            names.update(formula.metrics)
    return frozenset(names)


def diagnosed(files: Sequence[Path], rules: Rulebook, *, command: str) -> Report:
    """Read, diagnose, and look up the source lines that hold what the named limiters are about."""
    from triage.diagnosis import report

    return _with_lines(report(read(files, rules), rules, command=command), files, rules)


def _with_lines(made: Report, files: Sequence[Path], rules: Rulebook) -> Report:
    from triage.diagnosis.lines import wanted, with_lines

    lines: dict[tuple[int, int], tuple[SourceLine, ...]] = {}
    for place, file in enumerate(files):
        if made.sources[place].kind != "ncu-rep":
            continue
        ranked = sorted(
            (finding for finding in made.findings if finding.source == place),
            key=lambda finding: -(finding.duration_ns or 0.0),
        )[:LINES_FOR]
        names = {finding.kernel.index: wanted(finding, rules) for finding in ranked}
        asked = {index: metrics for index, metrics in names.items() if metrics}
        found = source_lines(file, asked, machine_code=list(asked)[:MACHINE_CODE_FOR])
        lines |= {(place, index): entries for index, entries in found.items()}
    return with_lines(made, rules, lines) if lines else made


def render_to(report: Report, format_: str, target: Path | None, *, default: Path | None = None) -> Path | None:
    """Render and write; without a target, text formats go to standard output and HTML to ``default``. Returns the
    path that was written."""
    from triage.renderers import render

    place = target or (default if format_ == "html" else None)
    if place is None or str(place) == "-":
        width = shutil.get_terminal_size((80, 24)).columns if sys.stdout.isatty() else 80
        output.show(render(report, format_, width=min(width, 120), color=sys.stdout.isatty() and format_ == "text"))
        return None
    output.write(place, render(report, format_))
    return place


def raise_if_failed(report: Report) -> None:
    """A report of a program that failed is shown, then the exit code says so."""
    for source in report.sources:
        for warning in source.warnings:
            if warning.startswith("program failed"):
                raise ProgramFailed(f"{source.path}: the {warning}", "the kernels above were profiled before it failed")


def demo_files() -> Path:
    """The bundled capture: the report where it can be read, else its CSV."""
    from importlib.util import find_spec

    folder = resources.folder("demo")
    return folder / (DEMO if find_spec("ncu_report") and (folder / DEMO).is_file() else DEMO_CSV)


def explain(report: Report, kernel: str) -> None:
    """Print the walk of one kernel."""
    from triage.explaining import explain as text

    output.show(text(pick(report, kernel)))


def pick(report: Report, kernel: str) -> Finding:
    """The kernel with index ``kernel``, or the only one whose name holds that text."""
    if kernel.lstrip("-").isdigit():
        chosen = [finding for finding in report.findings if finding.kernel.index == int(kernel)]
    else:
        chosen = [finding for finding in report.findings if kernel in finding.kernel.name]
    if len(chosen) == 1:
        return chosen[0]
    known = ", ".join(f"{finding.kernel.index} {finding.kernel.function[:60]}" for finding in report.findings[:8])
    if not chosen:
        raise UsageError(f"no kernel {kernel!r} in the report", f"kernels: {known}")
    raise UsageError(f"{len(chosen)} kernels match {kernel!r}", f"give the index: {known}")


def list_rules(rules: Rulebook) -> None:
    """Print the limiters."""
    from triage.rules.pages import listing

    output.show(listing(rules))


def show_rule(rules: Rulebook, limiter: str) -> None:
    """Print one rule."""
    from triage.rules.pages import page

    output.show(page(rules, limiter))


def test_rules_or_fail(folders: Sequence[Path], profile: str) -> str:
    """The summary line of the inline tests; raises :class:`GateFailed` with one line a failure."""
    from triage.rules.cases import run

    passed, failed, lines = run(rulebook(folders, profile))
    if failed:
        raise GateFailed(
            f"{failed} of {passed + failed} rule tests failed", "mend the rule or the test", details=tuple(lines)
        )
    return f"{passed} passed, 0 failed"


def format_of(target: Path | None) -> str:
    """The format that a file's suffix names; text without a file."""
    if target is None or str(target) == "-":
        return "text"
    known = {suffix: name for name, suffix in SUFFIXES.items()} | {".htm": "html", ".markdown": "md"}
    if target.suffix.lower() not in known:
        raise UsageError(f"the suffix of {target} names no format", "give one with -f html, md, json or text")
    return known[target.suffix.lower()]


def said(arguments: Sequence[str]) -> str:
    """The command line as a person would type it."""
    return shlex.join(["triage", *arguments[1:]])


def say_written(path: Path | None) -> None:
    """Tell where a file went, on standard error, so that piped output stays clean."""
    if path is not None:
        print(f"wrote {path}", file=sys.stderr)


def closed_pipe() -> int:
    """The reader of our output went away (``| head``): end quietly."""
    sys.stdout = open(os.devnull, "w")  # noqa: SIM115, PTH123 - the interpreter flushes it at exit
    return 0


def unexpected(error: Exception, debug: bool) -> int:
    """A click usage error, or a fault of ours: one line, a hint, the exit status."""
    show, status = getattr(error, "show", None), getattr(error, "exit_code", None)
    if callable(show) and isinstance(status, int):
        show()
        return status
    if debug:
        traceback.print_exception(error)
    text = str(error).splitlines()[0] if str(error) else ""
    print(f"triage: unexpected {type(error).__name__}: {text[:200]}", file=sys.stderr)
    print("hint: this is a fault of triage; run again with --debug and report it", file=sys.stderr)
    return 1


def report_error(error: TriageError) -> None:
    """One line and a hint on standard error; the details of faulty rules below."""
    details = error.details[:200]
    lines = [f"triage: {error.message}", *(f"  {line}" for line in details)]
    if len(error.details) > len(details):
        lines.append(f"  and {len(error.details) - len(details)} more")
    if error.hint:
        lines.append(f"hint: {error.hint}")
    print("\n".join(lines), file=sys.stderr)
