"""Kernels that are left out, under the names their libraries really give them."""

from __future__ import annotations

import re

import pytest

from triage.bystanders import BYSTANDERS, bystander, exclusion_pattern

LEFT_OUT = {
    "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)": "collective",
    "ncclKernel_AllGather_RING_LL_Sum_int8_t": "collective",
    "void vllm::cross_device_reduce_1stage<__half, 2>(vllm::RankData *)": "collective",
    "two_shot_all_reduce_kernel": "collective",
    "multimem_all_reduce_kernel": "collective",
    "_ZN12tensorrt_llm7kernels15allReduceKernelEv": "collective",
    "nvshmemi_transfer_rma": "collective",
    "void at::native::(anonymous namespace)::distribution_elementwise_grid_stride_kernel<float, 4>": "random fill",
    "_Z19generate_seed_pseudoPjiS_": "random fill",
    "void gen_sequenced<curandStateXORWOW, float2>": "random fill",
    "cupy_random_x_mod_1": "random fill",
    "threefry2x32_kernel": "random fill",
    "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>>": "memory fill",
    "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIfEESt5arrayIPcLm1EEEEviT0_T1_": "memory fill",
    "cupy_fill": "memory fill",
    "memset32_post": "memory fill",
}
KEPT = [
    "copy(float *, const float *, int)",
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>",
    "fill_missing_values",
    "reduce_kernel",
    "all_pairs",
    "random_gather",
    "backfill_histogram",
    "transpose_tile",
]


@pytest.mark.parametrize(("name", "kind"), LEFT_OUT.items())
def test_left_out(name: str, kind: str) -> None:
    found = bystander(name)
    assert found is not None and found.kind == kind


@pytest.mark.parametrize("name", KEPT)
def test_kept(name: str) -> None:
    assert bystander(name) is None


def test_the_filter_for_ncu_says_the_same() -> None:
    pattern = re.compile(exclusion_pattern())
    assert not any(pattern.search(name) for name in LEFT_OUT)
    assert all(pattern.search(name) for name in KEPT)


def test_patterns_stay_within_what_ncu_understands() -> None:
    for family in BYSTANDERS:
        assert ":" not in family.pattern, "a colon ends the field of --kernel-id"
        assert "(?" not in family.pattern
