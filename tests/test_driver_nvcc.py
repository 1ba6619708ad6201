"""nvcc's command lines, and real compilation where nvcc is installed (no GPU needed)."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

import pytest

from triage.driver import cubin, nvcc, session, sources, variants
from triage.driver.sources import Program
from triage.errors import NcuFailed, UsageError

TRANSPOSE = Program("transpose", Path("k/transpose.cu"), "", ())
TAIL = Program("limiters/tail_wave", Path("k/limiters/tail_wave.cu"), "", ())
NVCC = Path("/opt/cuda/bin/nvcc")

needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not on PATH")


def fake_nvcc(folder: Path, text: str = "Cuda compilation tools, release 12.4, V12.4.131", status: int = 0) -> Path:
    path = folder / "nvcc"
    path.write_text(f"#!/bin/sh\necho '{text}'\nexit {status}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def test_the_program_gets_code_for_each_gpu_and_ptx_for_the_newest() -> None:
    jobs = nvcc.jobs(NVCC, [TRANSPOSE], ["90", "75", "90"], Path("out"))
    assert [job.line() for job in jobs] == [
        (
            "/opt/cuda/bin/nvcc", "-O3", "-lineinfo", "-std=c++17",
            "-gencode=arch=compute_75,code=sm_75", "-gencode=arch=compute_90,code=sm_90",
            "-gencode=arch=compute_90,code=compute_90", "k/transpose.cu", "-o", "out/transpose",
        ),
        (
            "/opt/cuda/bin/nvcc", "-O3", "-lineinfo", "-std=c++17", "-cubin",
            "-gencode=arch=compute_75,code=sm_75", "k/transpose.cu", "-o", "out/transpose.sm_75.cubin",
        ),
        (
            "/opt/cuda/bin/nvcc", "-O3", "-lineinfo", "-std=c++17", "-cubin",
            "-gencode=arch=compute_90,code=sm_90", "k/transpose.cu", "-o", "out/transpose.sm_90.cubin",
        ),
    ]  # fmt: skip


def test_architectures_are_ordered_as_numbers() -> None:
    (job,) = nvcc.jobs(NVCC, [TAIL], ["100", "90a"], Path("out"))
    assert job.command[4:7] == (
        "-gencode=arch=compute_90a,code=sm_90a",
        "-gencode=arch=compute_100,code=sm_100",
        "-gencode=arch=compute_100,code=compute_100",
    )
    assert job.output == Path("out/limiters/tail_wave")


def test_a_debug_build_is_not_optimised() -> None:
    job = nvcc.jobs(NVCC, [TAIL], ["90"], Path("out"), debug=True)[0]
    assert job.command[1:3] == ("-G", "-std=c++17")
    assert "-O3" not in job.command
    assert "-lineinfo" not in job.command


def test_the_shown_line_is_quoted_for_a_shell() -> None:
    (job,) = nvcc.jobs(NVCC, [TAIL], ["90"], Path("my out"))
    assert nvcc.shown(job).endswith("-o 'my out/limiters/tail_wave'")


@pytest.mark.parametrize("text", ["90", "sm_90", "compute_90", "9.0", " SM_90 "])
def test_spellings_of_an_architecture(text: str) -> None:
    assert nvcc.architecture(text) == "90"


@pytest.mark.parametrize(("text", "means"), [("sm_120", "120"), ("12.0", "120"), ("sm_90a", "90a"), ("7.5", "75")])
def test_other_architectures(text: str, means: str) -> None:
    assert nvcc.architecture(text) == means


@pytest.mark.parametrize("text", ["", "hopper", "sm_9", "sm_70", "61", "90b", "9.0.0", "٩٠"])
def test_what_is_no_architecture(text: str) -> None:
    with pytest.raises(UsageError):
        nvcc.architecture(text)


def test_nvcc_is_found_where_it_is_named_before_path(tmp_path: Path) -> None:
    for name in ("named", "path", "home"):
        (tmp_path / name).mkdir()
    named = fake_nvcc(tmp_path / "named")
    on_path = fake_nvcc(tmp_path / "path", "release 13.0,")
    (tmp_path / "home" / "bin").mkdir()
    at_home = fake_nvcc(tmp_path / "home" / "bin")
    everything = {"NVCC": str(named), "PATH": str(tmp_path / "path"), "CUDA_HOME": str(tmp_path / "home")}
    assert nvcc.find(everything) == nvcc.Nvcc(named, (12, 4))
    assert nvcc.find({k: v for k, v in everything.items() if k != "NVCC"}) == nvcc.Nvcc(on_path, (13, 0))
    assert nvcc.find({"PATH": "", "CUDA_HOME": str(tmp_path / "home")}).path == at_home


def test_a_missing_nvcc_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(NcuFailed, match="nowhere/nvcc does not run") as caught:
        nvcc.find({"NVCC": "/nowhere/nvcc", "PATH": str(tmp_path)})
    assert caught.value.exit_code == 4
    assert "CUDA toolkit" in caught.value.hint


@pytest.mark.parametrize(("text", "status"), [("no such option", 1), ("something else", 0)])
def test_an_nvcc_that_is_none(tmp_path: Path, text: str, status: int) -> None:
    with pytest.raises(NcuFailed, match="--version"):
        nvcc.find({"NVCC": str(fake_nvcc(tmp_path, text, status)), "PATH": ""})


def test_without_a_driver_the_architecture_has_to_be_named() -> None:
    with pytest.raises(NcuFailed) as caught:
        nvcc.local_architecture("libno-such-driver.so.1")
    assert "--arch" in caught.value.hint


def failing(tmp_path: Path, complaint: str) -> nvcc.Job:
    compiler = tmp_path / "nvcc"
    compiler.write_text(f"#!/bin/sh\necho '{complaint}' >&2\nexit 1\n")
    compiler.chmod(0o755)
    return nvcc.jobs(compiler, [TAIL], ["90"], tmp_path / "out")[0]


def test_a_failed_compilation_shows_the_compilers_words_and_leaves_nothing(tmp_path: Path) -> None:
    job = failing(tmp_path, "tail_wave.cu(3): error: expected a ;")
    with pytest.raises(NcuFailed, match=r"could not compile tail_wave.cu \(status 1\)") as caught:
        nvcc.run(job)
    assert caught.value.details == ("tail_wave.cu(3): error: expected a ;",)
    assert list((tmp_path / "out" / "limiters").iterdir()) == []


@pytest.mark.parametrize(
    ("complaint", "hint"),
    [
        ("nvcc fatal   : Unsupported gpu architecture compute_120", "--list-gpu-code"),
        ("nvcc fatal   : Cannot find compiler cl.exe in PATH", "C++ compiler"),
        ("error: something", "messages"),
    ],
)
def test_known_failures_have_a_remedy(tmp_path: Path, complaint: str, hint: str) -> None:
    with pytest.raises(NcuFailed) as caught:
        nvcc.run(failing(tmp_path, complaint))
    assert hint in caught.value.hint


def test_an_output_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (job,) = nvcc.jobs(fake_nvcc(tmp_path), [TAIL], ["90"], tmp_path / "file")
    with pytest.raises(NcuFailed, match="cannot build"):
        nvcc.run(job)


def test_the_compilers_output_appears_under_its_final_name(tmp_path: Path) -> None:
    compiler = tmp_path / "nvcc"
    compiler.write_text('#!/bin/sh\nwhile [ "$1" != "-o" ]; do shift; done\necho built > "$2"\n')
    compiler.chmod(0o755)
    (job,) = nvcc.jobs(compiler, [TAIL], ["90"], tmp_path / "out")
    nvcc.run(job)
    assert [p.name for p in (tmp_path / "out" / "limiters").iterdir()] == [Path(job.output).name]
    assert job.output.read_text() == "built\n"


@needs_nvcc
def test_the_built_cubin_holds_every_variant_for_every_type(tmp_path: Path) -> None:
    jobs = session.build(["transpose"], ["sm_80"], tmp_path)
    (job,) = [job for job in jobs if job.output.suffix == ".cubin"]
    nvcc.run(job)
    found = cubin.inspect(job.output)
    expected = {v.symbol(dtype) for v in variants.VARIANTS for dtype in variants.DTYPES} | {"hold_queue"}
    assert set(found.kernels) == expected
    assert found.lineinfo
    assert not found.debug


@needs_nvcc
def test_a_debug_cubin_is_recognised(tmp_path: Path) -> None:
    source = tmp_path / "one.cu"
    source.write_text('extern "C" __global__ void one(int* out) { *out = 1; }\n')
    program = Program("one", source, "", ("one",))
    for debug in (False, True):
        folder = tmp_path / str(debug)
        jobs = nvcc.jobs(nvcc.find().path, [program], ["80"], folder, cubins=["one"], debug=debug)
        nvcc.run(jobs[1])
        found = cubin.inspect(folder / "one.sm_80.cubin")
        assert (found.debug, found.lineinfo, found.kernels) == (debug, True, ("one",))


@needs_nvcc
@pytest.mark.skipif(not os.environ.get("TRIAGE_ALL_ARCHITECTURES"), reason="slow: set TRIAGE_ALL_ARCHITECTURES=1")
@pytest.mark.parametrize("program", sources.programs(), ids=lambda p: p.name)
def test_every_program_compiles_for_every_architecture(program: Program, tmp_path: Path) -> None:
    architectures = ["75", "80", "86", "89", "90", "100", "120"]
    for job in nvcc.jobs(nvcc.find().path, [program], architectures, tmp_path, cubins=()):
        nvcc.run(job)
        assert job.output.stat().st_size > 0


@pytest.mark.parametrize("data", [b"", b"\x7fELF\x01" + bytes(100), b"\x7fELF\x02" + b"\xff" * 100, b"text", bytes(70)])
def test_what_is_no_cubin(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "x.cubin"
    path.write_bytes(data)
    with pytest.raises(NcuFailed, match="not a usable cubin"):
        cubin.inspect(path)


def test_a_cubin_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(NcuFailed, match="not a usable cubin"):
        cubin.inspect(tmp_path / "missing.cubin")
