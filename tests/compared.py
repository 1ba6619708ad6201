"""Reports for the tests of comparison and gates: made by hand, or read from the bundled captures once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from triage.compare import Comparison, compare
from triage.compare.model import Collection, Snapshot, State
from triage.compare.snapshot import snapshot
from triage.model import Device, Kernel, Launch, LineFinding
from triage.rules import Rulebook, default_rulebook

DATA = Path(__file__).parent / "data"
PR_BASE, PR_HEAD = DATA / "readers_pr.ncu-rep", DATA / "compare_pr_head.ncu-rep"
REPEATS = DATA / "compare_repeats.csv"
H200 = Device(name="NVIDIA H200", cc="9.0", sms=132)
COLLECTED = Collection(ncu="2025.3.1", clocks="free", caches="flushed", replay="kernel")


@cache
def rules() -> Rulebook:
    """The default rules, loaded once."""
    return default_rulebook()


@cache
def captured(path: Path) -> Snapshot:
    """A capture as a snapshot, read once."""
    from triage import commands

    return snapshot(commands.diagnosed([path], rules(), command="triage"))


def state(
    name: str = "copy",
    durations: Sequence[float] = (100_000.0,),
    *,
    limiter: str | None = "dram-bandwidth",
    grid: tuple[int, int, int] | None = (1024, 1, 1),
    block: tuple[int, int, int] | None = (256, 1, 1),
    nvtx: tuple[str, ...] = (),
    facts: Mapping[str, float] | None = None,
    line: int | None = None,
    device: Device = H200,
    collection: Collection = COLLECTED,
    confidence: str = "high",
    near: tuple[str, ...] = (),
    function: str | None = None,
    index: int = 0,
) -> State:
    """One state with a family, a summary and, where ``line`` is given, a source line."""
    return State(
        kernel=Kernel(
            index=index,
            name=name,
            function=function or name.split("<")[0].split("(")[0],
            launch=Launch(grid=grid, block=block),
            device=device,
            nvtx=nvtx,
        ),
        collection=collection,
        durations=tuple(durations),
        launches=max(len(durations), 1),
        limiter=limiter,
        title=(limiter or "").replace("-", " "),
        family="memory" if limiter else None,
        confidence=confidence,  # type: ignore[arg-type]
        near=near,
        summary=f"{name} in one sentence.",
        limiters=((limiter, max(len(durations), 1)),),
        evidence=tuple(facts or ()),
        facts=dict(facts or {}),
        lines=(LineFinding(f"/build/src/{name}.cu", line, 90.0, "m", "a[i] = b[i];"),) if line else (),
    )


def side(*states: State, path: str = "report.ncu-rep", rules: tuple[str, str] = ("abc", "guide")) -> Snapshot:
    """A snapshot of these states."""
    first = states[0] if states else None
    return Snapshot(
        path,
        "report",
        tuple(states),
        first.kernel.device if first else H200,
        first.collection if first else COLLECTED,
        rules,
    )


def compared(base: Sequence[State], head: Sequence[State]) -> Comparison:
    """The comparison of two lists of states."""
    return compare(side(*base, path="base.ncu-rep"), side(*head, path="head.ncu-rep"), rules())
