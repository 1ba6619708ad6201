"""One error family: what is wrong, what to do about it, and the exit code the command line ends with."""

from __future__ import annotations


class TriageError(Exception):
    """Base of every error a user can cause or mend.

    ``message`` is one line that says what is wrong, ``hint`` one line that says what to do; ``exit_code`` is
    the process's exit status (see README, "Exit codes"). ``details`` holds further lines, one fault each.
    """

    exit_code = 1

    def __init__(self, message: str, hint: str = "", *, details: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.details = details


class UsageError(TriageError):
    """The call itself is off: an option, an argument, a combination of both."""

    exit_code = 2


class UnreadableReport(TriageError):
    """A report cannot be read, or holds nothing a verdict could rest on."""

    exit_code = 3


class FaultyRules(TriageError):
    """Rule files with faults; ``details`` lists all of them as ``file:line: message``."""

    exit_code = 3


class NcuFailed(TriageError):
    """``ncu`` (or another tool that the command needs: nvcc, CuPy, a GPU) is missing, forbidden or failed."""

    exit_code = 4


class ProgramFailed(TriageError):
    """The profiled program itself failed, now or in the log that is being read."""

    exit_code = 5


class NothingProfiled(TriageError):
    """The run or report is fine but holds no kernel."""

    exit_code = 6


class GateFailed(TriageError):
    """A gate, a rule test or a validation did not hold, or two sizes are not known to have the same limiter."""

    exit_code = 10
