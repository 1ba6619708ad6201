"""Recorded logs of ncu, whole and in pieces."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from triage.ncu.log import KEPT_KERNELS, KEPT_LINES, LONGEST_KEPT, LONGEST_LINE, Log

DATA = Path(__file__).parent / "data"


def read(name: str, size: int = 10_000) -> Log:
    text, log = (DATA / f"ncu_{name}.log").read_text(), Log()
    for start in range(0, len(text), size):
        log.feed(text[start : start + size])
    log.finish()
    return log


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_kernels_with_their_passes_in_pieces_of_any_size(size: int) -> None:
    log = read("hello", size)
    assert [kernel.name for kernel in log.results] == ["copy", "naive", "tile", "tile", "scale"]
    assert {kernel.passes for kernel in log.results} == {1}
    assert log.connected == ["/home/user/prog"] and log.report == "/home/user/hello_log.ncu-rep"
    assert not log.errors and log.program_status is None


@pytest.mark.parametrize(("name", "status", "results"), [("exit3", 3, 1), ("segv", 11, 1), ("bad_access", 9, 1)])
def test_the_programs_status(name: str, status: int, results: int) -> None:
    log = read(name)
    assert (log.program_status, len(log.results)) == (status, results)


def test_the_kernels_that_a_filter_missed_are_listed() -> None:
    log = read("no_match")
    assert log.nothing_profiled and log.available == ["copy", "naive", "scale", "tile"]


def test_no_cuda_is_told_from_no_launch() -> None:
    assert read("nothing").connected and not read("no_cuda").connected
    assert read("nothing").nothing_profiled and read("no_cuda").nothing_profiled


@pytest.mark.parametrize("size", [1, 10_000])
def test_a_line_torn_by_a_shutdown(size: int) -> None:
    log = read("interrupted", size)
    assert log.stopping and len(log.kernels) == 5 and len(log.results) == 4
    assert log.kernels[-1].failed and log.report


def test_a_line_torn_by_a_warning() -> None:
    log = read("hang")
    assert [kernel.done for kernel in log.kernels] == [True, False]
    assert any("taking more time" in warning for warning in log.warnings)


def test_an_error_about_a_kernel_not_announced_leaves_the_last_result_alone() -> None:
    log = Log()
    log.feed('==PROF== Profiling "a" - 0: 0%....50%....100% - 3 passes\n==ERROR== Failed to profile "b" in process 7\n')
    assert [kernel.done for kernel in log.kernels] == [True]


def test_names_from_a_kernel_id_filter_carry_their_number() -> None:
    log = Log()
    log.feed('==PROF== Profiling "1:7:_Z4tileILi0EEvPf:12": 0%....50%....100% - 8 passes\n')
    log.feed('==PROF== Profiling "waiter(volatile int *)" - 1: 0%....50%....100% - 8 passes\n')
    assert [(kernel.name, kernel.number) for kernel in log.kernels] == [
        ("_Z4tileILi0EEvPf", 12),
        ("waiter(volatile int *)", None),
    ]


def test_the_current_kernel_is_seen_before_its_line_is_complete() -> None:
    log = Log()
    log.feed('==PROF== Connected to process 1 (/a)\n==PROF== Profiling "copy" - 0: 0%....50%')
    assert log.current() == ("copy", 50) and not log.results
    log.feed("....100% - 2 passes\n")
    assert log.current() is None and len(log.results) == 1


def test_what_the_program_prints_like_ncu_does_not_confuse() -> None:
    log = Log()
    log.feed("==PROF== a line the program made up\nplain words 40% - 3 passes\n")
    log.finish()
    assert not log.kernels and not log.errors


def test_a_log_of_any_size_takes_bounded_memory() -> None:
    log = Log()
    for _ in range(30):
        log.feed('==PROF== Profiling "a" - 0: 0%....50%....100% - 3 passes\n' * 1000)
    assert log.count == 30_000 and len(log.kernels) <= 2 * KEPT_KERNELS and log.passes == 3
    for number in range(2 * KEPT_LINES):
        log.feed(f"==WARNING== {number}\n==ERROR== {number}\n==PROF== Connected to process 1 (/app{number})\n" * 2)
    assert len(log.warnings) == len(log.errors) == len(log.connected) == KEPT_LINES
    assert log.warnings[:2] == ["0", "1"], "the first words are kept, each once"


def test_a_line_without_an_end_is_taken_in_parts() -> None:
    log = Log()
    log.feed('==PROF== Profiling "a" - 0: 0%....50%')
    start = time.monotonic()
    for _ in range(64):
        log.feed("x" * (1 << 18))
        assert len(log._rest) <= LONGEST_LINE
    for _ in range(4):
        log.feed('Profiling "' * 20_000)
        log.current()
    log.feed("....100% - 2 passes\n")
    assert time.monotonic() - start < 5
    assert log.kernels[0].name == "a"
    log.feed("==ERROR== " + "y" * 1_000_000 + "\n")
    assert len(log.errors[0]) == LONGEST_KEPT


def test_what_is_passed_over_is_counted_and_ends_the_line() -> None:
    log = Log()
    log.feed('==PROF== Profiling "a" - 0: 0%....50%....100% - 1 pass\n==PROF== Profili')
    log.skip(1000)
    log.feed('ng "b" - 1: 0%\n==PROF== Profiling "c" - 2: 0%....50%....100% - 1 pass\n')
    assert (log.passed_over, [kernel.name for kernel in log.kernels]) == (1000, ["a", "c"])


def test_numbers_beyond_sense_are_no_numbers() -> None:
    log = Log()
    log.feed(f'==PROF== Profiling "1:7:a:{"9" * 5000}": {"9" * 5000}% - {"9" * 5000} passes\n')
    log.feed(f"==ERROR== The application returned an error code ({'9' * 5000}).\n")
    assert log.kernels[0].passes is None and log.program_status is None
