"""What a measurement is worth, and when to stop: sentences made of numbers."""

from __future__ import annotations

from triage.driver.shapes import Shape
from triage.driver.statistics import Cache

#: Share of a device copy's rate from which on tuning a transpose is over.
STOP_AT = 0.90

_SHORTEST_US = 20.0
_NOISY = 0.10


def stop_rule(name: str, share_of_copy: float, moved_bytes: int, faster_peer: str | None = None) -> str:
    """The advice on going on with the fastest variant ``name``, which moves the minimum of bytes at ``share_of_copy``
    of the rate of a device copy. ``faster_peer`` is a library call that was at least as fast in the same run."""
    rate = (
        f"{name} moves the minimum of {moved_bytes / 1e6:,.1f} MB at {share_of_copy:.1%} of the rate of a device copy"
    )
    if share_of_copy >= STOP_AT:
        there = f"{faster_peer} already does it as fast: call that. " if faster_peer else ""
        return (
            f"Stop rule: {rate}. From {STOP_AT:.0%} on, stop tuning. {there}"
            "Before keeping a kernel of your own, ask whether a library (cuBLAS geam, PyTorch, CuPy) or a Triton "
            "kernel already does this, or whether the transpose can be fused into the kernel that uses it."
        )
    left = f"at most {1 / share_of_copy:.2f}x is left" if share_of_copy > 0 else "nothing was measured"
    peer = f" {faster_peer} is faster in this run." if faster_peer else ""
    return f"Stop rule: {rate}; {left}. From {STOP_AT:.0%} on, stop.{peer}"


def measurement_warnings(
    shape: Shape,
    *,
    copy_us: float,
    blocks: int,
    sms: int,
    cache: Cache,
    rotated: bool,
    debug_build: bool,
    noisy: tuple[str, ...] = (),
) -> tuple[str, ...]:
    """Everything that makes the numbers of one run doubtful, one sentence each.

    ``copy_us`` is the median time of the device copy, ``blocks`` the grid of the fastest variant, ``noisy`` the
    contestants whose spread is above 10 %.
    """
    found = []
    if debug_build:
        found.append(
            "This is a debug build (-G): the compiler optimised nothing, the times mean nothing. Rebuild without -G."
        )
    if copy_us < _SHORTEST_US:
        found.append(
            f"N is too small: a copy of {shape} takes {copy_us:.1f} us, where launching and ramping up weigh as much "
            f"as moving bytes. Shares mean something from about {_SHORTEST_US:.0f} us on."
        )
    if blocks < 2 * sms:
        found.append(f"N is too small: {blocks} blocks do not fill {sms} multiprocessors twice.")
    if cache != "not in cache" and not rotated:
        part = "All" if cache == "in L2" else "Part"
        found.append(
            f"{part} of the matrices stays in L2 between launches; --rotate takes turns with buffers larger than L2."
        )
    elif cache != "not in cache":
        found.append("The GPU's free memory holds too few buffers to keep the matrices out of L2.")
    if noisy:
        found.append(f"Times vary by more than {_NOISY:.0%} for {', '.join(noisy)}: something else may use this GPU.")
    return tuple(found)


def is_noisy(spread: float) -> bool:
    """Whether the distance of the 10th and 90th percentile over the median makes small differences meaningless."""
    return spread > _NOISY
