"""Several questions at once: none waits for another, all share one limit of time, and none outlives the asking."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import pytest
from processes import gone, needs_proc

from triage.asking import Said, ask
from triage.together import Together


def test_answers_come_side_by_side_and_errors_to_who_wants_them() -> None:
    start = time.monotonic()
    with Together(ask, 20) as together:
        slow = [together.start(lambda: together(["sh", "-c", "sleep 0.4; echo a"], 5)) for _ in range(5)]
        wrong = together.start(lambda: 1 // 0)
        assert not together.done(0.05) and together.done(None) and not together.over
    assert [future.result() for future in slow] == [Said(0, "a\n")] * 5
    assert time.monotonic() - start < 1.9
    with pytest.raises(ZeroDivisionError):
        wrong.result()


def test_the_limit_is_that_of_all_questions() -> None:
    start = time.monotonic()
    with Together(ask, 0.5) as together:
        first = together.start(lambda: [together(["sleep", "50"], 30) for _ in range(3)])
        said = first.result()
    assert time.monotonic() - start < 3 and together.over
    assert "did not answer within 0.5 s" in said[0].fault
    assert said[1].fault == said[2].fault == "it was not asked: the 0.5 s for all questions were over"
    assert [one.status for one in said] == [124] * 3


def test_a_question_keeps_its_own_limit_where_that_is_shorter() -> None:
    asked: list[float] = []

    def run(command: object, timeout: float) -> Said:
        asked.append(timeout)
        return Said(0, "")

    together = Together(run, 20)
    together(["a"], 3)
    together(["a"], 60)
    assert asked[0] == 3 and 15 < asked[1] <= 20


@needs_proc
def test_an_interrupt_ends_what_is_asked_at_once(tmp_path: Path) -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    start = time.monotonic()
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt), Together(ask, 30) as together:
            for number in range(3):
                command = ["sh", "-c", f"echo $$ > {tmp_path}/{number}; sleep 50"]
                together.start(lambda command=command: together(command, 30))  # type: ignore[misc]
            together.done(None)
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
    assert time.monotonic() - start < 5
    assert all(gone(int((tmp_path / str(number)).read_text())) for number in range(3))
