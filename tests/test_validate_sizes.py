"""`same_limiter`: may a smaller problem stand for a larger one?"""

from __future__ import annotations

import pytest

from triage.errors import UsageError
from triage.model import Diagnosis, Finding, Kernel, Report, RulebookId
from triage.validate.sizes import same_limiter, text


def report(*kernels: tuple[str, str | None, float | None]) -> Report:
    """A report of (name, limiter, duration in ns)."""
    total = sum(duration or 0 for _, _, duration in kernels)
    findings = tuple(
        Finding(
            Kernel(index, name, name),
            Diagnosis(limiter, "", None, "high", (), ""),
            duration_ns=duration,
            share=None if duration is None else 100 * duration / total,
        )
        for index, (name, limiter, duration) in enumerate(kernels)
    )
    return Report(findings, (), RulebookId("", "guide"), "0")


def test_the_same_limiter_everywhere() -> None:
    result = same_limiter(
        report(("a", "barrier", 5), ("b", "sleep", 5)), report(("b", "sleep", 90), ("a", "barrier", 10))
    )
    assert result.holds and result.exit_code == 0
    assert [one.name for one in result.kernels] == ["b", "a"], "what takes most of the time comes first"
    assert "Same limiter at both sizes (2 kernels)" in text(result)


def test_another_limiter_at_the_large_size() -> None:
    result = same_limiter(report(("a", "l2-bandwidth", 5)), report(("a", "dram-bandwidth", 50)))
    assert not result.holds and result.exit_code == 10
    assert "a: l2-bandwidth at the small size, dram-bandwidth at the large" in text(result)
    assert "1 of 1 kernel with another limiter. Profile the larger problem." in text(result)


def test_undecided_on_either_side_is_not_the_same() -> None:
    for small, large in ((None, "barrier"), ("barrier", None), (None, None)):
        result = same_limiter(report(("a", small, 5)), report(("a", large, 50)))
        assert result.exit_code == 10 and result.kernels[0].answer == "undecided"
        assert "1 undecided" in text(result)


def test_a_kernel_that_takes_little_time_at_both_sizes_does_not_decide() -> None:
    small, large = report(("a", "barrier", 999), ("b", "sleep", 1)), report(("a", "barrier", 999), ("b", "barrier", 1))
    result = same_limiter(small, large)
    assert result.holds and "too little to decide" in text(result)
    assert not same_limiter(small, large, little=0.05).holds
    heavy = report(("a", "barrier", 900), ("b", "sleep", 100))
    assert not same_limiter(heavy, large).holds, "it matters at one of the sizes"


def test_where_every_kernel_takes_little_all_decide() -> None:
    many = [(f"k{i}", "barrier", 1.0) for i in range(200)]
    other = [*many[:-1], ("k199", "sleep", 1.0)]
    assert same_limiter(report(*many), report(*many)).holds
    assert not same_limiter(report(*many), report(*other)).holds


def test_of_several_launches_those_that_take_most_time_speak() -> None:
    launches = report(("a", "barrier", 1), ("a", "barrier", 1), ("a", "sleep", 10))
    assert same_limiter(launches, report(("a", "sleep", 7))).holds
    untimed = report(("a", "barrier", None), ("a", "barrier", None), ("a", "sleep", None))
    assert same_limiter(untimed, report(("a", "barrier", None))).holds


def test_kernels_of_one_report_only_are_told() -> None:
    result = same_limiter(report(("a", "sleep", 1), ("s", "sleep", 1)), report(("a", "sleep", 1), ("l", "sleep", 1)))
    assert (result.only_small, result.only_large) == (("s",), ("l",))
    assert "only in the large report: l" in text(result)


def test_nothing_in_common_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="no kernel in common"):
        same_limiter(report(("a", "sleep", 1)), report(("b", "sleep", 1)))
