"""Short questions to programs that do not behave."""

from __future__ import annotations

import io
import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest
from processes import gone, needs_proc

from triage.asking import Said, ask


def test_what_it_says_with_its_status() -> None:
    assert ask(["sh", "-c", "echo out; echo err >&2; exit 3"], 5) == Said(3, "out\nerr\n")
    assert ask(["sh", "-c", "printf '\\377'"], 5).text == "\ufffd"


def test_one_that_cannot_start_says_why() -> None:
    said = ask(["/no/such/program"], 5)
    assert said.status == 127 and "No such file" in said.text
    assert ask(["a\0b"], 5).status == 127


@needs_proc
def test_one_that_never_answers_is_ended_with_all_it_started(tmp_path: Path) -> None:
    said = ask(["sh", "-c", f"sleep 50 & echo $! > {tmp_path}/pid; echo begun; sleep 50"], 0.3)
    assert (said.status, said.text) == (124, "begun\n") and "did not answer within 0.3 s" in said.fault
    assert gone(int((tmp_path / "pid").read_text()))


def test_one_that_never_stops_is_cut_off() -> None:
    start = time.monotonic()
    said = ask(["yes", "Version 2025.3.1"], 20, limit=1 << 20)
    assert said.status == 124 and len(said.text) == 1 << 20 and "without end" in said.fault
    assert time.monotonic() - start < 5


def test_an_answer_of_just_the_limit_is_whole() -> None:
    command = [sys.executable, "-c", "print('x' * 99_999)"]
    assert ask(command, 20, limit=100_000) == Said(0, "x" * 99_999 + "\n")
    assert ask(command, 20, limit=99_999).fault


@needs_proc
def test_an_orphan_that_holds_the_pipe_is_not_waited_for(tmp_path: Path) -> None:
    start = time.monotonic()
    said = ask(["sh", "-c", f"echo answer; sleep 50 & echo $! > {tmp_path}/pid"], 20)
    assert said == Said(0, "answer\n") and time.monotonic() - start < 5
    assert gone(int((tmp_path / "pid").read_text()))


@pytest.mark.skipif(not hasattr(os, "setsid"), reason="no sessions")
def test_an_orphan_out_of_reach_is_not_waited_for_either() -> None:
    start = time.monotonic()
    code = "import os, time; os.write(1, b'answer'); os.fork() or (os.setsid(), time.sleep(2), os.write(1, b'late'))"
    said = ask([sys.executable, "-c", code], 20, into=(kept := io.BytesIO()))
    assert said == Said(0, "") and time.monotonic() - start < 1.9
    assert kept.getvalue() == b"answer"
    # What it says later is no part of the answer, and the thread that waits for it ends with it.
    time.sleep(1.7)
    assert kept.getvalue() == b"answer"


def test_one_that_closed_its_output_is_waited_for() -> None:
    start = time.monotonic()
    assert ask(["sh", "-c", "echo a; exec >&- 2>&-; sleep 0.3; exit 7"], 20) == Said(7, "a\n")
    assert time.monotonic() - start < 5


@needs_proc
def test_an_interrupt_ends_it(tmp_path: Path) -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.4, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            ask(["sh", "-c", f"echo $$ > {tmp_path}/pid; sleep 50"], 20)
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
    assert gone(int((tmp_path / "pid").read_text()))


def test_an_answer_can_go_to_a_file_and_a_full_disk_is_said() -> None:
    kept = io.BytesIO()
    assert ask(["echo", "a"], 20, into=kept) == Said(0, "") and kept.getvalue() == b"a\n"

    class Full(io.BytesIO):
        def write(self, _: object) -> int:
            raise OSError(28, "No space left on device")

    said = ask(["echo", "a"], 20, into=Full())
    assert said.status == 124 and said.fault == "its answer cannot be kept: No space left on device"


def test_foreign_words_are_shown_inert_and_short() -> None:
    said = Said(1, "first\n\x1b]0;pwn\x07==ERROR== \x1b[31mred\x9b2J\u202e " + "x" * 100_000)
    words = said.words("nothing")
    assert words.startswith("red") and len(words) <= 200 and words.isprintable()
    assert Said(0, "").words("nothing") == Said(0, "\x1b[2J\n").words("nothing") == "nothing"
    assert Said(124, "half an answer", "it did not answer").words("nothing") == "it did not answer"


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize(
    ("program", "crash"),
    [
        ("echo half; kill -SEGV $$", "it crashed (SIGSEGV)"),
        # The status of a shell whose child crashed: ncu is such a script.
        ("sh -c 'echo half; kill -ABRT $$' 2>/dev/null", "it crashed (SIGABRT)"),
        ("echo half; kill -KILL $$", "it was ended by SIGKILL"),
        ("echo half; exit 3", ""),
        ("echo half; exit 130", ""),
        ("echo half; exit 255", ""),
        ("echo half", ""),
    ],
)
def test_a_crash_is_told_from_an_answer(program: str, crash: str) -> None:
    # A second command keeps the shell from becoming its child.
    said = ask(["sh", "-c", program if "sh -c" not in program else f"{program}; exit $?"], 20)
    assert said.text == "half\n" and said.crash == said.broken == crash
    assert said.words("nothing") == (f"{crash}: half" if crash else "half")


def test_what_a_crash_says_of_itself() -> None:
    assert Said(-11, "").words("nothing") == "it crashed (SIGSEGV)"
    assert Said(0xC0000005, "").words("nothing") == "it crashed (status 0xc0000005)"
    assert Said(-999, "").crash == "it was ended by signal 999"
    assert Said(124, "", "it did not answer").crash == "" and Said(124, "", "it did not answer").broken
    assert Said(-6, "begun\n==ERROR== no driver\n").words("nothing") == "it crashed (SIGABRT): no driver"
