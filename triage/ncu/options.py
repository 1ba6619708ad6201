"""What the user asked of ``triage profile``, as one frozen value."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

REPLAY_MODES = ("kernel", "application", "range", "app-range")
CLOCKS = ("none", "base", "boost", "force-boost", "reset")
CACHES = ("all", "none")
TARGETS = ("all", "application-only")


@dataclass(frozen=True, slots=True)
class Options:
    """The request. ``program`` is the command line to profile; ``share`` percent of kernel time that the selection
    covers; ``timeout`` bounds one run of the program and ``hang_timeout`` the silence inside one kernel, both in
    seconds, 0 for never.

    ``clock_control`` is ``none`` by default: the verdict is about the clocks the program really runs at, and locking
    needs a permission that containers and MIG slices lack. The price is a duration that varies with temperature and
    load; ``base`` trades realism for repeatable numbers.
    """

    program: tuple[str, ...]
    set: str = "triage"
    metrics: tuple[str, ...] = ()
    rules: tuple[Path, ...] = ()
    survey: bool | None = None
    share: float = 90.0
    launches_per_kernel: int = 2
    kernel: str | None = None
    all_kernels: bool = False
    nvtx_include: tuple[str, ...] = ()
    launch_skip: int | None = None
    launch_count: int | None = None
    profile_from_start: bool = True
    replay_mode: str = "kernel"
    target_processes: str = "all"
    clock_control: str = "none"
    cache_control: str = "all"
    import_source: bool = True
    output: Path = Path("triage-reports")
    formats: tuple[str, ...] = ("html",)
    timeout: float = 0.0
    hang_timeout: float = 300.0
    dry_run: bool = False
    quiet: bool = False

    @property
    def wants_survey(self) -> bool:
        """Whether a survey makes sense: not for ranges (there is no kernel to rank), and not when the user has picked
        launches by number."""
        if self.survey is not None:
            return self.survey
        return self.replay_mode in ("kernel", "application") and self.launch_skip is None and self.launch_count is None
