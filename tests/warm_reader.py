"""A reading child that is started once and forks for each request: the same code as the real one, twenty times faster.

As a script it serves requests (JSON, one a line) on standard input; :class:`Warm` starts it and offers the function
that stands in for ``triage.readers.process.run``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

LIMIT_S = 10


def _serve() -> None:
    sys.path.insert(0, str(Path(__file__).parent.parent / "triage" / "readers"))
    import child

    first = json.loads(sys.stdin.readline())
    sys.path.append(first["library"])
    import ncu_report  # noqa: F401 - loaded before the first fork

    for line in sys.stdin:
        reader, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(reader)
            code = 1
            try:
                import signal

                signal.alarm(LIMIT_S)
                with os.fdopen(writer, "w", encoding="ascii") as out:
                    child.serve(json.loads(line), out)
                code = 0
            finally:
                os._exit(code)
        os.close(writer)
        with os.fdopen(reader, encoding="ascii") as source:
            records = source.read().splitlines()
        _, status = os.waitpid(pid, 0)
        print(json.dumps({"status": status, "records": records}), flush=True)


class Warm:
    """The server; ``crashes`` and ``hangs`` count the requests on which its fork died or took over ten seconds."""

    def __init__(self, library: str) -> None:
        self._server = subprocess.Popen(
            [sys.executable, str(Path(__file__))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.crashes = self.hangs = 0
        self._say({"library": library})

    def _say(self, request: dict[str, Any]) -> None:
        assert self._server.stdin is not None
        self._server.stdin.write(json.dumps(request) + "\n")
        self._server.stdin.flush()

    def run(self, request: dict[str, Any], *, deadline: float, memory_bytes: int, ending: Any) -> Iterator[Any]:
        """Like :func:`triage.readers.process.run`."""
        self._say(request)
        assert self._server.stdout is not None
        answer = json.loads(self._server.stdout.readline())
        complete = False
        for line in answer["records"]:
            try:
                record = json.loads(line)
            except ValueError:
                break
            complete = complete or "end" in record
            yield record
        if answer["status"] == 14:
            self.hangs += 1
        if not complete:
            self.crashes += 1
            ending.reason, ending.detail = "crash", f"status {answer['status']}"

    def close(self) -> None:
        """Ends the server."""
        assert self._server.stdin is not None and self._server.stdout is not None
        self._server.stdin.close()
        self._server.wait()
        self._server.stdout.close()


if __name__ == "__main__":
    _serve()
