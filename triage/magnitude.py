"""Which numbers can be of a kernel at all.

A damaged or made-up file holds numbers up to the ends of a float. In base units (ns, byte, byte/s, flop/s, counts) no
counter, duration or rate comes near the bounds here, and what is made of a few numbers within them, a product, a
quotient, a logarithm, stays a number.
"""

from __future__ import annotations

SMALLEST, LARGEST = 1e-30, 1e30


def plausible(value: float) -> bool:
    """Whether ``value`` is 0 or of a size that something measured can have, whatever its sign; NaN and infinity are
    not. Takes whole numbers that no float holds.

    >>> plausible(0), plausible(2.5e9), plausible(1e308), plausible(5e-324), plausible(10**400)
    (True, True, False, False, False)
    """
    return value == 0 or SMALLEST <= abs(value) <= LARGEST
