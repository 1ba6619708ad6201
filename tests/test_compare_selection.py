"""``--launches A-B`` and ``--kernel``."""

from __future__ import annotations

import compared
import pytest

from triage import commands
from triage.compare.selection import Launches, parse, select
from triage.compare.snapshot import snapshot
from triage.errors import UsageError


@pytest.mark.parametrize(
    ("text", "base", "head"),
    [
        (None, Launches(), Launches()),
        ("3", Launches(3, 3), Launches(3, 3)),
        ("0-4", Launches(0, 4), Launches(0, 4)),
        ("2-", Launches(2), Launches(2)),
        ("0-4:5-9", Launches(0, 4), Launches(5, 9)),
    ],
)
def test_parse(text: str | None, base: Launches, head: Launches) -> None:
    assert parse(text) == (base, head)


@pytest.mark.parametrize("text", ["x", "5-3", "1:2:3", "-3", "1,2", "1-2-3", ":"])
def test_what_is_no_range_is_a_usage_error(text: str) -> None:
    with pytest.raises(UsageError, match="--launches"):
        parse(text)


def test_launches_count_within_each_kernel() -> None:
    report = commands.diagnosed([compared.REPEATS], compared.rules(), command="")
    first, second = (snapshot(select(report, launches)) for launches in parse("0-4:5-9"))
    assert [state.launches for state in first.states] == [5] * 6
    assert first.states[0].durations == (263840, 262624, 262784, 262688, 261376)
    assert second.states[0].durations[0] == 260768
    one = select(report, Launches(), "t_*")
    assert {finding.kernel.function for finding in one.findings} == {"t_naive", "t_shared"}


def test_nothing_left_is_a_usage_error() -> None:
    report = commands.diagnosed([compared.REPEATS], compared.rules(), command="")
    with pytest.raises(UsageError, match="no launch 10"):
        select(report, Launches(10))
    with pytest.raises(UsageError, match="no kernel 'gemm'") as caught:
        select(report, Launches(), "gemm")
    assert "t_naive" in caught.value.hint
