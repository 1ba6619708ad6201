"""Ranks: who am I, who is last, one report over all."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from triage.model import Device, Diagnosis, Finding, Hint, Kernel, Report, RulebookId, Source
from triage.ncu.ranks import Rank, finished, is_launcher, merge, this_rank


@pytest.mark.parametrize(
    ("env", "rank"),
    [
        ({"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "4"}, Rank(1, 4)),
        ({"PMI_RANK": "0", "PMI_SIZE": "2"}, Rank(0, 2)),
        ({"RANK": "3", "WORLD_SIZE": "8", "LOCAL_RANK": "3"}, Rank(3, 8)),
        ({"SLURM_PROCID": "1", "SLURM_STEP_NUM_TASKS": "2"}, Rank(1, 2)),
        ({"SLURM_PROCID": "0", "SLURM_NTASKS": "8"}, None),
        ({"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "1"}, None),
        ({"RANK": "zero", "WORLD_SIZE": "8"}, None),
        ({}, None),
    ],
)
def test_this_rank(env: dict[str, str], rank: Rank | None) -> None:
    assert this_rank(env) == rank


@pytest.mark.parametrize(
    ("program", "launches"),
    [
        (["mpirun", "-n", "2", "./a"], True),
        (["/usr/bin/torchrun", "t.py"], True),
        (["python3", "-m", "torch.distributed.run", "t.py"], True),
        (["python3", "train.py"], False),
        (["./mpirun_like"], False),
    ],
)
def test_launchers(program: list[str], launches: bool) -> None:
    assert is_launcher(program) is launches


def test_only_the_last_rank_gets_all_reports(tmp_path: Path) -> None:
    base = tmp_path / "app"
    for number in range(3):
        (tmp_path / f"app.rank{number}.ncu-rep").write_text("")
    assert finished(base, Rank(2, 3)) == []
    assert finished(base, Rank(0, 3)) == []
    last = finished(base, Rank(1, 3))
    assert [path.name for path in last] == ["app.rank0.ncu-rep", "app.rank1.ncu-rep", "app.rank2.ncu-rep"]
    assert not list(tmp_path.glob("*.done")) and not list(tmp_path.glob("*.claimed"))


def report(path: str, *durations: float) -> Report:
    diagnosis = Diagnosis(None, "", None, "low", (), "")
    findings = tuple(Finding(Kernel(index, "k", "k"), diagnosis, 0, ns, 100.0) for index, ns in enumerate(durations))
    return Report(
        findings, (Source(path, "ncu-rep", None, Device(), 1),), RulebookId("d", "p"), "1", warnings=("same",)
    )


def test_merge_numbers_sources_and_shares_anew() -> None:
    together = merge([report("r0", 30.0, 10.0), report("r1", 60.0)])
    assert [source.path for source in together.sources] == ["r0", "r1"]
    assert [(finding.source, finding.share) for finding in together.findings] == [(0, 30.0), (0, 10.0), (1, 60.0)]
    assert together.warnings == ("same",)


def test_merge_names_the_odd_rank_and_speaks_of_all_kernels() -> None:
    ranks = [report(f"/run/app.rank{number}.ncu-rep", 200e3 if number == 2 else 100e3) for number in range(4)]
    stale = (Hint("short-launches", "of the first rank only", (0,)),)
    together = merge([replace(ranks[0], surveyed=True, hints=stale), *ranks[1:]])
    assert together.warnings[0] == "same" and len(together.warnings) == 2
    assert together.warnings[1].startswith(
        "app.rank2.ncu-rep is the odd one out: k takes 200 us there and 100 us on the 3"
    )
    assert not together.surveyed and together.hints == ()
    short = merge([report(f"r{number}", 1e3, 2e3) for number in range(4)])
    assert any("8 of 8 launches run less than 5 us" in hint.text for hint in short.hints)
