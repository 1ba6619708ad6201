"""Processes that read pieces: what becomes of them, however their parent ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from processes import children, gone, needs_proc

from triage import workers
from triage.errors import TriageError, UnreadableReport
from triage.model import Kernel
from triage.readers import process
from triage.readers.piece import Tally
from triage.rules import default_rulebook
from triage.workers import Answer, Job, Pool

RULES = default_rulebook()
JOB = Job(None, False)
ROOT = Path(__file__).parent.parent


@dataclass(frozen=True)
class Does:
    """A piece that does something else than reading."""

    what: str
    folder: str = ""

    def read(self, metrics: Collection[str] | None, *, keep: bool) -> tuple[list[Kernel], Tally]:
        if self.what == "die":
            os._exit(9)
        if self.what == "fault":
            raise ZeroDivisionError("no kernel")
        if self.what == "error":
            raise UnreadableReport("damaged", "copy it again", details=("a", "b"))
        if self.what == "print":
            print("what a library says", flush=True)
            os.write(1, b"\xff" * 100)
        try:
            # From here on an end of this process leaves a mark.
            if self.folder:
                (Path(self.folder) / f"{os.getpid()}.begun").touch()
            time.sleep(60 if self.what == "sleep" else 0)
        finally:
            if self.folder:
                (Path(self.folder) / f"{os.getpid()}.cleared").touch()
        return [], Tally(found=os.getpid())


def answers(*pieces: Does, size: int = 2) -> list[Answer | TriageError]:
    with Pool(size, RULES) as pool:
        return [answer for _, answer in pool.run((place, piece, JOB) for place, piece in enumerate(pieces))]


def test_answers_come_in_order_from_other_processes_that_are_kept() -> None:
    with Pool(2, RULES) as pool:
        found = list(pool.run((place, Does("print"), JOB) for place in range(9)))
    assert [place for place, _ in found] == list(range(9))
    pids = {answer.tally.found for _, answer in found if isinstance(answer, Answer)}
    assert 1 <= len(pids) <= 2 and os.getpid() not in pids


def test_one_that_dies_loses_its_piece_and_is_replaced() -> None:
    first, lost, *others = answers(Does(""), Does("die"), Does(""), Does(""), Does(""))
    assert isinstance(lost, UnreadableReport) and "ended by the system" in lost.message
    assert all(isinstance(each, Answer) for each in (first, *others))


def test_errors_and_faults_come_back() -> None:
    (error,) = answers(Does("error"))
    assert isinstance(error, UnreadableReport) and (error.hint, error.details) == ("copy it again", ("a", "b"))
    with pytest.raises(RuntimeError, match="ZeroDivisionError: no kernel") as caught:
        answers(Does("fault"), Does(""))
    assert "in read" in caught.value.__notes__[0], "where it arose in the worker is told with --debug"


def test_where_no_process_can_be_started_that_is_an_error_of_the_family(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    assert all(isinstance(each, UnreadableReport) for each in answers(Does(""), Does("")))


def begun(folder: Path, count: int, within: float = 20.0) -> list[int]:
    """The processes that are at work, once there are so many."""
    end = time.monotonic() + within
    while len(found := list(folder.glob("*.begun"))) < count:
        assert time.monotonic() < end, "no worker started"
        time.sleep(0.02)
    return [int(path.stem) for path in found]


@needs_proc
def test_none_is_left_when_the_work_is_given_up(tmp_path: Path) -> None:
    def jobs() -> Iterator[tuple[int, Does, Job]]:
        for place in range(2):
            yield place, Does("sleep", str(tmp_path)), JOB
        begun(tmp_path, 2)
        raise KeyboardInterrupt

    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt), Pool(2, RULES) as pool:
        list(pool.run(jobs()))
    assert time.monotonic() - start < 20
    assert all(gone(pid, 0) for pid in begun(tmp_path, 2)), "they are gone when the block has ended"
    assert len(list(tmp_path.glob("*.cleared"))) == 2


PARENT = """
import sys
sys.path[:0] = {path!r}
from test_workers import JOB, RULES, Does, Pool
with Pool(2, RULES) as pool:
    for _ in pool.run((place, Does("sleep", {folder!r}), JOB) for place in range(4)):
        pass
"""


@needs_proc
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_none_is_left_when_the_parent_is_gone(tmp_path: Path, number: signal.Signals) -> None:
    code = PARENT.format(path=[str(ROOT / "tests"), *sys.path], folder=str(tmp_path))
    parent = subprocess.Popen(
        [sys.executable, "-c", f"import signal\nsignal.signal(2, signal.default_int_handler)\n{code}"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    pids = begun(tmp_path, 2)
    parent.send_signal(number)
    # The pipes end with the parent: no worker holds them.
    _, errors = parent.communicate(timeout=15)
    assert b"leaked" not in errors and b"semaphore" not in errors
    assert all(gone(pid) for pid in pids)
    assert {path.stem for path in tmp_path.glob("*.cleared")} == {str(pid) for pid in pids}, "workers clear up"


@needs_proc
def test_a_reader_inside_the_library_ends_with_its_parent(tmp_path: Path) -> None:
    # Neither the thread of a worker nor any other Python code runs while the library hangs.
    (tmp_path / "ncu_report.py").write_text(
        "import ctypes, os, pathlib\n"
        "def load_report(path):\n"
        "    pathlib.Path(path).write_text(str(os.getpid()))\n"
        "    ctypes.PyDLL(None).sleep(60)\n"
    )
    request = {"library": str(tmp_path), "path": str(tmp_path / "pid")}
    code = (
        f"import sys, time\nsys.path[:] = {sys.path!r}\nfrom triage.readers import process\n"
        f"list(process.run({request!r}, deadline=time.monotonic() + 60, memory_bytes=1 << 40, ending=process.Ending()))"
    )
    parent = subprocess.Popen([sys.executable, "-c", code])
    end = time.monotonic() + 20
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
        assert time.monotonic() < end
        time.sleep(0.02)
    pid = int((tmp_path / "pid").read_text())
    assert pid in children(parent.pid)
    parent.kill()
    parent.wait()
    assert gone(pid)


def test_a_request_may_be_longer_than_a_pipe_holds(tmp_path: Path) -> None:
    (tmp_path / "ncu_report.py").write_text(
        "class Context:\n    def num_ranges(self): return 0\ndef load_report(path): return Context()\n"
    )
    request = {"library": str(tmp_path), "path": "", "start": 0, "stop": None, "metrics": ["m" * 99] * 9999}
    ending = process.Ending()
    made = process.run(request, deadline=time.monotonic() + 30, memory_bytes=1 << 40, ending=ending)
    assert list(made) == [{"count": 0}, {"end": 0}] and not ending.reason
    assert json.dumps(request)


def test_a_folder_full_of_traps_is_not_imported_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("pickle", "queue", "triage", "multiprocessing", "typing", "yaml"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'sprung')!r}, 'w')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])
    assert all(isinstance(each, Answer) for each in answers(Does(""), Does("")))
    assert not (tmp_path / "sprung").exists()
    assert workers._SCRIPT.is_file()
