"""Programs of several processes: which rank this is, and whether the program is itself a launcher.

Two ways work. ``mpirun -n 4 triage profile ./app`` starts one profiler a rank, each with its own report, named by
rank; ``triage profile mpirun -n 4 ./app`` starts one profiler over all, with one report that names the process of
each kernel.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from triage.model import Finding, Report
from triage.numerals import whole

# (rank, size) as each launcher exports them. SLURM's are only meant inside a step: a batch script has them too.
_VARIABLES = (
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"),
    ("PMI_RANK", "PMI_SIZE"),
    ("PALS_RANKID", "PALS_SIZE"),
    ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"),
    ("RANK", "WORLD_SIZE"),
)
_MPI = frozenset(("mpirun", "mpiexec", "mpiexec.hydra", "orterun", "prterun", "srun", "jsrun", "aprun"))
# More than any machine runs: a longer number, as in the name `run_r20261130.csv`, is a date or a time.
MOST_RANKS = 9_999_999
LAUNCHERS = _MPI | {"torchrun", "accelerate", "deepspeed"}


@dataclass(frozen=True, slots=True)
class Rank:
    """This process's ``number`` (from 0) of ``size``."""

    number: int
    size: int

    @property
    def suffix(self) -> str:
        """What goes into file names: ``.rank0``."""
        return f".rank{self.number}"


def this_rank(env: Mapping[str, str]) -> Rank | None:
    """The rank that a launcher gave this process, ``None`` outside of one and for a single process."""
    for number, size in _VARIABLES:
        this, most = (whole(env.get(name, "").strip(), MOST_RANKS) for name in (number, size))
        if this is not None and most is not None and most > 1 and this < most:
            return Rank(this, most)
    return None


def is_launcher(program: Sequence[str]) -> bool:
    """Whether the program starts further processes as ranks (``torchrun``, ``python -m torch.distributed.run``)."""
    return Path(program[0]).name in LAUNCHERS or any(word.startswith("torch.distributed.") for word in program[1:3])


def finished(base: Path, rank: Rank) -> list[Path]:
    """Note that this rank's report ``base.rankN.ncu-rep`` is complete. The rank that finds all of them complete gets
    the list of reports, in the order of ranks, and only that one; the others get an empty list."""
    marks = [base.with_name(f"{base.name}.rank{number}.done") for number in range(rank.size)]
    marks[rank.number].touch()
    if not all(mark.exists() for mark in marks):
        return []
    try:
        # Renaming succeeds for one process only.
        marks[0].rename(base.with_name(f"{base.name}.ranks.claimed"))
    except OSError:
        return []
    for mark in (*marks[1:], base.with_name(f"{base.name}.ranks.claimed")):
        mark.unlink(missing_ok=True)
    reports = [base.with_name(f"{base.name}.rank{number}.ncu-rep") for number in range(rank.size)]
    return [report for report in reports if report.exists()]


def merge(reports: Sequence[Report]) -> Report:
    """One report over several, each with its own sources; shares count the profiled time of all, what kernels show
    together is said of all, and the rank that is unlike the others is named."""
    from triage.diagnosis.devices import across
    from triage.diagnosis.hints import hints
    from triage.diagnosis.roofs import attainable

    total = sum(finding.duration_ns or 0.0 for report in reports for finding in report.findings)
    findings: list[Finding] = []
    offset = 0
    for report in reports:
        for finding in report.findings:
            share = 100 * finding.duration_ns / total if finding.duration_ns is not None and total else None
            findings.append(replace(finding, source=finding.source + offset, share=share))
        offset += len(report.sources)
    warnings = tuple(dict.fromkeys(warning for report in reports for warning in report.warnings))
    made = replace(
        reports[0],
        findings=tuple(findings),
        sources=tuple(source for report in reports for source in report.sources),
        warnings=warnings,
        hints=hints(findings),
        roofs=attainable(findings),
        surveyed=False,
    )
    return replace(made, warnings=tuple(dict.fromkeys((*warnings, *across(made)))))
