"""One command from start to end: open the GPU, get the kernels, check or measure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from triage import output
from triage.driver import bench as benches
from triage.driver import cubin as cubins
from triage.driver import nvcc, pages, peers, sources, variants
from triage.driver.bench import Bench, Row, Setup
from triage.driver.shapes import CHECK_SHAPES, Shape
from triage.driver.variants import Variant
from triage.errors import GateFailed, NcuFailed
from triage.paths import is_file

if TYPE_CHECKING:
    from triage.driver.gpu import Gpu

#: Where `build` puts its results and `run` and `bench` look for them.
BUILD_FOLDER = Path("build-kernels")

_PLACE = "choose another place"
_SWEPT = ("copy", "shared", "padded", "best")
_ENOUGH = 2**20  # elements from which on a planted race that goes unseen is a failure of the check


@dataclass(frozen=True, slots=True)
class Kernels:
    """A loaded module, a sentence that says where it came from, and whether it is a debug build."""

    module: Any
    origin: str
    debug: bool = False


def build(
    names: Sequence[str], architectures: Sequence[str], folder: Path, *, debug: bool = False
) -> tuple[nvcc.Job, ...]:
    """The compiler runs for the programs of these names.

    Raises UsageError for an unknown name or architecture, NcuFailed without nvcc, or without a GPU when no
    architecture is named.
    """
    chosen = sources.select(names, sources.programs())
    targets = [nvcc.architecture(a) for a in architectures if a != "native"] or [nvcc.local_architecture()]
    return nvcc.jobs(nvcc.find().path, chosen, targets, folder, debug=debug)


def load_kernels(gpu: Gpu, folder: Path, cubin: Path | None = None) -> Kernels:
    """The transposes for this GPU: the cubin that was named, else the one `build` made for this architecture unless its
    sources changed since, else compiled now by NVRTC."""
    source = sources.transposes() / "transpose.cu"
    built = cubin or nvcc.cubin_path(folder, gpu.info.cc.replace(".", ""))
    if cubin is None and not is_file(built):
        return Kernels(gpu.compile(source.read_text(encoding="utf-8")), "compiled now by NVRTC")
    if cubin is None and _changed_since(built, source.parent):
        origin = f"compiled now by NVRTC, as the sources are newer than {built}"
        return Kernels(gpu.compile(source.read_text(encoding="utf-8")), origin)
    if not is_file(built):
        raise NcuFailed(f"{built} does not exist", "build it with `triage kernels build`")
    found = cubins.inspect(built)
    return Kernels(gpu.load(built), str(built) + (" (debug build)" if found.debug else ""), found.debug)


def check(
    names: Sequence[str], dtypes: Sequence[str], shape: Shape | None, folder: Path = BUILD_FOLDER
) -> dict[str, dict[str, list[Row]]]:
    """Launch the chosen variants once for each element type and shape (``CHECK_SHAPES`` when none is given) and compare
    them with the reference. Returns ``[dtype][shape] -> rows``."""
    from triage.driver.gpu import Gpu

    chosen = variants.choose(names)
    gpu = Gpu()
    module = load_kernels(gpu, folder).module
    results: dict[str, dict[str, list[Row]]] = {}
    for dtype in dtypes:
        by_shape = results.setdefault(dtype, {})
        for one in (shape,) if shape else CHECK_SHAPES:
            gpu.prepare(one, dtype, 1)
            contestants = [gpu.contestant(module, v, one, dtype) for v in chosen]
            by_shape[str(one)] = [Row(c, gpu.mismatches(c)) for c in contestants]
    return results


def judge_check(results: dict[str, dict[str, list[Row]]], largest: int) -> None:
    """Raises GateFailed when a right variant was wrong, or when a planted fault went unseen although the ``largest``
    matrix (in elements) was big enough for its race to show."""
    rows = [row for by_shape in results.values() for found in by_shape.values() for row in found]
    broken = sorted({r.contestant.name for r in rows if r.contestant.right and r.wrong})
    if broken:
        raise GateFailed(f"wrong results from {', '.join(broken)}", "the table above says for which type and shape")
    seen = {r.contestant.name for r in rows if not r.contestant.right and r.wrong}
    missed = sorted({r.contestant.name for r in rows if not r.contestant.right} - seen)
    if missed and largest >= _ENOUGH:
        raise GateFailed(
            f"the check did not see the planted fault of {', '.join(missed)}", "this should not happen; report it"
        )


def measure(
    names: Sequence[str],
    setup: Setup,
    with_peers: bool = True,
    folder: Path = BUILD_FOLDER,
    cubin: Path | None = None,
) -> Bench:
    """Measure the chosen variants, and the peers, on one shape."""
    from triage.driver.gpu import Gpu

    chosen = variants.choose(names)
    gpu = Gpu()
    kernels = load_kernels(gpu, folder, cubin)
    setup = replace(setup, kernels=kernels.origin, debug_build=kernels.debug)
    return _contest(gpu, kernels.module, chosen, setup, with_peers)


def sweep(names: Sequence[str], setup: Setup) -> Bench:
    """Measure every tile and block that CUDA allows for these kinds (default: copy, shared, padded and best), fastest
    first. The kernels are compiled now."""
    from triage.driver.gpu import Gpu

    kinds = dict.fromkeys(v.kind for v in variants.choose(names) if v.right) if names else _SWEPT
    chosen = tuple(variants.sweep(kinds, setup.dtype))
    gpu = Gpu()
    module = gpu.compile(variants.module_source(chosen, [setup.dtype]))
    setup = replace(setup, kernels=f"{len(chosen)} tiles and blocks compiled now by NVRTC")
    result = _contest(gpu, module, chosen, setup, with_peers=False)
    return replace(result, rows=tuple(sorted(result.rows, key=_by_time)))


def save(result: Bench, roofs: Path | None, json_file: Path | None) -> None:
    """Write the roofs file and the measurement, where they are asked for. Raises UsageError for a bad place."""
    for path, text in ((roofs, result.roofs.as_json()), (json_file, pages.bench_json(result))):
        if path:
            output.folder(path.parent, _PLACE)
            output.write(path, text.rstrip("\n") + "\n", _PLACE)


def judge_bench(result: Bench) -> None:
    """Raises GateFailed when something that should be right was not."""
    if result.failures:
        raise GateFailed(
            f"wrong results from {', '.join(result.failures)}",
            "they were not timed; `triage kernels run` checks more shapes",
        )


def _contest(gpu: Gpu, module: Any, chosen: Iterable[Variant], setup: Setup, with_peers: bool) -> Bench:
    contestants = [gpu.contestant(module, v, setup.shape, setup.dtype) for v in chosen]
    others, absent = peers.available(setup.shape, setup.dtype) if with_peers else (peers.yardstick(), ())
    sets = benches.prepare(gpu, setup)
    gpu.warm_up(others[0])
    return benches.measure(gpu, setup, [*contestants, *others], sets, absent)


def _by_time(row: Row) -> float:
    return row.sample.median if row.sample else float("inf")


def _changed_since(built: Path, folder: Path) -> bool:
    made = built.stat().st_mtime
    return any(path.stat().st_mtime > made for path in folder.glob("transpose.cu*"))
