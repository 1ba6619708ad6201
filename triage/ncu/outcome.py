"""What a run of ncu came to: the error it ends with, if any, and the warnings that go with its results.

ncu ends with 0 after a filter that matched nothing and with 1 or 9 for most other things, so the text decides.
"""

from __future__ import annotations

from dataclasses import dataclass

from triage.errors import NcuFailed, NothingProfiled, ProgramFailed, TriageError, UsageError
from triage.ncu.messages import Recognised, recognise
from triage.ncu.run import Ended
from triage.ncu.survey import function_name

_SIGNALS = {4: "an illegal instruction", 6: "abort()", 8: "a division by zero", 11: "a segmentation fault"}


class Interrupted(TriageError):
    """The user stopped the run; what was collected until then is kept."""

    exit_code = 130


@dataclass(frozen=True, slots=True)
class Outcome:
    """``error`` is what the command ends with, after any results have been reported; ``results`` how many kernels
    gave one; ``warnings`` belong to the report, each one line."""

    results: int
    error: TriageError | None = None
    warnings: tuple[str, ...] = ()


def judge(ended: Ended) -> Outcome:
    """Judge a run by what ncu said and by how it was stopped."""
    log = ended.log
    said = _said(ended)
    results = log.count
    warnings = [f"{one.means}: {one.remedy}" for one in said if one.kind == "note"]
    error = _stopped(ended) or _failed(ended, said)
    if error is None and results and ended.status != 0:
        warnings.append(f"ncu ended with {_how(ended.status)}: results may be missing from its report")
    if error is not None and results and not isinstance(error, Interrupted | ProgramFailed):
        # There are results: a partial report with a warning is worth more than an error.
        warnings.append(f"the run ended early after {results} result{'s' if results > 1 else ''}: {error.message}")
        error = None
    if error is None and not results:
        error = _nothing(ended)
    return Outcome(results, error, tuple(dict.fromkeys(warnings)))


def _said(ended: Ended) -> list[Recognised]:
    found = [recognise(line) for line in (*ended.log.errors, *ended.log.warnings)]
    return list(dict.fromkeys(one for one in found if one is not None))


def _stopped(ended: Ended) -> TriageError | None:
    kernel = function_name(ended.silent_on)
    where = f" while profiling {kernel}" if kernel else ""
    if ended.stopped == "interrupt":
        return Interrupted(f"interrupted{where}", "what was collected until then is in the report")
    if ended.stopped == "timeout":
        return NcuFailed(f"stopped after {ended.seconds:.0f} s (--timeout){where}", "raise --timeout, or profile less")
    if ended.stopped == "hang":
        return NcuFailed(
            f"{kernel} hangs under the profiler and was given up: most likely it waits for a kernel or a rank "
            "that cannot run beside it under kernel replay",
            "leave it out (--kernel 'regex:^(?!NAME)'), or try --replay-mode range; --hang-timeout sets the patience",
        )
    return None


def _failed(ended: Ended, said: list[Recognised]) -> TriageError | None:
    for one in said:
        if one.kind == "program":
            return ProgramFailed(one.means, one.remedy)
        if one.kind == "usage":
            return UsageError(one.means, one.remedy)
        if one.kind == "ncu":
            return NcuFailed(one.means, one.remedy)
    status = ended.log.program_status
    if status is not None and not (status == 9 and ended.log.stopping):
        return _program(status)
    unknown = [line for line in ended.log.errors if not line.startswith(("Failed to profile", "The application ret"))]
    if unknown:
        return NcuFailed(f"ncu: {unknown[0][:200]}", "its whole log is kept; `triage doctor` checks the setup")
    if ended.status != 0 and not ended.log.connected and not ended.log.warnings:
        return NcuFailed(
            f"ncu ended with status {ended.status} before it started the program",
            "its own words stand above; --dry-run prints the command line",
        )
    return None


def _how(status: int) -> str:
    """``status 1``, ``status 139 (a segmentation fault)``: a signal shows below 0 or above 128."""
    number = -status if status < 0 else status - 128 if status > 128 else 0
    named = _SIGNALS.get(number) or (f"signal {number}" if number else "")
    return f"status {status}" + (f" ({named})" if named else "")


def _program(status: int) -> ProgramFailed:
    if status in _SIGNALS:
        return ProgramFailed(
            f"the program crashed with {_SIGNALS[status]} (status {status})",
            "run it without the profiler first; its own output stands above",
        )
    return ProgramFailed(
        f"the program ended with status {status}", "its own output stands above; arguments go after the program's name"
    )


def _nothing(ended: Ended) -> TriageError:
    log = ended.log
    if log.available:
        names = ", ".join(log.available[:5]) + (", ..." if len(log.available) > 5 else "")
        return NothingProfiled("no kernel matches the filter", f"the program launches: {names}")
    if log.nothing_profiled and any("NVTX" in line for line in log.warnings):
        return NothingProfiled(
            "no kernel lies in the NVTX range", "for pushed and popped ranges end the expression with a slash: 'NAME/'"
        )
    if log.connected:
        return NothingProfiled(
            "the program uses CUDA but launched no kernel that could be profiled",
            "check its arguments; with --profile-from-start off it must call cudaProfilerStart",
        )
    if log.nothing_profiled:
        return NothingProfiled(
            "the program never touched CUDA", "check that it is the right program, and that it found its GPU"
        )
    return NcuFailed(
        f"ncu ended with status {ended.status} and said nothing",
        "run `triage doctor`; --dry-run prints the command line",
    )
