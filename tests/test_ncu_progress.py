"""The status line."""

from __future__ import annotations

import io

import pytest

from triage.ncu import progress as module
from triage.ncu.log import Log
from triage.ncu.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def log(results: int, open_kernel: bool = True) -> Log:
    made = Log()
    made.feed('==PROF== Profiling "1:7:_Z4tileILi0EEvPf:2": 0%....50%....100% - 8 passes\n' * results)
    if open_kernel:
        made.feed('==PROF== Profiling "_Z5naivePf" - 1: 0%....50%')
    return made


def test_the_line_counts_and_names_and_estimates() -> None:
    bar = Progress(io.StringIO(), "profiling", 20)
    assert bar.line(log(0), 1.0) == "triage: profiling 1 of 20 - naive 50 %"
    assert bar.line(log(1), 10.0) == "triage: profiling 2 of 20 - naive 50 %, 8 passes a kernel", (
        "no pace from one result"
    )
    assert bar.line(log(5), 12.0).endswith("8 passes a kernel, about 8 s left")


def test_without_a_number_to_come_there_is_no_time_left() -> None:
    bar = Progress(io.StringIO(), "survey: launch")
    bar.line(log(1), 1.0)
    assert bar.line(log(9, open_kernel=False), 2.0) == "triage: survey: launch 9, 8 passes a kernel"


def test_more_results_than_expected_never_give_a_negative_time() -> None:
    bar = Progress(io.StringIO(), "profiling", 2)
    bar.line(log(1), 1.0)
    assert "about 0 s left" in bar.line(log(5), 2.0)


def test_a_pipe_gets_a_line_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LINE_EVERY_S", 0.0)
    stream = io.StringIO()
    with Progress(stream, "profiling", 2) as bar:
        bar.update(log(1))
    assert stream.getvalue().count("\n") == 1 and "\x1b" not in stream.getvalue()
    monkeypatch.setattr(module, "LINE_EVERY_S", 60.0)
    with Progress(stream, "profiling", 2) as bar:
        bar.update(log(1))
    assert stream.getvalue().count("\n") == 1, "too early for the next line"


def test_a_terminal_keeps_its_last_row_and_gives_it_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(module, "REDRAW_EVERY_S", 0.0)
    stream = Terminal()
    with Progress(stream, "profiling", 2) as bar:
        assert "\x1b[1;" in stream.getvalue()
        bar.update(log(1))
        assert "profiling 2 of 2" in stream.getvalue()
    assert "\x1b[r" in stream.getvalue().rsplit("profiling", 1)[1]


def test_quiet_and_dumb_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LINE_EVERY_S", 0.0)
    stream = Terminal()
    with Progress(stream, "profiling", 2, quiet=True) as bar:
        bar.update(log(1))
    assert stream.getvalue() == ""
    monkeypatch.setenv("TERM", "dumb")
    with Progress(stream, "profiling", 2) as bar:
        bar.update(log(1))
    assert "\x1b" not in stream.getvalue() and "naive" in stream.getvalue()


def test_a_name_is_shown_inert_and_short() -> None:
    made = Log()
    made.feed('==PROF== Profiling "\x1b]0;pwn\x07\x1b[31m' + "k" * 5000 + '" - 1: 0%....50%')
    line = Progress(io.StringIO(), "profiling").line(made, 1.0)
    assert line.isprintable() and len(line) < 300 and " - kkk" in line


def test_a_terminal_that_is_gone_does_not_end_the_run() -> None:
    class Gone(Terminal):
        def write(self, text: str) -> int:
            raise OSError(5, "Input/output error")

    with Progress(Gone(), "profiling") as bar:
        bar._shown_at = -100.0
        bar.update(log(1))
        assert bar.quiet
