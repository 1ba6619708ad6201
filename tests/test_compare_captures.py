"""The comparison of real captures: a pull request that repaired a transpose, and repeats that do not differ."""

from __future__ import annotations

import csv
from pathlib import Path

import compared
import pytest

from triage.compare import compare
from triage.renderers.diff import FORMATS, render


def pair_of(comparison: compared.Comparison, function: str):
    return next(pair for pair in comparison.pairs if pair.shown.kernel.function == function)


@pytest.fixture(scope="module")
def forth() -> compared.Comparison:
    return compare(compared.captured(compared.PR_BASE), compared.captured(compared.PR_HEAD), compared.rules())


@pytest.fixture(scope="module")
def back() -> compared.Comparison:
    return compare(compared.captured(compared.PR_HEAD), compared.captured(compared.PR_BASE), compared.rules())


def test_the_transpose_got_faster_and_its_limiter_moved(forth: compared.Comparison) -> None:
    pair = pair_of(forth, "transpose")
    assert pair.change == "faster" and pair.limiter_moved
    assert (pair.base.limiter, pair.head.limiter) == ("uncoalesced-global", "dram-bandwidth")
    assert pair.time.ratio == pytest.approx(33792 / 272960)
    assert [(line.file.rsplit("/")[-1], line.line) for line in pair.base.lines] == [("transpose_pr.cu", 26)]


def test_the_other_kernel_did_not_change(forth: compared.Comparison, back: compared.Comparison) -> None:
    for comparison in (forth, back):
        pair = pair_of(comparison, "scale")
        assert pair.change == "same" and pair.limiter_moved is False and not pair.moves


def test_the_facts_that_moved(forth: compared.Comparison) -> None:
    pair = pair_of(forth, "transpose")
    moves = {move.fact: (move.base, move.head) for move in (*pair.resources, *pair.moves)}
    assert moves["theoretical_waste"] == (4.5, 1.0)
    assert moves["store_sectors_per_request"] == pytest.approx((32.0, 4.0), rel=0.01)
    assert moves["registers_per_thread"] == (16, 20) and moves["spill_requests"] == (0, 0)
    assert moves["l2_bytes"] == (603979776, 134217728) and moves["instructions"] == (3014656, 5373952)
    assert pair.moves[0].fact == "theoretical_waste"


def test_backwards_is_the_mirror(forth: compared.Comparison, back: compared.Comparison) -> None:
    there, again = pair_of(forth, "transpose"), pair_of(back, "transpose")
    assert again.change == "slower"
    assert again.time.ratio * there.time.ratio == pytest.approx(1)
    assert {(m.fact, m.base, m.head) for m in again.moves} == {(m.fact, m.head, m.base) for m in there.moves}


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_names_the_line_the_limiters_and_the_factor(format: str, forth: compared.Comparison) -> None:
    text = " ".join(render(forth, format).split())
    for word in ("transpose_pr.cu", "26", "uncoalesced-global", "dram-bandwidth", "scale"):
        assert word in text, word
    assert "8.08x" in text


def test_the_same_comparison_twice_is_the_same_to_the_byte(forth: compared.Comparison) -> None:
    from triage import commands
    from triage.compare.snapshot import snapshot

    paths = (compared.PR_BASE, compared.PR_HEAD)
    base, head = (snapshot(commands.diagnosed([path], compared.rules(), command="")) for path in paths)
    again = compare(base, head, compared.rules())
    for format in FORMATS:
        assert render(again, format).encode() == render(forth, format).encode()


def test_a_slower_copy_is_slower_in_all_six_kernels(tmp_path: Path) -> None:
    with compared.REPEATS.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    at = rows[0].index("gpu__time_duration.sum")
    for row in rows[2:]:
        row[at] = f"{round(1.05 * float(row[at].replace(',', ''))):,}"
    slow = tmp_path / "slow.csv"
    with slow.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows(rows)
    comparison = compare(compared.captured(compared.REPEATS), compared.captured(slow), compared.rules())
    assert [pair.change for pair in comparison.pairs] == ["slower"] * 6
    assert all(pair.time.percent == pytest.approx(5, abs=0.01) for pair in comparison.pairs)
    assert not any(move.moved for pair in comparison.pairs for move in (*pair.resources, *pair.moves))
