"""Several questions to other programs at once, and one limit of time for all of them.

Each task runs in a thread, because a program that hangs must not hold up what the others say. When the time is over
or the user interrupts, what is still asked is ended.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from typing import TypeVar

from triage import asking
from triage.asking import Run, Said

T = TypeVar("T")
# How long a thread may take to end once nothing answers it any more.
_LAST_S = 3.0
_POLL_S = 0.05


class Together:
    """Asks through ``run`` for ``seconds`` at most, counted from now. To be used in a ``with`` block, which ends what
    is still running when it is left."""

    def __init__(self, run: Run, seconds: float) -> None:
        self.seconds = seconds
        self._run = run
        self._deadline = time.monotonic() + seconds
        self._stopped = False
        self._tasks: list[Future[object]] = []
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> Together:
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped = True
        until = time.monotonic() + _LAST_S
        # More than once: a thread may have been about to start its question.
        while any(thread.is_alive() for thread in self._threads) and time.monotonic() < until:
            asking.give_up()
            for thread in self._threads:
                thread.join(_POLL_S)

    def __call__(self, command: Sequence[str], timeout: float) -> Said:
        """Ask one question, within ``timeout`` and what is left for all (a :data:`~triage.asking.Run`)."""
        left = self._deadline - time.monotonic()
        if left <= 0 or self._stopped:
            return Said(124, "", f"it was not asked: the {self.seconds:g} s for all questions were over")
        return self._run(command, min(timeout, left))

    @property
    def over(self) -> bool:
        """Whether the time is over, so that a missing answer says nothing about the program."""
        return time.monotonic() >= self._deadline

    def start(self, task: Callable[[], T]) -> Future[T]:
        """Begin a task, which asks through this object; its answer or its error is in the future."""
        future: Future[T] = Future()

        def work() -> None:
            try:
                future.set_result(task())
            except BaseException as fault:
                future.set_exception(fault)

        thread = threading.Thread(target=work, daemon=True)
        self._threads.append(thread)
        self._tasks.append(future)  # type: ignore[arg-type]
        thread.start()
        return future

    def done(self, seconds: float | None) -> bool:
        """Whether all tasks are done within ``seconds``; ``None`` waits for them."""
        return not wait(self._tasks, seconds).not_done
