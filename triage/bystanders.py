"""Kernels that a user hardly meant to profile: random fill, memory fill and copy, collectives.

A survey leaves them out by default and names them. The table is matched against the demangled name of a kernel
where there is one and against the mangled name otherwise; both hold the function's own words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Kind = Literal["random fill", "memory fill", "collective"]


@dataclass(frozen=True, slots=True)
class Bystander:
    """One family of such kernels. ``pattern`` is a regular expression that both Python and ncu understand
    (ECMAScript subset: no inline flags, no look-behind)."""

    kind: Kind
    library: str
    pattern: str


BYSTANDERS: tuple[Bystander, ...] = (
    Bystander("collective", "NCCL", r"nccl(Dev|Symk)?Kernel|ncclDevFunc|nccl_symm"),
    Bystander("collective", "NVSHMEM", r"nvshmemi?_"),
    Bystander("collective", "PyTorch symmetric memory", r"(one|two)_shot_all_reduce|multimem_(all|one_shot|reduce)"),
    Bystander("collective", "vLLM, TensorRT-LLM", r"cross_device_reduce|[aA]ll_?[rR]educe_?([kK]ernel|[fF]usion)"),
    Bystander("random fill", "cuRAND", r"generate_seed_pseudo|gen_sequenced|gen_pseudo|curand.*(gen|setup)_"),
    Bystander("random fill", "PyTorch", r"distribution_(elementwise|nullary)|philox.*(fill|kernel)|fused_dropout_seed"),
    Bystander("random fill", "CuPy, JAX", r"cupy_random|cupyx_random|threefry"),
    Bystander("memory fill", "PyTorch", r"FillFunctor|fill_kernel_cuda"),
    Bystander("memory fill", "CUB, Thrust", r"uninitialized_fill|static_kernel.*fill|__tabulate.*fill"),
    Bystander("memory fill", "CUDA, CuPy", r"(^|[^a-z])(memset|Memset|cuda_?memset|cupy_fill)"),
)
_COMPILED = tuple((bystander, re.compile(bystander.pattern)) for bystander in BYSTANDERS)


def bystander(name: str) -> Bystander | None:
    """The family that kernel ``name`` belongs to, or ``None`` for a kernel worth profiling."""
    return next((family for family, pattern in _COMPILED if pattern.search(name)), None)


def exclusion_pattern() -> str:
    """An ncu regular expression (without ``regex:``) that matches every mangled or demangled name *except* those
    of the table; for runs without a survey, where the names are not known beforehand."""
    return "^(?!.*(" + "|".join(f"({family.pattern})" for family in BYSTANDERS) + ")).*$"
