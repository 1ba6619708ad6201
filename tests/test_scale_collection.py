"""Many kernels and many files at once: nothing is lost, and what is shown first is told in full."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from triage import collection, report, workers
from triage.collection import collect
from triage.commands import wanted_metrics
from triage.diagnosis.brief import KEPT, Unpacker, pack
from triage.diagnosis.hints import hints
from triage.diagnosis.ranks import odd_ones
from triage.diagnosis.roofs import attainable
from triage.errors import NothingProfiled, TriageError, UnreadableReport
from triage.model import Finding, Report
from triage.paths import INTERRUPTED, expand
from triage.readers import load, pieces, raw_table
from triage.rules import default_rulebook

ROOT = Path(__file__).parent.parent
DATA = Path(__file__).parent / "data"
CSV, REP = DATA / "limiters_h200.csv", DATA / "readers_pr.ncu-rep"
RULES = default_rulebook()
METRICS = wanted_metrics(RULES)
sys.path.insert(0, str(ROOT / "benchmarks"))
import synthetic  # noqa: E402 - beside the benchmarks that use it

needs_library = pytest.mark.skipif(importlib.util.find_spec("ncu_report") is None, reason="ncu-report is not installed")


def limiters(made: Report) -> list[str | None]:
    return [finding.diagnosis.limiter for finding in made.findings]


@pytest.fixture(scope="module")
def plain() -> Report:
    return report(load(CSV, metrics=METRICS), RULES)


@pytest.fixture
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is done for thousands of kernels, done for dozens."""
    monkeypatch.setattr(collection, "IN_FULL", 10)
    monkeypatch.setattr(collection, "DETAILED", 3)
    monkeypatch.setattr(pieces, "_SMALL", 1000)
    monkeypatch.setattr(raw_table, "_BATCH", 10_000)
    monkeypatch.setattr(pieces, "_FEW_RESULTS", 1)


def test_one_file_is_what_it_is_alone(plain: Report) -> None:
    made = collect([CSV], RULES, METRICS)
    assert [replace(each, kernel=plain.findings[0].kernel) for each in made.findings[:1]]
    assert limiters(made) == limiters(plain)
    assert [each.diagnosis.summary for each in made.findings] == [each.diagnosis.summary for each in plain.findings]
    assert [each.share for each in made.findings] == [each.share for each in plain.findings]
    assert made.sources == plain.sources and made.warnings == plain.warnings


@pytest.mark.usefixtures("small_limits")
@pytest.mark.parametrize("workers", [1, 2])
def test_many_kernels_keep_their_verdicts(tmp_path: Path, plain: Report, workers: int) -> None:
    path = tmp_path / "big.csv"
    synthetic.table(CSV, 90, path)
    seen: list[tuple[int, int]] = []
    made = collect([path], RULES, METRICS, workers=workers, progress=lambda *state: seen.append(state))
    assert limiters(made) == limiters(plain) * 3
    assert [each.kernel.index for each in made.findings] == list(range(90))
    assert [each.duration_ns for each in made.findings] == [each.duration_ns for each in plain.findings] * 3
    assert seen[-1][0] == 90 and len(seen) > 3
    full = [each for each in made.findings if each.diagnosis.steps]
    assert 3 <= len(full) <= 6
    # The longest kernel is told in full, and what it is told is the same.
    longest = max(plain.findings, key=lambda each: each.duration_ns or 0)
    told = next(each for each in full if each.kernel.name == longest.kernel.name)
    assert told.diagnosis.steps == longest.diagnosis.steps and told.kernel.metrics
    brief = next(each for each in made.findings if not each.diagnosis.steps)
    same = plain.findings[brief.kernel.index % 30]
    assert (brief.diagnosis.summary, brief.diagnosis.fixes) == (same.diagnosis.summary, same.diagnosis.fixes)
    assert any("told in full" in warning for warning in made.warnings)
    assert made.sources[0].kernels == 90


@pytest.mark.usefixtures("small_limits")
@needs_library
def test_a_report_by_ranges(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from triage.readers import ranges

    monkeypatch.setattr(ranges, "CHUNK_BYTES", 12_000_000)
    path = tmp_path / "big.ncu-rep"
    synthetic.report(REP, 14, path)
    whole = report(load(path, metrics=METRICS), RULES)
    made = collect([path], RULES, METRICS, workers=1)
    assert limiters(made) == limiters(whole) and len(made.findings) == 14
    assert [each.kernel.index for each in made.findings] == list(range(14))
    assert [each.kernel.process for each in made.findings] == [each.kernel.process for each in whole.findings]
    assert made.sources == whole.sources
    assert any(each.diagnosis.steps for each in made.findings)


def test_brief_findings_say_to_the_whole_report_what_full_ones_do(plain: Report) -> None:
    unpacker = Unpacker(RULES)
    made = tuple(
        replace(unpacker.finding(pack(each.kernel, each.diagnosis), 0, 0), share=each.share) for each in plain.findings
    )
    assert hints(made) == hints(plain.findings)
    assert attainable(made) == attainable(plain.findings)
    assert set(KEPT) <= set(RULES.facts)


def test_damage_of_a_divided_table_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "_SMALL", 1000)
    monkeypatch.setattr(raw_table, "_BATCH", 10_000)
    path = tmp_path / "big.csv"
    synthetic.table(CSV, 60, path)
    data = path.read_bytes()
    path.write_bytes(b"==PROF== Connected\n" + data[: len(data) // 2 + 7])
    made, whole = collect([path], RULES, METRICS, workers=1), load(path, metrics=METRICS)
    assert made.sources[0].warnings == whole.warnings and whole.warnings
    assert len(made.findings) == len(whole.kernels)


@pytest.mark.parametrize("place", [1, 2, 3, 40, None])
def test_units_of_a_divided_table_are_those_of_the_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: int | None
) -> None:
    """A row of units behind a stray line is the table's; below a result it is none, whichever piece it falls into."""
    monkeypatch.setattr(pieces, "_SMALL", 1000)
    monkeypatch.setattr(raw_table, "_BATCH", 10_000)
    path = tmp_path / "big.csv"
    synthetic.table(CSV, 60, path)
    header, units, *results = path.read_text(encoding="utf-8").splitlines(keepends=True)
    made = [header, '"stray","line"\n', *results]
    if place is not None:
        made.insert(place, units)
    path.write_text("".join(made), encoding="utf-8")
    whole = load(path, metrics=METRICS)
    source = pieces.divide(path)
    read = [piece.read(METRICS, keep=True) for piece in source.pieces()]
    assert len(read) > 3
    assert source.close([tally for _, tally in read]).warnings == whole.warnings
    name = "gpu__time_duration.sum"
    assert [kernel.metrics[name] for kernels, _ in read for kernel in kernels] == [
        kernel.metrics[name] for kernel in whole.kernels
    ]
    assert any("row of units" in text for text in whole.warnings) == (place not in (1, 2))


def test_copies_in_other_pieces_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "_SMALL", 1000)
    monkeypatch.setattr(raw_table, "_BATCH", 10_000)
    path = tmp_path / "big.csv"
    synthetic.table(CSV, 60, path)
    text = path.read_text(encoding="utf-8")
    path.write_text(text + text.splitlines(keepends=True)[5] + text, encoding="utf-8")
    made, whole = collect([path], RULES, METRICS, workers=1), load(path, metrics=METRICS)
    assert len(made.findings) == len(whole.kernels) == 60
    assert made.sources[0].warnings == whole.warnings
    assert whole.warnings[0].startswith("61 results are copies")


def test_folders_patterns_and_what_cannot_be_read(tmp_path: Path) -> None:
    inner = tmp_path / "run" / "rank1"
    inner.mkdir(parents=True)
    (tmp_path / "run" / "a.csv").write_bytes(CSV.read_bytes())
    (inner / "b.csv").write_bytes(CSV.read_bytes())
    (inner / "notes.txt").write_text("no report")
    (inner / "broken.ncu-rep").write_bytes(b"NVR\0")
    (inner / "loop").symlink_to(tmp_path / "run")
    made = collect([tmp_path / "run"], RULES, METRICS, workers=1)
    assert [Path(source.path).name for source in made.sources] == ["a.csv", "b.csv"]
    assert {each.source for each in made.findings} == {0, 1} and len(made.findings) == 60
    assert any("left out" in warning and "broken.ncu-rep" in warning for warning in made.warnings)
    pattern = collect([tmp_path / "run" / "**" / "*.csv"], RULES, METRICS, workers=1)
    assert len(pattern.sources) == 2
    assert len(collect([tmp_path / "run" / "**"], RULES, METRICS, workers=1).sources) == 2
    assert len(collect([tmp_path / "run" / "rank?" / "*"], RULES, METRICS, workers=1).sources) == 1
    # The same file twice is one file.
    assert expand([inner, inner / "b.csv"]) == ([inner / "b.csv", inner / "broken.ncu-rep"], [])
    with pytest.raises(UnreadableReport, match="no report in it"):
        collect([inner / "*.txt"], RULES, METRICS)
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(UnreadableReport):
        collect([empty], RULES, METRICS)


def test_where_nothing_can_be_read_every_file_is_named(tmp_path: Path) -> None:
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("x")
    with pytest.raises(UnreadableReport) as caught:
        collect([tmp_path], RULES, METRICS, workers=1)
    assert len(caught.value.details) == 2
    (tmp_path / "b.csv").unlink()
    with pytest.raises(UnreadableReport, match="holds no table"):
        collect([tmp_path / "a.csv"], RULES, METRICS)
    (tmp_path / "c.csv").write_text("==WARNING== No kernels were profiled.\n")
    with pytest.raises(NothingProfiled):
        collect([tmp_path / "c.csv"], RULES, METRICS)


@pytest.mark.usefixtures("small_limits")
def test_what_was_done_before_an_interruption_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "big.csv"
    synthetic.table(CSV, 90, path)

    def stop(done: int, _: int) -> None:
        if done > 20:
            raise KeyboardInterrupt

    made = collect([path], RULES, METRICS, workers=1, progress=stop)
    assert 20 < len(made.findings) < 90
    assert made.warnings[0].startswith(INTERRUPTED)


@pytest.mark.usefixtures("small_limits")
def test_a_worker_that_dies_loses_its_part_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from triage import workers

    monkeypatch.setattr(workers, "_SCRIPT", tmp_path / "dies.py")
    path = tmp_path / "big.csv"
    synthetic.table(CSV, 60, path)
    with pytest.raises(TriageError, match="ended by the system"):
        collect([path], RULES, METRICS, workers=2)


def _dies(*_: object) -> None:
    os._exit(9)


def _ranks(plain: Report, factor: float, ranks: int = 4) -> Report:
    findings: list[Finding] = []
    for rank in range(ranks):
        for each in plain.findings[:3]:
            slower = factor if rank == 2 else 1 + 0.001 * rank
            findings.append(replace(each, source=rank, duration_ns=(each.duration_ns or 0) * slower))
    sources = tuple(replace(plain.sources[0], path=f"/run/app.rank{rank}.csv") for rank in range(ranks))
    return replace(plain, findings=tuple(findings), sources=sources)


_READER = """
import sys
from pathlib import Path
from triage.collection import collect
from triage.rules import default_rulebook

if __name__ == "__main__":
    made = collect(sorted(Path().glob("*.csv")), default_rulebook(), None, workers=2)
    print(len(made.findings), "PYTHONSAFEPATH" in __import__("os").environ)
"""


@pytest.mark.parametrize("options", [[], ["-E"], ["-I"]])
def test_workers_run_nothing_of_the_working_directory(tmp_path: Path, options: list[str]) -> None:
    reports, place, mark = tmp_path / "reports", tmp_path / "elsewhere", tmp_path / "mark"
    reports.mkdir()
    place.mkdir()
    for number in range(2):
        shutil.copy(CSV, reports / f"{number}.csv")
    # Every module that a process may import, and those of site hooks.
    code = f"import sys\nopen({str(mark)!r}, 'a').write(__name__ + repr(sys.argv))\n"
    for name in {*sys.stdlib_module_names, "sitecustomize", "usercustomize", "triage", "yaml", "pandas"}:
        (reports / f"{name}.py").write_text(code, encoding="utf-8")
    script = place / "reader.py"
    script.write_text(f"import sys\nsys.path.append({str(ROOT)!r})\n{_READER}", encoding="utf-8")
    command = [sys.executable, *options, str(script)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=reports)
    assert (done.stdout, done.stderr, mark.exists()) == ("60 False\n", "", False)


def test_the_odd_rank_is_named(plain: Report) -> None:
    said = odd_ones(_ranks(plain, 1.5))
    assert len(said) == 3
    assert said[0].startswith("app.rank2.csv is the odd one out") and "50 % longer" in said[0]
    assert "rank2" in odd_ones(_ranks(plain, 0.5))[0] and "less" in odd_ones(_ranks(plain, 0.5))[0]
    assert odd_ones(_ranks(plain, 1.01)) == ()
    # Of two nobody can say which one is odd.
    assert odd_ones(_ranks(plain, 1.5, ranks=2)) == ()
    assert odd_ones(plain) == ()


def test_nothing_heavy_is_imported_without_need() -> None:
    code = (
        "import sys; from triage.cli import app; "
        "print([m for m in ('pandas', 'numpy', 'jinja2', 'cupy', 'ncu_report', 'multiprocessing') "
        "if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "[]"
    code = (
        "import sys; from pathlib import Path; from triage import commands; "
        f"commands.diagnosed([Path({str(CSV)!r})], commands.rulebook([], 'guide'), command=''); "
        "print([m for m in ('pandas', 'numpy', 'jinja2', 'cupy', 'ncu_report') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "[]"


def test_findings_in_full_are_made_here_and_brief_ones_in_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A finding in full takes ten times as long to send as to make: 1,000 kernels took longer than 10,000."""
    monkeypatch.setattr(workers, "cores", lambda: 4)
    monkeypatch.setattr(workers, "_free_bytes", lambda: 64 << 30)
    assert workers.count(1000, 0, brief=False) == 1
    assert workers.count(1000, 1, brief=False) == 1
    assert workers.count(100, 1, brief=True) == 1
    assert workers.count(10_000, 0, brief=True) == 4
    assert workers.count(600, 20, brief=False) == 4
