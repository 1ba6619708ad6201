"""CSV of every layout, text pages and logs."""

from __future__ import annotations

import codecs
import csv
import io
import math
import os
import random
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from triage.errors import NcuFailed, NothingProfiled, ProgramFailed, TriageError, UnreadableReport
from triage.model import Kernel, Profile, Quantity
from triage.readers import load

DATA = Path(__file__).parent / "data"
LEADING = (
    '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream",'
    '"Block Size","Grid Size","Device","CC"'
)
NVTX = (
    "thread Domain:Push/Pop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg",
    "Id:Domain:Start/Stop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg",
)
LONG = LEADING + ',"Section Name","Metric Name","Metric Unit","Metric Value"'
DURATION = "gpu__time_duration.sum"
NOTHING = "==WARNING== No kernels were profiled.\n"


def fixture(name: str) -> Path:
    return DATA / f"readers_{name}"


def number(metrics: Mapping[str, Quantity | str], name: str) -> float:
    found = metrics[name]
    assert isinstance(found, Quantity), (name, found)
    return found.value


def write(folder: Path, text: str | bytes) -> Path:
    path = folder / "x.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def row(index: object = 0, name: str = "k(int)", pid: int = 9, tail: str = "") -> str:
    quoted = name.replace('"', '""')
    return f'"{index}","{pid}","app","h","{quoted}","1","7","(32, 8, 1)","(128, 128, 1)","0","9.0"{tail}\n'


def long_row(
    index: object = 0, metric: str = DURATION, unit: str = "ns", value: str = "41,760", **other: object
) -> str:
    section = other.pop("section", "Command line profiler metrics")
    return row(index, tail=f',"{section}","{metric}","{unit}","{value}"', **other)  # type: ignore[arg-type]


def same(a: Kernel, b: Kernel, tolerance: float) -> None:
    assert (a.function, a.launch, a.device, a.process) == (b.function, b.launch, b.device, b.process)
    assert a.metrics.keys() == b.metrics.keys()
    for name, left in a.metrics.items():
        right = b.metrics[name]
        if isinstance(left, Quantity) and isinstance(right, Quantity):
            assert left.unit == right.unit, name
            assert math.isclose(left.value, right.value, rel_tol=tolerance, abs_tol=0.0051), name
        else:
            assert left == right, name


# Raw pages


def test_raw_page_in_base_units() -> None:
    profile = load(fixture("raw_base.csv"))
    assert (profile.kind, len(profile.kernels), profile.warnings) == ("csv-raw", 3, ())
    kernel = profile.kernels[0]
    assert kernel.name == "void t_copy<32, 8>(float *, const float *, int)"
    assert kernel.function == "t_copy"
    assert (kernel.launch.grid, kernel.launch.block) == ((128, 128, 1), (32, 8, 1))
    assert (kernel.device.name, kernel.device.cc, kernel.device.sms) == ("NVIDIA H200", "9.0", 132)
    assert kernel.process == "limiters [583]"
    assert kernel.metrics[DURATION] == Quantity(42272.0, "ns")
    assert kernel.metrics["launch__func_cache_config"] == "CachePreferNone"
    # `nan` and `no data` in the file.
    assert "derived_tempMetric4" not in kernel.metrics
    assert "sass__inst_executed_register_spilling_mem_local" not in kernel.metrics


@pytest.mark.parametrize("other", ["raw_auto.csv", "raw_instances.csv"])
def test_every_raw_page_gives_the_same(other: str) -> None:
    base, read = load(fixture("raw_base.csv")), load(fixture(other))
    assert len(base.kernels) == len(read.kernels) == 3
    for a, b in zip(base.kernels, read.kernels, strict=True):
        metrics = {name: value for name, value in b.metrics.items() if name in a.metrics}
        # Bytes and rates are rounded to two or three digits by the automatic units.
        same(a, Kernel(b.index, b.name, b.function, b.launch, b.device, metrics, process=b.process), 6e-3)


def test_wanted_metrics_and_all_the_others() -> None:
    everything, some = load(fixture("raw_base.csv")), load(fixture("raw_base.csv"), metrics={DURATION, "no_such"})
    for a, b in zip(everything.kernels, some.kernels, strict=True):
        assert dict(a.metrics) == dict(b.metrics)
        assert len(a.metrics) == len(b.metrics) == sum(1 for _ in b.metrics)
        assert "no_such" not in b.metrics and b.metrics.get("no_such") is None


def test_graph_result() -> None:
    (kernel,) = load(fixture("graph_raw.csv")).kernels
    assert (kernel.workload, kernel.name, kernel.function) == ("graph", "graph", "graph")


def test_raw_page_without_units_row_and_with_short_rows(tmp_path: Path) -> None:
    text = LEADING + f',"{DURATION}","a__b"\n' + row(0, tail=',"5","6"') + row(1, tail=',"7"')
    profile = load(write(tmp_path, text))
    assert [dict(k.metrics) for k in profile.kernels] == [
        {DURATION: Quantity(5), "a__b": Quantity(6)},
        {DURATION: Quantity(7)},
    ]
    assert any("shorter than the header" in warning for warning in profile.warnings)
    # In automatic units 42.27 may be microseconds: without their row nobody can tell.
    assert any("row of units" in warning and "lost" in warning for warning in profile.warnings)


def test_a_row_of_units_below_a_result_is_not_the_tables(tmp_path: Path) -> None:
    header, units, *results = fixture("raw_auto.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    profile = load(write(tmp_path, "".join([header, results[0], units, *results[1:]])))
    assert len(profile.kernels) == 3
    assert {kernel.metrics[DURATION].unit for kernel in profile.kernels} == {""}  # type: ignore[union-attr]
    assert any("row of units" in warning for warning in profile.warnings)


@pytest.mark.parametrize("name", ["raw_base.csv", "raw_auto.csv", "details.csv", "metrics_stdout.csv"])
def test_a_result_that_stands_twice_counts_once(tmp_path: Path, name: str) -> None:
    """A file put behind itself would double every launch and its share of the time."""
    text = fixture(name).read_text(encoding="utf-8")
    once, twice = load(fixture(name)), load(write(tmp_path, text + text))
    assert [(k.index, k.name) for k in twice.kernels] == [(k.index, k.name) for k in once.kernels]
    (said,) = set(twice.warnings) - set(once.warnings)
    assert said.startswith(f"{len(once.kernels)} results are copies")


def test_launches_that_measure_the_same_are_no_copies(tmp_path: Path) -> None:
    text = LEADING + f',"{DURATION}"\n' + '"",' * 10 + '"","ns"\n' + row(0, tail=',"5"') + row(1, tail=',"5"')
    profile = load(write(tmp_path, text))
    assert len(profile.kernels) == 2 and profile.warnings == ()


# Details pages


@pytest.mark.parametrize("name", ["details.csv", "details_names.csv", "details.txt"])
def test_details_page(name: str) -> None:
    profile, raw = load(fixture(name)), load(fixture("raw_base.csv"))
    assert profile.kind == ("text-details" if name.endswith("txt") else "csv-details")
    assert len(profile.kernels) == 3
    assert not any("not known" in warning or "contradict" in warning for warning in profile.warnings)
    for kernel, full in zip(profile.kernels, raw.kernels, strict=True):
        assert len(kernel.metrics) >= 83
        assert all("__" in metric for metric in kernel.metrics)
        assert (kernel.name, kernel.launch, kernel.process) == (full.name, full.launch, full.process)
        for metric in kernel.metrics.keys() & full.metrics.keys():
            left, right = kernel.metrics[metric], full.metrics[metric]
            if isinstance(left, Quantity) and isinstance(right, Quantity):
                assert left.unit == right.unit, metric
                assert math.isclose(left.value, right.value, rel_tol=6e-3, abs_tol=0.0051), metric
            else:
                assert left == right
    metrics = profile.kernels[0].metrics
    # The same label in two sections.
    assert metrics["gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"] == Quantity(56.49, "%")
    rate = metrics["dram__bytes.sum.per_second"]
    assert isinstance(rate, Quantity) and rate.unit == "byte/s" and rate.value > 1e12


def test_live_metrics_run_with_log_lines() -> None:
    profile = load(fixture("metrics_stdout.csv"))
    assert (profile.kind, len(profile.kernels)) == ("csv-metrics", 5)
    assert all(len(kernel.metrics) == 4 for kernel in profile.kernels)
    assert profile.kernels[0].metrics[DURATION] == Quantity(41760.0, "ns")
    assert profile.warnings == ("collected with --clock-control none: GPU clocks were not locked",)


def test_layout_of_2020(tmp_path: Path) -> None:
    header = (
        '"ID","Process ID","Process Name","Host Name","Kernel Name","Kernel Time","Context","Stream",'
        '"Section Name","Metric Name","Metric Unit","Metric Value"\n'
    )
    lead = '"0","28439","cfd","127.0.0.1","step(int,float*)","2020-May-29 12:02:46","1","7","GPU Speed Of Light",'
    text = header + "\n"
    for label, unit, value in (
        ("Memory Frequency", "cycle/second", "768683274.02"),
        ("SOL FB", "%", "46.47"),
        ("SM [%]", "%", "23.56"),
        ("Memory [%]", "%", "46.50"),
        ("SOL L1/TEX Cache", "%", "12.50"),
        ("Duration", "usecond", "121.63"),
        ("Wobble", "%", "1"),
    ):
        text += lead + f'"{label}","{unit}","{value}"\n'
    profile = load(write(tmp_path, text))
    (kernel,) = profile.kernels
    assert kernel.metrics == {
        "dram__cycles_elapsed.avg.per_second": Quantity(768683274.02, "hz"),
        "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed": Quantity(46.47, "%"),
        "sm__throughput.avg.pct_of_peak_sustained_elapsed": Quantity(23.56, "%"),
        "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed": Quantity(46.5, "%"),
        "l1tex__throughput.avg.pct_of_peak_sustained_active": Quantity(12.5, "%"),
        DURATION: Quantity(121630.0, "ns"),
        "GPU Speed Of Light: Wobble": Quantity(1.0, "%"),
    }
    assert kernel.launch.grid is None and kernel.device.cc is None
    assert any("1 labels are not known" in warning and "Wobble" in warning for warning in profile.warnings)


def test_text_page_of_2020_in_french(tmp_path: Path) -> None:
    dashes = "    " + "-" * 70 + " " + "-" * 15 + " " + "-" * 30 + "\n"
    rows = [("SOL FB", "%", "23,27"), ("Elapsed Cycles", "cycle", "23 982 976"), ("Duration", "msecond", "19,38")]
    body = "".join(f"    {label:<70} {unit:>15} {value:>30}\n" for label, unit, value in rows)
    head = "[7] sum@localhost\n  partial_sum, 2020-Nov-02 19:18:14, Context 1, Stream 7\n"
    text = f"{head}    Section: GPU Speed Of Light\n{dashes}{body}{dashes}"
    (kernel,) = load(write(tmp_path, text)).kernels
    assert kernel.metrics["gpc__cycles_elapsed.max"] == Quantity(23982976.0, "cycle")
    assert number(kernel.metrics, DURATION) == pytest.approx(19.38e6)
    assert (kernel.name, kernel.process, kernel.launch.stream) == ("partial_sum", "sum [7]", "7")


def test_text_page_cut_in_a_number(tmp_path: Path) -> None:
    text = fixture("details.txt").read_text()
    cut = text[: text.index("83,539") + 3]
    profile = load(write(tmp_path, cut))
    assert "gpc__cycles_elapsed.max" not in profile.kernels[0].metrics
    assert any("cut inside a table" in warning for warning in profile.warnings)


def test_nvtx_columns(tmp_path: Path) -> None:
    header = LONG.replace('"Kernel Name"', f'"{NVTX[0]}","{NVTX[1]}","Kernel Name"')
    ranges = (
        '1  ""<default domain>:outer:none:none:none:none:none:none""  ""mine:inner:x:none:none:none:none:none:none"" '
    )
    lead = f'"0","9","app","h","{ranges}","","k","1","7","(1, 1, 1)","(1, 1, 1)","0","9.0",'
    (kernel,) = load(
        write(tmp_path, header + "\n" + lead + f'"Command line profiler metrics","{DURATION}","ns","7"\n')
    ).kernels
    assert kernel.nvtx == ("outer", "mine:inner:x")
    assert kernel.name == "k"


# Around and inside the table


def test_noise_before_inside_and_after(tmp_path: Path) -> None:
    text = (
        'hello "world"\n"ID","of","mine"\n==PROF== Connected to process 9 (/x)\nno newline here ' + LONG + "\n"
        + long_row(0)
        + '==PROF== Profiling "k" - 1: 0%....50%\n==WARNING== Unable to access the following 1 metrics: foo.\n'
        + "....100% - 3 passes\n"
        + "iteration 3 " + long_row(1, value="50,000")
        + '"quoted output"\nplain, comma\n'
        + long_row(2)
        + "==PROF== Disconnected\nbye\n"
    )  # fmt: skip
    profile = load(write(tmp_path, text))
    assert [number(kernel.metrics, DURATION) for kernel in profile.kernels] == [41760, 50000, 41760]
    assert any("Unable to access" in warning for warning in profile.warnings)


def test_ranks_one_behind_the_other_do_not_merge(tmp_path: Path) -> None:
    one = LONG + "\n" + long_row(0) + long_row(0, metric="dram__bytes.sum", unit="byte", value="1,000,000")
    other = LONG + "\n" + long_row(0, pid=10)
    profile = load(write(tmp_path, one + other + one.replace("41,760", "41,761")))
    assert [len(kernel.metrics) for kernel in profile.kernels] == [2, 1, 2]
    assert [kernel.process for kernel in profile.kernels] == ["app [9]", "app [10]", "app [9]"]
    assert [kernel.index for kernel in profile.kernels] == [0, 1, 2]
    raw = fixture("raw_base.csv").read_text()
    assert len(load(write(tmp_path, raw + raw.replace("42,272", "42,273"))).kernels) == 4


def test_rows_of_a_kernel_need_not_stand_together(tmp_path: Path) -> None:
    text = LONG + "\n" + long_row(1) + long_row(0) + long_row(1, metric="a__b.sum", unit="", value="3")
    profile = load(write(tmp_path, text))
    assert [len(kernel.metrics) for kernel in profile.kernels] == [2, 1]


HOSTILE = [
    "x" * 2895,
    "<script>alert(1)</script>",
    "a | b ; c, d\t",
    'say "hi", "you"',
    'line\nbreak\r\n"second" line',
    "=cmd|'/c calc'!A1",
    "\x1b[31mred\x1b[0m",
    "void (anonymous namespace)::f<int, 3>(T1 *)",
    "\u202egnp.exe",
]


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("layout", ["long", "raw"])
def test_names_survive_unchanged(tmp_path: Path, name: str, layout: str) -> None:
    if layout == "long":
        text = LONG + "\n" + long_row(0, name=name) + long_row(1)
    else:
        text = LEADING + f',"{DURATION}"\n' + '"","","","","","","","","","","","ns"\n'
        text += row(0, name, tail=',"41,760"') + row(1, tail=',"41,760"')
    first, second = load(write(tmp_path, text)).kernels
    assert first.name == name
    assert number(first.metrics, DURATION) == number(second.metrics, DURATION) == 41760


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    names=st.lists(
        st.text(st.characters(codec="utf-8", exclude_characters="\0\ufeff"), min_size=1), min_size=1, max_size=4
    ),
    values=st.lists(st.floats(min_value=0, max_value=1e12), min_size=4, max_size=4),
)
def test_csv_round_trip(tmp_path: Path, names: list[str], values: list[float]) -> None:
    text = LEADING + f',"{DURATION}"\n' + '"","","","","","","","","","","","us"\n'
    for index, name in enumerate(names):
        text += row(index, name, tail=f',"{values[index]:,.6f}"')
    kernels = load(write(tmp_path, text)).kernels
    assert [kernel.name for kernel in kernels] == names
    for kernel, value in zip(kernels, values, strict=False):
        assert number(kernel.metrics, DURATION) == pytest.approx(float(f"{value:.6f}") * 1000)


@pytest.mark.parametrize(
    "encode",
    [
        lambda text: codecs.BOM_UTF8 + text.encode(),
        lambda text: text.encode("utf-16"),
        lambda text: codecs.BOM_UTF16_BE + text.encode("utf-16-be"),
        lambda text: text.encode("utf-16-le"),
        lambda text: text.encode("utf-16-be"),
        lambda text: text.encode("utf-32"),
        lambda text: text.replace("\n", "\r\n").encode(),
        lambda text: text.encode("cp1252"),
        lambda text: text.rstrip("\n").encode(),
    ],
)
def test_files_of_other_systems(tmp_path: Path, encode: Callable[[str], bytes]) -> None:
    text = LONG + "\n" + long_row(0, name="größe(int)") + long_row(1)
    profile = load(write(tmp_path, encode(text)))
    assert [kernel.name for kernel in profile.kernels] == ["größe(int)", "k(int)"]
    assert not profile.warnings


def test_saved_by_a_spreadsheet(tmp_path: Path) -> None:
    rows = list(csv.reader(io.StringIO(fixture("raw_base.csv").read_text())))
    for separator in ",;\t":
        out = io.StringIO()
        csv.writer(out, delimiter=separator).writerows(rows)
        profile = load(write(tmp_path, out.getvalue()))
        assert [dict(k.metrics) for k in profile.kernels] == [
            dict(k.metrics) for k in load(fixture("raw_base.csv")).kernels
        ]
        indexed = io.StringIO()
        csv.writer(indexed, delimiter=separator).writerows([i or "", *cells] for i, cells in enumerate(rows))
        again = load(write(tmp_path, indexed.getvalue()))
        assert [k.name for k in again.kernels] == [k.name for k in profile.kernels]
        assert again.kernels[2].metrics[DURATION] == profile.kernels[2].metrics[DURATION]


def test_european_numbers(tmp_path: Path) -> None:
    text = (
        LONG
        + "\n"
        + long_row(0, value="117.344")
        + long_row(0, metric="sm__throughput.avg.pct", unit="%", value="65,77")
    )
    profile = load(write(tmp_path, text))
    assert number(profile.kernels[0].metrics, DURATION) == 117344
    assert number(profile.kernels[0].metrics, "sm__throughput.avg.pct") == 65.77
    assert not profile.warnings
    doubtful = load(write(tmp_path, LONG + "\n" + long_row(0, unit="us", value="117.344")))
    assert any("two ways" in warning for warning in doubtful.warnings)


def test_contradicting_values_are_said(tmp_path: Path) -> None:
    text = LONG + "\n" + long_row(0, value="100") + long_row(0, value="900")
    profile = load(write(tmp_path, text))
    assert number(profile.kernels[0].metrics, DURATION) == 100
    assert any("contradict" in warning for warning in profile.warnings)


def test_missing_values_are_absent(tmp_path: Path) -> None:
    text = LONG + "\n" + long_row(0)
    for number_, value in enumerate(["n/a", "nan", "no data", "", "(!) nan"]):
        text += long_row(0, metric=f"a__b{number_}.sum", value=value)
    (kernel,) = load(write(tmp_path, text)).kernels
    assert set(kernel.metrics) == {DURATION}
    (empty,) = load(write(tmp_path, LONG + "\n" + long_row(0, value="nan"))).kernels
    assert not empty.metrics and empty.warnings


# Logs and failures


@pytest.mark.parametrize(
    ("name", "error", "said"),
    [
        ("log_bad_metric.txt", NcuFailed, "not_a_metric"),
        ("log_filter_matches_nothing.txt", NothingProfiled, "t_copy"),
        ("log_no_such_program.txt", ProgramFailed, "./nosuch"),
        ("log_program_without_cuda.txt", NothingProfiled, "no kernel"),
        ("summary.csv", UnreadableReport, "--print-summary"),
    ],
)
def test_files_without_results(name: str, error: type[TriageError], said: str) -> None:
    with pytest.raises(error) as caught:
        load(fixture(name))
    assert said in caught.value.message + caught.value.hint
    assert "\n" not in caught.value.message + caught.value.hint
    assert caught.value.hint


@pytest.mark.parametrize(
    ("log", "error"),
    [
        ("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission\n" + NOTHING, NcuFailed),
        ("==PROF== x\n==ERROR== The application returned an error code (11).\n" + NOTHING, ProgramFailed),
        ("==PROF== Connected to process 1 (x)\n==PROF== Disconnected\n", UnreadableReport),
        (LONG + "\n", UnreadableReport),
        (LONG + "\n==WARNING== No kernels were profiled.\n", NothingProfiled),
        ("a,b,c\n1,2,3\n", UnreadableReport),
        ('"ID","Name"\n"1","x"\n', UnreadableReport),
        ('"ID","Kernel Name","Score"\n"1","x","2"\n', UnreadableReport),
        ("just some text\n", UnreadableReport),
    ],
)  # fmt: skip
def test_logs(tmp_path: Path, log: str, error: type[TriageError]) -> None:
    with pytest.raises(TriageError) as caught:
        load(write(tmp_path, log))
    assert type(caught.value) is error
    assert caught.value.hint


def test_a_failed_program_with_results(tmp_path: Path) -> None:
    profile = load(
        write(tmp_path, LONG + "\n" + long_row(0) + "==ERROR== The application returned an error code (3).\n")
    )
    assert len(profile.kernels) == 1
    assert profile.warnings[0].startswith("program failed with status 3")
    text = "==ERROR== The application returned an error code (3).\n" + fixture("details.txt").read_text()
    assert load(write(tmp_path, text)).warnings[0].startswith("program failed with status 3")
    broken = load(write(tmp_path, LONG + "\n" + long_row(0) + '==ERROR== Failed to profile "k" in process 9\n'))
    assert any("Failed to profile" in warning for warning in broken.warnings)


def test_rows_of_one_result_with_different_launches_are_said(tmp_path: Path) -> None:
    rows = [long_row(0), long_row(0, metric="a__b.sum", unit="", value="1")]
    assert load(write(tmp_path, LONG + "\n" + "".join(rows))).warnings == ()
    rows[1] = rows[1].replace("(32, 8, 1)", "(2, 8, 1)")
    (warning,) = load(write(tmp_path, LONG + "\n" + "".join(rows))).warnings
    assert "contradict" in warning


@pytest.mark.parametrize("noise", ["==PROF== x\n", '""', "\x80", "=1"])
def test_a_torn_header_is_said(tmp_path: Path, noise: str) -> None:
    text = fixture("raw_base.csv").read_text()
    torn = text.replace("sm__throughput.avg", f"sm__through{noise}put.avg", 1)
    assert torn != text
    assert any("header is damaged" in warning for warning in load(write(tmp_path, torn)).warnings)


# Files that are no reports


def test_paths_that_are_no_reports(tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    empty = tmp_path / "empty.csv"
    empty.touch()
    paths = [
        tmp_path / "missing.csv",
        tmp_path,
        loop,
        empty,
        tmp_path / ("n" * 300),
        Path("nul\0byte"),
        Path("/dev/null"),
    ]
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "fifo.ncu-rep")
        paths.append(tmp_path / "fifo.ncu-rep")
    for path in paths:
        with pytest.raises(UnreadableReport) as caught:
            load(path)
        assert caught.value.exit_code == 3 and caught.value.hint


@pytest.mark.parametrize(
    "data",
    [
        random.Random(1).randbytes(5000),
        b"\x1f\x8b" + b"\0" * 50,
        b"PK\x03\x04zip",
        b"\x7fELF",
        b"SQLite format 3\0",
        b"\0" * 5000,
    ],
)
def test_binary_files(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(UnreadableReport) as caught:
        load(write(tmp_path, data))
    assert caught.value.hint


def test_a_sparse_file_is_not_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "sparse.ncu-rep"
    with path.open("wb") as file:
        file.truncate(3 << 30)
    with pytest.raises(UnreadableReport):
        load(path)


# Damage


@pytest.mark.parametrize("name", ["raw_base.csv", "metrics_stdout.csv", "details.csv"])
def test_every_cut_is_an_error_a_warning_or_between_rows(tmp_path: Path, name: str) -> None:
    data = fixture(name).read_bytes()
    whole = load(fixture(name))
    known = [{**kernel.metrics} for kernel in whole.kernels]
    chance = random.Random(name)
    for cut in sorted(chance.randrange(1, len(data)) for _ in range(60)):
        try:
            read = load(write(tmp_path, data[:cut]))
        except TriageError:
            continue
        for kernel, full in zip(read.kernels, known, strict=False):
            assert all(full[metric] == value for metric, value in kernel.metrics.items())
        complete = [dict(kernel.metrics) for kernel in read.kernels] == known[: len(read.kernels)]
        at_row_end = data[cut - 1 : cut] in b'\n",' or data[cut : cut + 1] == b"\n"
        assert complete or at_row_end or set(read.warnings) - set(whole.warnings), cut


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(["raw_base.csv", "metrics_stdout.csv", "details.txt", "log_bad_metric.txt"]), st.data())
def test_mutations_never_crash(tmp_path: Path, name: str, data: st.DataObject) -> None:
    content = bytearray(fixture(name).read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content)))
        noise = data.draw(
            st.sampled_from([b"\n", b'"', b"\r", b"\0", b"==PROF== x\n", b",", b'"a', b"\xff"]) | st.binary(max_size=8)
        )
        content[at : at + data.draw(st.integers(0, 400))] = noise
    try:
        profile = load(write(tmp_path, bytes(content)))
    except TriageError as error:
        assert error.message and error.exit_code in (3, 4, 5, 6)
    else:
        assert isinstance(profile, Profile) and profile.kernels
        for kernel in profile.kernels:
            for value in kernel.metrics.values():
                assert isinstance(value, str) or math.isfinite(value.value)
