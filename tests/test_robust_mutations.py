"""Two thousand mutated reports: no crash, no hang, and no verdict that the intact file contradicts without a warning.

Texts are mutated and read in this process. ``.ncu-rep`` files go through NVIDIA's library in a server that forks for
each (``warm_reader.py``), so that one that dies takes no other with it.
"""

from __future__ import annotations

import importlib.util
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import mutants
import pytest
import structural
from mutants import MUTATIONS, Intact, complaint
from warm_reader import Warm

from triage.commands import wanted_metrics
from triage.errors import TriageError
from triage.readers import framing, load, ncu_rep, pieces, process, raw_table
from triage.rules import default_rulebook

DATA = Path(__file__).parent / "data"
REPORT = DATA / "readers_pr.ncu-rep"
# Each with the number of its mutations: together with those below more than two thousand.
TEXTS = {
    "raw_base.csv": 450,
    "raw_auto.csv": 250,
    "raw_instances.csv": 150,
    "metrics_stdout.csv": 350,
    "details.csv": 150,
    "details_names.csv": 100,
    "details.txt": 150,
    "graph_raw.csv": 100,
    "log_bad_metric.txt": 50,
}
REPORTS, VALUES, BLOCKS = 120, 90, 90
# Of each text.
STRUCTURAL = 50
SLOWEST_S = 10


def test_there_are_two_thousand() -> None:
    boundaries = len(list(mutants.at_boundaries(REPORT)))
    assert sum(TEXTS.values()) + REPORTS + VALUES + boundaries >= 2000


def test_a_wrong_verdict_would_be_seen(tmp_path: Path) -> None:
    source = DATA / "limiters_h200.csv"
    intact = Intact.of(source)
    assert complaint(source, intact) == ""
    name = next(name for name, found in intact.limiters.items() if found == {"memory-latency"})
    intact.limiters[name] = {"dram-bandwidth"}
    assert "is called memory-latency" in complaint(source, intact)
    (tmp_path / "x.csv").write_text("no report")
    assert complaint(tmp_path / "x.csv", intact) == ""


@pytest.mark.parametrize("name", TEXTS)
def test_mutated_texts(tmp_path: Path, name: str) -> None:
    source = DATA / f"readers_{name}"
    chance = random.Random(name)
    intact = Intact.of(source) if "log" not in name else Intact(source)
    data = source.read_bytes()
    path = tmp_path / source.name
    for number in range(TEXTS[name]):
        mutation = chance.choice(MUTATIONS)
        path.write_bytes(mutation(data, chance))
        begun = time.monotonic()
        wrong = complaint(path, intact)
        assert not wrong, (number, mutation.__name__, wrong)
        assert time.monotonic() - begun < SLOWEST_S


@pytest.mark.parametrize("name", TEXTS)
def test_texts_that_keep_their_form(tmp_path: Path, name: str) -> None:
    """Lines, cells, columns, numbers, units and separators changed, so that what is left is still a report."""
    source = DATA / f"readers_{name}"
    chance = random.Random(name)
    intact = Intact.of(source) if "log" not in name else Intact(source)
    path = tmp_path / source.name
    for number in range(STRUCTURAL):
        data, made = source.read_bytes(), []
        for _ in range(chance.choice((1, 1, 2))):
            mutation = chance.choice(structural.TEXTS)
            data = mutation(data if len(data) > 1 else b"xx", chance)
            made.append(mutation.__name__)
        path.write_bytes(data)
        wrong = complaint(path, intact)
        assert not wrong, (number, made, wrong)


@pytest.mark.parametrize("name", ["readers_raw_auto.csv", "readers_raw_instances.csv", "limiters_h200.csv"])
def test_a_damaged_table_in_pieces_is_what_it_is_as_a_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(pieces, "_SMALL", 0)
    monkeypatch.setattr(raw_table, "_BATCH", 9000)
    wanted, chance = wanted_metrics(default_rulebook()), random.Random(name)
    path = tmp_path / "table.csv"
    for number in range(40):
        data = (DATA / name).read_bytes()
        for _ in range(2):
            data = chance.choice((*MUTATIONS, *structural.TEXTS))(data if len(data) > 1 else b"xx", chance)
        path.write_bytes(data)
        try:
            whole = load(path, metrics=wanted)
            source = pieces.divide(path)
        except TriageError:
            continue
        read = [piece.read(wanted, keep=True) for piece in source.pieces()]
        kernels = [kernel for found, _ in read for kernel in found]
        said = source.close([tally for _, tally in read]).warnings
        assert sorted(said) == sorted(whole.warnings), number
        assert [(one.name, dict(one.metrics)) for one in kernels] == [
            (one.name, dict(one.metrics)) for one in whole.kernels
        ], number


@pytest.fixture(scope="module")
def warm() -> Iterator[Warm]:
    if importlib.util.find_spec("ncu_report") is None:
        pytest.skip("ncu-report is not installed")
    if sys.platform == "win32":
        pytest.skip("the server forks")
    server = Warm(ncu_rep.survey(REPORT, compressed=False).library)
    yield server
    server.close()


@pytest.fixture(scope="module")
def intact(warm: Warm) -> Intact:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(process, "run", warm.run)
        return Intact.of(REPORT)


def test_the_server_reads_as_the_child_does(warm: Warm, intact: Intact, monkeypatch: pytest.MonkeyPatch) -> None:
    assert Intact.of(REPORT).limiters == intact.limiters
    monkeypatch.setattr(process, "run", warm.run)
    assert Intact.of(REPORT).limiters == intact.limiters


def test_mutated_reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, warm: Warm, intact: Intact) -> None:
    monkeypatch.setattr(process, "run", warm.run)
    data, chance = REPORT.read_bytes(), random.Random(9)
    _all(tmp_path, (chance.choice(MUTATIONS)(data, chance) for _ in range(REPORTS)), warm, intact)


def test_reports_cut_at_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, warm: Warm, intact: Intact) -> None:
    monkeypatch.setattr(process, "run", warm.run)
    _all(tmp_path, mutants.at_boundaries(REPORT), warm, intact)


def test_altered_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, warm: Warm, intact: Intact) -> None:
    """One bit inside the payload of a result: no frame shows it."""
    monkeypatch.setattr(process, "run", warm.run)
    data, frame, chance = REPORT.read_bytes(), framing.read(REPORT), random.Random(10)
    end = frame.ends[-1]

    def flipped() -> bytes:
        changed = bytearray(data)
        changed[chance.randrange(end - frame.payloads[-1], end)] ^= 1 << chance.randrange(8)
        return bytes(changed)

    _all(tmp_path, (flipped() for _ in range(VALUES)), warm, intact)


def test_changed_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, warm: Warm, intact: Intact) -> None:
    monkeypatch.setattr(process, "run", warm.run)
    chance, mutations = random.Random(11), structural.of_blocks(REPORT)
    _all(tmp_path, (chance.choice(mutations)(b"", chance) for _ in range(BLOCKS)), warm, intact)


def _all(folder: Path, mutated: Iterator[bytes], warm: Warm, intact: Intact) -> None:
    path = folder / REPORT.name
    for number, data in enumerate(mutated):
        path.write_bytes(data)
        begun = time.monotonic()
        wrong = complaint(path, intact)
        assert not wrong, (number, wrong)
        assert time.monotonic() - begun < SLOWEST_S
    assert warm.hangs == 0
