"""Reports with thousands of distinct kernels: what people read stays short and says what it leaves out."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import cache

import pytest
import reports
from compared import compared, state

from triage.model import Diagnosis, Hint, Report, Source
from triage.renderers import bounds, ranking, render, roofline, timebar
from triage.renderers import diff as comparison

LEFT = "left out here: --kernel GLOB chooses kernels by name, -f json holds all."


@cache
def large(count: int = 20_000) -> Report:
    """``count`` kernels, each of another name, as a report of that many is read: those that take most time in full."""
    kinds = (reports.UNCOALESCED, reports.CONFLICTS, reports.DRAM, reports.UNDECIDED)
    brief = [
        Diagnosis(one.limiter, one.title, one.family, one.confidence, (), one.summary, bound=one.bound) for one in kinds
    ]
    first = reports.many(4).findings
    findings = [
        replace(
            first[n % 4],
            kernel=replace(first[n % 4].kernel, index=n, name=f"step_{n}(float *)", function=f"step_{n}", metrics={}),
            diagnosis=(kinds if n < 300 else brief)[n % 4],
            duration_ns=1e6 / (n + 100),
        )
        for n in range(count)
    ]
    made = reports.report(*findings)
    fusions = tuple(Hint("fuse", f"step_{n} and step_{n + 1} run one after the other.", (n, n + 1)) for n in range(700))
    return replace(
        made, hints=(*fusions, Hint("little-time", "Half take 2 % of the time.", tuple(range(10_000, 20_000))))
    )


@pytest.mark.parametrize(("format", "most"), [("text", 120_000), ("md", 60_000), ("html", 6_000_000)])
def test_what_people_read_stays_short(format: str, most: int) -> None:
    text = render(large(), format)
    assert len(text) < most
    words = " ".join(re.sub(r"[`\\]", "", text).replace("\xa0", " ").split())
    assert re.search(r"[\d,]+ (more )?kernels?.{0,60}left out here.{0,40}--kernel GLOB.{0,40}-f json holds all", words)
    assert "692 more hints of these kinds left out here" in words and "Half take 2 % of the time." in words


def test_json_has_everything() -> None:
    document = json.loads(render(large(), "json"))
    assert len(document["kernels"]) == 20_000 and len(document["hints"]) == 701
    assert document["kernels"][19_999]["name"] == "step_19999(float *)"


def test_every_link_of_the_page_leads_somewhere() -> None:
    page = render(large(), "html")
    targets = set(re.findall(r'href="#([^"]+)"', page))
    assert len(targets) > 1000 and targets <= set(re.findall(r'id="([^"]+)"', page)) | set(
        re.findall(r"id=(\S+?)>", page)
    )
    assert page.count("<article ") == page.count('<th scope="row" data-v=') >= 1000


def test_what_is_left_out_is_counted_with_its_share() -> None:
    ranked = ranking.by_time(ranking.groups(large()))
    listed = bounds.shown(ranked, 100)
    rest = sum(group.share for group in ranked[100:])
    assert bounds.left_out(ranked, listed) == f"19,900 more kernels, {rest:.0f} % of the time together, are {LEFT}"
    assert bounds.left_out(listed, listed) == ""
    untimed = ranking.groups(replace(large(), findings=tuple(replace(f, share=None) for f in large().findings[:9])))
    assert bounds.left_out(untimed, untimed[:8]) == f"1 more kernel is {LEFT}"


def test_the_longest_are_listed_even_where_they_cannot_be_made_faster() -> None:
    # A kernel at its limit comes late in the order of what can be won back, but its time shows.
    report = large(2000)
    others = [replace(finding, share=finding.share / 2) for finding in report.findings]
    first = replace(others[7], duration_ns=1e9, share=50.0)
    report = replace(report, findings=(*others[:7], first, *others[8:]))
    ranked = tuple(sorted(ranking.by_saving(ranking.groups(report)), key=lambda group: group.place == 7))
    assert ranked[-1].place == 7
    listed = bounds.shown(ranked, 1000, timebar.SEGMENTS)
    assert len(listed) == 1001 + sum(group.place in {other.place for other in ranked[1000:]} for group in listed[:-1])
    assert listed[-1].place == 7
    assert max(timebar.segments(listed, ranked), key=lambda part: part.width).place == 7
    parts = timebar.segments(listed, ranked)
    assert sum(part.width for part in parts) == pytest.approx(sum(group.share for group in ranked), abs=0.1)


def test_the_roofline_says_that_it_draws_only_what_is_listed() -> None:
    ranked = ranking.by_saving(ranking.groups(reports.few()))
    (figure,) = roofline.figures(ranked, (), 19_000)
    assert figure.notes[-1].text == "Only kernels of the list are drawn and counted; it leaves out 19,000."
    assert "leaves out" not in "".join(note.text for note in roofline.figures(ranked)[0].notes)


def test_many_files_and_their_warnings() -> None:
    made = reports.few()
    files = [
        Source(
            f"/run/rank{n}.csv", "csv-raw", None, reports.H200, 8, ("clocks not locked", *(("odd",) if n < 2 else ()))
        )
        for n in range(500)
    ]
    many = replace(made, sources=tuple(files), warnings=tuple(f"left out: file {n}" for n in range(40)))
    assert bounds.sources(many)[1] == "480 more files with 3,840 kernel launches"
    told = bounds.warnings(many)
    assert len(told) == bounds.WARNINGS + 1 and told[-1] == "13 more warnings: -f json holds all"
    assert bounds.warnings(replace(many, warnings=())) == (
        "all files: clocks not locked",
        "rank0.csv: odd",
        "rank1.csv: odd",
    )
    for format in ("text", "md", "html"):
        text = render(many, format)
        assert "480 more files with 3,840" in text and "rank19.csv" in text and "rank20.csv" not in text
    assert len(json.loads(render(many, "json"))["sources"]) == 500


def test_a_kernel_with_many_launches_lists_some_of_them() -> None:
    page = render(reports.repeated(1000), "html")
    assert "and 800 more: -f json holds all" in page and page.count("<li id=") < 500


@pytest.mark.parametrize(("format", "most"), [("text", 120_000), ("md", 64_000), ("html", 3_000_000)])
def test_a_comparison_stays_short(format: str, most: int) -> None:
    facts = {"registers_per_thread": 32.0, "dram_bytes": 1e6}
    made = compared(
        [state(f"k{n}", facts=facts) for n in range(5_000)],
        [state(f"k{n}", (2e5 + n,), facts=facts) for n in range(5_000)],
    )
    text = comparison.render(made, format)
    assert len(text) < most and "-f json holds all" in " ".join(text.replace("`", "").split())
    assert len(json.loads(comparison.render(made, "json"))["kernels"]) == 5_000
