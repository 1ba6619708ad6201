"""`triage kernels` without a GPU: lists, command lines, and what is said when a tool is missing."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from triage.driver import commands, gpu, nvcc, session
from triage.driver.bench import Bench, Setup
from triage.driver.contest import GpuInfo
from triage.driver.roofs import Roofs
from triage.driver.shapes import Shape
from triage.errors import NcuFailed, TriageError, UsageError


def invoke(*arguments: str) -> Any:
    return CliRunner().invoke(commands.app, list(arguments))


def raised(*arguments: str) -> TriageError:
    error = invoke(*arguments).exception
    assert isinstance(error, TriageError)
    return error


def test_list_prints_programs_and_variants() -> None:
    result = invoke("list")
    assert result.exit_code == 0
    assert "transpose" in result.output
    assert "swap_forgotten_64" in result.output


def test_list_as_json() -> None:
    assert json.loads(invoke("list", "--json").output)["schema"] == "triage/kernels/1"


@pytest.fixture
def compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "nvcc"
    path.write_text(
        "#!/bin/sh\n"
        'if [ "$1" = --version ]; then echo "release 13.0, V13.0.88"; exit; fi\n'
        'while [ "$1" != "-o" ]; do shift; done\necho built > "$2"\n'
    )
    path.chmod(0o755)
    monkeypatch.setenv("NVCC", str(path))
    return path


def test_dry_run_shows_the_command_lines_and_builds_nothing(compiler: Path, tmp_path: Path) -> None:
    result = invoke("build", "transpose", "-a", "sm_90", "-o", str(tmp_path / "out"), "--dry-run")
    assert result.exit_code == 0
    assert len(result.output.splitlines()) == 2
    assert f"{compiler} -O3 -lineinfo -std=c++17 -gencode=arch=compute_90,code=sm_90" in result.output
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("compiler")
def test_build_makes_program_and_cubins(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert invoke("build", "transpose", "-a", "80", "-a", "9.0", "-o", str(out)).exit_code == 0
    assert sorted(p.name for p in out.iterdir()) == ["transpose", "transpose.sm_80.cubin", "transpose.sm_90.cubin"]


@pytest.mark.usefixtures("compiler")
def test_build_takes_the_local_gpu_unless_told_otherwise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvcc, "local_architecture", lambda: "86")
    for arguments in ([], ["--arch", "native"]):
        result = invoke("build", "transpose", *arguments, "-o", str(tmp_path), "--dry-run")
        assert "code=sm_86" in result.output


def test_build_without_nvcc_is_exit_code_four(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NVCC", "/nowhere/nvcc")
    assert raised("build", "-a", "90").exit_code == 4


@pytest.mark.usefixtures("compiler")
def test_build_of_an_unknown_program_or_architecture_is_a_usage_error() -> None:
    assert raised("build", "transposs", "-a", "90").hint == "did you mean transpose?"
    assert raised("build", "-a", "hopper").exit_code == 2


@pytest.mark.parametrize("command", [["run"], ["bench"], ["bench", "--sweep"]])
def test_without_cupy_the_way_to_get_it_is_said(command: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    error = raised(*command)
    assert error.exit_code == 4
    assert "CuPy is not installed" in error.message
    assert "pip install 'ncu-triage[cuda13]'" in error.hint


class _CudaError(RuntimeError):
    pass


class _Cupy:
    """As much of CuPy as it takes to find no GPU."""

    def __init__(self, count: int | None) -> None:
        self.cuda = self
        self.runtime = self
        self.CUDARuntimeError = _CudaError
        self._count = count

    def getDeviceCount(self) -> int:
        if self._count is None:
            raise _CudaError("cudaErrorNoDevice: no CUDA-capable device is detected")
        return self._count


@pytest.mark.parametrize(("count", "words"), [(None, "no CUDA-capable device"), (0, "no CUDA GPU is visible")])
def test_without_a_gpu_it_says_so(count: int | None, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu, "cupy", lambda: _Cupy(count))
    error = raised("run")
    assert isinstance(error, NcuFailed)
    assert words in error.message


@pytest.mark.parametrize(
    "arguments",
    [["--size", "0"], ["--size", "8", "--rows", "8"], ["--rows", "8"], ["--reps", "0"]],
)
def test_sizes_and_repetitions_are_checked_before_any_gpu(arguments: list[str]) -> None:
    assert isinstance(raised("bench", *arguments), UsageError)


def test_an_unknown_variant_is_a_usage_error() -> None:
    assert raised("bench", "padd_32").hint == "did you mean padded_32?"


def finished(setup: Setup) -> Bench:
    info = GpuInfo("Toy", "9.0", 1, 1, 1, None, "")
    return Bench(setup, info, (), 8, 8, "in L2", Roofs("Toy", "9.0", 5.0, "now", "so"), "Stop rule: none.", ())


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, Any]:
    calls: dict[str, Any] = {}

    def measure(names: list[str], setup: Setup, *rest: object) -> Bench:
        calls.update(names=names, setup=setup, rest=rest)
        return finished(setup)

    monkeypatch.setattr(session, "measure", measure)
    monkeypatch.setattr(session, "sweep", measure)
    monkeypatch.chdir(tmp_path)
    return calls


def test_bench_measures_4096_floats_and_writes_the_roofs(asked: dict[str, Any], tmp_path: Path) -> None:
    result = invoke("bench")
    assert result.exit_code == 0
    assert asked["setup"] == Setup(Shape(4096, 4096))
    assert asked["names"] == []
    assert asked["rest"][0] is True
    assert json.loads((tmp_path / "triage-roofs.json").read_text())["dram_bytes_per_s"] == 5
    assert "Stop rule: none." in result.output


def test_bench_options_reach_the_measurement(asked: dict[str, Any], tmp_path: Path) -> None:
    options = "best --rows 3 --cols 5 --dtype half --reps 7 --warmup 0 --rotate --no-peers --no-roofs --json b.json"
    assert invoke("bench", *options.split()).exit_code == 0
    assert asked["names"] == ["best"]
    assert asked["setup"] == Setup(Shape(3, 5), "half", 7, 0, rotate=True)
    assert asked["rest"][0] is False
    assert [p.name for p in tmp_path.iterdir()] == ["b.json"]


def test_sweep_takes_no_peers(asked: dict[str, Any]) -> None:
    assert invoke("bench", "--sweep", "padded", "--no-roofs").exit_code == 0
    assert asked["names"] == ["padded"]
    assert asked["rest"] == ()


def test_the_commands_start_without_heavy_imports() -> None:
    code = (
        "import sys, triage.driver.commands as c; "
        "print(sorted({'numpy', 'cupy', 'torch', 'pandas', 'yaml'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_command_functions_only_parse_call_and_print() -> None:
    import ast

    tree = ast.parse(Path(commands.__file__).read_text())
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            assert len(node.body) < 15, node.name
