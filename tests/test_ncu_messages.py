"""Every message that ncu is known to print has a meaning and a remedy."""

from __future__ import annotations

import re

import pytest

from triage.ncu.messages import MESSAGES, recognise

# The words as ncu prints them (shortened in the middle where they are long), and what they must be taken for.
SAID = [
    (
        "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters",
        "counters-forbidden",
        "ncu",
    ),
    ("==ERROR== Failed to initialize the profiler: LibraryNotLoaded. Check that", "profiler-library", "ncu"),
    ("==ERROR== Cuda driver is not compatible with Nsight Compute.", "driver-too-old", "ncu"),
    ("==ERROR== failed to connect to the CUDA driver (stub libcuda.so[.1] on path?)", "no-driver", "ncu"),
    ("==ERROR== Profiling failed because a driver resource was unavailable. Ensure", "counters-in-use", "ncu"),
    ("==ERROR== Failed to open/create lock file /tmp/nsight-compute-lock", "lock-file", "ncu"),
    ("==ERROR== InterprocessLockFailed", "lock-file", "ncu"),
    (r"==ERROR== Failed to find metric regex:^not_a_metric\.(sum|min|max)$", "metric-unknown", "ncu"),
    ("==WARNING== Unable to access the following 6 metrics: a, b", "metrics-inaccessible", "note"),
    ("==ERROR== Failed to prepare kernel for profiling", "not-prepared", "ncu"),
    ("==ERROR== Unknown Error on device 0.", "not-prepared", "ncu"),
    ("==ERROR== Failed to save memory for replay", "memory-not-saved", "ncu"),
    ("==WARNING== Backing up device memory in system memory. Kernel replay might be slow.", "memory-on-host", "note"),
    ("==ERROR== bad allocation", "memory-too-large", "ncu"),
    ("==WARNING== Launching the workload is taking more time than expected. If this", "workload-waits", "note"),
    ("==ERROR== Cannot lock GPU clock frequencies on MIG!", "mig-clocks", "ncu"),
    ("==WARNING== Could not deploy stock section files to /root", "sections-not-deployed", "quiet"),
    ("==ERROR== Option '--section NoSuchSection' did not match any section.", "section-unknown", "ncu"),
    ("==ERROR== Unable to write to file x.ncu-rep. Please verify", "report-not-writable", "usage"),
    ("==ERROR== './nosuch' does not exist or is not an executable. Please", "not-a-program", "usage"),
    ("==ERROR== unrecognised option '--no-such-option'. Use --help", "option-unknown", "ncu"),
    ("==ERROR== option '--kernel-id' cannot be specified more than once.", "option-unknown", "ncu"),
    ("LaunchFailed", "kernel-failed", "program"),
    ("==WARNING== Note that specified NVTX include expressions match only start/end ranges.", "nvtx-filter", "note"),
    ("==WARNING== Note: Running with unmodified GPU clocks. If not", "clocks-free", "quiet"),
    ("==WARNING== No source files were imported. Check that the target", "no-source", "quiet"),
    ("CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED", "subscriber", "ncu"),
]


@pytest.mark.parametrize(("line", "id", "kind"), SAID, ids=[said[1] for said in SAID])
def test_recognised(line: str, id: str, kind: str) -> None:
    found = recognise(line)
    assert found is not None and (found.id, found.kind) == (id, kind)


def test_every_row_is_covered_by_a_recorded_line() -> None:
    assert {message.id for message in MESSAGES} == {said[1] for said in SAID}


def test_blanks_are_filled_from_the_line() -> None:
    found = recognise(r"==ERROR== Failed to find metric regex:^not_a_metric\.(sum|min)$")
    assert found is not None and "called not_a_metric" in found.means
    found = recognise("==ERROR== './nosuch' does not exist or is not an executable.")
    assert found is not None and found.means == "./nosuch is no program"


def test_one_line_each_and_no_blank_left() -> None:
    for message in MESSAGES:
        assert message.means and message.remedy and "\n" not in message.means + message.remedy
        assert set(re.findall(r"\{(\w+)\}", message.means + message.remedy)) <= {"subject"}


def test_unknown_words_are_not_guessed_at() -> None:
    assert recognise("==ERROR== something never seen") is None
