"""Warm-ups and shares: what the survey knows, carried into the report."""

from __future__ import annotations

from triage.model import Device, Diagnosis, Finding, Kernel, Launch, Profile, Report, RulebookId, Source
from triage.ncu import weights
from triage.ncu.selection import Selection, select
from triage.ncu.survey import Launch as Surveyed


def kernel(index: int, function: str, grid: int = 1) -> Kernel:
    return Kernel(index, function + "()", function, Launch((grid, 1, 1), (32, 1, 1)))


def surveyed(*launches: tuple[str, int, float]) -> Selection:
    made = select([Surveyed(name, (grid, 1, 1), (32, 1, 1), "1", ns) for name, grid, ns in launches], 100, 2)
    assert made is not None
    return made


def report(kernels: tuple[Kernel, ...]) -> Report:
    diagnosis = Diagnosis(None, "", None, "low", (), "")
    source = Source("x", "ncu-rep", None, Device(), len(kernels))
    findings = tuple(Finding(one, diagnosis, 0, 10.0, 100 / len(kernels)) for one in kernels)
    return Report(findings, (source,), RulebookId("", ""), "")


# Two instances of one template (same function, grid and block) and a kernel that runs once.
MIXED = surveyed(
    ("_Z4tileILi0EEvv", 1, 10), ("_Z4tileILi1EEvv", 1, 30), ("_Z4tileILi0EEvv", 1, 10), ("_Z4tileILi1EEvv", 1, 30),
    ("once", 1, 20),
)  # fmt: skip


def test_position_tells_template_instances_apart_and_warm_ups_go() -> None:
    kernels = tuple(kernel(index, name) for index, name in enumerate(["tile", "tile", "tile", "tile", "once"]))
    matched = weights.match(kernels, MIXED)
    kept = weights.without_warmups(Profile("x", "ncu-rep", kernels), matched)
    assert [one.index for one in kept.kernels] == [2, 3, 4]
    shared = weights.with_shares(report(kept.kernels), matched, MIXED.total_ns)
    assert [finding.share for finding in shared.findings] == [20.0, 60.0, 20.0]
    assert shared.surveyed


def test_several_results_of_a_shape_split_its_share() -> None:
    selection = surveyed(*[("f", 1, 10.0)] * 5, ("g", 1, 50.0))
    kernels = tuple(kernel(index, name) for index, name in enumerate(["f", "f", "f", "g"]))
    matched = weights.match(kernels, selection)
    kept = weights.without_warmups(Profile("x", "ncu-rep", kernels), matched).kernels
    shared = weights.with_shares(report(kept), matched, selection.total_ns)
    assert [finding.share for finding in shared.findings] == [25.0, 25.0, 50.0]


def test_a_program_that_did_not_repeat_itself_is_matched_where_that_is_safe() -> None:
    selection = surveyed(("f", 1, 10), ("f", 2, 30), ("g", 1, 60))
    kernels = (kernel(0, "g"), kernel(1, "f", 2))
    matched = weights.match(kernels, selection)
    assert [matched[index].shape.ns for index in (0, 1)] == [60, 30]


def test_what_cannot_be_told_apart_is_not_guessed() -> None:
    kernels = (kernel(0, "tile"), kernel(1, "once"), kernel(2, "tile"))
    matched = weights.match(kernels, MIXED)
    assert set(matched) == {1}
    before = report(kernels)
    assert weights.with_shares(before, matched, MIXED.total_ns) == before


def test_a_partial_report_is_matched_by_position() -> None:
    kernels = (kernel(0, "tile"), kernel(1, "tile"), kernel(2, "tile"))
    matched = weights.match(kernels, MIXED)
    assert [matched[index].shape.name for index in range(3)] == [
        "_Z4tileILi0EEvv",
        "_Z4tileILi1EEvv",
        "_Z4tileILi0EEvv",
    ]


def test_a_lone_warm_up_stays() -> None:
    kernels = (kernel(0, "tile"),)
    matched = weights.match(kernels, MIXED)
    assert weights.without_warmups(Profile("x", "ncu-rep", kernels), matched).kernels == kernels


def test_kernels_without_a_launch_stay_unmatched() -> None:
    assert weights.match((Kernel(0, "graph", "graph"),), MIXED) == {}


def test_names_with_namespaces_and_template_arguments() -> None:
    selection = surveyed(("_ZN2at6native4fillILi4EEEvv", 1, 10))
    assert 0 in weights.match((kernel(0, "fill"),), selection)
    assert 0 in weights.match((kernel(0, "at::native::fill<4>"),), selection)
