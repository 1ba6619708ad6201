"""triage.renderers.ranking: folding of repeated launches and the two orders."""

from __future__ import annotations

from dataclasses import replace

import pytest
import reports

from triage.model import Bound, Launch
from triage.renderers import ranking


def test_repeated_launches_fold_with_their_spread() -> None:
    first, second = ranking.groups(reports.repeated(12))
    assert len(first.findings) == len(second.findings) == 12
    assert first.places == tuple(range(0, 24, 2))
    assert (first.shortest, first.longest) == (90_000.0, 101_000.0)
    assert first.duration_ns == pytest.approx(12 * 95_500.0)
    assert first.share is not None and second.share is not None
    assert first.share + second.share == pytest.approx(100)
    # 95.5 us is the median; 95 us is the first launch at that distance.
    assert first.shown.duration_ns == 95_000.0
    assert first.place == 10


def test_another_shape_or_limiter_is_another_group() -> None:
    one = reports.finding(0, "k(int)", reports.DRAM, 10.0)
    other_shape = reports.finding(1, "k(int)", reports.DRAM, 10.0, launch=Launch((1, 1, 1), (32, 1, 1)))
    other_limiter = reports.finding(2, "k(int)", reports.CONFLICTS, 10.0)
    assert len(ranking.groups(reports.report(one, other_shape, other_limiter))) == 3


def test_longest_first_and_untimed_last() -> None:
    ranked = ranking.by_time(ranking.groups(reports.undecided()))
    assert [group.duration_ns for group in ranked] == [130_000.0, None]
    durations = [group.duration_ns for group in ranking.by_time(ranking.groups(reports.few()))]
    assert durations == sorted(durations, reverse=True)  # type: ignore[type-var]


def test_what_can_be_won_back_outranks_a_longer_kernel_at_its_limit() -> None:
    near_peak = reports.finding(0, "long(int)", replace(reports.DRAM, bound=Bound(1.05, "")), 1000.0)
    wasteful = reports.finding(1, "short(int)", replace(reports.UNCOALESCED, bound=Bound(4.0, "")), 400.0)
    report = reports.report(near_peak, wasteful)
    folded = ranking.groups(report)
    assert [group.place for group in ranking.by_time(folded)] == [0, 1]
    assert [group.place for group in ranking.by_saving(folded)] == [1, 0]
    assert folded[1].saving_ns == pytest.approx(300.0)


def test_no_bound_counts_the_whole_time() -> None:
    open_ended = reports.finding(0, "a(int)", reports.GRID, 100.0)
    bounded = reports.finding(1, "b(int)", replace(reports.DRAM, bound=Bound(1.1, "")), 500.0)
    folded = ranking.groups(reports.report(open_ended, bounded))
    assert folded[0].saving_ns is None
    assert [group.place for group in ranking.by_saving(folded)] == [0, 1]


def test_where_the_program_was_surveyed_its_time_ranks_and_not_that_of_the_launches_that_were_profiled() -> None:
    bound = replace(reports.UNCOALESCED, bound=Bound(2.0, ""))
    once = replace(reports.finding(0, "once(int)", bound, 900.0), share=10.0)
    often = replace(reports.finding(1, "often(int)", bound, 100.0), share=60.0)
    profiled = replace(reports.report(once, often), findings=(once, often))
    for report, first in ((profiled, 0), (replace(profiled, surveyed=True), 1)):
        folded = ranking.groups(report)
        assert ranking.by_time(folded)[0].place == ranking.by_saving(folded)[0].place == first
        found = folded[1].headroom
        assert found is not None and (found.saves, found.speedup) == (30.0, pytest.approx(1 / 0.7))


def test_the_headroom_of_a_kernel_is_that_of_all_its_launches() -> None:
    for group in ranking.groups(reports.repeated(12)):
        bound, found = group.shown.diagnosis.bound, group.headroom
        if bound is not None and bound.speedup is not None:
            assert found is not None and found.share == pytest.approx(group.share)
            assert found.saves == pytest.approx(group.share * (1 - 1 / bound.speedup))


def test_nothing_to_rank() -> None:
    assert ranking.groups(reports.empty()) == ()


def test_a_duration_that_is_no_number_is_not_known() -> None:
    assert all(group.duration_ns is None for group in ranking.groups(reports.partial()))
