"""triage.diagnosis.roofs: measured roofs, documented shares, and files that are neither."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import reports

from triage.diagnosis import roofs
from triage.driver.roofs import Roofs
from triage.errors import UnreadableReport
from triage.model import Device

WRITTEN = Roofs("NVIDIA H200", "9.0", 4.222e12, "2026-11-30T01:00:00+00:00", "device copy of 1 GiB")


def test_what_bench_writes_is_read(tmp_path: Path) -> None:
    file = tmp_path / "triage-roofs.json"
    file.write_text(WRITTEN.as_json())
    roof = roofs.read_roofs(file)
    assert roof.measured and roof.bytes_per_s == 4.222e12 and roof.device == Device("NVIDIA H200", "9.0")
    assert roof.source == "device copy of 1 GiB, 2026-11-30T01:00:00+00:00"


GOOD: dict[str, Any] = json.loads(WRITTEN.as_json())


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("no json", "holds no JSON"),
        ("[" * 100_000, "holds no JSON"),
        (json.dumps([1]), "its schema is not triage/roofs/1"),
        (json.dumps(GOOD | {"schema": "triage/roofs/2"}), "its schema is not triage/roofs/1"),
        (json.dumps(GOOD | {"dram_bytes_per_s": 0}), "no positive number"),
        (json.dumps(GOOD | {"dram_bytes_per_s": True}), "no positive number"),
        (json.dumps(GOOD | {"dram_bytes_per_s": float("inf")}), "no positive number"),
        (json.dumps(GOOD | {"device": ""}), "on which device"),
    ],
)
def test_anything_else_is_refused(tmp_path: Path, content: str, said: str) -> None:
    file = tmp_path / "roofs.json"
    file.write_text(content)
    with pytest.raises(UnreadableReport, match=said) as caught:
        roofs.read_roofs(file)
    assert "triage kernels bench" in caught.value.hint


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UnreadableReport, match="cannot read the roofs file"):
        roofs.read_roofs(tmp_path / "none.json")


@pytest.mark.parametrize(
    ("name", "memory"),
    [
        ("NVIDIA H200", "HBM3e"),
        ("NVIDIA GH200 144G HBM3e", "HBM3e"),
        ("NVIDIA H100 80GB HBM3", "HBM3"),
        ("NVIDIA H100 PCIe", "HBM2e"),
        ("NVIDIA A100-SXM4-80GB", "HBM2e"),
        ("NVIDIA A100-SXM4-40GB", "HBM2"),
        ("Tesla V100-PCIE-16GB", "HBM2"),
        ("NVIDIA GeForce RTX 4090", "GDDR6X"),
        ("NVIDIA RTX A3000 Laptop GPU", "an unknown memory"),
        ("Tesla T4", "an unknown memory"),
        (None, "an unknown memory"),
    ],
)
def test_the_memory_follows_from_the_name(name: str | None, memory: str) -> None:
    entry = roofs.share_of(Device(name=name))
    assert entry.memory == memory and 0.5 < entry.share < 1 and entry.source


def test_the_documented_share_is_of_the_highest_peak_seen() -> None:
    findings = list(reports.few().findings)
    (roof,) = roofs.attainable(findings)
    assert roof.device == reports.H200 and not roof.measured
    assert roof.bytes_per_s == pytest.approx(0.88 * 4.8e12)
    assert roof.source.startswith("88 % of the datasheet peak of HBM3e (") and "4,222 of 4,800 GB/s" in roof.source
    assert roofs.attainable(reports.undecided().findings) == ()


def test_a_measurement_replaces_the_documented_share_of_its_gpu() -> None:
    measured = replace(reports.few().roofs[0], device=Device("nvidia h200", "9.0"), measured=True, bytes_per_s=4.3e12)
    (roof,) = roofs.with_roofs(reports.few(), [measured]).roofs
    assert roof.measured and roof.bytes_per_s == 4.3e12 and roof.device == reports.H200


def test_a_measurement_of_another_gpu_is_said_to_be_unused() -> None:
    other = replace(reports.few().roofs[0], device=Device("NVIDIA L4"), measured=True)
    made = roofs.with_roofs(reports.few(), [other])
    assert made.roofs == reports.few().roofs
    assert made.warnings[-1] == "the measured roof of NVIDIA L4 was not used: no kernel of this report ran there"
