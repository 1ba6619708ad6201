"""How long the diagnosis of many kernels takes once their facts are there.

Usage: python benchmarks/diagnose.py [CAPTURE] [--kernels N] [--repeat R]

The kernels of the capture (tests/data/limiters_h200.csv by default) are repeated until there are N, each with counters
moved by up to two per cent, so that no value and no text is met twice. Four stages are timed apart: facts from
counters, the walk along the path alone, the diagnosis, and reading all of it: the walk in words and every fact, which
are made when somebody reads them. Prints one table; ends with 1 when the diagnosis misses its target.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from triage.commands import wanted_metrics
from triage.diagnosis.verdict import of_facts
from triage.facts import FactSet, of_kernel
from triage.model import Kernel, Quantity
from triage.readers import load
from triage.rules import default_rulebook
from triage.rules.walk import walk

CAPTURE = Path(__file__).resolve().parents[1] / "tests" / "data" / "limiters_h200.csv"
TARGET_S = 5.0


def moved(kernel: Kernel, wanted: frozenset[str], chance: random.Random) -> Kernel:
    """The kernel with its measured counters (not its launch) a little off."""
    metrics = {
        name: Quantity(value.value * chance.uniform(0.98, 1.0), value.unit)
        if isinstance(value, Quantity) and not name.startswith(("launch__", "device__"))
        else value
        for name, value in kernel.metrics.items()
        if name in wanted
    }
    return replace(kernel, metrics=metrics)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("capture", nargs="?", type=Path, default=CAPTURE)
    parser.add_argument("--kernels", type=int, default=10_000)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    rules = default_rulebook()
    chance = random.Random(8)
    wanted = wanted_metrics(rules)
    originals = load(options.capture, metrics=wanted).kernels
    kernels = [moved(originals[i % len(originals)], wanted, chance) for i in range(options.kernels)]

    best = {"facts": float("inf"), "walk": float("inf"), "diagnosis": float("inf"), "words": float("inf")}
    named = 0
    for _ in range(options.repeat):
        started = time.perf_counter()
        facts = [_all_facts(kernel) for kernel in kernels]
        best["facts"] = min(best["facts"], time.perf_counter() - started)
        started = time.perf_counter()
        for known in facts:
            walk(rules, known)
        best["walk"] = min(best["walk"], time.perf_counter() - started)
        facts = [_all_facts(kernel) for kernel in kernels]
        started = time.perf_counter()
        found = [of_facts(kernel, known, rules) for kernel, known in zip(kernels, facts, strict=True)]
        best["diagnosis"] = min(best["diagnosis"], time.perf_counter() - started)
        named = sum(diagnosis.limiter is not None for diagnosis in found)
        started = time.perf_counter()
        for diagnosis in found:
            len(diagnosis.steps)
            len(diagnosis.ruled_out)
            dict(diagnosis.facts)
        best["words"] = min(best["words"], time.perf_counter() - started)
        del found, facts

    print(f"{options.kernels:,} kernels from {options.capture.name}, {named:,} with a named limiter")
    print(f"{'stage':<38} {'seconds':>8} {'ms a kernel':>12}")
    rows = {
        "facts": f"counters to {len(rules.facts)} facts",
        "walk": "facts to verdict (walk)",
        "diagnosis": "facts to diagnosis",
        "words": "and every word of it, for all kernels",
    }
    for key, label in rows.items():
        print(f"{label:<38} {best[key]:>8.2f} {1e3 * best[key] / options.kernels:>12.3f}")
    print(f"target: diagnosis in at most {TARGET_S:g} s for 10,000 kernels once facts are there")
    raise SystemExit(0 if best["diagnosis"] <= TARGET_S * options.kernels / 10_000 else 1)


def _all_facts(kernel: Kernel) -> FactSet:
    facts = of_kernel(kernel, default_rulebook())
    for name in facts.rulebook.facts:
        facts.interval(name)
    return facts


if __name__ == "__main__":
    main()
