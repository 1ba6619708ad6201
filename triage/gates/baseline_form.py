"""What stands in a baseline: its first line, and the keys that it may have.

Files without ``count`` and ``end`` are those of earlier releases. Only keys that change what an older reader would make
of the others ask for another number in the first line.
"""

from __future__ import annotations

import re
from pathlib import Path

from triage.paths import read
from triage.readers.sniff import encoding
from triage.rules.kinds import Flag, Key, Many, Named, Number, Shape, Text
from triage.rules.shapes import FACT, FACT_ID, LIMITER_ID, TEXT

FORM = "1"
MAGIC = f"# triage baseline {FORM}"
_FIRST = re.compile(r"# triage baseline (\S{1,20})\s*")
_SUFFIXES = (".yaml", ".yml")
# Bytes within which the first line stands, whatever comments somebody put above it.
_OPENING = 8192
WHOLE = Number(0, "whole number")
# Sizes and counts beyond it are damage, and are not written as whole numbers.
LARGEST = 10**15

COUNT = Shape(
    "count",
    "'count'",
    {
        "kernels": Key(WHOLE, "How many kernels the file holds.", required=True),
        "facts": Key(WHOLE, "How many facts they have, all together.", required=True),
    },
)
LINE = Shape(
    "line",
    "an entry of 'lines'",
    {
        "file": Key(TEXT, "The source file, without its folder.", required=True),
        "line": Key(WHOLE, "The line.", required=True),
        "share": Key(Number(), "Its share of what the limiter is about, in percent.", required=True),
    },
)
KERNEL = Shape(
    "kernel",
    "a kernel",
    {
        "name": Key(TEXT, "Its name with the signature.", required=True),
        "function": Key(TEXT, "Its bare name."),
        "workload": Key(Text("workload", choices=("range", "graph", "cmdlist")), "What was profiled, unless a kernel."),
        "device": Key(TEXT, "The GPU, where it is not that of the header; '' for an unknown one."),
        "grid": Key(Many(WHOLE), "Blocks in x, y and z."),
        "block": Key(Many(WHOLE), "Threads in x, y and z."),
        "nvtx": Key(Many(TEXT), "The NVTX ranges around it."),
        "launches": Key(WHOLE, "How many launches it stands for; one unless said."),
        "durations_ns": Key(Many(Number()), "Durations of launches in ns, 15 at most."),
        "limiter": Key(
            Text("the id of a limiter or 'undecided'", pattern=LIMITER_ID),
            "The limiter, or 'undecided'.",
            required=True,
        ),
        "beside": Key(Named(Number(0), LIMITER_ID), "Other limiters of its launches, in percent of its time."),
        "family": Key(TEXT, "The family of the limiter."),
        "confidence": Key(Text("confidence", choices=("high", "medium", "low")), "How sure the verdict was."),
        "title": Key(TEXT, "The limiter in words."),
        "summary": Key(TEXT, "The verdict in a sentence."),
        "contributors": Key(Many(TEXT), "Limiters behind the one that is named."),
        "evidence": Key(Many(FACT), "The facts that the verdict rests on."),
        "lines": Key(Many(LINE), "Where in the source it shows."),
        "facts": Key(Named(Number(), FACT_ID), "Facts that a comparison looks at."),
    },
)
BASELINE = Shape(
    "baseline",
    "a baseline",
    {
        "gpu": Key(TEXT, "The name of the GPU."),
        "cc": Key(TEXT, "Its compute capability."),
        "sms": Key(WHOLE, "Its number of SMs."),
        "ncu": Key(TEXT, "The version of ncu."),
        "clocks": Key(Text("clocks", choices=("free", "controlled")), "Whether ncu held the clocks."),
        "caches": Key(Text("caches", choices=("flushed", "kept")), "Whether ncu emptied the caches."),
        "replay": Key(TEXT, "The replay mode."),
        "rules": Key(TEXT, "Which rules judged."),
        "profile": Key(TEXT, "Which cut-offs."),
        "count": Key(COUNT, "What the file holds when nothing of it is lost."),
        "kernels": Key(Many(KERNEL, least=1), "The kernels.", required=True),
        "end": Key(Flag(), "true: the last line, which a file lacks that was cut."),
    },
)


def form_of(path: Path) -> str | None:
    """The number in the first line of a baseline, ``''`` for a YAML file without that line, ``None`` for other files.

    A byte-order mark, UTF-16, blank lines and comments before it change nothing.
    """
    try:
        head = read(path, _OPENING)
    except OSError:
        return None
    for line in head.decode(encoding(head) or "ascii", "replace").lstrip("\ufeff").splitlines():
        if found := _FIRST.fullmatch(line):
            return found[1]
        if line.strip() and not line.startswith(("#", "---")):
            break
    return "" if path.suffix.lower() in _SUFFIXES else None
