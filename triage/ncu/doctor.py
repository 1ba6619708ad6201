"""``triage doctor``: what works on this machine, what does not, and the one command that helps."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, TextIO

from triage.errors import NcuFailed
from triage.ncu.chip import Chip, cached
from triage.ncu.find import ANSWER_S, Ncu, inspect, locate
from triage.ncu.machine import MOST_GPUS, Gpu, Machine
from triage.together import Together

# ok: works. note: worth knowing. missing: something optional is not there. bad: profiling does not work because of it.
State = Literal["ok", "note", "missing", "bad"]
# Seconds for all questions together; ncu lists the metrics of a GPU in four, and starts in one.
ALL_S = 9.0
# Seconds without a word.
_PATIENCE_S = 1.0
_KINDS = 8
_NOT_KNOWN = "not known"
_LONGEST_NAME, _LONGEST_CELL = 100, 1000
_MARKS: dict[State, str] = {"ok": "ok", "note": "note", "missing": "missing", "bad": "fails"}


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the table: ``what`` was looked at, its ``state``, what was ``found``, what ``helps``."""

    what: str
    state: State
    found: str
    helps: str = ""


def examine(machine: Machine, seconds: float = ALL_S, say: Callable[[str], None] | None = None) -> list[Check]:
    """Look at everything that profiling needs, in about ``seconds`` at most. Never raises for what it finds.

    ``say`` gets a word when that takes longer than a second, and an empty text when it is over.
    """
    with Together(machine.run, seconds) as together:
        asked = replace(machine, run=together)
        smi = together.start(asked.gpus)
        ncu = together.start(lambda: _ncu(asked))
        chip = together.start(lambda: _chip(asked, ncu.result()[0], bool(smi.result()[0]), together))
        nvcc = together.start(lambda: _nvcc(asked))
        if not together.done(_PATIENCE_S) and say is not None:
            say(f"asking nvidia-smi, ncu and nvcc, {seconds:g} s at most")
            together.done(None)
            say("")
        gpus, complaint = smi.result()
        return [
            _driver(machine, gpus),
            _gpu(gpus, complaint),
            ncu.result()[1],
            chip.result(),
            _counters(machine, bool(gpus) or machine.driver() is not None),
            _sandbox(machine),
            _wsl(machine),
            _mig(gpus),
            _lock(machine),
            nvcc.result(),
            _cupy(machine),
            _ncu_report(machine),
        ]


def works(checks: list[Check]) -> bool:
    """Whether profiling can work here."""
    return all(check.state != "bad" for check in checks)


def _driver(machine: Machine, gpus: list[Gpu]) -> Check:
    version = machine.driver() or (gpus[0].driver if gpus else None)
    if version:
        return Check("driver", "ok", f"NVIDIA driver {version}")
    return Check("driver", "bad", "no NVIDIA driver is loaded", "on a machine with a GPU: sudo modprobe nvidia")


def _gpu(gpus: list[Gpu], complaint: str) -> Check:
    if not gpus:
        return Check("GPU", "bad", complaint, "reading reports works without one: triage report FILE")
    names = _counted(gpus)
    if old := [gpu for gpu in gpus if float(gpu.cc) < 7.5]:
        return Check("GPU", "note", names, f"CC {old[0].cc} needs Nsight Compute 2025.2 or older")
    return Check("GPU", "ok", names)


def _counted(gpus: list[Gpu]) -> str:
    """``8 x NVIDIA H200 (CC 9.0)``: the GPUs by kind, in the order they are listed in."""
    kinds = Counter(f"{_short(gpu.name, _LONGEST_NAME)} (CC {gpu.cc})" for gpu in gpus[:MOST_GPUS])
    shown = [f"{count} x {kind}" if count > 1 else kind for kind, count in kinds.items()]
    more = [f"{len(shown) - _KINDS} more kinds"] if len(shown) > _KINDS else []
    more += [f"more than {MOST_GPUS} in all"] if len(gpus) > MOST_GPUS else []
    return ", ".join([*shown[:_KINDS], *more])


def _ncu(machine: Machine) -> tuple[Ncu | None, Check]:
    try:
        ncu = inspect(locate(machine.env, machine.root), machine.run)
    except NcuFailed as fault:
        return None, Check("ncu", "bad", fault.message, fault.hint)
    return ncu, Check("ncu", "ok", f"{ncu.version_text} at {ncu.path}")


def _chip(machine: Machine, ncu: Ncu | None, gpu: bool, together: Together) -> Check:
    if ncu is None or not gpu:
        return Check("ncu and this GPU", "missing", "cannot be tried without " + ("a GPU" if ncu else "ncu"))
    chip: Chip = cached(ncu, machine.env, machine.root, machine.run)
    if chip.warning and together.over:
        # The time was that for all questions: nothing is known about ncu.
        found = f"{_NOT_KNOWN}: ncu did not list this GPU's metrics in the {together.seconds:g} s for all questions"
        return Check("ncu and this GPU", "note", found, f"try: {ncu.path} --query-metrics")
    if chip.warning:
        return Check("ncu and this GPU", "bad", chip.warning, "install the newest Nsight Compute that fits the driver")
    return Check("ncu and this GPU", "ok", f"{_short(chip.device)}: {len(chip.metrics):,} metrics")


def _counters(machine: Machine, driver: bool) -> Check:
    admin_only = machine.admin_only()
    if not driver:
        return Check("counter permission", "missing", "no driver to ask")
    if admin_only is None:
        return Check("counter permission", "note", "the driver does not say", "try: triage profile ./program")
    if not admin_only:
        return Check("counter permission", "ok", "every user may read counters (RmProfilingAdminOnly 0)")
    if machine.privileged():
        return Check("counter permission", "ok", "kept for administrators (RmProfilingAdminOnly 1), and this is one")
    helps = (
        "start the container with --cap-add=SYS_ADMIN"
        if machine.sandbox()
        else "echo options nvidia NVreg_RestrictProfilingToAdminUsers=0 | sudo tee /etc/modprobe.d/ncu.conf; reboot"
    )
    return Check("counter permission", "bad", "kept for administrators (RmProfilingAdminOnly 1)", helps)


def _sandbox(machine: Machine) -> Check:
    kind = machine.sandbox()
    if kind == "gVisor":
        return Check("container", "bad", "gVisor hides the counters", "use a container runtime without gVisor, or a VM")
    if kind:
        return Check("container", "note", "this is a container", "if counters are refused: --cap-add=SYS_ADMIN")
    return Check("container", "ok", "none seen")


def _wsl(machine: Machine) -> Check:
    if machine.wsl():
        return Check(
            "WSL", "note", "counters are allowed on the Windows side", "NVIDIA Control Panel, Developer settings"
        )
    return Check("WSL", "ok", "no")


def _mig(gpus: list[Gpu]) -> Check:
    if any(gpu.mig for gpu in gpus):
        return Check("MIG", "note", "units shared with other slices cannot be measured", "keep --clock-control none")
    return Check("MIG", "ok", "off" if gpus else "no GPU")


def _lock(machine: Machine) -> Check:
    path, usable = machine.lock_file()
    if usable is False:
        return Check("lock file", "bad", f"{path} belongs to another user", "export TMPDIR=$HOME/tmp; mkdir -p $TMPDIR")
    return Check("lock file", "ok", f"{path} is ours" if usable else "none yet")


def _nvcc(machine: Machine) -> Check:
    path = machine.which("nvcc", "usr/local/cuda*/bin/nvcc")
    if path is None:
        return Check(
            "nvcc", "missing", "not found: `triage kernels` and `triage validate` need it", "install the CUDA toolkit"
        )
    said = machine.run([path, "--version"], ANSWER_S)
    if said.broken or said.status != 0:
        words = said.words(f"it ended with status {said.status}")
        return Check("nvcc", "missing", f"{path}: {words}", f"try: {path} --version; reinstall the CUDA toolkit")
    release = re.search(r"release \d[^\n]{0,60}", said.text)
    if release is None:
        return Check("nvcc", "note", f"unknown release at {path}", "`triage kernels` needs nvcc to name its release")
    return Check("nvcc", "ok", f"{release[0].strip()} at {path}")


def _cupy(machine: Machine) -> Check:
    for name in ("cupy-cuda13x", "cupy-cuda12x", "cupy-cuda11x", "cupy"):
        if version := machine.version_of(name):
            return Check("CuPy", "ok", f"{name} {version}")
    return Check(
        "CuPy", "missing", "`triage kernels` and `triage validate` need it", "pip install 'ncu-triage[cuda13]'"
    )


def _ncu_report(machine: Machine) -> Check:
    if version := machine.version_of("ncu-report"):
        return Check("ncu-report", "ok", version)
    return Check(
        "ncu-report", "missing", ".ncu-rep files are read through ncu, as CSV", "pip install 'ncu-triage[rep]'"
    )


def print_table(checks: list[Check], stream: TextIO) -> None:
    """Print the table and, below it, what follows from it."""
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in ("", "state", "found", "what helps"):
        table.add_column(column, overflow="fold")
    styles: dict[State, str] = {"ok": "green", "note": "yellow", "missing": "dim", "bad": "bold red"}
    for check in checks:
        table.add_row(
            check.what, f"[{styles[check.state]}]{_MARKS[check.state]}[/]", _plain(check.found), _plain(check.helps)
        )
    console = Console(file=stream, highlight=False)
    console.print(table)
    faults = [check for check in checks if check.state == "bad"]
    console.print()
    if faults:
        console.print(f"`triage profile` cannot work here: {_plain(faults[0].found)}. Reading reports works.")
    elif doubts := [check for check in checks if check.found.startswith(_NOT_KNOWN)]:
        console.print(f"Whether `triage profile` works here is {_plain(doubts[0].found)}.")
    else:
        console.print("`triage profile` should work here.")


def _plain(text: str) -> str:
    """``text`` as data: neither markup of the table nor anything that a terminal obeys, and no page of it."""
    from rich.markup import escape

    return escape(_short(text, _LONGEST_CELL))


def _short(text: str, limit: int = _LONGEST_NAME) -> str:
    from triage.renderers.escape import clean, shorten

    # Cut before it is cleaned: another program may say as much as it likes.
    return shorten(clean(text[: 4 * limit]), limit)
