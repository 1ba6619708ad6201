"""triage.renderers.wording: the headline and how kernels, launches and GPUs read."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape

import pytest
import reports

from triage import quantities
from triage.model import Device, Kernel, Launch
from triage.renderers import ranking, render, timebar, wording
from triage.renderers.ranking import groups


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("empty", "This report holds no kernel."),
        ("one", "t_shared is limited by shared-memory bank conflicts at transpose.cu:31."),
        ("few", "3 of 8 kernels take 86 % of the time; the longest, sgemm_tiled, is limited by FMA pipe."),
        (
            "undecided",
            "1 of 2 kernels takes 100 % of the measured time; the longest, mystery_kernel, is undecided: "
            "3 counters would settle what limits it.",
        ),
        ("partial", "2 kernels, not timed; the first, kernel 0, is undecided."),
        (
            "repeated",
            "1 of 2 kernels takes 83 % of the time; the longest, t_shared, is limited by shared-memory bank "
            "conflicts at transpose.cu:31.",
        ),
    ],
)
def test_headline(name: str, expected: str) -> None:
    assert wording.headline(reports.ALL[name]()) == expected


def test_headline_of_a_long_name_stays_short() -> None:
    long = reports.report(reports.finding(0, reports.HOSTILE["long"], reports.CONFLICTS, 1.0, function=""))
    assert len(wording.headline(long)) < 250


def test_undecided_are_counted() -> None:
    assert wording.undecided(reports.few()) == "1 of 8 kernels could not be decided."
    assert wording.undecided(reports.one()) == ""


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("void t_naive<32, 8>(float *, const float *, int)", "t_naive<32, 8>"),
        ("k(void (*)(int), int)", "k"),
        ("(anonymous namespace)::k<F(int)>(T)", "(anonymous namespace)::k<F(int)>"),
        ("unbalanced)", "unbalanced)"),
        ("()", "()"),
        ("plain", "plain"),
    ],
)
def test_label(name: str, expected: str) -> None:
    assert wording.label(Kernel(0, name, "f")) == expected


def test_a_kernel_without_a_name_has_its_number() -> None:
    assert wording.label(Kernel(7, "\x1b[0m", "")) == "kernel 7"


def test_functions_of_one_name_are_told_apart() -> None:
    folded = groups(reports.few())
    by_name = {group.shown.kernel.name: wording.short_name(group.shown.kernel, folded) for group in folded}
    assert by_name["void t_shared<32, 8, 1, 1>(float *, const float *, int)"] == "t_shared<32, 8, 1, 1>"
    assert by_name["t_copy(float *, const float *, int)"] == "t_copy"


@pytest.mark.parametrize(
    ("launch", "expected"),
    [
        (Launch((128, 128, 1), (32, 8, 1)), "128 x 128 blocks of 32 x 8 threads"),
        (Launch((1, 1, 1), (1, 1, 1)), "1 block of 1 thread"),
        (Launch((65_536, 1, 1), (256, 1, 1)), "65,536 blocks of 256 threads"),
        (Launch((2, 1, 3), None), "2 x 1 x 3 blocks"),
        (Launch(None, (64, 1, 1)), "blocks of 64 threads"),
        (Launch(), ""),
    ],
)
def test_launch(launch: Launch, expected: str) -> None:
    assert wording.launch(Kernel(0, "k", "k", launch)) == expected


def test_device_says_what_is_known() -> None:
    assert wording.device(reports.H200) == "NVIDIA H200 (CC 9.0, 132 SMs)"
    assert wording.device(Device()) == "unknown GPU"
    assert wording.device(Device(cc="8.6")) == "unknown GPU (CC 8.6)"


@pytest.mark.parametrize(
    ("path", "expected"),
    [("/a/b/x.cu", "x.cu"), (r"C:\src\x.cu", "x.cu"), ("x.cu", "x.cu"), ("/a\x1b[31m/y.cu", "y.cu"), ("/", "/")],
)
def test_file_name(path: str, expected: str) -> None:
    assert wording.file_name(path) == expected


@pytest.mark.parametrize(
    ("title", "expected"),
    [("Bank conflicts", "bank conflicts"), ("DRAM bandwidth", "DRAM bandwidth"), ("L2 full.", "L2 full"), ("", "")],
)
def test_lowered(title: str, expected: str) -> None:
    assert wording.lowered(title) == expected


def test_launch_spread() -> None:
    first, _ = groups(reports.repeated(12))
    assert wording.launches(first) == "12 launches, 90.0 us to 101 us each"
    same = replace(reports.repeated(1).findings[0])
    assert wording.launches(groups(reports.report(same, same))[0]) == "2 launches, 90.0 us each"


def test_common_warnings_are_those_of_every_kernel() -> None:
    clocks = "The SM ran at 1.98 GHz; clocks were not locked."
    assert wording.common_warnings(reports.repeated()) == (clocks,)
    assert wording.common_warnings(reports.few()) == ()
    assert wording.common_warnings(reports.one()) == ()


@pytest.mark.parametrize("surveyed", [False, True])
@pytest.mark.parametrize("format", ["text", "md", "html"])
def test_a_bounded_headroom_says_what_it_means_for_all_kernel_time(format: str, surveyed: bool) -> None:
    made = replace(reports.few(), surveyed=surveyed)
    text = " ".join(unescape(render(made, format)).replace("\xa0", " ").split())
    # The transpose that is not coalesced: at most 6.7x as fast.
    group = next(group for group in ranking.groups(made) if group.shown.kernel.function == "t_naive")
    saved = group.share * (1 - 1 / 6.7)
    of = "the program's kernel time" if surveyed else "the profiled kernel time"
    words = (
        f"saves at most {quantities.percent(saved)} of {of} ({quantities.factor(1 / (1 - saved / 100))} as fast in all"
    )
    assert words in text
    bounded = [group for group in ranking.groups(made) if group.headroom is not None]
    assert 0 < len(bounded) < len(ranking.groups(made)), "what is not bounded says nothing of the whole"
    assert re.sub(r"<script.*?</script>", "", text).count("saves at most") == len(bounded)


def test_a_report_of_one_kernel_is_not_taken_for_the_program() -> None:
    for format in ("text", "md", "html"):
        assert "saves at most" not in render(reports.one(), format)


def test_kernels_that_were_profiled_need_not_take_all_of_a_surveyed_program() -> None:
    made = reports.few()
    third = replace(made, surveyed=True, findings=tuple(replace(one, share=one.share / 3) for one in made.findings))
    assert "8 of 8 kernels take 33 % of the program's kernel time" in wording.headline(third)
    segments = timebar.segments(ranking.by_saving(ranking.groups(third)))
    assert sum(segment.width for segment in segments) == pytest.approx(100 / 3, abs=0.1)
