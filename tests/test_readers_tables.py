"""Metrics as a table; names and labels."""

from __future__ import annotations

import json
from pathlib import Path

import pandas
import pytest

import triage.readers
from triage.model import Kernel, Profile, Quantity
from triage.readers import identity, labels, load
from triage.tables import to_frame

DATA = Path(__file__).parent / "data"


def test_one_row_a_kernel() -> None:
    frame = to_frame(load(DATA / "readers_raw_base.csv"))
    assert list(frame.columns[:7]) == ["index", "name", "function", "grid", "block", "device", "cc"]
    assert frame.shape[0] == 3
    assert list(frame["function"]) == ["t_copy", "t_naive", "t_shared"]
    assert frame["grid"][0] == (128, 128, 1)
    assert frame["gpu__time_duration.sum"].dtype == "float64"
    assert frame["gpu__time_duration.sum"][0] == 42272
    assert frame.attrs["units"]["gpu__time_duration.sum"] == "ns"
    assert list(frame["launch__func_cache_config"].unique()) == ["CachePreferNone"]


def test_missing_is_missing() -> None:
    kernels = (
        Kernel(0, "a", "a", metrics={"x__y": Quantity(0.0, "ns"), "t__u": "text"}),
        Kernel(1, "b", "b", metrics={"t__u": Quantity(3.0)}),
        Kernel(2, "c", "c"),
    )
    frame = to_frame(Profile("p", "csv-raw", kernels))
    assert frame["x__y"][0] == 0.0 and frame["x__y"].isna().tolist() == [False, True, True]
    assert frame["t__u"].tolist() == ["text", 3.0, None]
    assert to_frame(Profile("p", "csv-raw", ())).shape == (0, 7)
    assert isinstance(frame, pandas.DataFrame)


def test_units_never_mix() -> None:
    kernels = (
        Kernel(0, "a", "a", metrics={"x": Quantity(1, "ns")}),
        Kernel(1, "b", "b", metrics={"x": Quantity(1, "s")}),
    )
    with pytest.raises(ValueError, match="units"):
        to_frame(Profile("p", "csv-raw", kernels))


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("void t_copy<32, 8>(float *, const float *, int)", "t_copy"),
        ("scale(float *, float)", "scale"),
        ("kernel", "kernel"),
        ("void ns::copy<32, (anonymous namespace)::Op>(float *, int)", "copy"),
        ("(anonymous namespace)::f(int)", "f"),
        ("void at::native::vec<4, at::native::Add<float>, std::array<char *, 3>>(int, T2, T3)", "vec"),
        ("void cub::Kernel<cub::Policy<(int)1>>(T1, void (*)(int))", "Kernel"),
        ("A::operator()(int) const", "operator()"),
        ("", ""),
        ("<<<", "<<<"),
    ],
)
def test_function_names(name: str, function: str) -> None:
    assert identity.function_name(name) == function


def test_labels_are_keyed_by_section() -> None:
    known = labels.known()
    percent = known.metric("GPU Speed Of Light Throughput", "Memory Throughput")
    rate = known.metric("Memory Workload Analysis", "Memory Throughput")
    assert (percent, rate) == (
        "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
        "dram__bytes.sum.per_second",
    )
    assert known.metric("Some Future Section", "Memory Throughput") is None
    assert (
        known.metric("Some Future Section", "Achieved Occupancy") == "sm__warps_active.avg.pct_of_peak_sustained_active"
    )
    assert known.metric("Occupancy", "Nonsense") is None
    for name in ("gpu__time_duration.sum", "inst_executed", "breakdown:sm__throughput.avg", "group:memory__chart"):
        assert known.metric("Occupancy", name) == name


def test_the_label_table_is_well_formed() -> None:
    path = Path(triage.readers.__file__).with_name("labels.json")
    table = json.loads(path.read_text())
    assert sum(len(entries) for entries in table.values()) >= 83
    for section, entries in table.items():
        for label, name in entries.items():
            assert label == label.strip() and "__" in name and " " not in name, (section, label)
