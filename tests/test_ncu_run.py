"""Running a program that behaves like ncu: logs, hangs, ignores signals."""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path

import pytest
from processes import children, needs_proc

from triage.errors import NcuFailed, UsageError
from triage.ncu import run as module
from triage.ncu.log import Log
from triage.ncu.processes import descendants
from triage.ncu.run import run

STUB = """
import signal, subprocess, sys, time
log = open(sys.argv[1], "w", buffering=1)
log.write('==PROF== Profiling "a" - 0: 0%....50%....100% - 8 passes\\n')
def stop(*_):
    log.write('==PROF== Trying to shutdown target application\\n')
    sys.exit(9)
signal.signal(signal.SIGINT, signal.SIG_IGN if "deaf" in sys.argv else stop)
log.write('==PROF== Profiling "b" - 1: 0%..')
log.flush()
time.sleep(float(sys.argv[2]))
log.write('..50%....100% - 8 passes\\n')
sys.exit(int(sys.argv[3]))
"""


def stub(tmp_path: Path, seconds: float, status: int = 0, *words: str, wrapped: bool = True) -> list[str]:
    program = tmp_path / "stub.py"
    program.write_text(STUB)
    command = [sys.executable, str(program), str(tmp_path / "log"), str(seconds), str(status), *words]
    # The real ncu is a shell script around the profiler, so a signal to the first process alone reaches nobody.
    return ["sh", "-c", '"$@"; exit $?', "ncu", *command] if wrapped else command


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "POLL_S", 0.01)
    monkeypatch.setattr(module, "FORWARD_AFTER_S", 0.05)
    monkeypatch.setattr(module, "TERMINATE_AFTER_S", 0.4)
    monkeypatch.setattr(module, "KILL_AFTER_S", 0.8)


def test_to_the_end_with_progress(tmp_path: Path) -> None:
    seen: list[int] = []
    ended = run(stub(tmp_path, 0.1, 3), tmp_path / "log", on_progress=lambda log: seen.append(len(log.results)))
    assert (ended.status, ended.stopped) == (3, "")
    assert [kernel.name for kernel in ended.log.results] == ["a", "b"]
    assert seen and seen[0] == 1, "the first result is seen while the second is still being made"


def test_an_old_log_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("==ERROR== from an earlier run\n")
    assert run(stub(tmp_path, 0), tmp_path / "log").log.errors == []


def test_the_programs_output_is_inherited(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    run(["sh", "-c", "printf 'no newline'; echo err >&2"], tmp_path / "log")
    assert capfd.readouterr() == ("no newline", "err\n")


def test_an_interrupt_of_this_process_alone_is_passed_on(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGINT)  # a job in the background starts with interrupts ignored
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    ended = run(stub(tmp_path, 20), tmp_path / "log")
    assert ended.stopped == "interrupt" and ended.silent_on == "b" and ended.log.stopping
    assert len(ended.log.results) == 1 and ended.seconds < 5
    assert signal.getsignal(signal.SIGINT) is before


def test_one_that_ignores_interrupts_is_terminated(tmp_path: Path) -> None:
    ended = run(stub(tmp_path, 20, 0, "deaf"), tmp_path / "log", timeout=0.3)
    assert ended.stopped == "timeout" and ended.seconds < 5


def test_silence_inside_a_kernel_is_a_hang(tmp_path: Path) -> None:
    ended = run(stub(tmp_path, 20), tmp_path / "log", hang_timeout=0.4)
    assert (ended.stopped, ended.silent_on) == ("hang", "b")


def test_silence_between_kernels_is_not(tmp_path: Path) -> None:
    assert run(["sleep", "0.3"], tmp_path / "log", hang_timeout=0.05).stopped == ""


def test_a_command_that_cannot_start(tmp_path: Path) -> None:
    with pytest.raises(NcuFailed, match="cannot be started"):
        run(["/no/such/ncu"], tmp_path / "log")


def test_it_runs_outside_the_main_thread(tmp_path: Path) -> None:
    statuses: list[int] = []
    thread = threading.Thread(target=lambda: statuses.append(run(["true"], tmp_path / "log").status))
    thread.start()
    thread.join()
    assert statuses == [0]


def test_descendants_from_a_process_table(tmp_path: Path) -> None:
    for pid, parent, name in ((10, 1, "ncu"), (11, 10, "od) d ("), (12, 11, "app"), (20, 1, "else")):
        (tmp_path / str(pid)).mkdir()
        (tmp_path / str(pid) / "stat").write_text(f"{pid} ({name}) S {parent} 0 0")
    assert descendants(10, tmp_path) == [10, 11, 12]
    assert descendants(10, tmp_path / "nothing") == [10]


def test_a_log_that_never_appears(tmp_path: Path) -> None:
    ended = run(["false"], tmp_path / "log")
    assert ended.status == 1 and isinstance(ended.log, Log) and not ended.log.kernels


def test_a_log_that_outgrows_the_reader_is_read_at_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BACKLOG", 100_000)
    monkeypatch.setattr(module, "TAIL", 10_000)
    monkeypatch.setattr(module, "PIECE", 1000)
    line = '==PROF== Profiling "a" - 0: 0%....50%....100% - 8 passes'
    (tmp_path / "from").write_text(f"{line}\n" * 100_000 + "==ERROR== the end\n")
    # All of it is there at once.
    ended = run(["mv", str(tmp_path / "from"), str(tmp_path / "log")], tmp_path / "log")
    assert ended.log.errors == ["the end"]
    assert ended.log.passed_over == (tmp_path / "log").stat().st_size - 10_000 and 100 < ended.log.count < 200


@pytest.mark.parametrize("what", ["mkdir", "mkfifo"])
def test_what_stands_in_the_place_of_the_log_is_not_opened(tmp_path: Path, what: str) -> None:
    ended = run(["sh", "-c", f"{what} {tmp_path}/log; sleep 0.1"], tmp_path / "log")
    assert ended.status == 0 and not ended.log.kernels


def test_a_log_that_cannot_be_replaced(tmp_path: Path) -> None:
    (tmp_path / "log").mkdir()
    with pytest.raises(UsageError, match="cannot be replaced"):
        run(["true"], tmp_path / "log")


def test_a_letter_torn_between_two_pieces_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PIECE", 1)
    text = '==PROF== Profiling "k\u00e4rnel" - 0: 0%....50%....100% - 8 passes\n'
    (tmp_path / "from").write_text(text, encoding="utf-8")
    ended = run(["cp", str(tmp_path / "from"), str(tmp_path / "log")], tmp_path / "log")
    assert [kernel.name for kernel in ended.log.results] == ["k\u00e4rnel"]


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="no terminals")
def test_a_terminal_that_goes_away_is_an_interrupt_unless_ignored(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGHUP)
    try:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGHUP))
        timer.start()
        assert run(["sleep", "0.4"], tmp_path / "log").stopped == ""
        timer.join()
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGHUP)).start()
        ended = run(stub(tmp_path, 20), tmp_path / "log")
        assert ended.stopped == "interrupt" and ended.log.stopping and ended.seconds < 5
    finally:
        signal.signal(signal.SIGHUP, before)


def test_two_signals_at_once_are_one_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    stopper = module._Stopper(0, 0)
    stopper.interrupt()
    stopper.interrupt()
    assert stopper.interrupts == 1
    now[0] += 1
    stopper.interrupt()
    assert stopper.interrupts == 2


@needs_proc
def test_a_fault_of_ours_leaves_no_run_behind(tmp_path: Path) -> None:
    def fails(log: Log) -> None:
        raise MemoryError

    before = children(os.getpid())
    with pytest.raises(MemoryError):
        run(stub(tmp_path, 20), tmp_path / "log", on_progress=fails)
    assert children(os.getpid()) == before


def test_words_without_end_or_sense_are_no_kernels(tmp_path: Path) -> None:
    script = "import sys; open(sys.argv[1], 'w').write('x' * 5_000_000)"
    assert run([sys.executable, "-c", script, str(tmp_path / "log")], tmp_path / "log").log == Log()


def test_a_run_whose_line_grows_is_no_hang(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BACKLOG", 200)
    monkeypatch.setattr(module, "TAIL", 100)
    script = "import sys, time\nwith open(sys.argv[1], 'w', buffering=1) as log:\n"
    script += "  log.write('==PROF== Profiling \"b\" - 1: 0%..')\n  for _ in range(10):\n"
    script += "    time.sleep(0.1); log.write('.' * 300); log.flush()\n"
    assert run([sys.executable, "-c", script, str(tmp_path / "log")], tmp_path / "log", hang_timeout=0.6).stopped == ""
