"""Reads what Nsight Compute wrote, whatever its layout, into a Profile. The only room that knows file formats."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from triage import arguments
from triage.model import Profile, SourceLine

__all__ = ["load"]


def load(
    path: str | Path,
    *,
    metrics: Collection[str] | None = None,
    lines: bool = False,
    timeout_s: float = 120,
    memory_bytes: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Profile:
    """Reads one report; its content decides the format, never its name alone.

    ``metrics`` names the metrics wanted (``None``: all): a ``.ncu-rep`` is then read much faster; a CSV gives every
    column anyway and converts the others when they are asked for. ``lines`` also reads counters by source line, with
    machine code and imported source (``.ncu-rep`` only). ``timeout_s`` and ``memory_bytes`` bound the process that
    reads a ``.ncu-rep`` (2 GiB unless said). ``progress`` is called with results read and results expected.

    What is damaged, missing or doubtful about the file stands in ``Profile.warnings`` and ``Kernel.warnings``; a
    warning that begins with ``program failed`` says that the profiled program ended with an error.

    Raises :class:`~triage.errors.UnreadableReport` where there is no kernel table at all,
    :class:`~triage.errors.NothingProfiled` for a log or report without kernels,
    :class:`~triage.errors.ProgramFailed` and :class:`~triage.errors.NcuFailed` for the log of a run that failed
    before a kernel was profiled; ``TypeError`` and ``ValueError`` that name an argument of a wrong type or value.
    """
    from triage.readers import sniff

    path = arguments.path(path, "path")
    if metrics is not None:
        metrics = _names(metrics)
    timeout_s = arguments.number(timeout_s, "timeout_s", "a number of seconds above 0")
    if memory_bytes is not None:
        arguments.number(memory_bytes, "memory_bytes", "a number of bytes above 0, or None")
    if progress is not None and not callable(progress):
        raise TypeError(arguments.wrong("progress", "a function of two numbers, or None", progress))
    content = sniff.content(path)
    if content.kind == "text":
        from triage.readers import text

        return text.read(path, content, metrics)
    from triage.readers import ncu_rep

    return ncu_rep.read(
        path,
        compressed=content.kind == "repz",
        metrics=metrics,
        lines=lines,
        timeout_s=timeout_s,
        memory_bytes=memory_bytes,
        progress=progress,
    )


def _names(given: object) -> Collection[str]:
    """Names of metrics. One alone is no list: its letters would be taken for names, and nothing would be read."""
    if isinstance(given, str | bytes) or not isinstance(given, Collection):
        raise TypeError(arguments.wrong("metrics", "a list of names of metrics, or None for all", given))
    for name in given:
        arguments.text(name, "a name in metrics")
    return given


def source_lines(
    path: str | Path,
    wanted: Mapping[int, Collection[str]],
    *,
    machine_code: Collection[int] = (),
    timeout_s: float = 60,
    memory_bytes: int | None = None,
) -> dict[int, tuple[SourceLine, ...]]:
    """Counters by source line, for the results (0-based index) and line metrics in ``wanted``.

    Only a ``.ncu-rep`` has them; for any other file the answer is empty. Cheaper than ``load(lines=True)`` where the
    verdict already says which counters matter. ``machine_code`` names the results whose instructions come as text.
    """
    from triage.readers import sniff

    path = Path(path)
    kind = sniff.content(path).kind
    if kind == "text" or not wanted:
        return {}
    from triage.readers import ncu_rep

    return ncu_rep.read_lines(
        path, wanted, machine_code, compressed=kind == "repz", timeout_s=timeout_s, memory_bytes=memory_bytes
    )
