"""pytest plugin: assert what limits a kernel, how long it may take, how much of the bandwidth it must reach.

    @pytest.mark.triage(report="nightly.ncu-rep", kernel="transpose", limiter="dram-bandwidth", max_duration="40 us")
    def test_transpose():
        pass

The marker is checked before the test's body runs; a fault of the marker, its report or its command fails the test with
one line. The fixture ``triage_kernels`` gives the same kernels to code, and profiles programs. Without ``ncu`` or a GPU
tests that profile are skipped with the reason, unless ``--triage-strict``.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from triage.testing.faults import CAUSED, line, said
from triage.testing.kernels import Kernels, KernelUnderTest
from triage.testing.marker import KNOWN, read, source
from triage.testing.session import Session

__all__ = ["KernelUnderTest", "Kernels", "triage_kernels"]

_MARK = (
    "triage(report=None, command=None, kernel=None, limiter=None, max_duration=None, min_effective_bandwidth=None, "
    "ideal_bytes=None): assert what limits a CUDA kernel, from a report or by profiling a command"
)
_SESSION: pytest.StashKey[Session] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--triage-strict``: what cannot be profiled fails instead of being skipped."""
    group = parser.getgroup("triage")
    group.addoption(
        "--triage-strict", action="store_true", help="fail, not skip, where ncu or a GPU is missing for profiling"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    config.addinivalue_line("markers", _MARK)
    config.stash[_SESSION] = Session(config.rootpath, bool(config.getoption("--triage-strict")))


@pytest.fixture
def triage_kernels(request: pytest.FixtureRequest, tmp_path: Path) -> Kernels:
    """The kernels of the report that the test's ``triage`` marker names; ``load`` and ``profile`` get others."""

    session, folder = request.config.stash[_SESSION], request.path.parent

    def first(kernels: Kernels) -> Kernels:
        named = source(map(read, request.node.iter_markers("triage")))
        return named.kernels(kernels) if named is not None else Kernels(session, folder, tmp_path)

    # Read when it is needed: the hook below does so before the test's body, where a fault fails the test in one line.
    return Kernels(session, folder, tmp_path, first)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuse a marker with a misspelt key at once, and give marked tests the fixture."""
    for item in items:
        markers = list(item.iter_markers("triage"))
        for marker in markers:
            unknown = [key for key in marker.kwargs if key not in KNOWN]
            if unknown or marker.args:
                what = f"unknown {', '.join(unknown)}" if unknown else "arguments need their names"
                raise pytest.UsageError(line(f"{item.nodeid}: marker triage: {what}; known are {', '.join(KNOWN)}"))
        names = getattr(item, "fixturenames", None)
        if markers and names is not None and "triage_kernels" not in names:
            names.append("triage_kernels")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    """Check the markers before the test's own body runs."""
    marks = list(item.iter_markers("triage"))
    # Outside of an ``except`` a failure has no traceback of ours.
    if marks and (fault := _fault(marks, getattr(item, "funcargs", {}).get("triage_kernels"))):
        pytest.fail(fault, pytrace=False)


def _fault(marks: list[pytest.Mark], fixture: object) -> str:
    """What does not hold or cannot be asked, empty where all does."""
    if not isinstance(fixture, Kernels):
        return "marker triage: a test of this kind has no fixture triage_kernels (hint: mark a test function)"
    try:
        markers = [read(mark) for mark in marks]
        own = source(markers)
        for marker in markers:
            kernels = fixture if marker is own else marker.kernels(fixture)
            if marker.asked:
                kernels[marker.kernel].check(**marker.asked)
            elif marker.has_source:
                len(kernels)
    except (KeyError, IndexError):
        raise
    except (AssertionError, LookupError) as fault:
        return said(fault)
    except CAUSED as fault:
        return f"marker triage: {said(fault)}"
    return ""
