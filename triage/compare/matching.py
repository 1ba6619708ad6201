"""Which kernel of the head is which kernel of the base: by name, launch shape, NVTX range and order."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from difflib import SequenceMatcher
from functools import lru_cache

from triage.compare.model import Match, State

# Bare names that share this much are taken for one kernel renamed, where shape and neighbours agree as well.
_ALIKE = 0.6
# Work that agrees to this is the same work under another name.
_SAME_WORK = 0.01
# Beyond so many candidate pairs a guess is worth less than its time.
_MOST_CANDIDATES = 20_000
_WORK = ("instructions", "ideal_sectors", "fp32_flops")

# ncu's command line writes template arguments as casts, its Python module does not.
_CAST = re.compile(r"\((?:unsigned |signed )?(?:bool|char|short|int|long|long long|unsigned)\)(?=-?\d)")
_SPACE = re.compile(r" ?([*&,<>()]) ?")

Key = Callable[[State], Hashable]
Matched = tuple[Match, State | None, State | None]


def match(base: Sequence[State], head: Sequence[State]) -> list[Matched]:
    """Every state of both sides exactly once: the head's in its order, then what was removed in the base's order."""
    work = _Work(list(base), list(head))
    work.pairs_by("same", lambda s: (s.kernel.device.name, _name(s), _nvtx(s), s.kernel.launch.grid, _block(s)))
    work.pairs_by("same", lambda s: (_name(s), _nvtx(s), s.kernel.launch.grid, _block(s)))
    work.pairs_by("nvtx", lambda s: (_name(s), s.kernel.launch.grid, _block(s)))
    work.pairs_by("shape", lambda s: (_name(s), _nvtx(s), _block(s)))
    work.pairs_by("shape", lambda s: (_name(s), _nvtx(s)))
    work.pairs_by("shape", _name)
    work.same_function()
    work.renamed()
    return work.result()


def match_sizes(small: Sequence[State], large: Sequence[State]) -> list[Matched]:
    """As :func:`match`, for two sizes of one problem: launch shapes, work and with it every guess at a renamed kernel
    say nothing there, so only names, NVTX ranges and order count."""
    work = _Work(list(small), list(large))
    work.pairs_by("same", lambda s: (s.kernel.device.name, _name(s), _nvtx(s)))
    work.pairs_by("same", lambda s: (_name(s), _nvtx(s)))
    work.pairs_by("nvtx", _name)
    work.same_function()
    return work.result()


class _Work:
    """Matching in passes, strictest first; ``found`` maps a place in the head to (kind, place in the base)."""

    def __init__(self, base: list[State], head: list[State]) -> None:
        self.base, self.head = base, head
        self.found: dict[int, tuple[Match, int]] = {}
        self.taken: set[int] = set()

    def free(self) -> tuple[list[int], list[int]]:
        base = [place for place in range(len(self.base)) if place not in self.taken]
        head = [place for place in range(len(self.head)) if place not in self.found]
        return base, head

    def take(self, kind: Match, base: int, head: int) -> None:
        self.found[head] = (kind, base)
        self.taken.add(base)

    def pairs_by(self, kind: Match, key: Key) -> None:
        """Pair what is left and has the same key, in order of appearance."""
        base, head = self.free()
        waiting: dict[Hashable, list[int]] = {}
        for place in base:
            waiting.setdefault(key(self.base[place]), []).append(place)
        for place in head:
            candidates = waiting.get(key(self.head[place]))
            if candidates:
                self.take(kind, candidates.pop(0), place)

    def same_function(self) -> None:
        """Pair kernels whose template arguments or parameters changed: the bare name is the same, and unique."""
        base, head = self.free()
        old = Counter(self.base[place].kernel.function for place in base)
        new = Counter(self.head[place].kernel.function for place in head)
        places = {self.base[place].kernel.function: place for place in base}
        for place in head:
            name = self.head[place].kernel.function
            if old[name] == new[name] == 1:
                self.take("renamed", places[name], place)

    def renamed(self) -> None:
        """Pair kernels under another bare name: alike names first, then the same work at the same place between the
        same neighbours."""
        for accepts in (self._alike, self._same_place):
            base, head = self.free()
            if len(base) * len(head) > _MOST_CANDIDATES:
                return
            options = [(-_similarity(self.base[b], self.head[h]), b, h) for b in base for h in head if accepts(b, h)]
            for _, b, h in sorted(options):
                if b not in self.taken and h not in self.found:
                    self.take("renamed", b, h)

    def _alike(self, base: int, head: int) -> bool:
        old, new = self.base[base], self.head[head]
        launched = old.kernel.launch.grid == new.kernel.launch.grid or self._neighbours(base, head)
        return launched and not _other_work(old, new) and _similarity(old, new) >= _ALIKE

    def _same_place(self, base: int, head: int) -> bool:
        old, new = self.base[base], self.head[head]
        return old.launches == new.launches and self._neighbours(base, head) and _same_work(old, new)

    def _neighbours(self, base: int, head: int) -> bool:
        """Whether what comes before and after it is the same kernel on both sides."""
        before = (head == 0 and base == 0) or self._partners(base - 1, head - 1)
        last = head == len(self.head) - 1 and base == len(self.base) - 1
        return before and (last or self._partners(base + 1, head + 1))

    def _partners(self, base: int, head: int) -> bool:
        return head in self.found and self.found[head][1] == base

    def result(self) -> list[Matched]:
        made: list[Matched] = []
        for place, state in enumerate(self.head):
            if place in self.found:
                kind, old = self.found[place]
                made.append((kind, self.base[old], state))
            else:
                made.append(("added", None, state))
        made += [("removed", self.base[place], None) for place in range(len(self.base)) if place not in self.taken]
        return made


@lru_cache(maxsize=4096)
def canonical(name: str) -> str:
    """A kernel's name as every demangler would spell it: ``void f<(int)32>(float *)`` is ``f<32>(float*)``."""
    name = _CAST.sub("", name.strip().removeprefix("void "))
    return _SPACE.sub(r"\1", " ".join(name.split()))


def _name(state: State) -> str:
    return canonical(state.kernel.name)


def _nvtx(state: State) -> tuple[str, ...]:
    return state.kernel.nvtx


def _block(state: State) -> tuple[int, int, int] | None:
    return state.kernel.launch.block


def _similarity(old: State, new: State) -> float:
    return SequenceMatcher(None, old.kernel.function, new.kernel.function, autojunk=False).ratio()


def _ratios(old: State, new: State) -> list[float]:
    known = [fact for fact in _WORK if old.facts.get(fact) and new.facts.get(fact)]
    return [new.facts[fact] / old.facts[fact] for fact in known]


def _same_work(old: State, new: State) -> bool:
    ratios = _ratios(old, new)
    return bool(ratios) and all(abs(ratio - 1) <= _SAME_WORK for ratio in ratios)


def _other_work(old: State, new: State) -> bool:
    """Known to do work of another order: alike names are a coincidence then."""
    return any(not 0.1 <= ratio <= 10 for ratio in _ratios(old, new))
