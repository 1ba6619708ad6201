"""What `triage explain` prints beside each question: its id, and how its answer is picked."""

from __future__ import annotations

from captures import DATA
from test_cli import triage

from triage.rules import default_rulebook


def test_every_question_with_its_id_and_how_its_answer_is_picked() -> None:
    shown = triage("explain", DATA / "limiters_h200.csv", "--kernel", "2").stdout.splitlines()
    heads = [line for line in shown if line.startswith("[")]
    path = default_rulebook().path
    assert [line[1:].partition("]")[0] for line in heads] == [question.id for question in path]
    for line, question in zip(heads, path, strict=True):
        pick = " (pick: largest)" if question.pick == "largest" else ""
        assert line.startswith(f"[{question.id}] {question.ask}{pick}  ["), line
    assert {question.pick for question in path} == {"first", "largest"}
