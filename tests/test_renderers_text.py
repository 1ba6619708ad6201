"""triage.renderers.text: one sentence a kernel, right at 80 columns and when piped."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace

import pytest
import reports
from rich.cells import cell_len

from triage.renderers import render

COMMAND = re.compile(r"^\s+(ncu|triage explain) ")


@pytest.mark.parametrize("width", [40, 80, 132])
@pytest.mark.parametrize("name", reports.ALL)
def test_no_line_is_wider_than_asked_and_none_ends_in_blanks(name: str, width: int) -> None:
    for line in render(reports.ALL[name](), "text", width=width).splitlines():
        assert cell_len(line) <= width or COMMAND.match(line), line
        assert line == line.rstrip()


@pytest.mark.parametrize("name", reports.ALL)
def test_nothing_reaches_the_terminal_but_visible_text(name: str) -> None:
    text = render(reports.ALL[name](), "text")
    text.encode()
    assert not [character for character in text if unicodedata.category(character)[0] == "C" and character != "\n"]


def test_colour_only_when_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("FORCE_COLOR", "CLICOLOR_FORCE"):
        monkeypatch.setenv(variable, "1")
    monkeypatch.setenv("COLUMNS", "20")
    plain = render(reports.few(), "text")
    assert "\x1b" not in plain
    coloured = render(reports.few(), "text", color=True)
    assert "\x1b[1;34m" in coloured
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == plain


def test_hostile_names_bring_no_escape_of_their_own_into_a_coloured_terminal() -> None:
    text = render(reports.hostile(), "text", color=True)
    assert set(re.findall(r"\x1b\[([\d;]*)m", text)) <= {"0", "1", "2", "1;34", "1;33", "1;32", "1;35", "1;31"}
    assert text.count("\x1b") == len(re.findall(r"\x1b\[[\d;]*m", text))


def test_what_a_kernel_says() -> None:
    text = render(reports.one(), "text", width=200)
    assert text.startswith("t_shared is limited by shared-memory bank conflicts at transpose.cu:31.\n")
    assert "1. t_shared<32, 8, 0, 1>\n" in text
    assert "100 % of the time, 91.6 us, kernel 0, 128 x 128 blocks of 32 x 8 threads" in text
    assert "bank-conflicts (high confidence): 94 % of the shared-memory wavefronts are replays" in text
    assert "Try first: Pad the fastest dimension of the shared array by one element." in text
    assert "Where: transpose.cu:31 (96 % of the bank-conflict wavefronts)" in text
    assert "Warning: The SM ran at 1.98 GHz" in text


def test_kernels_come_by_share_of_time() -> None:
    text = render(reports.few(), "text")
    shares = [float(share) for share in re.findall(r"^ +([\d.]+) % of the time", text, re.MULTILINE)]
    assert len(shares) == 8 and shares == sorted(shares, reverse=True)


def test_undecided_names_the_counters_and_the_command_on_one_line() -> None:
    text = render(reports.undecided(), "text")
    assert "undecided: The LSU data stage is 84.2 % busy" in text
    # The command names every counter; a list of them would say it twice.
    assert "3 counters would settle it, collected with:" in text and "Not collected" not in text
    assert text.count("l1tex__data_bank_conflicts_pipe_lsu.sum") == 1
    (command,) = [line for line in text.splitlines() if COMMAND.match(line)]
    assert command.strip() == reports.UNDECIDED.collect


def test_counters_that_the_command_does_not_name_are_named() -> None:
    vague = replace(reports.UNDECIDED, collect="triage profile -k k ./your-program")
    text = render(reports.report(reports.finding(0, "k(int)", vague, 1.0)), "text", width=300)
    assert "Not collected, and would settle it, are: l1tex__data_bank_conflicts_pipe_lsu.sum" in text
    assert "Collect them with:" in text


def test_what_holds_across_kernels_comes_last() -> None:
    lines = render(reports.few(), "text", width=200).splitlines()
    place = lines.index("Across kernels")
    assert lines[place + 1] == "  - t_shared and t_copy run one after the other: up to 134 MB less traffic."
    assert lines[place + 2].startswith("  - sgemm_tiled") and len(lines) == place + 3
    assert "Across kernels" not in render(reports.one(), "text")


def test_a_long_command_is_printed_once() -> None:
    long = replace(reports.UNDECIDED, collect="ncu --metrics " + ",".join(f"counter_{n}.sum" for n in range(60)))
    text = render(reports.report(*(reports.finding(n, f"k{n}(int)", long, 9.0 - n) for n in range(3))), "text")
    assert text.count("ncu --metrics") == 1
    assert "triage explain transpose.ncu-rep --kernel 1" in text and "--kernel 2" in text


def test_low_confidence_says_why_and_what_would_settle_it() -> None:
    text = render(reports.few(), "text", width=200)
    assert "Low confidence: the kernel ran for 4.10 us" in text
    assert "To settle it: Launch the same kernel with twice the blocks" in text


def test_a_warning_of_all_kernels_is_said_once() -> None:
    text = render(reports.repeated(), "text")
    assert text.count("clocks were not locked") == 1
    assert "12 launches, 90.0 us to 101 us each" in " ".join(text.split())


def test_empty() -> None:
    text = render(reports.empty(), "text")
    assert text.startswith("This report holds no kernel.\n") and "The file holds no kernel." in text
