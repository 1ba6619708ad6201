"""triage.renderers.meanings: every metric that a fact uses has a sentence of ours."""

from __future__ import annotations

import pytest
import yaml

from triage import resources
from triage.diagnosis.glossary import glossary
from triage.renderers.meanings import meaning
from triage.rules import default_rulebook

SAID = glossary(default_rulebook())


def test_every_metric_of_every_fact_is_described() -> None:
    rules = default_rulebook()
    names = {
        name
        for definition in rules.facts.values()
        for formula in (*(way.formula for way in definition.alternatives), *definition.at_most, *definition.at_least)
        for name in formula.metrics
    }
    assert len(names) > 200
    assert sorted(name for name in names if not meaning(name, SAID)) == []
    assert set(rules.facts) <= set(SAID)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("dram_pct", "DRAM interface, in percent of its peak"),
        ("gpu__time_duration.sum", "Time the kernel ran, as the profiler measured it"),
        ("dram__bytes_read.sum.per_second", "Bytes read from DRAM, summed over all units, per second"),
        ("sm__cycles_active.max", "Cycles in which an SM had at least one warp, highest of the units"),
        (
            "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
            "32-byte sectors that global accesses touch in L1, operation ld, summed over all units",
        ),
        ("smsp__pcsamp_warps_issue_stalled_wait", "Warp-state samples that found the state wait"),
        ("sm__something_new.avg.of_a_later_version", "Streaming multiprocessor (SM), mean over the units"),
        ("unknown_thing", ""),
        ("", ""),
        ("..", ""),
    ],
)
def test_from_the_glossary_else_from_the_parts_of_the_name(name: str, said: str) -> None:
    assert meaning(name, SAID) == said


def test_the_words_are_one_line_each_without_a_full_stop() -> None:
    data = yaml.safe_load((resources.folder("rules") / "metrics.yaml").read_text(encoding="utf-8"))
    assert set(data) == {"units", "rollups", "rates", "counters"}
    for table in data.values():
        for name, text in table.items():
            assert text and "\n" not in text and not text.endswith("."), name
