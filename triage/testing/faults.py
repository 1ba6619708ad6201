"""Faults as a test's report shows them: one line that says what is wrong and what to do, nothing of ours behind it.

Names of kernels come from a report: a failure goes to terminals and to the logs of CI, which obey escapes and lines.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ParamSpec, TypeVar

from triage.errors import TriageError

P = ParamSpec("P")
T = TypeVar("T")

# Faults of a call: what it is given, asks for, or finds on the machine. All else is a fault of ours, with traceback.
CAUSED = (TriageError, AssertionError, LookupError, TypeError, ValueError, OSError)
# Characters of a line, lines of a fault, names of kernels.
_LONGEST, _MOST, _NAMED = 2000, 20, 20


def guarded(call: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
    """The result of ``call``; a fault that its caller can mend is raised again, said in words, with no frame of ours to
    read through: pytest leaves out frames that hold ``__tracebackhide__``."""
    __tracebackhide__ = True
    try:
        return call(*arguments, **named)
    except (KeyError, IndexError):
        raise
    except CAUSED as fault:
        made = _again(fault)
    raise made


def _again(fault: Exception) -> Exception:
    if isinstance(fault, TriageError):
        made = type(fault)(_lines(fault)[0], details=tuple(map(line, fault.details)))
        # What a traceback prints: all lines, where the error itself prints its message.
        made.args = (said(fault),)
        return made
    bases: tuple[type[Exception], ...] = (AssertionError, LookupError, TypeError, ValueError)
    kind = next((base for base in bases if isinstance(fault, base)), type(fault))
    return kind(said(fault))


def said(fault: Exception) -> str:
    """A fault in words, made inert: one line, and one for each detail or each gate that does not hold."""
    return "\n".join(_lines(fault))


def _lines(fault: Exception) -> list[str]:
    if isinstance(fault, TriageError):
        first = f"{fault.message} (hint: {fault.hint})" if fault.hint else fault.message
        more = len(fault.details) - _MOST
        details = [f"- {detail}" for detail in fault.details[:_MOST]]
        lines = [first, *details, *([f"- and {more} more"] if more > 0 else [])]
    elif isinstance(fault, OSError):
        about = f"{fault.filename}: " if isinstance(fault.filename, str) else ""
        lines = [f"{about}{fault.strerror}" if fault.strerror else str(fault)]
    elif isinstance(fault, AssertionError):
        # Ours: its lines were made inert one by one.
        lines = str(fault).split("\n")
    else:
        lines = [str(fault.args[0]) if fault.args else type(fault).__name__]
    return [line(text) for text in lines]


def line(text: str) -> str:
    """Text as one line that nothing obeys."""
    from triage.renderers.escape import clean, shorten

    return shorten(clean(text), _LONGEST)


def listed(names: Sequence[str]) -> str:
    """Names of kernels, each once: the first of them where there are many."""
    from triage.renderers.escape import clean, shorten

    found = list(dict.fromkeys(shorten(clean(name).strip(), 80) for name in names))
    more = f" and {len(found) - _NAMED:,} more" if len(found) > _NAMED else ""
    return (", ".join(found[:_NAMED]) + more) or "none"
