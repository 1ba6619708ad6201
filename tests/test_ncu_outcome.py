"""What recorded runs come to: exit code, one line, one hint."""

from __future__ import annotations

from pathlib import Path

import pytest

from triage.errors import NcuFailed, NothingProfiled, ProgramFailed, TriageError, UsageError
from triage.ncu.log import Log
from triage.ncu.outcome import Interrupted, judge
from triage.ncu.run import Ended, Reason

DATA = Path(__file__).parent / "data"


def ended(name: str, status: int = 0, stopped: Reason = "", silent_on: str = "") -> Ended:
    log = Log()
    log.feed((DATA / f"ncu_{name}.log").read_text())
    log.finish()
    return Ended(status, log, stopped, silent_on, 12.0)


@pytest.mark.parametrize(
    ("name", "kind", "code", "words", "results"),
    [
        ("exit3", ProgramFailed, 5, "ended with status 3", 1),
        ("segv", ProgramFailed, 5, "segmentation fault", 1),
        ("bad_access", ProgramFailed, 5, "a kernel of the program failed (LaunchFailed)", 1),
        ("nothing", NothingProfiled, 6, "launched no kernel", 0),
        ("no_cuda", NothingProfiled, 6, "never touched CUDA", 0),
        ("no_match", NothingProfiled, 6, "no kernel matches the filter", 0),
        ("nvtx", NothingProfiled, 6, "no kernel lies in the NVTX range", 0),
        ("bad_metric", NcuFailed, 4, "no metric called not_a_metric", 0),
        ("bad_section", NcuFailed, 4, "no section called NoSuchSection", 0),
        ("unwritable", UsageError, 2, "cannot be written", 0),
    ],
)
def test_each_end_has_its_code_line_and_hint(
    name: str, kind: type[TriageError], code: int, words: str, results: int
) -> None:
    outcome = judge(ended(name))
    assert outcome.results == results
    assert type(outcome.error) is kind and outcome.error.exit_code == code
    assert words in outcome.error.message
    assert outcome.error.hint and "\n" not in outcome.error.message + outcome.error.hint


def test_a_run_without_trouble() -> None:
    outcome = judge(ended("hello"))
    assert (outcome.results, outcome.error, outcome.warnings) == (5, None, ())


def test_the_names_that_a_filter_missed_are_in_the_hint() -> None:
    error = judge(ended("no_match")).error
    assert error is not None and "copy, naive, scale, tile" in error.hint


def test_an_interrupt_keeps_its_code_although_ncu_speaks_of_a_failed_program() -> None:
    outcome = judge(ended("interrupted", 9, "interrupt", "_Z4copyPf"))
    assert isinstance(outcome.error, Interrupted) and outcome.error.exit_code == 130
    assert outcome.results == 4 and "while profiling copy" in outcome.error.message


def test_ncus_own_kill_is_no_failure_of_the_program() -> None:
    outcome = judge(ended("interrupted", 9))
    assert outcome.error is None and outcome.results == 4


def test_a_hang_with_results_is_a_warning_and_without_them_an_error() -> None:
    outcome = judge(ended("hang", 9, "hang", "waiter(volatile int *)"))
    assert outcome.error is None
    assert any("hangs under the profiler" in warning for warning in outcome.warnings)
    assert any("seems to wait for another one" in warning for warning in outcome.warnings)
    bare = judge(Ended(9, Log(), "hang", "ncclDevKernel", 300.0))
    assert isinstance(bare.error, NcuFailed) and "--hang-timeout" in bare.error.hint


def test_a_timeout_names_where() -> None:
    error = judge(Ended(9, Log(), "timeout", "copy", 60.0)).error
    assert isinstance(error, NcuFailed) and "60 s" in error.message and "copy" in error.message


def test_forbidden_counters_win_over_nothing_profiled() -> None:
    log = Log()
    log.feed(
        "==PROF== Connected to process 1 (/a)\n==ERROR== ERR_NVGPUCTRPERM - The user does not have permission\n"
        "==WARNING== No kernels were profiled.\n"
    )
    error = judge(Ended(1, log)).error
    assert isinstance(error, NcuFailed) and "performance counters" in error.message


def test_ncu_that_dies_without_a_word() -> None:
    error = judge(Ended(1, Log())).error
    assert isinstance(error, NcuFailed) and "status 1" in error.message


def test_words_that_nobody_knows_are_quoted() -> None:
    log = Log()
    log.feed("==ERROR== the moon is wrong\n")
    error = judge(Ended(1, log)).error
    assert isinstance(error, NcuFailed) and "the moon is wrong" in error.message


@pytest.mark.parametrize(
    ("status", "words"),
    [(139, "status 139 (a segmentation fault)"), (-9, "status -9 (signal 9)"), (1, "status 1:"), (134, "abort()")],
)
def test_a_status_that_nothing_explains_is_told_beside_the_results(status: int, words: str) -> None:
    outcome = judge(ended("hello", status))
    assert outcome.error is None and outcome.results == 5
    (warning,) = outcome.warnings
    assert words in warning and "results may be missing" in warning
