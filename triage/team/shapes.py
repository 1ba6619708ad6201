"""What may stand in ``triage.yaml``."""

from __future__ import annotations

from triage.rules.casefile import WALK_CASE
from triage.rules.kinds import Anything, Either, Key, Many, Named, Number, Shape, Text
from triage.rules.overrides import OVERRIDE
from triage.rules.shapes import CHIPS, COUNTERS, FACT_ID, FACTS, LIMITER_FILE, PROFILE, QUESTIONS, TEXT, THRESHOLDS

PATTERN = Text("a pattern: * for any characters, ? for one")
SIZES = Many(Either((Number(least=1), Text("any", choices=("*",)))), alone=True)
PACK = Shape(
    "pack",
    "a pack",
    {"package": Key(Text("an installed Python package"), "The package that holds rules/.", required=True)},
)
KERNEL = Shape(
    "kernel",
    "an entry of 'kernels'",
    {
        "match": Key(Many(PATTERN, alone=True), "Kernels by their bare or whole name."),
        "nvtx": Key(Many(PATTERN, alone=True), "Kernels by an NVTX range they ran in."),
        "grid": Key(SIZES, "Kernels by their grid: up to three numbers, '*' for any."),
        "block": Key(SIZES, "Kernels by their block: up to three numbers, '*' for any."),
        "cc": Key(CHIPS, "Only on these chips."),
        "expect": Key(Many(TEXT, alone=True), "The limiters that are accepted; 'undecided' may be among them."),
        "parameters": Key(Named(Number(), r"^[A-Za-z_][A-Za-z0-9_]*$"), "Numbers that 'ideal_bytes' uses."),
        "ideal_bytes": Key(
            Either((Text("arithmetic over numbers and parameters"), Number())),
            "The bytes that the kernel has to move at least.",
        ),
        "max_duration": Key(TEXT, "The longest it may take: 40 us, 1.2 ms."),
        "min_effective_bandwidth": Key(
            TEXT, "Ideal bytes over time: 2.5 TB/s, or 90% of the ceiling (without one, of the datasheet peak)."
        ),
        "ceiling": Key(TEXT, "The bandwidth that can be reached: 4.2 TB/s, or 'measured' for that of 'roofs'."),
    },
)
REPORT = Shape(
    "report",
    "'report'",
    {
        "format": Key(Text("format", choices=("html", "md", "json", "text")), "The format when none is asked for."),
        "output": Key(TEXT, "The file when none is named."),
        "source_map": Key(Many(TEXT, alone=True), "FROM=TO: where source lies that was compiled elsewhere."),
    },
)
TEAM = Shape(
    "triage",
    "triage.yaml",
    {
        "rules": Key(
            Many(Either((PACK, Text("a folder below this file"))), alone=True), "Rule packs, laid over one another."
        ),
        "profile": Key(TEXT, "The threshold profile: guide, playbook, or one of 'profiles'."),
        "profiles": Key(Named(PROFILE, FACT_ID), "The team's own sets of thresholds."),
        "thresholds": Key(THRESHOLDS, "More named thresholds."),
        "overrides": Key(Many(OVERRIDE), "Thresholds set otherwise: by threshold or fact, limiter, chip."),
        "facts": Key(FACTS, "The team's own facts."),
        "counters": COUNTERS,
        "limiters": Key(Many(LIMITER_FILE), "The team's own limiters."),
        "questions": Key(QUESTIONS, "More questions of the path, or more answers to those there are."),
        "retire": Key(Many(TEXT), "Limiters that are never said."),
        "tests": Key(Many(WALK_CASE, least=1), "Cases: facts, counters or a capture, and what is expected."),
        "kernels": Key(Many(KERNEL), "What the team expects of its kernels."),
        "roofs": Key(TEXT, "The file of measured roofs that `triage kernels bench` wrote."),
        "gates": Key(Anything("the gates of `triage check`"), "What `triage check` asks."),
        "report": Key(REPORT, "How reports are made when nothing else is asked for."),
    },
)
