"""What a faster kernel does to the whole program (Amdahl's law)."""

from __future__ import annotations

import math

from triage.quantities import factor, percent


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


def sentence(share: float | None, speedup: float | None) -> str:
    """What the bound ``speedup`` of a kernel means for all kernel time of the report, of which it takes ``share``
    percent; empty where either is not known.

    >>> sentence(40.0, 2.0)
    'At 40.0 % of the kernel time that makes the whole at most 1.25x as fast.'
    """
    if share is None or speedup is None or not 0 <= share <= 100 or not speedup >= 1:
        return ""
    whole = factor(whole_program(share, speedup))
    return f"At {percent(share)} of the kernel time that makes the whole at most {whole} as fast."
