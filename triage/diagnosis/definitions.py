"""What counters are to each other by their definition: the same thing counted twice, parts of a whole, quotients.

Held against some 260 kernels of an H200 and 48 of 19 other chips (compute capability 6.1 to 12.0, ncu 2019 to 2026).
Where a relation was exact in all of them the tolerance covers printed digits; where two counters come from different
passes it is at least twice the widest deviation seen.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from triage.diagnosis.relation import Metrics, Relation
from triage.model import Quantity

_ELAPSED, _ACTIVE = ".pct_of_peak_sustained_elapsed", ".pct_of_peak_sustained_active"
_CYCLES = ("sm__cycles_active.avg", "sm__cycles_elapsed.max")
# Numbers are printed with two decimals.
_DIGIT = 0.006
_SHARED = "l1tex__data_pipe_lsu_wavefronts_mem_shared"
_CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared"
_SECTORS, _REQUESTS = "lts__t_sectors_srcunit_tex", "lts__t_requests_srcunit_tex"
_L2, _L1 = "memory_l2_theoretical_sectors_global", "memory_l1_wavefronts_shared"
_MEMORY = f"gpu__compute_memory_throughput.avg{_ELAPSED}"
_L2_OPERATIONS = ("op_read", "op_write", "op_red", "op_atom_dot_alu", "op_atom_dot_cas")

# (one, other, share, slack): two names of one quantity, apart by at most that share of it and that much.
_SAME = (
    *((f"l1tex__cycles_active.{how}", f"sm__cycles_active.{how}", 0.01, 1.0) for how in ("avg", "max")),
    # An SM is active while one of its four partitions is.
    *((f"smsp__cycles_active.{how}", f"sm__cycles_active.{how}", 0.25, 2000.0) for how in ("avg", "max")),
    (f"sm__inst_executed_pipe_lsu.avg{_ELAPSED}", f"l1tex__lsuin_requests.avg{_ELAPSED}", 0.15, 1.0),
)  # fmt: skip

# (whole, parts, share, slack).
_SUMS: tuple[tuple[str, tuple[str, ...], float, float], ...] = (
    (_L2, (f"{_L2}_ideal", f"derived__{_L2}_excessive"), 0.01, 1000.0),
    (_L1, (f"{_L1}_ideal", f"derived__{_L1}_excessive"), 0.01, 64.0),
    *(
        (f"{what}.sum", tuple(f"{what}_{operation}.sum" for operation in _L2_OPERATIONS), 0.05, 1000.0)
        for what in (_SECTORS, _REQUESTS)
    ),
    (
        f"{_CONFLICTS}.sum",
        tuple(f"{_CONFLICTS}_op_{operation}.sum" for operation in ("ld", "st", "atom", "ldgsts")), 0.2, 10_000.0,
    ),
    (
        "dram__bytes.sum.per_second",
        ("dram__bytes_read.sum.per_second", "dram__bytes_write.sum.per_second"), 0.05, 2e10,
    ),
)  # fmt: skip

# (whole, parts): a roll-up of roll-ups is the larger one.
_LARGEST = (
    (
        _MEMORY,
        (
            f"gpu__compute_memory_access_throughput.avg{_ELAPSED}",
            f"gpu__compute_memory_request_throughput.avg{_ELAPSED}",
        ),
    ),
)

_OCCUPANCY, _THEORETICAL = f"sm__warps_active.avg{_ACTIVE}", "sm__maximum_warps_per_active_cycle_pct"
_MOST_WARPS = "sm__maximum_warps_avg_per_active_cycle"
_SMS = "device__attribute_multiprocessor_count"
_PER_INST = "smsp__thread_inst_executed"
# (name, numerators, denominators, factor, share): the name is the quotient, apart by at most that share of it.
_QUOTIENTS: tuple[tuple[str, tuple[str, ...], tuple[str, ...], float, float], ...] = (
    # A warp waits for its turn as long as it takes to issue one instruction of each active warp.
    (
        "smsp__average_warp_latency_per_inst_issued.ratio",
        ("smsp__warps_active.avg.per_cycle_active",), (f"smsp__issue_active.avg{_ACTIVE}",), 100.0, 0.15,
    ),
    (_OCCUPANCY, ("sm__warps_active.avg.per_cycle_active", _THEORETICAL), (_MOST_WARPS,), 1.0, 0.02),
    (_THEORETICAL, (_MOST_WARPS,), ("device__attribute_max_warps_per_multiprocessor",), 100.0, 0.02),
    (f"{_PER_INST}_per_inst_executed.ratio", ("thread_inst_executed",), ("inst_executed",), 1.0, 0.05),
    (f"{_PER_INST}_pred_on_per_inst_executed.ratio", ("thread_inst_executed_true",), ("inst_executed",), 1.0, 0.05),
    # Shared memory serves one wavefront a cycle and SM: 32 banks of four bytes since compute capability 5.0. The peak
    # is that of all SMs, also of a launch that was given some of them (a green context).
    (f"{_SHARED}.sum{_ELAPSED}", (f"{_SHARED}.sum",), (_SMS, "sm__cycles_elapsed.max"), 100.0, 0.1),
)  # fmt: skip

# (part, whole, factor, slack): a part is at most that often the whole.
_AT_MOST: tuple[tuple[str, str, float, float], ...] = (
    # A request of 32 lanes moves 32 sectors at most; the two are counted in different passes.
    *(
        (f"l1tex__t_sectors_pipe_lsu_mem_{path}.sum", f"l1tex__t_requests_pipe_lsu_mem_{path}.sum", 33.5, 1.0)
        for path in ("global_op_ld", "global_op_st", "local_op_ld", "local_op_st")
    ),
    # A request to L2 is for one to four sectors of a line.
    (f"{_REQUESTS}.sum", f"{_SECTORS}.sum", 1.05, 100.0),
    (f"{_SECTORS}.sum", f"{_REQUESTS}.sum", 4.8, 1000.0),
    (f"{_SECTORS}.sum", "lts__t_sectors.sum", 1.05, 100.0),
    *((f"{_REQUESTS}_{operation}.sum", f"{_REQUESTS}.sum", 1.05, 100.0) for operation in _L2_OPERATIONS),
    (f"{_L2}_ideal", _L2, 1.001, 1.0),
    (f"{_L1}_ideal", _L1, 1.001, 1.0),
    (f"{_CONFLICTS}.sum", f"{_SHARED}.sum", 1.1, 1.0),
    *((f"{_CONFLICTS}_op_{operation}.sum", f"{_CONFLICTS}.sum", 1.5, 10_000.0) for operation in ("ld", "st")),
    *((f"{_SHARED}_op_{operation}.sum", f"{_SHARED}.sum", 1.05, 100.0) for operation in ("ld", "st", "atom")),
    (f"{_SHARED}.sum{_ELAPSED}", f"l1tex__data_pipe_lsu_wavefronts.avg{_ELAPSED}", 1.05, 0.5),
    (_OCCUPANCY, _THEORETICAL, 1.1, 1.0),
    (f"gpu__dram_throughput.avg{_ELAPSED}", _MEMORY, 1.02, 1.0),
    (f"dram__cycles_active.avg{_ELAPSED}", f"gpu__dram_throughput.avg{_ELAPSED}", 1.02, 0.5),
    ("smsp__warps_eligible.avg.per_cycle_active", "smsp__warps_active.avg.per_cycle_active", 1.05, 1.0),
    (f"{_PER_INST}_pred_on_per_inst_executed.ratio", f"{_PER_INST}_per_inst_executed.ratio", 1.02, 0.1),
    # Some instructions are issued again; seen up to a tenth, in a kernel of microseconds nearly all.
    (f"sm__inst_executed.avg{_ELAPSED}", f"sm__inst_issued.avg{_ELAPSED}", 1.05, 0.5),
    (f"sm__inst_issued.avg{_ELAPSED}", f"sm__inst_executed.avg{_ELAPSED}", 2.0, 5.0),
    (f"sm__inst_issued.avg{_ELAPSED}", f"smsp__issue_active.avg{_ACTIVE}", 1.2, 1.0),
    ("sm__cycles_active.max", "sm__cycles_elapsed.max", 1.15, 2000.0),
)  # fmt: skip

# (parts, whole, factor, slack): the same of a sum of parts.
_SUM_AT_MOST: tuple[tuple[tuple[str, ...], str, float, float], ...] = (
    # A request needs a sector at least, however well it is coalesced; atomics add to the sectors alone.
    (tuple(f"l1tex__t_requests_pipe_lsu_mem_global_op_{op}.sum" for op in ("ld", "st")), f"{_L2}_ideal", 1.1, 1000.0),
    (tuple(f"l1tex__t_sectors_pipe_lsu_mem_global_op_{op}.sum" for op in ("ld", "st")), _L2, 1.1, 1000.0),
)  # fmt: skip

# Those that are there for these relations, whether a rule reads them or not.
WITNESSES = frozenset(
    {name for one, other, *_ in (*_SAME, *_AT_MOST) for name in (one, other)}
    | {name for whole, parts, *_ in _SUMS for name in (whole, *parts)}
    | {name for parts, whole, *_ in _SUM_AT_MOST for name in (whole, *parts)}
    | {name for whole, parts in _LARGEST for name in (whole, *parts)}
    | {name for name, above, below, *_ in _QUOTIENTS for name in (name, *above, *below)}
)


def rolled_up(names: Collection[str]) -> dict[str, str]:
    """The sum over all units beside each average among ``names`` whose share of the peak is the same number."""
    return {
        name: f"{base}.sum.{share}"
        for name in names
        for base, _, share in (name.partition(".avg."),)
        if share.startswith("pct_of_peak")
    }


@dataclass(frozen=True, slots=True)
class Definitions:
    """The definitions that can be checked among ``names``: the fixed ones, and those that every counter has of its
    own. ``sums`` pairs an average share of the peak with the sum's, ``shares`` the share of an SM's peak over all
    cycles with that over active cycles."""

    sums: tuple[tuple[str, str], ...]
    shares: tuple[tuple[str, str], ...]

    @classmethod
    def among(cls, names: Collection[str]) -> Definitions:
        # A roll-up may have another largest constituent over active cycles.
        counters = [name for name in names if name.startswith(("sm__", "idc__")) and "throughput" not in name]
        pairs = [(name, name.replace(_ELAPSED, _ACTIVE)) for name in counters if name.endswith(f".avg{_ELAPSED}")]
        return cls(tuple(sorted(rolled_up(names).items())), tuple(sorted(pair for pair in pairs if pair[1] in names)))

    def relations(self, metrics: Metrics) -> Iterator[Relation]:
        """Every definition whose counters were collected."""
        # Thousands of kernels are checked: what is said of a relation is put into words only where it fails.
        for average, total in self.sums:
            if (pair := _all(metrics, (average, total))) is not None:
                yield _equal((average, total), pair[0], pair[1], 0.005, 2 * _DIGIT)
        cycles = _all(metrics, _CYCLES)
        for elapsed, active in self.shares if cycles and cycles[1] else ():
            if (pair := _all(metrics, (elapsed, active))) is not None and cycles:
                yield _equal((elapsed, active, *_CYCLES), pair[0], pair[1] * cycles[0] / cycles[1], 0.1, 1.0)
        for one, other, share, slack in _SAME:
            if (pair := _all(metrics, (one, other))) is not None:
                yield _equal((one, other), pair[0], pair[1], share, slack)
        for whole, parts, share, slack in _SUMS:
            if (found := _all(metrics, (whole, *parts))) is not None:
                yield _equal((whole, *parts), found[0], sum(found[1:]), share, slack)
        for whole, parts in _LARGEST:
            if (found := _all(metrics, (whole, *parts))) is not None:
                yield _equal((whole, *parts), found[0], max(found[1:]), 0.02, 0.1)
        for name, above, below, factor, share in _QUOTIENTS:
            found = _all(metrics, (name, *above, *below))
            if found is None or not all(found[1 + len(above) :]):
                continue
            told = factor * math.prod(found[1 : 1 + len(above)]) / math.prod(found[1 + len(above) :])
            digits = sum(_DIGIT / abs(value) for value in found[1:] if value)
            yield _equal((name, *above, *below), found[0], told, share + digits, 2 * _DIGIT)
        for part, whole, factor, slack in _AT_MOST:
            if (pair := _all(metrics, (part, whole))) is not None:
                yield _bound((part, whole), pair[0], pair[1], factor, slack)
        for parts, whole, factor, slack in _SUM_AT_MOST:
            if (found := _all(metrics, (*parts, whole))) is not None:
                yield _bound((*parts, whole), sum(found[:-1]), found[-1], factor, slack)


def _all(metrics: Metrics, names: tuple[str, ...]) -> tuple[float, ...] | None:
    found = []
    for name in names:
        value = metrics.get(name)
        if not isinstance(value, Quantity):
            return None
        found.append(value.value)
    return tuple(found)


def _bound(names: tuple[str, ...], few: float, many: float, factor: float, slack: float) -> Relation:
    """A bound confirms none of its values; it only says that they cannot all be right."""
    if few <= many * factor + slack:
        return Relation(names, True, exact=False)
    return Relation(names, False, f"{' and '.join(names[:-1])} is {few:g}, {names[-1]} only {many:g}", exact=False)


def _equal(names: tuple[str, ...], value: float, told: float, share: float, slack: float) -> Relation:
    if abs(value - told) <= share * max(abs(value), abs(told)) + slack:
        return Relation(names, True)
    others = " and ".join(names[1:3]) + (" and others" if len(names) > 3 else "")
    return Relation(names, False, f"{names[0]} is {value:g} but {others} make {told:g}")
