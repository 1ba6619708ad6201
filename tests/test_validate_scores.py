"""What is judged from verdicts and times: outcomes, pairs, rounds, the confusion matrix, what a program prints."""

from __future__ import annotations

from dataclasses import replace

import pytest

from triage.errors import ProgramFailed, UnreadableReport
from triage.validate import jsonform, programs, scores
from triage.validate.manifest import Calibration
from triage.validate.model import (
    About,
    Advice,
    Judged,
    Round,
    Validation,
    faults,
    merged,
    moved,
    pairs,
)

SLOW = Calibration("slow", "pair.cu", ("barrier",), ("memory-latency",), twin="fast", fix="Look", at={0.5: ("sleep",)})
FAST = Calibration("fast", "pair.cu", ("pipe-fma", "issue-slots"), ("barrier",))


def judged(entry: Calibration, limiter: str | None, **values: object) -> Judged:
    return replace(Judged(entry, limiter), **values)  # type: ignore[arg-type]


def validation(
    slow: Judged, fast: Judged, *rounds: Round, checks: dict[tuple[str, str], bool] | None = None
) -> Validation:
    return Validation((About("GPU"),), (slow, fast), checks or {}, rounds)


RIGHT = judged(SLOW, "barrier", fix="Look at it", bound=2.0, time_us=30.0, twin_us=20.0)
TWIN = judged(FAST, "issue-slots", time_us=20.0)


@pytest.mark.parametrize(
    ("limiter", "outcome", "expected"),
    [
        ("barrier", "right", "barrier"),
        ("memory-latency", "wrong", "barrier"),
        ("sleep", "miss", "barrier"),
        (None, "undecided", "barrier"),
    ],
)
def test_outcomes(limiter: str | None, outcome: str, expected: str) -> None:
    one = judged(SLOW, limiter)
    assert (one.outcome, one.expected) == (outcome, expected)
    assert bool(faults(validation(one, TWIN))) == (outcome != "right")


def test_undecided_may_be_the_right_answer() -> None:
    assert judged(replace(SLOW, accept=("undecided",)), None).outcome == "right"


def test_a_pair_holds_measured_speedup_bound_and_fix() -> None:
    (pair,) = pairs(validation(RIGHT, TWIN, checks={("slow", "fast"): True}))
    assert pair.speedup == pytest.approx(1.5) and pair.gone is True and pair.same_result is True
    assert pair.first and pair.listed and not pair.beaten
    (other,) = pairs(validation(replace(RIGHT, fix="Something else"), TWIN))
    assert not other.first and other.listed and other.same_result is None


@pytest.mark.parametrize(("time", "beaten"), [(43.9, False), (44.1, True)])
def test_a_bound_may_be_exceeded_by_a_tenth(time: float, beaten: bool) -> None:
    found = validation(replace(RIGHT, time_us=time), TWIN)
    assert pairs(found)[0].beaten is beaten
    assert bool(faults(found)) is beaten


def test_without_a_time_or_a_bound_nothing_is_beaten() -> None:
    for one in (replace(RIGHT, time_us=None), replace(RIGHT, twin_us=None), replace(RIGHT, bound=None, time_us=1e6)):
        assert faults(validation(one, TWIN)) == ()


def test_a_twin_that_was_not_judged_is_not_gone() -> None:
    (pair,) = pairs(Validation((), (RIGHT,)))
    assert pair.gone is None and not pair.twin_judged
    count = scores.count_pairs((pair,))
    assert (count.all, count.gone, count.judged, count.first) == (1, 0, 0, 1)


def test_a_clearly_faster_pair_needs_a_right_verdict_and_the_factor() -> None:
    def first(one: Judged) -> int:
        return scores.count_pairs(pairs(validation(one, TWIN))).first

    assert first(RIGHT) == 1
    assert first(replace(RIGHT, time_us=25.9)) == 0
    assert first(replace(RIGHT, limiter="memory-latency")) == 0


def test_rounds_are_compared_with_the_normal_size_of_the_same_source() -> None:
    half, one, two = Round(0.5, {"slow": "sleep"}), Round(1, {"slow": "barrier"}), Round(2, {"slow": None, "fast": "x"})
    elsewhere = Round(1, {"slow": "near-limit"}, "other")
    found = moved(validation(RIGHT, TWIN, half, one, two, elsewhere))
    assert [(c.scale, c.before, c.after, c.allowed) for c in found] == [
        (0.5, "barrier", "sleep", True),
        (2, "barrier", None, False),
    ]
    assert faults(validation(RIGHT, TWIN, half, one, two)) == ("slow: barrier, but undecided at 2 of the size",)


def test_merging_keeps_the_first_verdict_and_every_round() -> None:
    first = validation(RIGHT, TWIN, Round(1, {"slow": "barrier"}), checks={("slow", "fast"): True})
    second = validation(
        replace(RIGHT, limiter="sleep"), TWIN, Round(2, {"slow": "barrier"}), checks={("slow", "fast"): False}
    )
    both = merged([first, second])
    assert [one.limiter for one in both.judged] == ["barrier", "issue-slots"]
    assert len(both.rounds) == 2
    assert both.checks == merged([second, first]).checks == {("slow", "fast"): False}
    other = replace(second, judged=tuple(replace(one, source="GPU 2") for one in second.judged))
    assert len(merged([first, other]).judged) == 4


def test_the_confusion_matrix_counts_each_kernel_once() -> None:
    rows = scores.matrix([RIGHT, judged(SLOW, "sleep"), judged(SLOW, None), TWIN])
    assert [(row.limiter, row.kernels, row.only, row.right) for row in rows] == [
        ("barrier", 3, 3, 1),
        ("issue-slots", 1, 0, 1),
    ]
    assert rows[0].named == {"barrier": 1, "sleep": 1, "undecided": 1}


def test_ncus_advice_is_scored_where_there_is_some() -> None:
    named = Advice("CPIStall", 40.0, "global", ("smsp_average_barrier",), ("barrier",))
    other = Advice("HighPipeUtilization", 90.0, "local")
    score = scores.score_advice([replace(RIGHT, advice=named), replace(RIGHT, advice=other), TWIN])
    assert (score.kernels, score.ours, score.theirs) == (2, 2, 1)


def test_limiters_that_prove_least_are_named() -> None:
    assert scores.uncovered([RIGHT, RIGHT, TWIN], ["barrier", "pipe-fma", "sleep"]) == ("pipe-fma", "sleep")


def test_json_lines_of_a_program() -> None:
    said = programs.parse(
        [
            "noise",
            "[1]",
            '{"kernel": "a", "grid": [1, 1, 1], "median_us": 2.50}',
            '{"kernel": "b", "grid": [1, 1, 1]}',
            '{"kernel": "c", "skipped": "no room"}',
            '{"check": ["a", "b"], "worst_error": 1e300, "ok": false}',
        ]
    )
    assert (said.times, said.skipped, said.checks) == ({"a": 2.5}, {"c": "no room"}, {("a", "b"): False})


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("echo dead >&2; exit 2", "failed: dead"),
        ("exit 1", "no check failed"),
        ("kill -SEGV $$", "failed: status -11"),
        ("exec sleep 9", "took more than 0 s"),
    ],
)
def test_a_program_that_fails_says_why(tmp_path, script: str, words: str) -> None:  # type: ignore[no-untyped-def]
    program = tmp_path / "prog"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    with pytest.raises(ProgramFailed, match=words):
        programs.run(program, timeout_s=0.3)
    with pytest.raises(ProgramFailed, match="does not start"):
        programs.run(tmp_path / "none")


def test_json_survives_a_round_trip_with_everything_set() -> None:
    full = replace(RIGHT, advice=Advice("A", 1.5, "global", ("m",), ("barrier",)), missing=("m",), walk="w", source="s")
    found = validation(full, TWIN, Round(0.5, {"slow": None}, "s"), checks={("slow", "fast"): False})
    assert jsonform.parse(jsonform.render(found), "v") == found


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema": "triage/validate/1"}', '{"schema": "triage/report/1"}'])
def test_other_json_is_refused(text: str) -> None:
    with pytest.raises(UnreadableReport, match=r"v\.json is no JSON of a validation"):
        jsonform.parse(text, "v.json")
