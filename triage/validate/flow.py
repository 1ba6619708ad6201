"""The validation from start to end: build, run, profile every round, judge."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from triage.driver import nvcc
from triage.errors import NcuFailed, NothingProfiled, ProgramFailed, UnreadableReport, UsageError
from triage.model import Device, Finding
from triage.ncu.outcome import Interrupted
from triage.validate import manifest, programs
from triage.validate.judging import judge
from triage.validate.manifest import Calibration
from triage.validate.model import About, Judged, Round, Skipped, Validation
from triage.validate.profiling import Profiler
from triage.validate.programs import Said

if TYPE_CHECKING:
    from triage.rules import Rulebook

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Request:
    """What to validate. ``names`` are programs, kernels or limiter ids (all for none), ``scales`` sizes of the problem
    (1 is the normal one), ``repeat`` profiles the first of them twice; ``folder`` gets programs, reports and logs."""

    names: tuple[str, ...] = ()
    scales: tuple[float, ...] = (1.0,)
    repeat: bool = False
    rules: tuple[Path, ...] = ()
    thresholds: str = "guide"
    folder: Path = Path("triage-validate")
    command: str = "triage validate"

    @property
    def rounds(self) -> tuple[float, ...]:
        """The scale of each round, the one that the others are compared with first."""
        base = 1.0 if 1.0 in self.scales else self.scales[0]
        others = [scale for scale in dict.fromkeys(self.scales) if scale != base]
        return (base, *((base,) if self.repeat else ()), *others)


def scales(text: str) -> tuple[float, ...]:
    """The scales of ``0.5,1,2``. Raises UsageError for what is no list of positive numbers."""
    try:
        found = tuple(float(word) for word in text.split(",") if word.strip())
    except ValueError:
        found = ()
    if not found or not all(0 < scale <= 16 for scale in found):
        raise UsageError(f"{text!r} is no list of scales", "write sizes above 0 and up to 16, as in --scale 0.5,1,2")
    return found


def validate(request: Request, env: Mapping[str, str], say: Say = lambda line: None) -> Validation:
    """Run the calibration kernels on the GPU of this machine and judge every verdict.

    Raises NcuFailed without nvcc, ncu or a GPU, UsageError for an unknown name, FaultyRules for rules or a manifest
    with faults, NothingProfiled when no kernel could be judged. A program that fails is skipped, with its reason.
    """
    from triage.rules import load_rulebook

    rulebook = load_rulebook(tuple(map(str, request.rules)), profile=request.thresholds)
    entries = manifest.select(request.names, manifest.load(limiters=rulebook.limiters))
    compiler = nvcc.find(env)
    arch = _architecture()
    profiler = Profiler(rulebook, request.rules, request.folder / "reports", env)
    for note in profiler.notes:
        say(note)
    skipped = [
        Skipped(
            e.kernel, e.program, f"needs compute capability {_dotted(e.min_cc)}, this GPU has {_dotted(arch)}", True
        )
        for e in entries
        if e.min_cc > _number(arch)
    ]
    wanted = tuple(e for e in entries if e.min_cc <= _number(arch))
    names = tuple(dict.fromkeys(e.program for e in wanted))
    built, broken = programs.build(programs.jobs(compiler.path, names, arch, request.folder / "programs"), say)
    broken |= {name: "its source is not in this installation" for name in names if name not in {*built, *broken}}
    run = _Run(wanted, built, profiler, rulebook, say)
    run.drop(broken)
    validation = run.all(request.rounds)
    if not validation.judged and run.stopped:
        raise Interrupted("interrupted before the first program was profiled", "run it again")
    if not validation.judged:
        first = [*skipped, *validation.skipped]
        reason = f"{first[0].kernel}: {first[0].reason}" if first else "nothing was asked for"
        raise NothingProfiled(f"no calibration kernel could be judged; {reason}", "`triage doctor` checks the setup")
    gpu = _gpu(run.devices)
    about = About(
        gpu=gpu,
        ncu=profiler.ncu_version,
        nvcc=".".join(map(str, compiler.release)),
        driver=_driver(),
        triage=_version(),
        rulebook=rulebook.identity.digest,
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        command=request.command,
    )
    return Validation(
        about=(about,),
        judged=tuple(replace(one, source=gpu) for one in validation.judged),
        checks=validation.checks,
        rounds=tuple(replace(one, source=gpu) for one in validation.rounds),
        skipped=(*skipped, *validation.skipped),
        stopped=run.stopped,
    )


class _Run:
    """The part that needs the GPU: times first, then one profile of each program a round."""

    def __init__(
        self,
        entries: Sequence[Calibration],
        built: Mapping[str, Path],
        profiler: Profiler,
        rulebook: Rulebook,
        say: Say,
    ) -> None:
        self._entries = entries
        self._programs = dict(sorted(built.items()))
        self._profiler = profiler
        self._rulebook = rulebook
        self._say = say
        self._said: dict[str, Said] = {}
        self._skipped: list[Skipped] = []
        self.devices: dict[Device, None] = {}
        self.stopped = False

    def drop(self, broken: Mapping[str, str], scale: float | None = None) -> None:
        """Skip the kernels of these programs, for the reason given; ``scale`` where they fail at that size only."""
        for name, reason in broken.items():
            told = reason if scale is None else f"{reason} (at scale {scale:g})"
            self._say(f"skipped {name}: {told}")
            self._skipped += [
                Skipped(entry.kernel, name, told, scale=scale) for entry in self._entries if entry.program == name
            ]

    def all(self, rounds: Sequence[float]) -> Validation:
        self._time(rounds[0])
        answers: list[Round] = []
        judged: tuple[Judged, ...] = ()
        for number, scale in enumerate(rounds):
            if self.stopped:
                break
            title = f"round {number + 1} of {len(rounds)}, scale {scale:g}"
            found = self._round(scale, title, base=number == 0)
            if number == 0:
                judged = tuple(self._judged(found, scale))
            names = {entry.kernel for entry in self._entries}
            limiters = {name: one.diagnosis.limiter for name, one in found.items() if name in names}
            answers.append(Round(scale, limiters))
        checks = {pair: ok for said in self._said.values() for pair, ok in said.checks.items()}
        return Validation((), judged, checks, tuple(answers), tuple(self._skipped))

    def _time(self, scale: float) -> None:
        self._say(f"timing {len(self._programs)} programs and comparing twins")
        broken = {}
        for name, program in self._programs.items():
            try:
                self._said[name] = programs.run(program, scale)
            except ProgramFailed as fault:
                broken[name] = fault.message
        self._without(broken)

    def _without(self, broken: Mapping[str, str]) -> None:
        self.drop(broken)
        self._programs = {name: path for name, path in self._programs.items() if name not in broken}

    def _round(self, scale: float, title: str, *, base: bool) -> dict[str, Finding]:
        found: dict[str, Finding] = {}
        broken: dict[str, str] = {}
        for number, (name, program) in enumerate(self._programs.items(), 1):
            if self.stopped:
                broken[name] = "the run was interrupted before it"
                continue
            self._say(f"{title}: profiling {name} ({number} of {len(self._programs)})")
            try:
                found |= self._profiler.profile(program, scale)
            except (Interrupted, KeyboardInterrupt):
                # While ncu runs it is the former, while its report is read the latter.
                self.stopped = True
                broken[name] = "the run was interrupted in it"
            except (NcuFailed, ProgramFailed, NothingProfiled, UnreadableReport) as fault:
                # Before anything was profiled, a failure of ncu is the machine's (a permission, a driver).
                if isinstance(fault, NcuFailed) and base and not found:
                    raise
                broken[name] = fault.message
        if base:
            self._without(broken)
        else:
            self.drop(broken, scale)
        self.devices |= dict.fromkeys(one.kernel.device for one in found.values())
        return found

    def _judged(self, found: Mapping[str, Finding], scale: float) -> list[Judged]:
        judged = []
        times = {kernel: time for said in self._said.values() for kernel, time in said.times.items()}
        for entry in self._entries:
            if entry.program not in self._programs:
                continue
            finding = found.get(entry.kernel)
            if finding is None:
                reason = self._said[entry.program].skipped.get(entry.kernel)
                told = reason or "the profile of its program holds no result of it"
                self._skipped.append(Skipped(entry.kernel, entry.program, told, reason is not None))
                continue
            twin = times.get(entry.twin) if entry.twin else None
            at_size = replace(entry, accept=(*entry.accept, *entry.at.get(scale, ())))
            judged.append(judge(at_size, finding, time_us=times.get(entry.kernel), twin_us=twin))
        return judged


def _architecture() -> str:
    try:
        return nvcc.local_architecture()
    except NcuFailed as fault:
        hint = "validate runs kernels: use a machine with an NVIDIA GPU; --from judges an earlier run"
        raise NcuFailed(fault.message, hint) from fault


def _number(arch: str) -> int:
    return int(arch.rstrip("af"))


def _dotted(arch: str | int) -> str:
    digits = str(arch).rstrip("af")
    return f"{digits[:-1]}.{digits[-1]}"


def _gpu(devices: Mapping[Device, None]) -> str:
    """The names of the GPUs in the reports; where those hold none (a CSV), that of the machine's first one."""
    from triage.ncu.machine import Machine

    words = []
    for device in devices:
        local = next((gpu.name for gpu in Machine().gpus()[0]), None) if device.name is None else None
        name = device.name or local or "unknown GPU"
        words.append(f"{name} (CC {device.cc})" if device.cc else name)
    return ", ".join(dict.fromkeys(words))


def _driver() -> str:
    from triage.ncu.machine import Machine

    return Machine().driver() or ""


def _version() -> str:
    from triage import __version__

    return __version__
