"""The words that every format of a comparison shares: the headline, what a duration, a limiter, a fact did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from triage import quantities
from triage.compare.model import Change, Comparison, FactMove, Pair, Snapshot, State, Timing
from triage.model import LineFinding
from triage.renderers import wording
from triage.renderers.escape import clean, shorten

CHANGES: dict[Change, str] = {"slower": "slower", "faster": "faster", "same": "no change", "unknown": "no verdict"}
HYPOTHESIS = (
    "The two sides ran on different GPUs: what differs is a hypothesis about the other GPU, not a change of the code."
)
_MATCHES = {
    "shape": "the launch shape changed",
    "nvtx": "the NVTX range changed",
    "renamed": "renamed",
    "added": "new",
    "removed": "removed",
}
_SAID = frozenset({"inst", "sector", "register/thread", "thread", "warp", "block"})
_CAUSES = 4
SPILLS = frozenset({"spill_requests", "local_sectors"})
# From this factor on a factor reads better than a percentage.
_FACTOR = 1.5


def headline(comparison: Comparison) -> str:
    """One sentence: what changed most, whose limiter moved, how much did not change; or why nothing can be said."""
    if not comparison.pairs:
        return "Neither side holds a kernel."
    if comparison.reasons:
        return f"No verdict, because the two sides cannot be compared: {'; '.join(comparison.reasons)}."
    changed = [pair for pair in ranked(comparison) if pair.change in ("slower", "faster")]
    rest = _rest([pair for pair in comparison.pairs if pair.change not in ("slower", "faster")])
    if not changed:
        return _sentence(rest) if rest else "Nothing changed."
    if len(changed) == 1:
        return _sentence([_story(changed[0]), *rest])
    counts = [
        f"{sum(pair.change == change for pair in changed):,} {word}"
        for change, word in (("slower", "slower"), ("faster", "faster"))
        if any(pair.change == change for pair in changed)
    ]
    most = f"the largest change: {_story(changed[0])}"
    return _sentence([f"{wording.count(len(changed), 'kernel')} changed ({', '.join(counts)})", most, *rest])


def ranked(comparison: Comparison) -> tuple[Pair, ...]:
    """What changed first, by time gained or lost; then limiters that moved, kernels of one side, those without a
    verdict, and last what did not change."""

    def rank(pair: Pair) -> tuple[int, float]:
        if pair.change in ("slower", "faster"):
            return 0, -abs(pair.delta_ns)
        if pair.limiter_moved and not pair.reasons:
            return 1, -abs(pair.delta_ns)
        if pair.base is None or pair.head is None:
            return 2, -abs(pair.delta_ns)
        return (3 if pair.change == "unknown" else 4), 0.0

    return tuple(sorted(comparison.pairs, key=rank))


class Names:
    """What kernels are called: by the bare name where no other pair shares it, else with template arguments."""

    def __init__(self, comparison: Comparison) -> None:
        self._shared = Counter(pair.shown.kernel.function for pair in comparison.pairs)

    def of(self, pair: Pair, limit: int = 100) -> str:
        """The name of a pair in at most ``limit`` characters."""
        kernel = pair.shown.kernel
        function = clean(kernel.function).strip()
        if function and self._shared[kernel.function] <= 1:
            return shorten(function, limit)
        return wording.label(kernel, limit)


def change(pair: Pair) -> str:
    """``8.08x as fast: 273 us to 33.8 us``, ``no change: ...``, ``new``, ``no verdict: ...``."""
    time = pair.time
    if time is None:
        alone = pair.shown.median_ns
        return f"{_MATCHES[pair.match]}: {'not timed' if alone is None else quantities.duration(alone)}"
    if time.base_ns is None or time.head_ns is None:
        return f"no verdict: {time.why}"
    times = f"{quantities.duration(time.base_ns)} to {quantities.duration(time.head_ns)}"
    return f"{amount(time)}: {times}"


def amount(time: Timing) -> str:
    """``8.08x as fast``, ``5.20 % slower``, ``no change``, ``no verdict``."""
    ratio = time.ratio
    if time.change not in ("slower", "faster") or ratio is None or ratio <= 0:
        return CHANGES[time.change]
    if ratio >= _FACTOR:
        return f"takes {quantities.factor(ratio)} the time"
    if ratio <= 1 / _FACTOR:
        return f"{quantities.factor(1 / ratio)} as fast"
    return f"{quantities.percent(100 * abs(ratio - 1))} {time.change}"


def signed(time: Timing | None) -> str:
    """The change in percent with its sign, as a table has it: ``+5.20 %``, ``-87.6 %``; empty where it is unknown."""
    if time is None or time.percent is None:
        return ""
    sign = "+" if time.percent > 0 else "-" if time.percent < 0 else ""
    return f"{sign}{quantities.percent(abs(time.percent))}"


def spread(state: State | None) -> str:
    """``5 launches, 261 us to 265 us``; empty for a single launch."""
    if state is None or state.launches == 1:
        return ""
    count = f"{state.launches:,} launches"
    if not state.durations:
        return count
    low, high = quantities.duration(min(state.durations)), quantities.duration(max(state.durations))
    return f"{count}, {low}" if low == high else f"{count}, {low} to {high}"


def time(state: State | None) -> str:
    """The median duration of a side, ``not timed``, or nothing where there is no such side."""
    if state is None:
        return ""
    return "not timed" if state.median_ns is None else quantities.duration(state.median_ns)


def limiter(state: State | None) -> str:
    """The limiter's id, ``undecided``, or nothing where there is no such side."""
    if state is None:
        return ""
    return clean(state.limiter) if state.limiter else wording.UNDECIDED


def limiters(pair: Pair) -> str:
    """``limiter moved from X to Y``, ``limiter still X``, and so on."""
    old, new = limiter(pair.base), limiter(pair.head)
    if pair.base is None or pair.head is None:
        return f"limiter {old or new}"
    if pair.limiter_moved:
        return f"limiter moved from {old} to {new}"
    if pair.limiter_between:
        return f"limiter between {old} and {new}, with low confidence on both sides"
    if old == new:
        return "limiter undecided on both sides" if pair.head.limiter is None else f"limiter still {new}"
    return f"limiter was {old}, now {new}"


def matched(pair: Pair) -> str:
    """How the two sides were matched where that was not plain: ``renamed from X``, ``the launch shape changed ...``."""
    if pair.match == "same" or pair.base is None or pair.head is None:
        return ""
    if pair.match == "renamed":
        old, new = (wording.label(state.kernel, 100) for state in (pair.base, pair.head))
        # The parameters are not part of a label.
        return f"renamed from {old if old != new else shorten(clean(pair.base.kernel.name), 100)}"
    if pair.match == "shape":
        return f"the launch shape changed from {wording.launch(pair.base.kernel)} to {wording.launch(pair.head.kernel)}"
    ranges = [" / ".join(clean(part) for part in state.kernel.nvtx) or "none" for state in (pair.base, pair.head)]
    return f"the NVTX range changed from {ranges[0]} to {ranges[1]}"


def lines(pair: Pair) -> tuple[tuple[str, LineFinding], ...]:
    """The line that held most of what limits, for the base (``was at``) and for the head (``at``)."""
    found = []
    if pair.base is not None and pair.base.lines:
        found.append(("base", pair.base.lines[0]))
    if pair.head is not None and pair.head.lines:
        found.append(("head", pair.head.lines[0]))
    return tuple(found)


def where(pair: Pair) -> str:
    """``was transpose_pr.cu:26 in the base; is ...``: the source lines of both sides."""
    parts = []
    for side, line in lines(pair):
        state = pair.base if side == "base" else pair.head
        what = f"{quantities.whole_percent(line.share)} of {limiter(state)}"
        parts.append(f"{wording.place(line)} ({what}, {side})")
    return "; ".join(parts)


def causes(pair: Pair) -> tuple[FactMove, ...]:
    """The few facts that moved and tell most: those that the verdicts rest on come first already."""
    return pair.moves[:_CAUSES]


def moved(move: FactMove, *, lower: bool = False) -> str:
    """``Sectors over ideal 4.50 to 1``."""
    label = wording.lowered(move.label) if lower else clean(move.label)
    return f"{label} {cell(move.base, move.unit)} to {cell(move.head, move.unit)}"


def value(number: float | None, unit: str) -> str:
    """A value with its unit; ``not known`` where it was not collected."""
    return "not known" if number is None else quantities.quantity(number, unit)


def cell(number: float | None, unit: str) -> str:
    """A value for a table whose first column already says what is counted: only what needs a unit has one."""
    return value(number, "" if unit in _SAID else unit)


def difference(move: FactMove) -> str:
    """How much a fact moved, for a table: ``+5.2 points``, ``x1.25``, ``0``."""
    if move.base is None or move.head is None:
        return ""
    delta = move.head - move.base
    if move.unit == "%":
        points = quantities.significant(abs(delta), 3 if abs(delta) >= 1 else 2)
        return "0" if delta == 0 else f"{'+' if delta > 0 else '-'}{points} points"
    if delta == 0:
        return "0"
    return f"x{quantities.significant(move.factor)}" if move.factor is not None else "from none"


def resources(pair: Pair) -> str:
    """Registers, spills, instructions and bytes in one line; what stayed at zero is not worth a word but for spills."""
    parts = []
    spills = [move for move in pair.resources if move.fact in SPILLS]
    if spills and all(move.base == move.head == 0 for move in spills):
        parts.append("no spills on either side")
    for move in pair.resources:
        if move in spills and move.base == move.head == 0:
            continue
        before, after = cell(move.base, move.unit), cell(move.head, move.unit)
        label = wording.lowered(move.label)
        parts.append(f"{label} {before}, unchanged" if move.base == move.head else f"{label} {before} to {after}")
    return "; ".join(parts)


def side(snapshot: Snapshot) -> str:
    """One line about a side: file, launches, GPU, ncu."""
    count = sum(state.launches for state in snapshot.states)
    version = f"ncu {clean(snapshot.collection.ncu)}" if snapshot.collection.ncu else "ncu version not recorded"
    kind = " (baseline)" if snapshot.kind == "baseline" else ""
    launches = f"{count:,} launch{'' if count == 1 else 'es'} of {wording.count(len(snapshot.states), 'kernel')}"
    return f"{clean(snapshot.path)}{kind}: {launches}, {wording.device(snapshot.device)}, {version}"


def warnings(comparison: Comparison) -> tuple[str, ...]:
    """What holds for the whole comparison: hypothesis, notes, warnings of either file."""
    found = [HYPOTHESIS] if any(pair.hypothesis for pair in comparison.pairs) else []
    found += comparison.notes
    both = [text for text in comparison.base.warnings if text in comparison.head.warnings]
    found += [f"both sides: {text}" for text in both]
    for word, one in (("base", comparison.base), ("head", comparison.head)):
        found += [f"{word}: {text}" for text in one.warnings if text not in both]
    return tuple(dict.fromkeys(found))


def sections(comparison: Comparison) -> tuple[tuple[Pair, ...], tuple[Pair, ...]]:
    """The pairs that deserve a section of their own, and those that need none, both in the order of rank."""
    pairs = ranked(comparison)
    return tuple(pair for pair in pairs if not _quiet(pair)), tuple(pair for pair in pairs if _quiet(pair))


def _quiet(pair: Pair) -> bool:
    """Comparable, within noise, the limiter the same, nothing else odd."""
    same = pair.change == "same" and pair.match == "same" and limiter(pair.base) == limiter(pair.head)
    return same and not pair.reasons and not pair.notes


def left_out(count: int) -> str:
    """That so many kernels are not shown, and the way to them; empty for none."""
    if count <= 0:
        return ""
    verb = "is" if count == 1 else "are"
    return (
        f"{wording.count(count, 'more kernel')} {verb} left out here: --kernel GLOB chooses kernels by name, "
        "-f json holds all."
    )


def capital(text: str) -> str:
    """A clause as a sentence's start."""
    return text[:1].upper() + text[1:]


def _story(pair: Pair) -> str:
    """``transpose is 8.08x as fast (273 us to 33.8 us) and its limiter moved from X (file:26) to Y``."""
    timing = pair.time
    label = shorten(clean(pair.shown.kernel.function) or wording.label(pair.shown.kernel), 80)
    if timing is None:
        return label
    amounts = amount(timing)
    verb = "" if amounts.startswith("takes") else "is "
    text = f"{label} {verb}{amounts} ({quantities.duration(timing.base_ns)} to {quantities.duration(timing.head_ns)})"
    if not pair.limiter_moved:
        return f"{text}, {limiters(pair)}"
    old, new = (_with_line(state) for state in (pair.base, pair.head))
    return f"{text} and its limiter moved from {old} to {new}"


def _with_line(state: State | None) -> str:
    place = f" ({wording.place(state.lines[0])})" if state is not None and state.lines else ""
    return f"{limiter(state)}{place}"


def _rest(left: Sequence[Pair]) -> list[str]:
    same = [pair for pair in left if pair.change == "same"]
    parts = []
    if same:
        if len(same) == 1:
            label = shorten(clean(same[0].shown.kernel.function) or wording.label(same[0].shown.kernel), 80)
            parts.append(f"{label} did not change")
        else:
            parts.append(f"{len(same):,} kernels did not change")
        shifted = sum(bool(pair.limiter_moved) for pair in same)
        if shifted:
            parts.append(f"the limiter of {shifted:,} of those moved all the same")
    for match, word in (("added", "new"), ("removed", "removed")):
        count = sum(pair.match == match for pair in left)
        if count:
            parts.append(f"{count:,} {'is' if count == 1 else 'are'} {word}")
    unknown = sum(pair.change == "unknown" and pair.base is not None and pair.head is not None for pair in left)
    if unknown:
        parts.append(f"{unknown:,} could not be judged")
    return parts


def _sentence(parts: Sequence[str]) -> str:
    return f"{'; '.join(parts)}."
