"""What ncu's messages mean and what to do about them.

ncu's exit status cannot tell one failure from another, so its words drive the outcome. The table is data: one row a
message, matched anywhere in a line, first match wins.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

# ncu: ncu could not do its work. program: the profiled program failed. usage: the call is off. note: only a warning.
# quiet: expected, not worth a word.
Kind = Literal["ncu", "program", "usage", "note", "quiet"]


@dataclass(frozen=True, slots=True)
class Message:
    """One message of ncu: ``pattern`` finds it (a regular expression), ``means`` says in one line what it stands for,
    ``remedy`` in one line what helps."""

    id: str
    kind: Kind
    pattern: str
    means: str
    remedy: str


MESSAGES: tuple[Message, ...] = (
    Message(
        "counters-forbidden",
        "ncu",
        r"ERR_NVGPUCTRPERM",
        "this user may not read the GPU's performance counters",
        "run as root, give the container --cap-add=SYS_ADMIN, or load the driver with "
        "NVreg_RestrictProfilingToAdminUsers=0; under WSL allow it in the Windows NVIDIA Control Panel",
    ),
    Message(
        "profiler-library",
        "ncu",
        r"LibraryNotLoaded",
        "the driver's profiling library did not load: a sandbox (gVisor), a GPU newer than this ncu, or another driver",
        "use a host with direct access to the GPU, or a newer Nsight Compute; `triage doctor` shows which",
    ),
    Message(
        "driver-too-old",
        "ncu",
        r"[Dd]river is not compatible with Nsight Compute",
        "the installed driver is too old for this ncu",
        "update the driver, or use an older Nsight Compute (set NCU=/path/to/ncu)",
    ),
    Message(
        "no-driver",
        "ncu",
        r"failed to connect to the CUDA driver",
        "ncu found no CUDA driver: there is none on this machine, or a stub libcuda.so comes first",
        "run where a GPU is; take folders named stubs out of LD_LIBRARY_PATH",
    ),
    Message(
        "counters-in-use",
        "ncu",
        r"driver resource was unavailable",
        "another tool holds the GPU's counters",
        "stop it; for DCGM: dcgmi profile --pause (and --resume afterwards)",
    ),
    Message(
        "lock-file",
        "ncu",
        r"nsight-compute-lock|InterprocessLockFailed",
        "ncu's lock file belongs to another user",
        "give ncu a folder of its own: TMPDIR=$HOME/tmp triage profile ... (do not delete the file)",
    ),
    Message(
        "metric-unknown",
        "ncu",
        r"Failed to find metric (?:regex:)?\^?(?P<subject>[\w:]+)",
        "this GPU or this ncu has no metric called {subject}",
        "take it out of the set; ncu --query-metrics lists the names there are",
    ),
    Message(
        "metrics-inaccessible",
        "note",
        r"Unable to access the following (?P<subject>\d+) metrics?",
        "{subject} metrics cannot be read on this GPU or MIG slice; they are missing from the report",
        "nothing to do: what they decide is reported as unknown",
    ),
    Message(
        "memory-not-saved",
        "ncu",
        r"Failed to save memory for replay",
        "the memory that the kernel writes could not be saved between passes",
        "try --replay-mode application, or NCCL_NVLS_ENABLE=0 for NVLink multicast memory",
    ),
    Message(
        "memory-too-large",
        "ncu",
        r"bad allocation|bad_alloc|out of memory",
        "ncu ran out of memory while saving what the kernel writes",
        "try --replay-mode application, or a smaller problem",
    ),
    Message(
        "memory-on-host",
        "note",
        r"Backing up device memory in system memory",
        "the saved memory did not fit on the GPU, so replay goes through the host and is slow",
        "a smaller problem, or --replay-mode application",
    ),
    Message(
        "workload-waits",
        "note",
        r"Launching the workload is taking more time than expected",
        "this kernel seems to wait for another one, which cannot run beside it under kernel replay",
        "leave the kernel out with --kernel, or try --replay-mode range around all that run together",
    ),
    Message(
        "not-prepared",
        "ncu",
        r"Failed to prepare kernel for profiling|Unknown Error on device",
        "the driver refused to profile this kernel and gave no reason",
        "try --replay-mode application, then a newer driver",
    ),
    Message(
        "mig-clocks",
        "ncu",
        r"[Cc]annot lock GPU clock",
        "clocks cannot be locked here (a MIG slice, or a missing permission)",
        "use --clock-control none, or lock them with nvidia-smi --lock-gpu-clocks",
    ),
    Message(
        "subscriber",
        "ncu",
        r"MULTIPLE_SUBSCRIBERS|(?:another|other) (?:profiler|tool) (?:is|may be) (?:already )?(?:attached|subscribed)",
        "another profiler is active inside the program (torch.profiler, CUPTI)",
        "switch it off and profile again",
    ),
    Message(
        "sections-not-deployed",
        "quiet",
        r"Could not deploy stock",
        "ncu could not copy its section files to the home folder",
        "harmless; set HOME to a writable folder to be rid of it",
    ),
    Message(
        "section-unknown",
        "ncu",
        r"'--section (?P<subject>[^']+)' did not match|--set (?P<set>\S+)' did not match",
        "this ncu has no section called {subject}",
        "take it out of the set; ncu --list-sections names those there are",
    ),
    Message(
        "report-not-writable",
        "usage",
        r"Unable to write to file|[Ff]ailed to (?:open|create) (?:the )?(?:report|output|log)",
        "the report cannot be written",
        "choose a writable folder with --output",
    ),
    Message(
        "not-a-program",
        "usage",
        r"'(?P<subject>.*)' does not exist or is not an executable",
        "{subject} is no program",
        "give its path, as in ./{subject}",
    ),
    Message(
        "option-unknown",
        "ncu",
        r"unrecogni[sz]ed option '(?P<subject>[^']+)'|option '(?P<option>[^']+)' (?:cannot be|is ambiguous|does not)",
        "this ncu does not take the option {subject}",
        "use a newer Nsight Compute (set NCU=/path/to/ncu)",
    ),
    Message(
        "kernel-failed",
        "program",
        r"^(?P<subject>LaunchFailed|IllegalAddress|MisalignedAddress|IllegalInstruction|HardwareStackError|LaunchTimeout)\b",
        "a kernel of the program failed ({subject})",
        "find the fault first: compute-sanitizer PROGRAM",
    ),
    Message(
        "nvtx-filter",
        "note",
        r"NVTX include expressions match only start/end ranges",
        "an NVTX expression without a trailing / matches start/end ranges only",
        "for ranges that are pushed and popped, end it with a slash: --nvtx-include 'NAME/'",
    ),
    Message(
        "no-source",
        "quiet",
        r"No source files were imported",
        "no source line is known for any kernel",
        "compile with -lineinfo",
    ),
    Message(
        "clocks-free",
        "quiet",
        r"unmodified GPU clocks",
        "the clocks are left alone, as asked",
        "--clock-control base locks them",
    ),
)
_COMPILED = tuple((message, re.compile(message.pattern)) for message in MESSAGES)


@dataclass(frozen=True, slots=True)
class Recognised:
    """A message found in a line, with its blanks filled in."""

    id: str
    kind: Kind
    means: str
    remedy: str


def recognise(line: str) -> Recognised | None:
    """What ``line`` (with or without ncu's tag) stands for; ``None`` for words that the table does not know."""
    for message, pattern in _COMPILED:
        if match := pattern.search(line):
            subject = next((value for value in match.groupdict().values() if value), "")
            means, remedy = (text.replace("{subject}", subject) for text in (message.means, message.remedy))
            return Recognised(message.id, message.kind, means, remedy)
    return None
