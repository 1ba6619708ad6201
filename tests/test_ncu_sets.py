"""The metric sets and their faults."""

from __future__ import annotations

from pathlib import Path

import pytest

from triage.errors import FaultyRules, UsageError
from triage.ncu.sets import choose, load_sets


def write(folder: Path, text: str) -> Path:
    (folder / "sets.yaml").write_text(text)
    return folder


def test_the_built_in_sets_are_documented_and_complete() -> None:
    sets = load_sets()
    assert set(sets) == {"triage", "quick", "source", "full"}
    assert all(len(one.about) > 60 and one.title for one in sets.values())
    assert sets["triage"].from_rules and not sets["triage"].metrics
    assert sets["full"].ncu_set == "full" and sets["source"].sections == ("SourceCounters",)


def test_quick_has_load_counters_and_no_store_counters() -> None:
    names = [name for wanted in load_sets()["quick"].metrics for name in wanted.any_of]
    assert any("global_op_ld" in name for name in names) and not any("op_st" in name for name in names)
    assert names[0] == "gpu__time_duration.sum"


def test_a_team_adds_and_replaces(tmp_path: Path) -> None:
    text = (
        "sets:\n  mine:\n    title: Ours\n    about: For us.\n"
        "    metrics:\n      - a__b.sum\n      - any: [c__d, e__f]\n"
        "  quick: {title: T, about: A, sections: [SpeedOfLight]}\n"
    )
    sets = load_sets([write(tmp_path, text)])
    assert [wanted.any_of for wanted in sets["mine"].metrics] == [("a__b.sum",), ("c__d", "e__f")]
    assert sets["mine"].metrics[1].place.endswith("sets.yaml:7")
    assert sets["quick"].sections == ("SpeedOfLight",) and "triage" in sets


def test_a_folder_without_sets_is_fine(tmp_path: Path) -> None:
    assert "triage" in load_sets([tmp_path])


def test_all_faults_are_reported_at_once_with_their_line(tmp_path: Path) -> None:
    text = (
        "sets:\n"
        "  Bad Name:\n"
        "    title: T\n"
        "    about: A\n"
        "    metric: [x]\n"
        "  nothing: {title: T, about: A}\n"
        "  odd:\n"
        "    title: T\n"
        "    metrics:\n"
        "      - 'two words'\n"
        "      - {all: [x]}\n"
        "    from: taste\n"
        "    set: [full]\n"
        "  text: just words\n"
        "extra: 1\n"
    )
    with pytest.raises(FaultyRules) as caught:
        load_sets([write(tmp_path, text)])
    faults = "\n".join(caught.value.details)
    for expected in (
        "sets.yaml:2:3: name",
        "sets.yaml:5:5: unknown-key unknown key 'metric' (did you mean 'metrics'?)",
        "sets.yaml:6:3: empty",
        "sets.yaml:7:3: about",
        "sets.yaml:10:9: metrics 'two words'",
        "sets.yaml:11:9: metrics",
        "sets.yaml:12:5: from",
        "sets.yaml:13:5: set",
        "sets.yaml:14:3: set",
        "sets.yaml:15:1: unknown-key",
    ):
        assert expected in faults, f"{expected} not in\n{faults}"
    assert caught.value.exit_code == 3


@pytest.mark.parametrize("text", ["", "- a\n", "sets: 3\n", "sets:\n  a: &x {}\n", "sets: {a: {title: [\n"])
def test_a_file_that_is_no_file_of_sets(tmp_path: Path, text: str) -> None:
    with pytest.raises(FaultyRules):
        load_sets([write(tmp_path, text)])


def test_an_unknown_name_is_answered_with_a_suggestion() -> None:
    with pytest.raises(UsageError) as caught:
        choose(load_sets(), "triag")
    assert "did you mean 'triage'?" in caught.value.message and "quick" in caught.value.hint
