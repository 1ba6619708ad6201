"""What the commands do, without the command line: read, diagnose, render, write."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

from triage import output, resources
from triage.errors import GateFailed, ProgramFailed, TriageError, UnreadableReport, UsageError
from triage.model import Finding, Report, SourceLine
from triage.numerals import whole
from triage.paths import INTERRUPTED, is_file
from triage.readers import source_lines
from triage.rules import Rulebook
from triage.team import examine, rulebook_for

SUFFIXES = {"html": ".html", "md": ".md", "json": ".json", "text": ".txt", "sarif": ".sarif"}
# Lines of the kernels that take the time: a few milliseconds each, fifteen more with machine code.
LINES_FOR = 100
MACHINE_CODE_FOR = 10
# A page lists all metrics of its kernels, 1,500 each, where the files (bytes) hold some hundred kernels at most.
EVERY_METRIC_OF = 32_000_000
# Characters of a line of an error: a name from a report may be as long as the report.
_LONGEST_LINE = 2000
# What the completion of a shell sets.
_COMPLETION = "_TRIAGE_COMPLETE"
DEMO = "transposes.ncu-repz"
DEMO_CSV = "transposes.csv"


def rulebook(folders: Sequence[Path], profile: str | None) -> Rulebook:
    """The rules in force for a command: those of the nearest triage.yaml too; ``profile`` only if one was asked for."""
    return rulebook_for(folders, profile or None)


def wanted_metrics(rules: Rulebook) -> frozenset[str]:
    """What reading a report asks for: every metric that any way to any fact may use, and what bears witness to them."""
    from triage.diagnosis.consistency import read_by, wanted

    return wanted(read_by(rules)) | {"profiler__replayer_passes"}


def diagnosed(
    files: Sequence[Path], rules: Rulebook, *, command: str, every_metric: bool = False, kernel: str | None = None
) -> Report:
    """Read, diagnose, and look up the source lines that hold what the named limiters are about. ``every_metric`` also
    keeps the metrics that no rule asks for, where the files are small enough; ``kernel`` is a glob of those to show."""
    from triage.collection import collect

    wanted = None if every_metric and _small(files) else wanted_metrics(rules)
    made = collect(files, rules, wanted, command=command, progress=_progress(), kernel=kernel)
    return _with_lines(made, rules)


def _small(files: Sequence[Path]) -> bool:
    return all(is_file(file) for file in files) and sum(file.stat().st_size for file in files) <= EVERY_METRIC_OF


def completed(report: Report, roofs: Sequence[Path], maps: Sequence[str]) -> Report:
    """The report with measured roofs, and with source text from disk where it has none; what the command line does not
    say, the nearest triage.yaml may."""
    from triage.diagnosis.roofs import read_roofs, with_roofs
    from triage.diagnosis.source_text import read_map, with_source

    team = examine()
    roofs = roofs or ([team.roofs] if team.roofs is not None else [])
    maps = maps or team.report.source_map
    report = with_roofs(report, [read_roofs(path) for path in roofs]) if roofs else report
    return with_source(report, [read_map(text) for text in maps]) if maps else report


def _progress() -> Callable[[int, int], None] | None:
    """Says how far reading is, on a line of its own that the terminal keeps rewriting; nothing where nobody looks."""
    if not sys.stderr.isatty():
        return None
    begun = time.monotonic()

    def say(done: int, expected: int) -> None:
        # What is over within a second needs no announcement.
        if time.monotonic() - begun > 1:
            end = "\r\033[K" if done >= expected else ""
            print(f"\r\033[Kread {done:,} of {expected:,} kernels{end}", end="", file=sys.stderr, flush=True)

    return say


def _with_lines(made: Report, rules: Rulebook) -> Report:
    from triage.diagnosis.lines import wanted, with_lines
    from triage.renderers.ranking import by_time, groups

    lines: dict[tuple[int, int], tuple[SourceLine, ...]] = {}
    # Of a kernel that is launched often, the launch that a report shows stands for all.
    shown = [group.shown for group in by_time(groups(made))[:LINES_FOR]]
    for place, source in enumerate(made.sources):
        if source.kind != "ncu-rep":
            continue
        names = {finding.kernel.index: wanted(finding, rules) for finding in shown if finding.source == place}
        asked = {index: metrics for index, metrics in names.items() if metrics}
        found = source_lines(source.path, asked, machine_code=list(asked)[:MACHINE_CODE_FOR])
        lines |= {(place, index): entries for index, entries in found.items()}
    return with_lines(made, rules, lines) if lines else made


def claim(outputs: Sequence[Path | None], reports: Sequence[Path], others: Sequence[Path] = ()) -> None:
    """Refuse outputs that would destroy what the command reads: ``reports``, ``others`` (rules, roofs, a baseline), and
    what the nearest triage.yaml adds to them."""
    team = examine()
    packs = [layer.folder for layer in team.layers]
    own = (team.path, team.roofs, *packs)
    output.claim(outputs, reports, [*others, *(path for path in own if path is not None)])


def render_to(report: Report, format_: str, target: Path | None) -> Path | None:
    """Render and write, to standard output without a target. Returns the path that was written."""
    from triage.renderers import render

    if target is None or str(target) == "-":
        width = shutil.get_terminal_size((80, 24)).columns if sys.stdout.isatty() else 80
        output.show(render(report, format_, width=min(width, 120), color=sys.stdout.isatty() and format_ == "text"))
        return None
    output.write(target, render(report, format_))
    return target


def raise_if_failed(report: Report) -> None:
    """A report of a program that failed, of a reading that was interrupted, or without a file that was named, is shown;
    then the exit code says so."""
    if any(warning.startswith(INTERRUPTED) for warning in report.warnings):
        raise KeyboardInterrupt
    for source in report.sources:
        for warning in source.warnings:
            if warning.startswith("program failed"):
                raise ProgramFailed(f"{source.path}: the {warning}", "the kernels above were profiled before it failed")
    if report.unread:
        lacks = "a file that was" if len(report.unread) == 1 else f"{len(report.unread)} files that were"
        raise UnreadableReport(
            f"the report lacks {lacks} asked for by name",
            "look at what is wrong with it; in a folder, what is no report is left out without an error",
            details=report.unread,
        )


def demo_files() -> Path:
    """The bundled capture: the report where it can be read, else its CSV."""
    from importlib.util import find_spec

    folder = resources.folder("demo")
    return folder / (DEMO if find_spec("ncu_report") and (folder / DEMO).is_file() else DEMO_CSV)


def explain(report: Report, kernel: str, rules: Rulebook) -> None:
    """Print the walk of one kernel through the questions of ``rules``."""
    from triage.explaining import explain as text

    largest = [question.id for question in rules.path if question.pick == "largest"]
    output.show(text(pick(report, kernel), largest))


def pick(report: Report, kernel: str) -> Finding:
    """The kernel with index ``kernel``, or the only one whose name holds that text."""
    index = whole(kernel)
    if index is not None:
        chosen = [finding for finding in report.findings if finding.kernel.index == index]
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


def show_rule(rules: Rulebook, name: str) -> None:
    """Print one rule, question, fact or threshold."""
    from triage.rules.pages import page

    output.show(page(rules, name))


def test_rules_or_fail(folders: Sequence[Path], profile: str | None) -> str:
    """The summary line of the inline tests; raises :class:`GateFailed` with one line a failure."""
    from triage.rules.cases import run

    passed, failed, lines = run(rulebook(folders, profile))
    if failed:
        raise GateFailed(
            f"{failed} of {passed + failed} rule tests failed", "mend the rule or the test", details=tuple(lines)
        )
    return f"{passed} passed, 0 failed"


def wanted_form(target: Path | None, format_: str | None, *, page: Path | None = None) -> tuple[Path | None, str]:
    """Where a report goes and in which format: as asked, else as the nearest triage.yaml says, else text. A page that
    was given no place goes to ``page``."""
    if target is None and format_ is None:
        options = examine().report
        target, format_ = Path(options.output) if options.output else None, options.format or None
    chosen = format_ or format_of(target)
    return target or (page if chosen == "html" else None), chosen


def format_of(target: Path | None) -> str:
    """The format that a file's suffix names; text without a file."""
    if target is None or str(target) == "-":
        return "text"
    known = {suffix: name for name, suffix in SUFFIXES.items()} | {".htm": "html", ".markdown": "md"}
    if target.suffix.lower() not in known:
        raise UsageError(f"the suffix of {target} names no format", "give one with -f html, md, json, text or sarif")
    return known[target.suffix.lower()]


def said(arguments: Sequence[str]) -> str:
    """The command line as a person would type it."""
    return shlex.join(["triage", *arguments[1:]])


def say_written(path: Path | None) -> None:
    """Tell where a file went, on standard error, so that piped output stays clean."""
    if path is not None:
        from triage.renderers.escape import clean

        print(f"wrote {clean(str(path))}", file=sys.stderr)


def closed_pipe() -> int:
    """The reader of our output went away (``| head``): end quietly."""
    sys.stdout = open(os.devnull, "w")  # noqa: SIM115, PTH123 - the interpreter flushes it at exit
    return 0


def machine_fault(error: OSError, debug: bool) -> int:
    """What the system refuses where no command expected it: said in its words, as it is no fault of ours."""
    from triage.renderers.escape import clean

    if debug:
        traceback.print_exception(error)
    about = f"{clean(os.fsdecode(error.filename))}: " if isinstance(error.filename, str | bytes) else ""
    print(f"triage: {about}{error.strerror or type(error).__name__}", file=sys.stderr)
    print("hint: look at free space and permissions; --debug shows where it happened", file=sys.stderr)
    return 1


def unexpected(error: Exception, debug: bool) -> int:
    """A usage error of the parser, a completion that a shell asks for by halves, or a fault of ours: one line, a hint,
    the exit status."""
    show, status = getattr(error, "show", None), getattr(error, "exit_code", None)
    if callable(show) and isinstance(status, int):
        show()
        return status
    if debug:
        traceback.print_exception(error)
    if os.environ.get(_COMPLETION):
        # With it every call completes words and does nothing else; what it reads comes from the shell's half.
        half = UsageError(
            f"{_COMPLETION} asks for a completion, and what the shell should tell with it is missing or broken",
            f"unset {_COMPLETION}, or set the completion up anew: triage --install-completion",
        )
        report_error(half)
        return half.exit_code
    text = str(error).splitlines()[0] if str(error) else ""
    print(f"triage: unexpected {type(error).__name__}: {text[:200]}", file=sys.stderr)
    print("hint: this is a fault of triage; run again with --debug and report it", file=sys.stderr)
    return 1


def report_error(error: TriageError) -> None:
    """One line and a hint on standard error, the details of faulty rules below; names from files are made inert."""
    from triage.renderers.escape import clean, shorten

    details = error.details[:200]
    lines = [f"triage: {error.message}", *(f"  {line}" for line in details)]
    if len(error.details) > len(details):
        lines.append(f"  and {len(error.details) - len(details)} more")
    if error.hint:
        lines.append(f"hint: {error.hint}")
    print("\n".join(shorten(clean(line), _LONGEST_LINE) for line in lines), file=sys.stderr)
