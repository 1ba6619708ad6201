"""A process that reads and diagnoses what it is sent; runs as a script, started by :mod:`triage.workers`.

On standard input come pickles: the module search path, what the work needs, then the work. On standard output goes one
pickle for each piece of work. The process lives as long as its standard input: when the parent closes it, or is gone
in any way, it ends at once, in the middle of a piece if need be. It prints nothing anybody sees.
"""

from __future__ import annotations

import os
import pickle
import queue
import signal
import sys
import threading
import time
import traceback
from typing import IO, Any, NoReturn

# What is left behind in the middle of a piece (a temporary file, a reader) is cleared up in this time or not at all.
_CLEAR_UP_S = 3.0


def main() -> None:
    # Ctrl-C reaches every process of the terminal; the parent decides what becomes of its workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _leave)
    jobs, answers = _own_streams()
    sys.path[:] = pickle.load(jobs)
    from triage import workers

    try:
        workers.prepare(*pickle.load(jobs))
        waiting: queue.SimpleQueue[tuple[Any, ...]] = queue.SimpleQueue()
        threading.Thread(target=_listen, args=(jobs, waiting), daemon=True).start()
        while True:
            pickle.dump(_answered(workers.work, waiting.get()), answers, pickle.HIGHEST_PROTOCOL)
            answers.flush()
    except (SystemExit, EOFError, BrokenPipeError):
        # Taking down the interpreter would only take time.
        os._exit(0)


def _own_streams() -> tuple[IO[bytes], IO[bytes]]:
    """The two pipes on descriptors of their own, so that nothing else that prints or reads can get between."""
    jobs, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1):
        os.dup2(nothing, descriptor)
    return jobs, answers


def _answered(work: Any, job: tuple[Any, ...]) -> tuple[Any, str]:
    """The answer, or the fault and where it arose; exceptions as such need not survive pickling."""
    try:
        return work(*job), ""
    except Exception as fault:
        return f"{type(fault).__name__}: {fault}", traceback.format_exc()


def _listen(jobs: IO[bytes], waiting: queue.SimpleQueue[tuple[Any, ...]]) -> None:
    """Takes in the work, and the end of it."""
    try:
        while True:
            waiting.put(pickle.load(jobs))
    except (EOFError, OSError, pickle.UnpicklingError):
        pass
    main_thread = threading.main_thread().ident
    if hasattr(signal, "pthread_kill") and main_thread is not None:
        # Interrupts what the main thread waits for, so that it can clear up.
        signal.pthread_kill(main_thread, signal.SIGTERM)
        time.sleep(_CLEAR_UP_S)
    os._exit(1)


def _leave(*_: object) -> NoReturn:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise SystemExit


if __name__ == "__main__":
    main()
