"""One set of reports, built by hand from :mod:`triage.model`, that every renderer has to cope with.

``ALL`` maps a name to a function that makes the report; the tests of each format run over all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from triage.model import (
    Bar,
    Bound,
    Check,
    Condition,
    Contributor,
    Device,
    Diagnosis,
    Evidence,
    Fact,
    Finding,
    Fix,
    Hint,
    Kernel,
    Launch,
    LineFinding,
    Quantity,
    Report,
    Roof,
    RulebookId,
    RuledOut,
    Source,
    Step,
    Verdict,
)

H200 = Device(name="NVIDIA H200", cc="9.0", sms=132, index="0")
RULEBOOK = RulebookId(digest="3f9a1c0b7d2e", profile="guide")
SEE = (("Nsight Compute Profiling Guide", "https://docs.nvidia.com/nsight-compute/ProfilingGuide/"),)
LAUNCH = Launch(grid=(128, 128, 1), block=(32, 8, 1), stream="7", context="1")

HOSTILE = {
    "script": '<script>alert("k")</script><img src=x onerror=alert(1)>',
    "pipe": "a|b||c<T | U>(int)",
    "newline": "first\nsecond\r\nthird\u2028fourth",
    "quotes": "it's \"quoted\" & <T, 'c'>",
    "backticks": "`one` ``two`` ```three```",
    "terminal": "\x1b[31mred\x1b[0m \x1b]0;title\x07bell\x08\x9b2J after",
    "bidi": "abc\u202edcba\u202c \u2066x\u2069 \u200bzero\u00adsoft",
    "surrogate": "half \ud800 pair",
    "long": "void gemm<" + "std::tuple<float, int>, " * 126 + ">(T)",
    "formula": '=HYPERLINK("http://example.invalid","x")',
    "plus": "+1+cmd|' /C calc'!A0",
    "at": "@channel #12 [link](javascript:alert(1)) ![x](y) *bold* _under_ ~~gone~~",
    "markup": "[bold red]rich[/bold red] {{ 7 * 7 }} {% raw %}",
    "comment": "--> <!-- ]]> </details></table></article>",
    "empty": "",
}
assert len(HOSTILE["long"]) >= 2895


def condition(
    fact: str, op: str, threshold: float, value: float | None, unit: str = "%", source: str = "NVIDIA guide"
) -> Condition:
    """One condition, judged here the way the rule engine judges it."""
    if value is None:
        verdict = Verdict.UNKNOWN
    else:
        holds = {
            "at_least": value >= threshold,
            "above": value > threshold,
            "below": value < threshold,
            "at_most": value <= threshold,
        }[op]
        verdict = Verdict.FIRES if holds else Verdict.CLEAR
    words = {"at_least": "at least", "above": "above", "below": "below", "at_most": "at most"}[op]
    label, limit = fact.replace("_pct", "").replace("_", " "), f"{threshold:g} {unit}".strip()
    text = {
        Verdict.FIRES: f"{label} {value} {unit} is {words} {limit}",
        Verdict.CLEAR: f"{label} {value} {unit} is not {words} {limit}",
        Verdict.UNKNOWN: f"{label} was not collected (asked for {words} {limit})",
    }[verdict]
    return Condition(fact, op, threshold, value, unit, verdict, text, source)


def steps(values: Mapping[str, float | None], named: str | None) -> tuple[Step, ...]:
    """A path of seven questions, walked over a few facts."""
    compute, memory = values.get("sm_pct"), values.get("memory_pct")
    conflicts = condition("shared_conflict_share", "above", 10, values.get("conflicts"))
    waste = condition("l2_waste_ratio", "above", 2, values.get("waste"), "", "calibration kernels")
    return (
        Step("trust", "Can the numbers be trusted?", Verdict.CLEAR, "Nothing contradicts itself."),
        Step(
            "fill",
            "Does the launch fill the GPU?",
            Verdict.CLEAR,
            "124 blocks for each SM.",
            (condition("waves_per_sm", "below", 1, 15.5, ""), condition("grid_over_sms", "below", 1, 124.1, "")),
            (
                Check(
                    "grid-too-small",
                    "Grid too small",
                    Verdict.CLEAR,
                    "ruled-out",
                    (condition("waves_per_sm", "below", 1, 15.5, ""),),
                ),
                Check(
                    "block-shape",
                    "Block shape",
                    Verdict.CLEAR,
                    "ruled-out",
                    (condition("block_lane_share", "below", 80, 100),),
                ),
            ),
        ),
        Step(
            "side",
            "Latency, compute or memory?",
            Verdict.FIRES if memory is not None else Verdict.UNKNOWN,
            "Memory is busy, compute is not." if memory is not None else "The busiest memory unit is not known.",
            (condition("memory_pct", "at_least", 60, memory), condition("sm_pct", "at_least", 60, compute)),
            missing=() if memory is not None else ("gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",),
        ),
        Step(
            "orchestration",
            "Is the time lost between kernels?",
            Verdict.UNKNOWN,
            "Needs range sampling; a kernel report cannot answer it.",
            covered=False,
        ),
        Step(
            "memory",
            "Which memory mechanism binds?",
            Verdict.FIRES if named else Verdict.UNKNOWN,
            "The LSU data stage is full of replays." if named else "Conflicts were not collected.",
            (condition("lsu_data_stage_pct", "at_least", 60, values.get("lsu")),),
            (
                Check(
                    "bank-conflicts",
                    "Shared-memory bank conflicts",
                    conflicts.verdict,
                    "named" if named == "bank-conflicts" else "unknown",
                    (conflicts,),
                    missing=("l1tex__data_bank_conflicts_pipe_lsu.sum",) if values.get("conflicts") is None else (),
                ),
                Check(
                    "uncoalesced-global",
                    "Uncoalesced global accesses",
                    waste.verdict,
                    "named" if named == "uncoalesced-global" else "ruled-out",
                    (waste,),
                ),
                Check(
                    "dram-bandwidth",
                    "DRAM bandwidth",
                    Verdict.CLEAR,
                    "ruled-out",
                    (condition("dram_pct", "at_least", 80, values.get("dram")),),
                ),
            ),
        ),
        Step("limit", "Is it near the hardware's limit?", Verdict.CLEAR, "No unit is within 80 % of its peak."),
    )


def facts(**values: tuple[float, str]) -> dict[str, Fact]:
    """Known facts from ``id=(value, unit)``."""
    return {
        name: Fact(name, Quantity(value, unit), "measured", low=value, high=value)
        for name, (value, unit) in values.items()
    }


PICTURE_FACTS = facts(
    arithmetic_intensity=(0.9, "flop/byte"),
    achieved_flops=(1.4e12, "flop/s"),
    ridge_point=(14.0, "flop/byte"),
    dram_peak_bytes_per_s=(4.8e12, "byte/s"),
    fp32_peak_flops=(6.69e13, "flop/s"),
    fp64_peak_flops=(3.35e13, "flop/s"),
    l1_bytes=(5.37e8, "byte"),
    l2_bytes=(2.68e8, "byte"),
    dram_read_bytes=(6.71e7, "byte"),
    dram_write_bytes=(6.6e7, "byte"),
    l1_hit_pct=(0.4, "%"),
    l2_hit_pct=(71.2, "%"),
    l1_pct=(84.2, "%"),
    l2_pct=(38.0, "%"),
    dram_pct=(28.1, "%"),
    waste_bytes=(1.1e8, "byte"),
    shared_wavefronts=(1.77e7, ""),
    shared_conflicts=(1.64e7, ""),
    shared_access_wavefronts=(1.73e7, ""),
    shared_ideal_wavefronts=(1.05e6, ""),
    shared_ld_wavefronts=(1.69e7, ""),
    shared_ld_conflicts=(1.63e7, ""),
    sm_frequency=(1.98e9, "hz"),
)

CONFLICTS = Diagnosis(
    limiter="bank-conflicts",
    title="Shared-memory bank conflicts",
    family="memory",
    confidence="high",
    confidence_why=("every fact stands 20 points and more from its threshold",),
    summary="94 % of the shared-memory wavefronts are replays and keep the LSU data stage 84.2 % busy.",
    because="Lanes of a warp that hit different words of one bank are served one after another.",
    evidence=(
        Evidence(
            "shared_conflict_share", 94.1, "%", "94.1 %", "share of the shared-memory wavefronts that are replays"
        ),
        Evidence("lsu_data_stage_pct", 84.2, "%", "84.2 %", "use of the LSU data stage"),
        Evidence("sectors_per_request_load", 4.0, "", "4.00", "sectors per request of global loads"),
        Evidence("waves_per_sm", 15.5, "", "15.5", "waves per SM"),
    ),
    steps=steps(
        {"sm_pct": 12.3, "memory_pct": 84.2, "lsu": 84.2, "conflicts": 94.1, "waste": 1.0, "dram": 28.1},
        "bank-conflicts",
    ),
    contributors=(
        Contributor(
            "low-occupancy",
            "Low occupancy",
            "latency",
            "Registers cap the resident warps at 62.5 %.",
            37.5,
            (Evidence("occupancy_theoretical", 62.5, "%", "62.5 %", "theoretical occupancy"),),
        ),
    ),
    ruled_out=(
        RuledOut(
            "uncoalesced-global",
            "Uncoalesced global accesses",
            "1.00 times the ideal L2 sectors, threshold 2.",
        ),
        RuledOut("dram-bandwidth", "DRAM bandwidth", "DRAM is 28.1 % busy, threshold 80 %."),
    ),
    fixes=(
        Fix("Pad the fastest dimension of the shared array by one element.", "small"),
        Fix("Swizzle the column index with the row.", "medium"),
    ),
    unless=("The conflicts sit behind a saturated DRAM: then they cost nothing yet.",),
    see=SEE,
    lines=(
        LineFinding(
            "/src/transpose.cu",
            31,
            96.4,
            "l1tex__data_bank_conflicts_pipe_lsu_mem_shared",
            "  out[y * n + x] = tile[threadIdx.x][threadIdx.y];",
            ("LDS R9, [R4]", "STG.E [R2.64], R9"),
        ),
        LineFinding("/src/transpose.cu", 27, 3.6, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared"),
    ),
    bound=Bound(2.18, "DRAM would be the next to bind, at 61 % of its peak now."),
    warnings=("The SM ran at 1.98 GHz; clocks were not locked.",),
    bars=(
        Bar(
            "sm",
            "Compute (SM)",
            12.3,
            (
                ("issue slots", 12.3),
                ("ALU pipe", 6.1),
                ("FMA pipe", 1.2),
                ("FP64 pipe", 0.0),
                ("tensor pipe", None),
            ),
            (60, 80),
        ),
        Bar(
            "memory",
            "Memory",
            84.2,
            (
                ("LSU data stage", 84.2),
                ("L1 tag stage", 21.0),
                ("L2 slices", 38.0),
                ("L2 to L1 fabric", 19.4),
                ("DRAM", 28.1),
            ),
            (60, 80),
        ),
    ),
    stalls=(("short_scoreboard", 48.2), ("mio_throttle", 31.0), ("long_scoreboard", 11.9), ("barrier", 4.4)),
    occupancy=(
        Evidence("occupancy_theoretical", 62.5, "%", "62.5 %", "theoretical occupancy"),
        Evidence("occupancy_achieved", 58.0, "%", "58.0 %", "achieved occupancy"),
        Evidence("occupancy_limit", "registers", "", "registers", "what caps it"),
    ),
    facts=PICTURE_FACTS,
)

UNCOALESCED = replace(
    CONFLICTS,
    limiter="uncoalesced-global",
    title="Uncoalesced global accesses",
    summary="Stores of a warp touch 32 rows: the L2 moves 8.00 times the sectors that the data needs.",
    fixes=(Fix("Stage the tile through shared memory, so that reads and writes both run along rows.", "medium"),),
    steps=steps(
        {"sm_pct": 9.0, "memory_pct": 88.0, "lsu": 41.0, "conflicts": 0.0, "waste": 8.0, "dram": 41.0},
        "uncoalesced-global",
    ),
    bound=Bound(6.7, "Up to what a copy of the same bytes takes."),
    lines=(LineFinding("/src/transpose.cu", 26, 88.0, "memory_l2_theoretical_sectors_global"),),
)
LATENCY = replace(
    CONFLICTS,
    limiter="memory-latency",
    title="Memory latency",
    family="latency",
    confidence="medium",
    confidence_why=("memory throughput is 4 points from its threshold", "atomics were not collected"),
    summary="Warps wait for global memory (long_scoreboard 94 % of the stalls) and too few bytes are in flight.",
    fixes=(Fix("Give each thread four independent loads before the first use.", "small"),),
    bound=Bound(1.45, "DRAM is at 55 % of its peak."),
    lines=(),
    stalls=(("long_scoreboard", 94.0), ("wait", 3.0)),
    warnings=(),
)
DRAM = replace(
    CONFLICTS,
    limiter="dram-bandwidth",
    title="DRAM bandwidth",
    summary="DRAM is 92.4 % busy and the bytes that it moves are used.",
    fixes=(Fix("Move fewer bytes: fuse with the kernel before, or use a narrower type.", "large"),),
    bound=Bound(1.08, "92.4 % of the attainable bandwidth is used."),
    contributors=(),
    lines=(),
)
FMA = replace(
    CONFLICTS,
    limiter="pipe-fma",
    title="FMA pipe",
    family="compute",
    summary="The FMA pipe is 91.0 % busy.",
    fixes=(Fix("Use the tensor cores, if the arithmetic is a matrix product.", "large"),),
    bound=None,
    lines=(),
    facts={
        **PICTURE_FACTS,
        **facts(arithmetic_intensity=(210.0, "flop/byte"), achieved_flops=(5.9e13, "flop/s")),
    },
)
GRID = replace(
    CONFLICTS,
    limiter="grid-too-small",
    title="A grid too small for the GPU",
    family="launch",
    confidence="low",
    confidence_why=("waves per SM is within 5 % of its threshold", "the kernel ran for 4.10 us"),
    summary="32 blocks for 132 SMs: three of four SMs have nothing to do.",
    fixes=(Fix("Give each block less work and launch more of them.", "small"),),
    experiment="Launch the same kernel with twice the blocks: if the time stays the same, the grid was the limit.",
    bound=Bound(None, "How the work splits over more blocks is not known."),
    warnings=("Shorter than 20 us: launching and draining take a large part of the time.",),
    lines=(),
    facts={},
)
NEAR = replace(
    FMA,
    limiter="near-limit",
    title="The hardware's limit",
    family="balance",
    summary="FMA pipe 84 %, DRAM 86 %: only another algorithm gets much further.",
)
UNDECIDED = Diagnosis(
    limiter=None,
    title="",
    family=None,
    confidence="low",
    confidence_why=("bank conflicts were not collected and can hide behind a full LSU data stage",),
    summary="The LSU data stage is 84.2 % busy; whether with replays or with useful work was not measured.",
    evidence=(
        Evidence("lsu_data_stage_pct", 84.2, "%", "84.2 %", "use of the LSU data stage"),
        Evidence("shared_conflict_share", None, "%", "", "share of the shared-memory wavefronts that are replays"),
    ),
    steps=steps({"sm_pct": 12.3, "memory_pct": 84.2, "lsu": 84.2, "waste": 1.0, "dram": None}, None),
    missing=(
        "l1tex__data_bank_conflicts_pipe_lsu.sum",
        "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
        "smsp__thread_inst_executed_per_inst_executed.ratio",
    ),
    collect=(
        "ncu --metrics l1tex__data_bank_conflicts_pipe_lsu.sum,l1tex__data_pipe_lsu_wavefronts_mem_shared.sum,"
        "smsp__thread_inst_executed_per_inst_executed.ratio -o again.ncu-rep ./transpose"
    ),
    bars=(Bar("memory", "Memory", 84.2, (("LSU data stage", 84.2), ("DRAM", None)), (60, 80)),),
)


def metrics(count: int, seed: int = 0) -> dict[str, Quantity | str]:
    """``count`` metrics with names as long as real ones; a few are the same for every kernel, one is text."""
    made: dict[str, Quantity | str] = {
        "launch__func_cache_config": "CachePreferNone",
        "launch__very_long_text": "unbroken" * 600,
        "group:memory__chart": ",".join(f"counter_{number}.sum" for number in range(600)),
    }
    units = ("%", "byte", "inst", "sector", "", "ns")
    for number in range(count - 3):
        name = f"l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit_{number:04}.sum.pct_of_peak_sustained_elapsed"
        value = 65536.0 if number % 3 == 0 else (number * 7919 + seed * 104729) % 1000003 / 7
        made[name] = Quantity(value, units[number % len(units)])
    return made


def finding(
    index: int,
    name: str,
    diagnosis: Diagnosis,
    duration_ns: float | None,
    *,
    launch: Launch = LAUNCH,
    count: int = 40,
    function: str | None = None,
) -> Finding:
    """One finding; its share is filled in by :func:`report`."""
    bare = name.removeprefix("void ").split("<")[0].split("(")[0] if function is None else function
    kernel = Kernel(index, name, bare, launch, H200, metrics(count, index))
    return Finding(kernel, diagnosis, 0, duration_ns)


def report(*findings: Finding, path: str = "transpose.ncu-rep", warnings: tuple[str, ...] = ()) -> Report:
    """A report of one file, with shares of the summed duration."""
    total = sum(each.duration_ns or 0.0 for each in findings)
    shared = tuple(
        replace(each, share=None if each.duration_ns is None else 100 * each.duration_ns / total) for each in findings
    )
    source = Source(path, "ncu-rep", "2025.3.1", H200, len(findings))
    return Report(shared, (source,), RULEBOOK, "0.1.0", f"triage report {path}", warnings)


def empty() -> Report:
    """No kernel at all."""
    return report(warnings=("The file holds no kernel.",))


def one() -> Report:
    """One kernel with a limiter."""
    return report(finding(0, "void t_shared<32, 8, 0, 1>(float *, const float *, int)", CONFLICTS, 91_648.0))


def few() -> Report:
    """The transposes: one kernel of each family and an undecided one."""
    made = report(
        finding(0, "void t_naive<32, 8>(float *, const float *, int)", UNCOALESCED, 285_400.0),
        finding(1, "void t_shared<32, 8, 0, 1>(float *, const float *, int)", CONFLICTS, 91_648.0),
        finding(2, "void t_shared<32, 8, 1, 1>(float *, const float *, int)", DRAM, 42_112.0),
        finding(3, "t_copy(float *, const float *, int)", LATENCY, 51_400.0),
        finding(4, "sgemm_tiled(float const *, float const *, float *, int)", FMA, 1_204_000.0),
        finding(5, "reduce_last(float *, int)", GRID, 4_100.0, launch=Launch((32, 1, 1), (128, 1, 1))),
        finding(6, "void stencil_mixed<4>(float *, int)", NEAR, 77_000.0),
        finding(7, "void mystery_kernel<float>(float *)", UNDECIDED, 130_000.0),
    )
    hints = (
        Hint("fuse", "t_shared and t_copy run one after the other: up to 134 MB less traffic.", (2, 3)),
        Hint("tensor-cores", "sgemm_tiled computes on the ordinary pipes.", (4,)),
    )
    roofs = (Roof(H200, 4.22e12, False, "88 % of the datasheet peak of HBM3e"),)
    return replace(made, hints=hints, roofs=roofs, glossary={"dram_pct": "DRAM interface, in percent of its peak."})


def many(count: int = 30, metric_count: int = 40) -> Report:
    """``count`` kernels of all families with different names, one in nine undecided."""
    kinds = (UNCOALESCED, CONFLICTS, DRAM, LATENCY, FMA, GRID, NEAR, UNDECIDED, CONFLICTS)
    return report(
        *(
            finding(
                index,
                f"void step_{index:03}<{index % 4}, float>(float *, int)",
                kinds[index % len(kinds)],
                2_000_000.0 / (index + 1),
                count=metric_count,
            )
            for index in range(count)
        ),
        path="application.ncu-rep",
    )


def repeated(launches: int = 12) -> Report:
    """Two kernels, each launched ``launches`` times with slightly different durations."""
    made = []
    for turn in range(launches):
        made.append(finding(2 * turn, "void t_shared<32, 8, 0, 1>(float *)", CONFLICTS, 90_000.0 + 1_000 * turn))
        made.append(finding(2 * turn + 1, "scale(float *, int)", DRAM, 20_000.0 + 10 * turn))
    return report(*made, path="repeats.ncu-rep")


def undecided() -> Report:
    """Only kernels that could not be decided, one of them without a duration."""
    return report(
        finding(0, "void mystery_kernel<float>(float *)", UNDECIDED, 130_000.0),
        finding(1, "other_kernel(int)", replace(UNDECIDED, missing=(), collect=""), None),
    )


def hostile() -> Report:
    """Names, and everything else that a program or a rule file names, that mean harm to some format."""
    made = []
    for index, (kind, name) in enumerate(HOSTILE.items()):
        diagnosis = replace(
            CONFLICTS,
            summary=f"Seen in {name[:200]}.",
            title=f"Conflicts {name[:60]}" if kind != "empty" else "Conflicts",
            fixes=(Fix(f"Rename {name[:200]}", "small"),),
            lines=(LineFinding(name[:300] or "x.cu", 3, 50.0, "m", text=name[:300], sass=(name[:100],)),),
            warnings=(f"About {name[:100]}",),
            see=(("javascript link", "javascript:alert(1)"), *SEE),
        )
        made.append(finding(index, name, diagnosis, 1000.0 * (index + 1), function=name))
    undecided_one = replace(UNDECIDED, collect=f"ncu --metrics 'x' {HOSTILE['script']} {HOSTILE['terminal']}")
    made.append(finding(len(made), HOSTILE["script"], undecided_one, 500.0))
    whole = report(*made, path="<b>re|port</b>\x1b[31m.ncu-rep", warnings=(f"Odd names: {HOSTILE['script']}",))
    hints = tuple(Hint("fuse", f"{name[:60]} and others run one after the other.", (0, 1)) for name in HOSTILE.values())
    roof = Roof(H200, 4.22e12, True, f"measured with {HOSTILE['script']}, {HOSTILE['terminal']}")
    return replace(whole, hints=hints, roofs=(roof,), glossary={"dram_pct": HOSTILE["script"]})


def partial() -> Report:
    """Kernels of which little is known: no launch, no time, no GPU, numbers that are not numbers."""
    bare = Diagnosis(None, "", None, "low", (), "Nothing that the path asks for was collected.")
    odd = replace(
        DRAM,
        evidence=(Evidence("dram_pct", float("nan"), "%", "n/a", "DRAM use"), Evidence("dram_pct", None, "", "", "")),
        bars=(Bar("sm", "Compute (SM)", None), Bar("memory", "Memory", 131.0, (("DRAM", float("inf")),), (60,))),
        facts={
            "unknown": Fact("unknown", None, "", missing=("dram__bytes.sum",)),
            "not_a_number": Fact("not_a_number", Quantity(float("nan"), "%")),
            **facts(dram_read_bytes=(6.71e7, "byte"), arithmetic_intensity=(0.0, "flop/byte")),
            **facts(achieved_flops=(0.0, "flop/s"), dram_peak_bytes_per_s=(4.8e12, "byte/s")),
        },
        bound=Bound(None, ""),
        stalls=(),
        occupancy=(),
    )
    return Report(
        (
            Finding(Kernel(0, "", "", metrics={"odd": Quantity(float("inf"), "")}), bare),
            Finding(Kernel(3, "range", "range", workload="range"), odd, duration_ns=float("nan")),
        ),
        (Source("table.csv", "csv-details", None, Device(), 2, ("83 metrics a kernel: much is not known.",)),),
        RulebookId("", ""),
        "0.1.0",
    )


ALL: Mapping[str, Callable[[], Report]] = {
    "empty": empty,
    "one": one,
    "few": few,
    "many": many,
    "repeated": repeated,
    "undecided": undecided,
    "hostile": hostile,
    "partial": partial,
}
