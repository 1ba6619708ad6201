"""The CUDA source of the transposes, run on the host: right at partial tiles, ordered by its barriers."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from triage import resources
from triage.driver import variants
from triage.driver.shapes import Shape
from triage.driver.variants import DTYPES, VARIANTS, Variant

HERE = Path(__file__).parent / "data"

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not on PATH")

PARTIAL = (Shape(33, 40),)
# whole vectors with partial tiles, rows that no vector fits, thin ones
AWKWARD = (Shape(1, 1), Shape(40, 72), Shape(136, 264), Shape(264, 80), Shape(130, 9), Shape(257, 1), Shape(1, 257))
TWO_TILES = Shape(33, 32)


def compiled(folder: Path, *flags: str) -> Path:
    symbols = [v.symbol(dtype) for v in VARIANTS for dtype in DTYPES]
    (folder / "driver_kernels.inc").write_text("".join(f"KERNEL({symbol})\n" for symbol in symbols))
    program = folder / "driver_cpu"
    includes = [f"-I{resources.folder('kernels')}", f"-I{folder}"]
    command = [
        "g++",
        "-std=c++20",
        "-O1",
        "-g",
        "-w",
        "-pthread",
        *flags,
        *includes,
        HERE / "driver_cpu.cpp",
        "-o",
        program,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"this g++ cannot compile it: {done.stderr.splitlines()[0]}")
    return program


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("cpu"))


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = compiled(tmp_path_factory.mktemp("tsan"), "-fsanitize=thread")
    started = subprocess.run([program], input="", capture_output=True, text=True, check=False)
    if started.returncode:  # its shadow memory does not fit every kernel's address layout
        pytest.skip(f"ThreadSanitizer does not start here: {started.stderr.strip()}")
    return program


def launch(program: Path, variant: Variant, dtype: str, shapes: Sequence[Shape]) -> tuple[list[int], str]:
    """Wrong elements for each shape, and what the program said on stderr."""
    lines = []
    for shape in shapes:
        (gx, gy), (bx, by) = variant.grid(shape, dtype), variant.block
        kernel = f"{variant.symbol(dtype)} {DTYPES[dtype][0]} {int(variant.transposes)}"
        lines.append(f"{kernel} {shape.rows} {shape.cols} {gx} {gy} {bx} {by}\n")
    done = subprocess.run([program], input="".join(lines), capture_output=True, text=True, check=False, timeout=120)
    return [int(word) for word in done.stdout.split()], done.stderr


@pytest.mark.parametrize("dtype", sorted(DTYPES))
def test_right_kernels_are_right_at_partial_tiles(program: Path, dtype: str) -> None:
    for variant in VARIANTS:
        if variant.right:
            shapes = AWKWARD if variant.chunked else PARTIAL
            wrong, _ = launch(program, variant, dtype, shapes)
            assert wrong == [0] * len(shapes), variant.name


@pytest.mark.parametrize("name", ["best", "padded_32"])
def test_the_barriers_order_everything(watched: Path, name: str) -> None:
    (variant,) = variants.choose([name])
    wrong, said = launch(watched, variant, "float", [TWO_TILES])
    assert wrong == [0]
    assert "data race" not in said


@pytest.mark.parametrize("name", ["missing_barrier_32", "branch_barrier_32"])
def test_planted_races_are_races(watched: Path, name: str) -> None:
    (variant,) = variants.choose([name])
    _, said = launch(watched, variant, "float", [TWO_TILES])
    assert "data race" in said
