"""What a faster kernel does to the whole program (Amdahl's law)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from triage.quantities import factor, percent

# Percent of the time from which a part is the whole, and the factor from which it does not read 1.00x.
_ALL = 99.995
_SEEN = 1.005


def whole_program(share: float, speedup: float) -> float:
    """The speed-up of the whole when a part that takes ``share`` percent of the time runs ``speedup`` times as fast.

    G. Amdahl, 1967: 1 / ((1 - f) + f / s) with f the share as a fraction. An infinite ``speedup`` gives the limit.
    Raises ValueError for a share outside 0 to 100 and for a speed-up that is not positive.

    >>> round(whole_program(50.0, 2.0), 3), round(whole_program(100.0, 3.0), 3)
    (1.333, 3.0)
    """
    if not 0 <= share <= 100:
        raise ValueError(f"a share of {share} % is no part of the time")
    if not speedup > 0:
        raise ValueError(f"{speedup} is no speed-up")
    left = 1 - share / 100 + (0.0 if math.isinf(speedup) else share / 100 / speedup)
    return math.inf if left == 0 else 1 / left


@dataclass(frozen=True, slots=True)
class Headroom:
    """What a faster part brings to the whole: ``share`` of the time that the part takes, ``saves`` of the time that
    goes at most (both percent of the whole), ``speedup`` the factor by which the whole gets faster at most."""

    share: float
    saves: float
    speedup: float


def headroom(share: float | None, speedup: float | None) -> Headroom | None:
    """What the bound ``speedup`` of a kernel with ``share`` percent of the time means for all of it; ``None`` where
    either is not known, or none.

    >>> headroom(40.0, 2.0)
    Headroom(share=40.0, saves=20.0, speedup=1.25)
    """
    # Shares are sums of quotients: all of them together may end a hair above 100.
    share = 100.0 if share is not None and 100 < share <= 100 * (1 + 1e-9) else share
    if share is None or speedup is None or not 0 <= share <= 100 or not 1 <= speedup < math.inf:
        return None
    return Headroom(share, share * (1 - 1 / speedup), whole_program(share, speedup))


def sentence(found: Headroom | None, *, surveyed: bool = False) -> str:
    """The headroom in words, of the time of the profiled kernels, or of all kernels of the program where it was
    ``surveyed``; empty where there is none, and where the profiled kernel is all there is, for then its own bound says
    it already.

    >>> sentence(headroom(40.0, 2.0))
    'That saves at most 20.0 % of the profiled kernel time (1.25x as fast in all, host time aside).'
    """
    if found is None or (not surveyed and found.share > _ALL):
        return ""
    of = "the program's kernel time" if surveyed else "the profiled kernel time"
    whole = f"{factor(found.speedup)} as fast in all, " if found.speedup >= _SEEN else ""
    return f"That saves at most {percent(found.saves)} of {of} ({whole}host time aside)."
