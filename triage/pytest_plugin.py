"""pytest plugin: assert what limits a kernel, how long it may take, how much of the bandwidth it must reach.

    @pytest.mark.triage(report="nightly.ncu-rep", kernel="transpose", limiter="dram-bandwidth", max_duration="40 us")
    def test_transpose():
        pass

The marker is checked before the test's body runs. The fixture ``triage_kernels`` gives the same kernels to code, and
profiles programs. Without ``ncu`` or a GPU tests that profile are skipped with the reason, unless ``--triage-strict``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from triage.compare.model import Snapshot, State
    from triage.rules.rulebook import Rulebook

_MARK = (
    "triage(report=None, command=None, kernel=None, limiter=None, max_duration=None, min_effective_bandwidth=None, "
    "ideal_bytes=None): assert what limits a CUDA kernel, from a report or by profiling a command"
)
_ASKED = ("limiter", "max_duration", "min_effective_bandwidth", "ideal_bytes")
_KNOWN = ("report", "command", "kernel", *_ASKED)


class KernelUnderTest:
    """One kernel of a report: all its launches of one shape."""

    def __init__(self, snapshot: Snapshot, state: State, rulebook: Rulebook) -> None:
        self._snapshot, self.state, self._rulebook = snapshot, state, rulebook

    @property
    def limiter(self) -> str | None:
        """What limits it, ``None`` where that is undecided."""
        return self.state.limiter

    @property
    def duration_ns(self) -> float | None:
        """The median duration of its launches in ns, ``None`` where it was not timed."""
        return self.state.median_ns

    def effective_bandwidth(self, ideal_bytes: float | None = None) -> float | None:
        """Bytes it needs over its duration in byte/s; ``None`` where one of them is not known."""
        from triage.gates import effective_bandwidth

        return effective_bandwidth(self.state, ideal_bytes)

    def check(
        self,
        *,
        limiter: str | Sequence[str] | None = None,
        max_duration: str | None = None,
        min_effective_bandwidth: str | None = None,
        ideal_bytes: str | float | None = None,
    ) -> None:
        """Assert what is given: the limiter (or one of several), at most ``40 us``, at least ``2.5 TB/s`` or ``80%`` of
        the DRAM's datasheet peak for ``ideal_bytes`` (those its accesses need, unless given). What was not measured
        fails, with the reason. Raises ``AssertionError`` with one line for each fault, ``ValueError`` for a value that
        is none."""
        from dataclasses import replace

        from triage.gates import check, values
        from triage.gates.model import Config, Gates

        asked = {"slower_than": None, "limiter_changed": "never", "spills": False}
        gates = Gates(
            **asked,  # type: ignore[arg-type] # the three values above are of the fields' types
            limiters=None if limiter is None else (limiter,) if isinstance(limiter, str) else tuple(limiter),
            max_duration=None if max_duration is None else values.duration(max_duration),
            min_effective_bandwidth=(
                None if min_effective_bandwidth is None else values.bandwidth(min_effective_bandwidth)
            ),
            ideal_bytes=None if ideal_bytes is None else values.size(ideal_bytes),
        )
        alone = replace(self._snapshot, states=(self.state,))
        bad = check(alone, None, Config(gates=gates, source="the test"), self._rulebook).violated
        if bad:
            raise AssertionError("\n".join(outcome.text for outcome in bad))

    def __repr__(self) -> str:
        return f"<KernelUnderTest {self.state.kernel.name!r}: {self.limiter or 'undecided'}>"


class Kernels:
    """The kernels of one report; empty until something is loaded or profiled."""

    def __init__(self, session: _Session, folder: Path, tmp: Path, snapshot: Snapshot | None = None) -> None:
        self._session, self._folder, self._tmp, self._snapshot = session, folder, tmp, snapshot

    def load(self, report: str | Path) -> Kernels:
        """The kernels of a report; a relative path is looked up beside the test, then in pytest's root folder."""
        path = Path(report)
        places = [path] if path.is_absolute() else [self._folder / path, self._session.root / path]
        found = next((place for place in places if place.is_file()), places[0])
        return Kernels(self._session, self._folder, self._tmp, self._session.read(found))

    def profile(self, *command: str | Path, kernel: str | None = None) -> Kernels:
        """The kernels of a program run under ``ncu``; ``kernel`` is a filter as ``ncu -k`` takes it."""
        path = self._session.profile(tuple(str(word) for word in command), self._tmp, kernel)
        return Kernels(self._session, self._folder, self._tmp, self._session.read(path))

    def __iter__(self) -> Iterator[KernelUnderTest]:
        for state in self._loaded().states:
            yield KernelUnderTest(self._loaded(), state, self._session.rulebook())

    def __len__(self) -> int:
        return len(self._loaded().states)

    def __getitem__(self, pattern: str | None) -> KernelUnderTest:
        """The one kernel whose bare or full name matches the glob. Raises ``LookupError`` for none or several."""
        from triage.choosing import matches

        found = [one for one in self if matches(one.state.kernel, pattern)]
        if len(found) == 1:
            return found[0]
        names = ", ".join(sorted({one.state.kernel.name[:80] for one in (found or self)})) or "none"
        what = f"{len(found)} kernels match" if found else "no kernel matches"
        raise LookupError(f"{what} {pattern or '*'!r} in {self._loaded().path}; kernels: {names}")

    def _loaded(self) -> Snapshot:
        if self._snapshot is None:
            raise LookupError("no report yet: use load(...), profile(...), or a triage marker with report=...")
        return self._snapshot


class _Session:
    """What one run of pytest shares: rules and reports are read once."""

    def __init__(self, root: Path, strict: bool) -> None:
        self.root, self.strict = root, strict
        self._reports: dict[tuple[Path, int, int], Snapshot] = {}
        self._rules: Rulebook | None = None

    def rulebook(self) -> Rulebook:
        if self._rules is None:
            from triage.team import rulebook_for

            self._rules = rulebook_for((), None, start=self.root)
        return self._rules

    def read(self, path: Path) -> Snapshot:
        from triage.compare.commands import read

        status = path.stat() if path.exists() else None
        key = (path, status.st_mtime_ns, status.st_size) if status else (path, 0, 0)
        if key not in self._reports:
            self._reports[key] = read(path, self.rulebook())
        return self._reports[key]

    def profile(self, command: tuple[str, ...], folder: Path, kernel: str | None) -> Path:
        """Run ``triage profile`` into ``folder``; the report it leaves."""
        import io

        from triage.errors import NcuFailed
        from triage.ncu.options import Options
        from triage.ncu.session import profile

        said = io.StringIO()
        options = Options(command, output=folder, kernel=kernel, formats=(), quiet=True)
        before = set(folder.glob("*.ncu-rep"))
        try:
            profile(options, os.environ, io.StringIO(), said)
        except NcuFailed as fault:
            if self.strict:
                raise
            pytest.skip(f"cannot profile here: {fault.message}")
        made = sorted(set(folder.glob("*.ncu-rep")) - before)
        if not made:
            raise LookupError(f"profiling {command[0]} left no report: {said.getvalue().strip()[-300:]}")
        return made[-1]


_SESSION: pytest.StashKey[_Session] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--triage-strict``: what cannot be profiled fails instead of being skipped."""
    group = parser.getgroup("triage")
    group.addoption(
        "--triage-strict", action="store_true", help="fail, not skip, where ncu or a GPU is missing for profiling"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    config.addinivalue_line("markers", _MARK)
    config.stash[_SESSION] = _Session(config.rootpath, bool(config.getoption("--triage-strict")))


@pytest.fixture
def triage_kernels(request: pytest.FixtureRequest, tmp_path: Path) -> Kernels:
    """The kernels of the report that the test's ``triage`` marker names; ``load`` and ``profile`` get others."""
    kernels = Kernels(request.config.stash[_SESSION], request.path.parent, tmp_path)
    marker = request.node.get_closest_marker("triage")
    if marker is None:
        return kernels
    report, command = marker.kwargs.get("report"), marker.kwargs.get("command")
    if report is not None:
        return kernels.load(report)
    return kernels if command is None else kernels.profile(*_words(command))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuse a marker with a misspelt key at once, and give marked tests the fixture."""
    for item in items:
        markers = list(item.iter_markers("triage"))
        for marker in markers:
            unknown = [key for key in marker.kwargs if key not in _KNOWN]
            if unknown or marker.args:
                what = f"unknown {', '.join(unknown)}" if unknown else "arguments need their names"
                raise pytest.UsageError(f"{item.nodeid}: marker triage: {what}; known are {', '.join(_KNOWN)}")
        names = getattr(item, "fixturenames", None)
        if markers and names is not None and "triage_kernels" not in names:
            names.append("triage_kernels")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    """Check the markers before the test's own body runs."""
    for marker in item.iter_markers("triage"):
        asked = {key: marker.kwargs[key] for key in _ASKED if key in marker.kwargs}
        if not asked:
            continue
        funcargs = getattr(item, "funcargs", {})
        kernels: Kernels = funcargs["triage_kernels"]
        if marker is not item.get_closest_marker("triage") and marker.kwargs.get("report"):
            kernels = kernels.load(marker.kwargs["report"])
        fault = _fault(kernels, marker.kwargs.get("kernel"), asked)
        if fault:
            pytest.fail(fault, pytrace=False)


def _fault(kernels: Kernels, pattern: str | None, asked: dict[str, Any]) -> str:
    """What does not hold, empty where all does: outside of an ``except`` the failure has no traceback of ours."""
    try:
        kernels[pattern].check(**asked)
    except (AssertionError, LookupError, ValueError) as fault:
        return str(fault.args[0]) if fault.args else repr(fault)
    return ""


def _words(command: object) -> list[str]:
    import shlex

    return shlex.split(command) if isinstance(command, str) else [str(word) for word in command]  # type: ignore[attr-defined]
