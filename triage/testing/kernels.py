"""Kernels under test: what limits them, how long they take, and assertions about both."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from triage import arguments
from triage.testing.faults import guarded, line, listed
from triage.testing.session import Session

if TYPE_CHECKING:
    from triage.compare.model import Snapshot, State
    from triage.gates.model import Gates
    from triage.rules.rulebook import Rulebook


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
        from triage.gates import effective_bandwidth, values

        __tracebackhide__ = True
        size = None if ideal_bytes is None else guarded(values.size, ideal_bytes)
        return effective_bandwidth(self.state, size)

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
        fails, with the reason. Raises ``AssertionError`` with one line for each fault, ``ValueError`` and ``TypeError``
        for a value that is none, an unknown limiter among them."""
        __tracebackhide__ = True
        gates = guarded(_gates, self._rulebook, limiter, max_duration, min_effective_bandwidth, ideal_bytes)
        guarded(self._check, gates)

    def _check(self, gates: Gates) -> None:
        from dataclasses import replace

        from triage.gates import check
        from triage.gates.model import Config

        alone = replace(self._snapshot, states=(self.state,))
        bad = check(alone, None, Config(gates=gates, source="the test"), self._rulebook).violated
        if bad:
            # No line begins with a name: a log of CI takes "::error ..." there for a command.
            raise AssertionError("\n".join(line(f"kernel {outcome.text}") for outcome in bad))

    def __repr__(self) -> str:
        return line(f"<KernelUnderTest {listed([self.state.kernel.name])!r}: {self.limiter or 'undecided'}>")


class Kernels:
    """The kernels of one report; none until something is loaded or profiled. ``source`` reads it when it is needed."""

    def __init__(
        self, session: Session, folder: Path, tmp: Path, source: Callable[[Kernels], Kernels] | None = None
    ) -> None:
        self._session, self._folder, self._tmp, self._source = session, folder, tmp, source
        self._snapshot: Snapshot | None = None

    def load(self, report: str | Path) -> Kernels:
        """The kernels of a report; a relative path is looked up beside the test, then in pytest's root folder."""
        __tracebackhide__ = True
        return guarded(self._load, report)

    def profile(self, *command: str | Path, kernel: str | None = None) -> Kernels:
        """The kernels of a program run under ``ncu``; ``kernel`` is a filter as ``ncu -k`` takes it."""
        __tracebackhide__ = True
        return guarded(self._profile, command, kernel)

    def __iter__(self) -> Iterator[KernelUnderTest]:
        __tracebackhide__ = True
        return iter(guarded(self._all))

    def __len__(self) -> int:
        __tracebackhide__ = True
        return len(guarded(self._loaded).states)

    def __getitem__(self, pattern: str | None) -> KernelUnderTest:
        """The one kernel whose bare or full name matches the glob. Raises ``LookupError`` for none or several."""
        __tracebackhide__ = True
        return guarded(self._one, pattern)

    def __repr__(self) -> str:
        return line(f"<Kernels of {self._snapshot.path if self._snapshot is not None else 'no report yet'}>")

    def _load(self, report: object) -> Kernels:
        from triage.paths import is_file

        path = arguments.path(report, "report")
        places = [path] if path.is_absolute() else [self._folder / path, self._session.root / path]
        return self._read(next((place for place in places if is_file(place)), places[0]))

    def _profile(self, command: Sequence[object], kernel: object) -> Kernels:
        words = arguments.words(command, "command")
        wanted = None if kernel is None else arguments.text(kernel, "kernel", "a filter as ncu -k takes it")
        return self._read(self._session.profile(words, self._tmp, wanted))

    def _read(self, path: Path) -> Kernels:
        made = Kernels(self._session, self._folder, self._tmp)
        made._snapshot = self._session.read(path)
        return made

    def _loaded(self) -> Snapshot:
        if self._snapshot is None and self._source is not None:
            self._snapshot = self._source(self)._loaded()
        if self._snapshot is None:
            raise LookupError("no report yet: use load(...), profile(...), or a triage marker with report=...")
        return self._snapshot

    def _all(self) -> list[KernelUnderTest]:
        snapshot, rulebook = self._loaded(), self._session.rulebook()
        return [KernelUnderTest(snapshot, state, rulebook) for state in snapshot.states]

    def _one(self, pattern: object) -> KernelUnderTest:
        from triage.choosing import matches

        asked = None if pattern is None else arguments.text(pattern, "kernel", "a pattern of names")
        kernels = self._all()
        found = [one for one in kernels if matches(one.state.kernel, asked)]
        if len(found) == 1:
            return found[0]
        names = listed(sorted({one.state.kernel.name for one in (found or kernels)}))
        what = f"{len(found)} kernels match" if found else "no kernel matches"
        raise LookupError(f"{what} {'*' if asked is None else asked!r} in {self._loaded().path}; kernels: {names}")


def _gates(
    rulebook: Rulebook,
    limiter: object,
    max_duration: object,
    min_effective_bandwidth: object,
    ideal_bytes: object,
) -> Gates:
    from triage.gates import values
    from triage.gates.model import Gates

    duration, bandwidth = values.positive(values.duration), values.positive(values.bandwidth)
    return Gates(
        slower_than=None,
        limiter_changed="never",
        spills=False,
        limiters=None if limiter is None else _limiters(rulebook, limiter),
        max_duration=None if max_duration is None else duration(max_duration),
        min_effective_bandwidth=None if min_effective_bandwidth is None else bandwidth(min_effective_bandwidth),
        ideal_bytes=None if ideal_bytes is None else values.size(ideal_bytes),
    )


def _limiters(rulebook: Rulebook, given: object) -> tuple[str, ...]:
    """The accepted answers; one that no rule can say would never come true, and is told as what it is: misspelt."""
    from triage.rules.checks import suggestion

    names = arguments.texts(given, "limiter", "the id of a limiter, or a list of them")
    known = [*rulebook.limiters, "undecided"]
    for name in names:
        if name not in known:
            raise ValueError(
                f"no limiter is called {name!r}{suggestion(name, known)} (hint: `triage rules list` names all)"
            )
    return names
