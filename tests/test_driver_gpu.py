"""The transposes on a real GPU: right for every shape and type, timed by events, compared with a device copy."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from triage.driver import bench, session
from triage.driver.bench import Setup
from triage.driver.contest import Contestant, Pair
from triage.driver.gpu import Gpu
from triage.driver.shapes import Shape
from triage.driver.variants import DTYPES, VARIANTS
from triage.errors import NcuFailed


def why_not() -> str:
    if importlib.util.find_spec("cupy") is None:
        return "CuPy is not installed"
    try:
        Gpu()
    except NcuFailed as error:
        return error.message
    return ""


REASON = why_not()
pytestmark = [pytest.mark.gpu, pytest.mark.skipif(bool(REASON), reason=REASON)]


@pytest.mark.parametrize("dtype", sorted(DTYPES))
def test_right_kernels_are_right_and_planted_faults_are_found(dtype: str, tmp_path: Path) -> None:
    results = session.check([], [dtype], None, tmp_path)
    session.judge_check(results, largest=2**20)
    full = results[dtype]["1024 x 1024"]
    assert {row.contestant.name for row in full} == {v.name for v in VARIANTS}


def test_an_output_that_nobody_writes_is_found() -> None:
    gpu = Gpu()
    gpu.prepare(Shape(100, 200), "float", 1)

    def nothing(_pair: Pair) -> None:
        """Leaves the poison where it is."""

    assert gpu.mismatches(Contestant("nothing", nothing)) == 20_000


def test_a_measurement_beside_the_peers(tmp_path: Path) -> None:
    setup = Setup(Shape(2048, 2048), repetitions=10, warm_up=2, rotate=True)
    result = session.measure(["best", "naive_32", "missing_barrier_32"], setup, True, tmp_path)
    rows = {row.contestant.name: row for row in result.rows}
    assert rows["device copy"].of_copy == 1.0
    assert rows["missing_barrier_32"].sample is None
    best, naive = rows["best"].sample, rows["naive_32"].sample
    assert best is not None
    assert naive is not None
    assert best.median < naive.median
    assert result.roofs.dram_bytes_per_s > 1e10
    assert bench.fastest(result.rows, peer=True) is not None
