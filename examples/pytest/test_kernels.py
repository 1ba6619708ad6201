"""Kernels under test: what limits them and how long they may take is part of the test suite.

Run with ``pytest examples/pytest``; the reports are bundled, so no GPU is needed. `command="./bench"` instead of
`report=...` profiles a program on a machine that has one, and skips the test elsewhere.
"""

import pytest

CAPTURE = "../demo/transposes.csv"


@pytest.mark.triage(report=CAPTURE, kernel="padded_32_float", limiter="dram-bandwidth", max_duration="40 us")
def test_padded_transpose_is_bound_by_dram() -> None:
    """The marker does the work."""


@pytest.mark.triage(
    report=CAPTURE, kernel="padded_32_float", min_effective_bandwidth="3.5 TB/s", ideal_bytes="2 * 4096 * 4096 * 4"
)
def test_padded_transpose_moves_its_bytes_fast_enough() -> None:
    """Bytes it has to move over its time; without ideal_bytes those that its accesses need."""


@pytest.mark.triage(report=CAPTURE)
def test_padding_is_what_makes_it_fast(triage_kernels) -> None:
    """The fixture gives the same kernels to code."""
    padded, unpadded = triage_kernels["padded_32_float"], triage_kernels["shared_32_float"]
    assert unpadded.limiter == "bank-conflicts"
    assert padded.duration_ns < 0.6 * unpadded.duration_ns
