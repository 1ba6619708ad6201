"""What the libraries on this machine do in place of a kernel of one's own: the peers of a measurement."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

from triage.driver.contest import Contestant, Pair
from triage.driver.gpu import cupy, device_copy
from triage.driver.shapes import Shape

DEVICE_COPY = "device copy"


def available(shape: Shape, dtype: str) -> tuple[tuple[Contestant, ...], tuple[str, ...]]:
    """The peers for this shape and type, and a sentence for each one that is left out."""
    found = list(yardstick())
    absent = []
    if dtype == "half":
        absent.append("cuBLAS geam: there is none for half.")
    else:
        geam, reason = _geam(shape)
        if geam:
            found.append(geam)
        else:
            absent.append(f"cuBLAS geam: {reason}.")
    found.append(Contestant("CuPy a.T copy", lambda pair: _cupy_copy(pair, shape), peer=True))
    if importlib.util.find_spec("torch") is None:
        absent.append("PyTorch: not installed.")
    else:
        torch, reason = _torch(shape)
        if torch:
            found.append(torch)
        else:
            absent.append(f"PyTorch: {reason}.")
    return tuple(found), tuple(absent)


def yardstick() -> tuple[Contestant, ...]:
    """The device copy alone, which every measurement needs."""
    return (Contestant(DEVICE_COPY, device_copy, transposes=False, peer=True),)


def _geam(shape: Shape) -> tuple[Contestant | None, str]:
    try:
        from cupy import cublas
    except ImportError as error:
        return None, f"CuPy cannot load cuBLAS ({error})"

    def launch(pair: Pair) -> None:
        # cuBLAS thinks in columns: the row-major output, seen as its transpose, receives 1 * input + 0 * output
        out = pair.target.reshape(shape.cols, shape.rows).T
        cublas.geam("N", "N", 1.0, pair.source, 0.0, out, out=out)

    return Contestant("cuBLAS geam", launch, peer=True), ""


def _cupy_copy(pair: Pair, shape: Shape) -> None:
    cupy().copyto(pair.target.reshape(shape.cols, shape.rows), pair.source.T)


def _torch(shape: Shape) -> tuple[Contestant | None, str]:
    try:
        torch: Any = importlib.import_module("torch")
    except (ImportError, OSError) as error:
        return None, f"does not load ({str(error).splitlines()[0]})"
    if not torch.cuda.is_available():
        return None, "this build has no CUDA"
    views: dict[int, tuple[Any, Any]] = {}

    def launch(pair: Pair) -> None:
        key = pair.target.data.ptr
        if key not in views:  # wrapping an array costs more than the launch
            out = torch.as_tensor(pair.target, device="cuda").view(shape.cols, shape.rows)
            views[key] = (out, torch.as_tensor(pair.source, device="cuda").t())
        out, source = views[key]
        out.copy_(source)

    return Contestant("PyTorch .t() copy", launch, peer=True), ""
