"""Units as ncu spells them, converted to base units.

Base units are ``ns`` for a time that stands alone, ``s`` under a slash, ``byte``, ``hz``, ``%``, ``cycle``,
``inst``, ``sector`` and so on. Prefixes are powers of 1000, also for bytes (that is how ncu scales).
"""

from __future__ import annotations

from functools import lru_cache

_PREFIXES = {"": 1.0, "K": 1e3, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
_SCALED = {"byte": "byte", "bytes": "byte", "hz": "hz", "Hz": "hz"}
# Seconds per unit, every spelling from 2019 to 2026.
_SECONDS = {
    "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0,
    "nsecond": 1e-9, "usecond": 1e-6, "msecond": 1e-3, "second": 1.0,
    "nanosecond": 1e-9, "microsecond": 1e-6, "millisecond": 1e-3,
}  # fmt: skip
_PLURALS = {"sectors": "sector", "branches": "branch", "insts": "inst", "cycles": "cycle", "warps": "warp"}

_KNOWN: dict[str, tuple[float, str]] = {}
for _prefix, _power in _PREFIXES.items():
    for _name, _base in _SCALED.items():
        _KNOWN[_prefix + _name] = (_power, _base)
    for _name in ("inst", "sector", "cycle", "thread", "warp", "block", "request"):
        _KNOWN[_prefix + _name] = (_power, _name)
for _name, _base in _PLURALS.items():
    _KNOWN[_name] = (1.0, _base)


@lru_cache(maxsize=4096)
def to_base(unit: str) -> tuple[float, str]:
    """``(factor, base unit)`` such that ``value * factor`` is in the base unit; unknown spellings pass unchanged.

    >>> to_base("Gbyte/s"), to_base("us"), to_base("cycle/nsecond")
    ((1000000000.0, 'byte/s'), (1000.0, 'ns'), (1000000000.0, 'hz'))
    """
    unit = unit.strip()
    if unit in _SECONDS:
        return _exact(_SECONDS[unit] * 1e9), "ns"
    if "/" not in unit:
        return _KNOWN.get(unit, (1.0, unit))
    above, below = unit.split("/", 1)
    factor, numerator = (_exact(_SECONDS[above] * 1e9), "ns") if above in _SECONDS else _KNOWN.get(above, (1.0, above))
    if below in _SECONDS:
        factor, denominator = _exact(factor / _SECONDS[below]), "s"
    else:
        # ncu scales such a unit by its value alone: 5300 %/byte is printed as 5.3 %/Kbyte, so the prefix multiplies.
        power, denominator = _KNOWN.get(below, (1.0, below))
        factor *= power
    if (numerator, denominator) == ("cycle", "s"):
        return factor, "hz"
    return factor, f"{numerator}/{denominator}"


def _exact(power: float) -> float:
    """Powers of ten as floats that are exact, so that 1 ms is 1000000 ns and not 999999.9999."""
    return float(f"{power:.6g}")
