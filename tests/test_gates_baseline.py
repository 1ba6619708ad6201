"""The baseline: text, in a stable order, read back exactly, refused where it is damaged."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import compared
import pytest
import reports
from compared import side, state
from hypothesis import given
from hypothesis import strategies as st

from triage.compare import compare
from triage.errors import NothingProfiled, UnreadableReport
from triage.gates import baseline, scalars
from triage.gates.baseline_form import form_of
from triage.gates.baseline_load import load
from triage.model import Device, Launch


def again(tmp_path: Path, text: str) -> compared.Snapshot:
    path = tmp_path / "baseline.yaml"
    path.write_text(text, encoding="utf-8")
    return load(path)


def test_a_capture_comes_back_as_it_went(tmp_path: Path) -> None:
    snapshot = compared.captured(compared.PR_BASE)
    text = baseline.dump(snapshot)
    loaded = again(tmp_path, text)
    assert baseline.dump(loaded) == text
    assert loaded.device.cc == "9.0" and loaded.collection == snapshot.collection and loaded.rules == snapshot.rules
    transpose = next(one for one in loaded.states if one.kernel.function == "transpose")
    assert transpose.durations == (272960,) and transpose.limiter == "uncoalesced-global"
    assert transpose.kernel.launch.grid == (128, 128, 1) and transpose.facts["theoretical_waste"] == 4.5
    assert [(line.file, line.line) for line in transpose.lines] == [("transpose_pr.cu", 26)]


def test_against_a_baseline_the_verdict_is_that_against_the_report(tmp_path: Path) -> None:
    base, head = compared.captured(compared.PR_BASE), compared.captured(compared.PR_HEAD)
    loaded = again(tmp_path, baseline.dump(base))
    ours, theirs = compare(loaded, head, compared.rules()), compare(base, head, compared.rules())
    for one, other in zip(ours.pairs, theirs.pairs, strict=True):
        assert (one.change, one.limiter_moved, one.time.ratio) == (other.change, other.limiter_moved, other.time.ratio)
        assert [move.fact for move in one.moves] == [move.fact for move in other.moves]


def test_the_text_does_not_depend_on_the_order_of_the_report() -> None:
    states = [state("b"), state("a", grid=(2, 1, 1)), state("a", grid=(1, 1, 1))]
    assert baseline.dump(side(*states)) == baseline.dump(side(*states[::-1]))


def test_one_value_a_line_so_that_a_diff_shows_what_moved() -> None:
    old = baseline.dump(side(state("a", facts={"registers_per_thread": 32}), state("b")))
    new = baseline.dump(side(state("a", facts={"registers_per_thread": 40}), state("b")))
    assert [line for line in new.splitlines() if line not in old.splitlines()] == ["    registers_per_thread: 40"]


def test_no_path_of_the_building_machine_gets_in() -> None:
    assert "/build/" not in baseline.dump(side(state("a", line=3), path="/home/me/report.ncu-rep"))


def test_many_launches_are_thinned_and_few_keep_their_order(tmp_path: Path) -> None:
    many = tuple(float(value) for value in range(1000, 2000))
    loaded = again(tmp_path, baseline.dump(side(state("a", many), state("b", (3.0, 1.0, 2.0)))))
    assert loaded.states[0].launches == 1000 and len(loaded.states[0].durations) == 15
    assert (min(loaded.states[0].durations), max(loaded.states[0].durations)) == (1000, 1999)
    assert abs(loaded.states[0].median_ns - 1499.5) <= 1
    assert loaded.states[1].durations == (3, 1, 2)


@pytest.mark.parametrize("name", reports.HOSTILE)
def test_hostile_names_come_back_as_they_went(tmp_path: Path, name: str) -> None:
    text = reports.HOSTILE[name] or "x"
    dumped = baseline.dump(side(state(text, function=text, nvtx=(text,))))
    assert dumped.isascii()
    loaded = again(tmp_path, dumped)
    assert loaded.states[0].kernel.name == text.replace("\ud800", "\ufffd")


@given(st.text(min_size=1, max_size=60))
def test_any_text_comes_back(text: str) -> None:
    from triage.rules import yamlfile

    document = yamlfile.Document(Path("x"), "x", text=f"key: {scalars.text(text)}\n", names=True)
    yamlfile._parse(document)
    assert document.root["key"] == "".join("\ufffd" if 0xD800 <= ord(c) <= 0xDFFF else c for c in text)


def test_too_large_is_said_when_it_is_written() -> None:
    one = state("kernel" * 60)
    many = [replace(one, kernel=replace(one.kernel, name=f"{number}{one.kernel.name}")) for number in range(2000)]
    with pytest.raises(UnreadableReport, match="at most 1,000,000"):
        baseline.dump(side(*many))


def test_a_report_is_no_baseline(tmp_path: Path) -> None:
    assert form_of(compared.REPEATS) is None and form_of(tmp_path / "none") is None


def test_launches_that_do_not_agree_are_kept(tmp_path: Path) -> None:
    one = replace(state("a", (1.0, 2.0, 3.0)), beside=(("divergence", 33.3), (None, 16.7)))
    text = baseline.dump(side(one))
    assert "  beside: {divergence: 33.3, undecided: 16.7}\n" in text
    loaded = again(tmp_path, text)
    assert loaded.states[0].beside == one.beside and baseline.dump(loaded) == text
    assert "beside" not in baseline.dump(side(state("a")))


def test_without_a_kernel_none_is_written() -> None:
    with pytest.raises(NothingProfiled):
        baseline.dump(side())


def test_what_a_damaged_report_says_of_sizes_is_left_out_and_comes_back_unknown(tmp_path: Path) -> None:
    one = replace(
        state("a", grid=(10**20, 1, 1), line=3), kernel=replace(state("a").kernel, device=Device("X", sms=-1))
    )
    odd = replace(one, lines=(replace(one.lines[0], share=float("nan")),))
    loaded = again(
        tmp_path, baseline.dump(side(replace(odd, kernel=replace(odd.kernel, launch=Launch((10**20, 1, 1))))))
    )
    assert loaded.device.sms is None and loaded.states[0].kernel.launch.grid is None and loaded.states[0].lines == ()


def test_a_kernel_of_an_unknown_gpu_stays_one(tmp_path: Path) -> None:
    loaded = again(tmp_path, baseline.dump(side(state("a"), state("a", device=Device()))))
    assert sorted(str(one.kernel.device.name) for one in loaded.states) == ["NVIDIA H200", "None"]
