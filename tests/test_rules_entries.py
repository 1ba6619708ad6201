"""`triage rules show` of a question, a fact and a threshold."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_cli import fails, triage

from triage.errors import UsageError
from triage.rules import default_rulebook
from triage.rules.pages import page
from triage.team import rulebook_for

RULES = default_rulebook()


def test_a_question_says_what_it_may_end_in_and_by_which_strength() -> None:
    shown = triage("rules", "show", "level").stdout
    assert shown.startswith(
        f"level: {next(q.ask for q in RULES.path if q.id == 'level')}\nquestion, decision 5, rules/path"
    )
    assert (
        "May end in (pick: largest; the strongest that holds)\n  dram-bandwidth, by dram_pct; undecided while" in shown
    )
    assert "(busy_pct)" in shown
    assert "May end in (pick: first; the first that holds)" in page(RULES, "mechanism")


def test_a_fact_says_how_it_is_had_and_where_it_is_compared() -> None:
    shown = page(RULES, "dram_pct")
    assert shown.startswith("dram_pct: DRAM\nfact, in %, rules/facts.yaml:")
    assert "  dram__cycles_active.avg.pct_of_peak_sustained_elapsed\n" in shown
    assert "  at most memory_throughput_pct, where it was not measured itself\n" in shown
    assert "  limiter dram-bandwidth\n" in shown[shown.index("Compared in") :]
    assert page(RULES, "l2_hit_pct").endswith("read where a report holds it (collect: false)\nCompared in no rule\n")


def test_a_threshold_says_what_it_was(tmp_path: Path) -> None:
    (tmp_path / "triage.yaml").write_text(
        "overrides:\n  - {threshold: conflict_pct, value: 95, source: our tiles}\n", encoding="utf-8"
    )
    shown = page(rulebook_for(start=tmp_path), "conflict_pct")
    assert shown.startswith("conflict_pct: 95.0 %\nthreshold, ")
    assert "our tiles" in shown
    assert "\n  was 10.0 %, rules/thresholds.yaml:" in shown
    assert "  limiter bank-conflicts\n" in shown


@pytest.mark.parametrize("kind", ["limiters", "facts", "thresholds", "path"])
def test_everything_there_is_has_a_page(kind: str) -> None:
    entries = getattr(RULES, kind)
    for name in [question.id for question in entries] if kind == "path" else entries:
        assert page(RULES, name).startswith(f"{name}: ")


def test_a_fact_and_a_threshold_of_one_name_are_both_shown() -> None:
    shown = page(RULES, "conflict_stage_pct")
    assert "\nfact, in %, " in shown
    assert "\nthreshold, rules/thresholds.yaml:" in shown


def test_what_is_nothing_is_refused_with_the_nearest() -> None:
    assert "called 'levle' (did you mean 'level'?)" in fails(triage("rules", "show", "levle"), 2)[0]
    with pytest.raises(UsageError):
        page(RULES, "")
