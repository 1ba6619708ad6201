"""Many reports in one table: keys, types, units, formats, order."""

from __future__ import annotations

import gzip
import runpy
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import compared
import pandas
import pytest

from triage import cli
from triage.diagnosis import report
from triage.errors import UsageError
from triage.export import DECIDED, KEYS, check_target, frame, rank_of, write
from triage.model import Device, Kernel, Launch, Profile, Quantity
from triage.readers import load

EXAMPLE = Path(__file__).parent.parent / "examples" / "nightly"


def table(**options: object) -> pandas.DataFrame:
    made = report(load(compared.REPEATS), compared.rules())
    return frame([made], **options)  # type: ignore[arg-type]


def profile(path: str, *kernels: Kernel) -> Profile:
    return Profile(path, "csv-raw", kernels)


def kernel(index: int = 0, **metrics: Quantity | str) -> Kernel:
    shape = Launch(grid=(2, 3, 4), block=(32, 1, 1))
    return Kernel(index, "void f<1>(int)", "f", shape, Device("NVIDIA H200", "9.0", 132, "1"), metrics)


def test_a_row_a_launch_with_its_keys() -> None:
    found = table()
    assert tuple(found.columns[:5]) == KEYS and len(found) == 60
    assert not found.duplicated(subset=[*KEYS, "name"]).any()
    assert list(found["launch"][:12]) == [*range(10), 0, 1]
    assert set(DECIDED) <= set(found.columns) and found["grid_x"].iloc[0] == 128
    assert found["duration_ns"].iloc[0] == 263840 == found["gpu__time_duration.sum"].iloc[0]
    assert found.attrs["units"]["gpu__time_duration.sum"] == "ns"
    assert found["limiter"].isna().all() and found["confidence"].isna().all()


def test_launches_count_within_report_and_device() -> None:
    duration = Quantity(10.0, "ns")
    one = kernel(0, **{"gpu__time_duration.sum": duration})
    other = replace(one, index=1, device=Device("NVIDIA H200", "9.0", 132, "2"))
    made = [report(profile(path, one, other, replace(one, index=2)), compared.rules()) for path in ("a.csv", "b.csv")]
    found = frame(made)
    assert list(found["launch"]) == [0, 0, 1, 0, 0, 1]
    assert list(found["device"][:3]) == ["NVIDIA H200 #1", "NVIDIA H200 #2", "NVIDIA H200 #1"]
    assert list(found["report"]) == ["a.csv"] * 3 + ["b.csv"] * 3


def test_what_was_not_collected_is_missing_and_never_zero() -> None:
    made = report(profile("a.csv", kernel(0, a__x=Quantity(1.0, "byte")), kernel(1, b__y="text")), compared.rules())
    found = frame([made])
    assert found["a__x"].tolist()[0] == 1.0 and pandas.isna(found["a__x"].iloc[1])
    assert found["b__y"].isna().iloc[0] and found["b__y"].iloc[1] == "text"
    assert found["duration_ns"].isna().all() and found["rank"].isna().all()


def test_a_metric_of_two_units_is_refused() -> None:
    made = report(
        profile("a.csv", kernel(0, a__x=Quantity(1.0, "byte")), kernel(1, a__x=Quantity(1.0, "ns"))), compared.rules()
    )
    with pytest.raises(UsageError, match="a__x has the units 'byte' and 'ns'"):
        frame([made])


def test_metrics_by_pattern_and_none_at_all() -> None:
    assert [name for name in table(metrics=("gpu__time*",), facts=False).columns if "__" in name] == [
        "gpu__time_duration.sum"
    ]
    bare = table(metrics=("none",), facts=False)
    assert not [name for name in bare.columns if "__" in name or name.startswith("fact.")]
    assert "fact.dram_pct" in table(metrics=("none",)).columns


@pytest.mark.parametrize(
    ("name", "rank"),
    [
        ("run.rank3.ncu-rep", 3),
        ("/data/7/app_rank12.csv", 12),
        ("r02.csv", 2),
        ("night-3.csv", None),
        ("transpose.csv", None),
        ("for2.csv", None),
    ],
)
def test_rank_of_a_file_name(name: str, rank: int | None) -> None:
    assert rank_of(name) == rank


def test_csv_comes_back_and_is_the_same_twice(tmp_path: Path) -> None:
    for name in ("a.csv", "b.csv", "a.csv.gz", "b.csv.gz"):
        write(table(metrics=("none",)), tmp_path / name)
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    assert gzip.decompress((tmp_path / "a.csv.gz").read_bytes()) == (tmp_path / "a.csv").read_bytes()
    back = pandas.read_csv(tmp_path / "a.csv")
    assert list(back["duration_ns"]) == list(table()["duration_ns"])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "a.csv.gz", "b.csv", "b.csv.gz"]


def test_a_spreadsheet_runs_nothing(tmp_path: Path) -> None:
    bad = replace(kernel(), name="=HYPERLINK(1)", function="@f")
    write(frame([report(profile("a.csv", bad), compared.rules())]), tmp_path / "t.csv")
    row = pandas.read_csv(tmp_path / "t.csv").iloc[0]
    assert (row["name"], row["kernel"]) == ("'=HYPERLINK(1)", "'@f")


def test_parquet_comes_back_or_says_what_is_missing(tmp_path: Path) -> None:
    target = tmp_path / "t.parquet"
    try:
        import pyarrow  # noqa: F401 - its absence is what the second half is about
    except ImportError:
        with pytest.raises(UsageError, match="no Parquet engine") as caught:
            check_target(target)
        assert "pip install pyarrow" in caught.value.hint
        return
    made = table(metrics=("none",))
    write(made, target)
    back = pandas.read_parquet(target)
    assert list(back.columns) == list(made.columns) and list(back["duration_ns"]) == list(made["duration_ns"])


def test_without_a_parquet_engine_nothing_is_read_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("triage.export._parquet_engine", lambda: False)
    monkeypatch.setattr(sys, "argv", ["triage", "export", "none.ncu-rep", "-o", str(tmp_path / "t.parquet")])
    assert cli.run() == 2


@pytest.mark.parametrize("name", ["t.xlsx", "t", "t.json"])
def test_other_suffixes_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="names no table"):
        check_target(tmp_path / name)


def test_the_limiter_of_a_kernel_over_twenty_reports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(EXAMPLE / "make_series.py"))["main"]("nights")
    nights = [str(path) for path in sorted(Path("nights").iterdir())]
    monkeypatch.setattr(sys, "argv", ["triage", "export", *nights, "-o", "nights.csv", "--metrics", "none"])
    assert cli.run() == 0
    assert "wrote nights.csv: 40 rows" in capsys.readouterr().err
    runpy.run_path(str(EXAMPLE / "series.py"))["main"]("nights.csv", "transpose")
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 20
    assert all("dram-bandwidth" in line for line in lines[:12]) and all("bank-conflicts" in line for line in lines[12:])
    assert [number for number, line in enumerate(lines) if "<- the limiter moved" in line] == [12]
    # What the page shows is what it prints.
    assert "\n".join(lines[10:13]) in (EXAMPLE / "README.md").read_text(encoding="utf-8")


def test_interrupted_it_writes_the_reports_that_were_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from triage import export as room

    done: list[Path] = []

    def read(file: Path, rulebook: object, wanted: object) -> object:
        if len(done) == stop:
            raise KeyboardInterrupt
        done.append(file)
        return report(load(file), rulebook)  # type: ignore[arg-type]

    monkeypatch.setattr(room, "_report", read)
    target = tmp_path / "table.csv"
    copies = [shutil.copy(compared.REPEATS, tmp_path / f"{number}.csv") for number in range(3)]
    monkeypatch.setattr(sys, "argv", ["triage", "export", *map(str, copies), "-o", str(target)])
    stop = 0
    assert cli.run() == 130 and not target.exists(), "nothing was read"
    stop = 2
    assert cli.run() == 130
    assert len(pandas.read_csv(target)) == 120
    said = capsys.readouterr().err
    assert "interrupted: it holds 2 of 3 reports" in said and "Traceback" not in said


def test_a_report_that_is_named_twice_is_in_the_table_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("b.csv", "a.csv"):
        shutil.copy(compared.REPEATS, name)
    Path("link.csv").symlink_to("a.csv")
    names = ["b.csv", "a.csv", "./b.csv", str(tmp_path / "a.csv"), "link.csv"]
    monkeypatch.setattr(sys, "argv", ["triage", "export", *names, "-m", "none", "-o", "t.csv"])
    assert cli.run() == 0
    found = pandas.read_csv("t.csv")
    assert list(dict.fromkeys(found["report"])) == ["b.csv", "a.csv"] and len(found) == 120
    assert not found.duplicated(subset=[*KEYS, "name"]).any()
    assert "note:" not in capsys.readouterr().err


def test_a_glob_that_matches_nothing_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["-m", "gpu__time_duration", "-m", "gpu__time*", "-m", "nope*\x1b[31m"]
    target = str(tmp_path / "t.csv")
    monkeypatch.setattr(sys, "argv", ["triage", "export", str(compared.REPEATS), *words, "-o", target])
    assert cli.run() == 0
    notes = [line for line in capsys.readouterr().err.splitlines() if line.startswith("note: ")]
    said = "matches no metric of these reports"
    assert len(notes) == 2 and all(said in line and line.isprintable() for line in notes)
    assert notes[0] == f"note: -m 'gpu__time_duration' {said} (did you mean 'gpu__time_duration.sum'?)"
    monkeypatch.setattr(sys, "argv", ["triage", "export", "none.csv", "-m", "none", "-m", "gpu*", "-o", target])
    assert cli.run() == 2
    assert "other globs stand beside it" in capsys.readouterr().err


def test_names_and_texts_of_a_report_are_inert_in_a_table(tmp_path: Path) -> None:
    hostile = "\x1b]0;title\x07\x9b31mred \u202egnp\u200b\U000e0041\x00x"
    bad = replace(
        kernel(0, **{"=m__a\x1b[2J": Quantity(1.0, "inst"), "m__text": hostile}), name=hostile, function=hostile,
        process=hostile, device=Device(hostile, "9.0\x07", 132, "1\x9b2J"),
    )  # fmt: skip
    made = frame([report(profile("a\x1b[31m\udcff.csv", bad), compared.rules())])
    row = made.iloc[0]
    assert row["kernel"] == row["name"] == row["process"] == row["m__text"] == "red gnpx"
    assert row["report"] == "a\\xff.csv" and row["cc"] == "9.0" and made.attrs["units"]["=m__a"] == "inst"
    write(made, tmp_path / "t.csv")
    text = (tmp_path / "t.csv").read_text(encoding="utf-8")
    assert all(character == "\n" or character.isprintable() for character in text)
    # Headings are run by a spreadsheet too.
    assert "'=m__a" in text.splitlines()[0].split(",")


def test_the_same_table_twice_is_the_same_file(tmp_path: Path) -> None:
    for name in ("a.csv.gz", "b.csv.gz"):
        write(table(metrics=("none",)), tmp_path / name)
    assert (tmp_path / "a.csv.gz").read_bytes() == (tmp_path / "b.csv.gz").read_bytes()
