"""The shipped rule files: their own tests, their completeness, and that a fault in any of them is noticed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from triage import resources
from triage.errors import FaultyRules
from triage.rules import default_rulebook, load_rulebook, needed
from triage.rules.cases import verdict
from triage.rules.rulebook import LimiterDef, RuleCase

RULES = default_rulebook()
CASES = [(limiter, case) for limiter in RULES.limiters.values() for case in limiter.tests]


@pytest.mark.parametrize(("limiter", "case"), CASES, ids=[f"{limiter.id}: {case.name}" for limiter, case in CASES])
def test_a_rule_says_what_its_case_expects(limiter: LimiterDef, case: RuleCase) -> None:
    assert verdict(RULES, limiter, case) == case.expect, case.place


@pytest.mark.parametrize("limiter", RULES.limiters.values(), ids=lambda limiter: limiter.id)
def test_a_rule_is_documented_and_its_thresholds_have_sources(limiter: LimiterDef) -> None:
    assert len(limiter.because) > 60
    assert limiter.fixes
    assert all(fix.effort in ("small", "medium", "large") for fix in limiter.fixes)
    assert limiter.see
    for node in (limiter.when, limiter.veto, limiter.contributes):
        for leaf in node.leaves() if node else ():
            assert leaf.threshold.source or leaf.threshold.value == 0, (leaf.fact, leaf.op)


def test_the_vocabulary_is_whole() -> None:
    launch = {"grid-too-small", "block-shape", "tail-wave", "imbalance"}
    latency = {
        "memory-latency", "low-occupancy", "shared-latency", "instruction-dependency", "barrier", "memory-fence",
        "sleep", "atomic-contention", "constant-cache", "instruction-cache", "host-memory",
    }  # fmt: skip
    memory = {
        "dram-bandwidth", "l2-bandwidth", "l1-wavefronts", "uncoalesced-global", "bank-conflicts", "local-memory",
    }  # fmt: skip
    compute = {"pipe-fma", "pipe-alu", "pipe-fp64", "pipe-fp16", "pipe-xu", "pipe-tensor", "issue-slots", "divergence"}
    families = {"launch": launch, "latency": latency, "memory": memory, "compute": compute, "balance": {"near-limit"}}
    for family, names in families.items():
        assert {limiter.id for limiter in RULES.limiters.values() if limiter.family == family} == names


def test_every_threshold_of_the_table_is_used_and_has_a_source() -> None:
    used: set[str] = set()
    for limiter in RULES.limiters.values():
        for node in (limiter.when, limiter.veto, limiter.contributes):
            used |= {leaf.threshold.name for leaf in node.leaves()} if node else set()
    for question in RULES.path:
        nodes = [question.gate, *(answer.only_when for answer in question.answers)]
        nodes += [node for answer in question.answers for rival in answer.blocked_by for node in rival.conditions]
        for node in nodes:
            used |= {leaf.threshold.name for leaf in node.leaves()} if node else set()
    for definition in RULES.facts.values():
        for alternative in definition.alternatives:
            used |= {leaf.threshold.name for leaf in alternative.when.leaves()} if alternative.when else set()
    assert set(RULES.thresholds) - used == set()
    assert all(len(threshold.source) > 20 for threshold in RULES.thresholds.values())


def test_the_plan_asks_for_constituents_and_samples_not_for_roll_ups_and_counted_stalls() -> None:
    metrics = {metric for need in needed(RULES) for group in need.alternatives for metric in group}
    assert "smsp__pcsamp_sample_count" in metrics
    assert "lts__xbar2lts_cycles_active.avg.pct_of_peak_sustained_elapsed" in metrics
    assert "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum" in metrics
    assert not {m for m in metrics if m.startswith(("sm__throughput", "gpu__compute_memory_throughput"))}
    assert not {m for m in metrics if "_per_issue_active.ratio" in m}


def test_a_rule_that_asks_for_a_new_counter_makes_the_plan_collect_it(tmp_path: Path) -> None:
    (tmp_path / "facts.yaml").write_text(
        "facts:\n  uniform_pct: {label: Uniform pipe, unit: '%', says: The uniform datapath., "
        "from: [sm__inst_executed_pipe_uniform.avg.pct_of_peak_sustained_elapsed]}\n",
        encoding="utf-8",
    )
    metrics = {m for need in needed(load_rulebook([tmp_path])) for group in need.alternatives for m in group}
    assert "sm__inst_executed_pipe_uniform.avg.pct_of_peak_sustained_elapsed" in metrics


def test_a_team_folder_replaces_a_threshold_and_changes_the_digest(tmp_path: Path) -> None:
    (tmp_path / "thresholds.yaml").write_text(
        "thresholds:\n  conflict_pct: {value: 99, source: our own measurements}\n", encoding="utf-8"
    )
    mine = load_rulebook([tmp_path])
    assert mine.thresholds["conflict_pct"].value == 99
    leaf = next(leaf for leaf in mine.limiters["bank-conflicts"].when.leaves() if leaf.fact == "shared_conflict_pct")
    assert (leaf.threshold.value, leaf.threshold.source) == (99, "our own measurements")
    assert mine.identity.digest != RULES.identity.digest


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    return Path(shutil.copytree(resources.folder("rules"), tmp_path / "rules"))


def faults(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    from triage.rules import loader

    monkeypatch.setattr(loader.resources, "folder", lambda name: folder)
    loader._load.cache_clear()
    try:
        loader.load_rulebook()
    except FaultyRules as error:
        return list(error.details)
    finally:
        loader._load.cache_clear()
    return []


@pytest.mark.parametrize("key", ["id", "title", "family", "status", "when", "strength", "evidence", "because", "fixes"])
@pytest.mark.parametrize("change", ["delete", "misspell"])
def test_a_key_deleted_or_misspelt_never_passes(
    copied: Path, monkeypatch: pytest.MonkeyPatch, key: str, change: str
) -> None:
    path = copied / "limiters" / "barrier.yaml"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    start = next(i for i, line in enumerate(lines) if line.startswith(f"{key}:"))
    end = next((i for i in range(start + 1, len(lines)) if not lines[i].startswith((" ", "-"))), len(lines))
    if change == "delete":
        del lines[start:end]
    else:
        lines[start] = lines[start].replace(key, f"{key}x", 1)
    path.write_text("".join(lines), encoding="utf-8")
    assert any("barrier.yaml" in fault for fault in faults(copied, monkeypatch))


def test_the_path_must_know_its_limiters_and_reach_all_of_them(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = copied / "path.yaml"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("      - block-shape\n", "      - block-shap\n"), encoding="utf-8")
    found = faults(copied, monkeypatch)
    assert any("no limiter is called 'block-shap' (did you mean 'block-shape'?)" in fault for fault in found)
    assert any("no question of the path may end in 'block-shape'" in fault for fault in found)


def test_a_deleted_limiter_file_is_noticed(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (copied / "limiters" / "uncoalesced-global.yaml").unlink()
    assert any("'uncoalesced-global'" in fault for fault in faults(copied, monkeypatch))


def test_a_fact_that_depends_on_itself_is_refused(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = copied / "facts.yaml"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("from: [grid_blocks / sm_count]", "from: [grid_blocks / waves]"), encoding="utf-8")
    text = path.read_text(encoding="utf-8")
    changed = text.replace("      - launch__waves_per_multiprocessor\n", "      - blocks_per_sm\n")
    assert changed != text
    path.write_text(changed, encoding="utf-8")
    assert any("depends on itself" in fault for fault in faults(copied, monkeypatch))
