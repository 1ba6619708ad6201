"""The two runs of ``triage profile``: a survey of all launches, then the counters for those that matter."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TextIO

from triage.errors import NcuFailed, NothingProfiled, TriageError, UsageError
from triage.ncu import narrate
from triage.ncu.chip import Chip, cached
from triage.ncu.command import profile_command, survey_command
from triage.ncu.files import Files
from triage.ncu.find import Ncu, inspect, locate
from triage.ncu.log import Log
from triage.ncu.options import Options
from triage.ncu.outcome import Interrupted, Outcome, judge
from triage.ncu.plan import Needed, Plan, plan
from triage.ncu.progress import Progress
from triage.ncu.ranks import Rank, is_launcher
from triage.ncu.run import Ended, run
from triage.ncu.selection import Selection, blind, select
from triage.ncu.sets import choose, load_sets
from triage.ncu.survey import read as read_survey
from triage.ncu.survey import timeline_first
from triage.paths import is_file
from triage.team import pack_folders


@dataclass(frozen=True, slots=True)
class Prepared:
    """Everything that is known before the program runs."""

    ncu: Ncu
    chip: Chip
    plan: Plan
    options: Options
    rank: Rank | None
    notes: tuple[str, ...] = ()

    @property
    def several(self) -> bool:
        """Whether more than one process of the program runs at once."""
        return self.rank is not None or is_launcher(self.options.program)

    @property
    def surveys(self) -> bool:
        """A rank cannot run its program twice within one launch of the job, so ranks are not surveyed unless asked."""
        return self.options.wants_survey and (self.rank is None or self.options.survey is True)


@dataclass(frozen=True, slots=True)
class Collected:
    """What the runs brought. ``report`` is the file that ncu wrote, ``None`` when there is none; ``command`` the
    line of the profiling run; ``error`` what the command ends with after the results are shown."""

    report: Path | None
    log: Log
    command: tuple[str, ...]
    selection: Selection | None = None
    warnings: tuple[str, ...] = ()
    error: TriageError | None = None
    seconds: tuple[float, float] = field(default=(0.0, 0.0))


def prepare(options: Options, needs: Sequence[Needed], env: Mapping[str, str], rank: Rank | None) -> Prepared:
    """Find ncu, ask what the GPU has, plan. Raises ``NcuFailed``, ``UsageError``, ``FaultyRules``.

    A dry run without ncu or a GPU plans for an unknown chip, so that it works on any machine.
    """
    chosen = choose(load_sets([*pack_folders(), *options.rules]), options.set)
    notes: list[str] = []
    try:
        ncu = inspect(locate(env))
        chip = cached(ncu, env)
    except NcuFailed as fault:
        if not options.dry_run:
            raise
        ncu, chip = Ncu(Path("ncu")), Chip()
        notes.append(f"{fault.message}; planned as if every metric existed")
    if chip.warning:
        notes.append(chip.warning)
    planned = plan(chosen, needs, chip, options.metrics)
    notes += narrate.left_out(planned)
    return Prepared(ncu, chip, planned, options, rank, tuple(notes))


def check_program(program: Sequence[str]) -> None:
    """Raises ``UsageError`` when there is no such program: ncu would only say so after its own start."""
    if not program:
        raise UsageError("there is no program to profile", "triage profile [OPTIONS] ./program ARGUMENTS")
    if shutil.which(program[0]) is None:
        here = Path(program[0])
        if is_file(here) and "/" not in program[0]:
            raise UsageError(f"{program[0]} is not on PATH", f"write ./{program[0]} for the one in this folder")
        if is_file(here):
            raise UsageError(f"{program[0]} is not executable", "name its interpreter, as in: python3 script.py")
        hint = "check its path; options of triage go before the program's name"
        raise UsageError(f"there is no program {program[0]!r}", hint)


def dry_run(prepared: Prepared, files: Files) -> list[list[str]]:
    """The command lines of the runs to come. With a survey ahead, the names in the second one are yet to be found."""
    lines = []
    selection = None
    if prepared.surveys:
        lines.append(survey_command(prepared.ncu, prepared.options, files.survey_log, leave_out=prepared.several))
        numbers = "|".join(str(number) for number in range(2, prepared.options.launches_per_kernel + 2))
        selection = Selection(f"::regex:^(NAMES_FROM_THE_SURVEY)$:^({numbers})$", by_shape=True)
    elif prepared.rank is not None and prepared.options.wants_survey:
        selection = blind(prepared.options.launches_per_kernel)
    lines.append(_profile_line(prepared, selection, files))
    return lines


def collect(prepared: Prepared, files: Files, say: Callable[[str], None], stderr: TextIO) -> Collected:
    """Run the program under ncu, once or twice. Raises what makes a report impossible; what merely cuts it short is
    in the result."""
    options = prepared.options
    for line in narrate.before(options, several=prepared.several):
        say(line)
    selection: Selection | None = None
    warnings = [*prepared.notes, narrate.clocks(options)]
    seconds = 0.0
    if prepared.surveys:
        selection, told, seconds = _survey(prepared, files, stderr)
        for line in told:
            say(line)
        warnings += [line for line in told if not line.startswith(narrate.ONLY_SAID)]
    elif prepared.rank is not None and options.wants_survey:
        selection = blind(options.launches_per_kernel)
    command = _profile_line(prepared, selection, files)
    title = "profiling"
    ended = _run(command, files.log, prepared, stderr, title, _expected(selection))
    if bad := _refused_metrics(ended, prepared):
        # ncu gives up at the first kernel, so a second try without the metric costs little.
        lacking = replace(prepared.plan, metrics=tuple(m for m in prepared.plan.metrics if m.split(".")[0] not in bad))
        warnings.append(f"left out, ncu does not know it: {', '.join(sorted(bad))}")
        command = _profile_line(replace(prepared, plan=lacking), selection, files)
        ended = _run(command, files.log, prepared, stderr, title, _expected(selection))
    outcome = judge(ended)
    report = files.report if outcome.results and files.report.is_file() else None
    if report is None:
        if isinstance(outcome.error, Interrupted):
            raise Interrupted(outcome.error.message, f"ncu had not written a report yet; its log is {files.log}")
        raise outcome.error or NcuFailed("ncu wrote no report", f"its log is {files.log}")
    return Collected(
        report,
        ended.log,
        tuple(command),
        selection,
        tuple(dict.fromkeys([*warnings, *narrate.passed_over(ended.log), *outcome.warnings])),
        outcome.error,
        (seconds, ended.seconds),
    )


def _expected(selection: Selection | None) -> int | None:
    return len(selection.sequence) or None if selection else None


def _profile_line(prepared: Prepared, selection: Selection | None, files: Files) -> list[str]:
    return profile_command(prepared.ncu, prepared.options, prepared.plan, selection, files.report, files.log)


def _run(
    command: Sequence[str], log: Path, prepared: Prepared, stderr: TextIO, title: str, expected: int | None
) -> Ended:
    options = prepared.options
    with Progress(stderr, title, expected, quiet=options.quiet) as progress:
        return run(
            command,
            log,
            timeout=options.timeout,
            hang_timeout=options.hang_timeout,
            on_progress=progress.update,
        )


def _survey(prepared: Prepared, files: Files, stderr: TextIO) -> tuple[Selection, list[str], float]:
    options = prepared.options
    command = survey_command(prepared.ncu, options, files.survey_log, leave_out=prepared.several)
    ended = _run(command, files.survey_log, prepared, stderr, "survey: launch", None)
    launches, unread = read_survey(files.survey_log)
    outcome = judge(ended)
    if ended.stopped == "interrupt":
        raise Interrupted("interrupted during the survey", "nothing was profiled yet; --no-survey goes without it")
    if outcome.error is not None and not launches:
        raise outcome.error
    if not launches:
        raise NcuFailed("the survey brought no durations", f"its log is {files.survey_log}; --no-survey goes without")
    selection = select(launches, options.share, options.launches_per_kernel, all_kernels=options.all_kernels)
    if selection is None:
        raise _only_bystanders(len(launches))
    told = [*narrate.surveyed(selection, options), *outcome.warnings]
    if unread:
        told.append(f"the survey's log is too long: the launches in its last {unread >> 20:,} MB were not ranked")
    if first := timeline_first(launches):
        told.append(first)
    return selection, told, ended.seconds


def _only_bystanders(count: int) -> NothingProfiled:
    return NothingProfiled(
        f"all {count} launches are random fills, memory fills or collectives",
        "--all-kernels profiles them nevertheless",
    )


def _refused_metrics(ended: Ended, prepared: Prepared) -> set[str]:
    if ended.log.count or ended.stopped:
        return set()
    bases = {metric.split(".")[0] for metric in prepared.plan.metrics}
    return {base for line in ended.log.errors if "Failed to find metric" in line for base in bases if base in line}


__all__ = ["Collected", "Outcome", "Prepared", "check_program", "collect", "dry_run", "prepare"]
