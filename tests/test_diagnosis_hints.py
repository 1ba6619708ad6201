"""triage.diagnosis.hints: what kernels show together, and what they must not be made to say."""

from __future__ import annotations

from dataclasses import replace

import reports

from triage.diagnosis.hints import hints
from triage.model import Diagnosis, Finding, Hint, Launch

MEGA = 1e6


def kernel(
    index: int,
    name: str,
    limiter: str | None = "dram-bandwidth",
    *,
    read: float = 100 * MEGA,
    write: float = 100 * MEGA,
    busy: float = 70.0,
    duration: float = 50_000.0,
    share: float | None = 10.0,
    **more: tuple[float, str],
) -> Finding:
    """A finding with the traffic of a streaming kernel."""
    facts = reports.facts(
        dram_pct=(busy, "%"),
        dram_read_bytes=(read, "byte"),
        dram_write_bytes=(write, "byte"),
        dram_bytes=(read + write, "byte"),
        **more,
    )
    diagnosis: Diagnosis = replace(reports.DRAM, limiter=limiter, facts=facts)
    return replace(reports.finding(index, name, diagnosis, duration, count=3), share=share)


def of_kind(findings: list[Finding], kind: str) -> list[Hint]:
    return [hint for hint in hints(findings) if hint.kind == kind]


def test_neighbours_that_wait_for_dram_could_be_fused() -> None:
    (hint,) = of_kind([kernel(0, "scale(float *)"), kernel(1, "add(float *)", "memory-latency")], "fuse")
    assert hint.kernels == (0, 1)
    # Written once and read once, 200 of 400 MB of the traffic, and so half of the time.
    assert "scale and add run one after the other and both wait for DRAM" in hint.text
    assert "up to 200 MB less traffic, about 50.0 us less time" in hint.text
    assert "the report does not show" in hint.text


def test_a_chain_is_one_hint_and_a_loop_is_counted() -> None:
    names = ("a(int)", "b(int)", "c(int)")
    chain = [kernel(index, name) for index, name in enumerate(names)]
    (hint,) = of_kind(chain, "fuse")
    assert hint.kernels == (0, 1, 2) and "a, b and c" in hint.text and "all wait for DRAM" in hint.text
    loop = [kernel(index, names[index % 2]) for index in range(10)]
    (hint,) = of_kind(loop, "fuse")
    assert len(hint.kernels) == 10 and "5 times" in hint.text and "less traffic each time" in hint.text


def test_what_cannot_be_fused_is_not_named() -> None:
    one, two = kernel(0, "a(int)"), kernel(1, "b(int)")
    assert of_kind([one, two], "fuse")
    stream = replace(two.kernel, launch=Launch(stream="8", context="1"))
    for other in (
        replace(two, source=1),
        replace(two, kernel=stream),
        replace(two, kernel=replace(two.kernel, process="other [2]")),
        replace(two, kernel=replace(two.kernel, workload="graph")),
        kernel(2, "b(int)"),
        kernel(1, "a(int)"),
        kernel(1, "b(int)", "pipe-fma"),
        kernel(1, "b(int)", None),
        kernel(1, "b(int)", busy=20.0),
        kernel(1, "b(int)", read=5 * MEGA),
    ):
        assert of_kind([one, other], "fuse") == []


def test_unknown_traffic_is_no_traffic_to_save() -> None:
    one = kernel(0, "a(int)")
    two = replace(one, kernel=replace(one.kernel, index=1, name="b(int)"))
    bare = replace(two, diagnosis=replace(two.diagnosis, facts=reports.facts(dram_pct=(80.0, "%"))))
    assert of_kind([one, bare], "fuse") == []


def product(name: str, *, tensor: float | None = 0.01, fma: float = 42.0, flops: float = 6e12) -> Finding:
    known = {"achieved_flops": (flops, "flop/s"), "pipe_fma_pct": (fma, "%"), "fp32_peak_flops": (6.69e13, "flop/s")}
    if tensor is not None:
        known |= {"pipe_tensor_pct": (tensor, "%"), "tensor_peak_flops": (1.07e15, "flop/s")}
    return kernel(0, name, "l1-wavefronts", **known)


def test_a_matrix_product_that_leaves_the_tensor_cores_idle() -> None:
    (hint,) = of_kind([product("void sgemm_tiled<16>(const float *, float *)")], "tensor-cores")
    assert "sgemm_tiled looks like a matrix product by name but computes on the ordinary pipes" in hint.text
    assert "whose FP16 peak is 16 times the FP32 one on this chip" in hint.text
    for name in ("matmul(float *)", "my_mm_kernel(float *)", "conv2d_forward(float *)"):
        assert of_kind([product(name)], "tensor-cores"), name


def test_only_idle_tensor_cores_of_a_product_that_computes_are_named() -> None:
    for finding in (
        product("fma_chain(float *)"),
        product("comma_separate(char *)"),
        product("sgemm(float *)", tensor=None),
        product("sgemm(float *)", tensor=60.0),
        product("sgemm_epilogue(float *)", fma=0.5),
        product("igemm(int *)", flops=0.0),
    ):
        assert of_kind([finding], "tensor-cores") == [], finding.kernel.name
    # A counter that reads 5 % without one matrix instruction is no use of the tensor cores.
    assert of_kind([product("sgemm(float *)", tensor=5.2)], "tensor-cores")


def test_double_precision_has_no_faster_half() -> None:
    finding = kernel(
        0, "dgemm(double *)", achieved_flops=(0.0, "flop/s"), achieved_fp64_flops=(2e13, "flop/s"),
        pipe_fma_pct=(5.0, "%"), pipe_tensor_pct=(0.0, "%"),
    )  # fmt: skip
    assert of_kind([finding], "tensor-cores") == []


def test_launches_too_short_to_matter() -> None:
    short = [kernel(index, f"k{index}(int)", None, duration=3_000.0, share=20.0) for index in range(4)]
    (hint,) = of_kind([*short, kernel(4, "long(int)", None, duration=90_000.0, share=20.0)], "short-launches")
    assert hint.kernels == (0, 1, 2, 3)
    assert "4 of 5 launches run less than 5 us, 12.0 us together" in hint.text
    assert of_kind(short[:2], "short-launches") == []
    unknown = [replace(finding, duration_ns=None) for finding in short]
    assert of_kind(unknown, "short-launches") == []


def test_kernels_that_take_hardly_any_time() -> None:
    tail = [kernel(index, f"k{index}(int)", None, share=0.5) for index in range(1, 5)]
    head = kernel(0, "head(int)", None, share=98.0)
    (hint,) = of_kind([head, *tail], "little-time")
    assert hint.kernels == (1, 2, 3, 4) and hint.text.startswith("4 of 5 kernels take 2 % of the time together")
    assert of_kind([head, *tail[:2]], "little-time") == []
    assert of_kind([head, *tail[:3], replace(tail[3], share=None)], "little-time") == []


def test_nothing_holds_of_no_kernel_and_names_are_shortened() -> None:
    assert hints([]) == ()
    assert all(len(hint.text) < 700 for hint in hints(reports.hostile().findings))
    long = [kernel(index, "x" * 3000 + str(index)) for index in range(2)]
    assert len(of_kind(long, "fuse")[0].text) < 700
