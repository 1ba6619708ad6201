"""The four formats of a comparison: they agree, they cope with hostile names, and Markdown renders as intended."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser

import compared
import jsonschema
import pytest
import reports
from compared import COLLECTED, H200, state
from markdown_it import MarkdownIt

from triage.compare import Comparison, compare
from triage.compare.model import State
from triage.errors import UsageError
from triage.renderers import diff_json
from triage.renderers.diff import FORMATS, render

A100 = replace(H200, name="NVIDIA A100", cc="8.0", sms=108)
FACTS = {"registers_per_thread": 32.0, "spill_requests": 0.0, "dram_bytes": 1e6, "dram_pct": 80.0, "instructions": 5e5}
MOVED = {"registers_per_thread": 40.0, "spill_requests": 9.0, "dram_bytes": 2e6, "dram_pct": 60.0, "instructions": 5e5}


def many() -> Comparison:
    base = [state("copy", facts=FACTS, line=5), state("gone"), state("same"), state("tile<32>"), state("m", (1e5,) * 5)]
    head = [
        state("copy", (150_000.0,), limiter="bank-conflicts", facts=MOVED, line=8),
        state("new", limiter=None),
        state("same"),
        state("tile<64>", (50_000.0,)),
        state("m", (1.2e5, 1.21e5, 1.2e5, 1.19e5, 1.2e5)),
    ]
    return compared.compared(base, head)


COMPARISONS = {
    "many": many,
    "empty": lambda: compared.compared([], []),
    "nothing changed": lambda: compared.compared([state()], [state()]),
    "another GPU": lambda: compared.compared([state()], [state(durations=(5e4,), device=A100)]),
    "other clocks": lambda: compared.compared([state()], [state(collection=replace(COLLECTED, clocks="controlled"))]),
    "not timed": lambda: compared.compared([state(durations=())], [state()]),
    "undecided": lambda: compared.compared([state(limiter=None)], [state(durations=(2e5,), limiter=None)]),
    "between two answers": lambda: compared.compared(
        [state(limiter="memory-latency", confidence="low", near=("dram-bandwidth",))], [state(confidence="low")]
    ),
    "only new": lambda: compared.compared([], [state("a", durations=())]),
    "hostile": lambda: compared.compared(
        [state(text, function=text, line=1) for text in reports.HOSTILE.values()],
        [
            state(text, (2e5,), function=text, line=2, limiter=text or "x", nvtx=(text,))
            for text in reports.HOSTILE.values()
        ],
    ),
    "five hundred": lambda: compared.compared(
        [state(f"k{number}", facts=FACTS) for number in range(500)],
        [state(f"k{number}", (2e5 + number,), facts=MOVED) for number in range(500)],
    ),
}


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", COMPARISONS)
def test_every_format_renders_every_comparison_the_same_twice(name: str, format: str) -> None:
    text = render(COMPARISONS[name](), format)
    assert text.endswith("\n") and text == render(COMPARISONS[name](), format)
    text.encode()


def test_an_unknown_format_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="no comparison format 'pdf'"):
        render(many(), "pdf")


@pytest.mark.parametrize("name", COMPARISONS)
def test_json_keeps_its_schema(name: str) -> None:
    document = json.loads(render(COMPARISONS[name](), "json"))
    jsonschema.Draft202012Validator(diff_json.schema()).validate(document)
    assert document["schema"] == "triage/diff/1"


def test_the_headline_of_several_changes() -> None:
    text = render(many(), "text").replace("\n", " ")
    assert text.startswith(
        "3 kernels changed (2 slower, 1 faster); the largest change: m is 20.0 % slower (100 us to 120 us)"
    )
    assert "same did not change; 1 is new; 1 is removed." in text
    assert "renamed from tile<32>" in text.lower() and "spill requests 0 to 9" in text


@pytest.mark.parametrize("format", FORMATS)
def test_another_gpu_is_a_hypothesis_and_no_verdict(format: str) -> None:
    text = " ".join(render(COMPARISONS["another GPU"](), format).split())
    assert "hypothesis" in text and "another GPU: NVIDIA H200" in text
    assert "as fast" not in text and "faster" not in re.sub(r'class="[^"]*"|<style>.*?</style>', "", text)


@pytest.mark.parametrize("format", FORMATS)
def test_between_two_answers_nothing_moved(format: str) -> None:
    text = " ".join(re.sub("<.*?>", " ", render(COMPARISONS["between two answers"](), format)).split())
    if format == "json":
        (pair,) = json.loads(text)["kernels"]
        assert pair["limiter_moved"] is False and pair["limiter_between"] is True
    else:
        assert re.search("between.*memory-latency.*and.*dram-bandwidth", text) or "memory-latency` or `dram" in text
        assert "moved" not in text and "1 kernel changed" not in text


@pytest.mark.parametrize(
    ("before", "after", "noted"),
    [
        (state(limiter="barrier", confidence="low"), state(confidence="low"), True),  # unsure, but not of each other
        (state(limiter="barrier", confidence="medium"), state(confidence="low"), True),
        (state(limiter="barrier"), state(), False),
        (state(limiter="barrier", confidence="low"), state(durations=(2e5,), confidence="low"), False),
        (state(limiter="barrier", confidence="low", near=("dram-bandwidth",)), state(confidence="low"), False),
    ],
)
def test_a_limiter_that_moved_in_the_same_time_is_doubted_unless_both_are_sure(
    before: State, after: State, noted: bool
) -> None:
    (pair,) = compared.compared([before], [after]).pairs
    assert any("may not have moved either" in note for note in pair.notes) == noted
    assert pair.limiter_moved is (not before.near)


def test_the_text_fits_its_width() -> None:
    for width in (40, 80, 120):
        for name, make in COMPARISONS.items():
            longest = max(map(len, render_width(make(), width).splitlines()), default=0)
            assert longest <= width, name


def render_width(comparison: Comparison, width: int) -> str:
    return render(comparison, "text", width=width)


def markdown(text: str) -> str:
    return MarkdownIt("commonmark", {"html": True}).enable("table").render(text)


def cells(html: str) -> list[list[str]]:
    rows = re.findall(r"<tr>(.*?)</tr>", html, re.S)
    return [
        [re.sub(r"<[^>]+>", "", cell).strip() for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.S)]
        for row in rows
    ]


def test_markdown_renders_as_intended() -> None:
    comparison = compare(compared.captured(compared.PR_BASE), compared.captured(compared.PR_HEAD), compared.rules())
    html = markdown(render(comparison, "md"))
    assert html.startswith(
        "<h3>transpose is 8.08x as fast (273 us to 33.8 us) and its limiter moved from uncoalesced-global"
    )
    rows = cells(html)
    assert rows[:3] == [
        ["kernel", "base", "head", "change", "limiter"],
        [
            "transpose",
            "273 us",
            "33.8 us",
            "\u25bc -87.6 % (8.08x as fast)",
            "uncoalesced-global \u2192 dram-bandwidth",
        ],
        ["scale", "47.2 us", "46.8 us", "-0.88 % (noise)", "memory-latency"],
    ]
    assert ["Sectors over ideal", "4.50", "1", "x0.222"] in rows
    assert (
        "<details><summary><code>transpose</code>" in html and html.count("<details>") == html.count("</details>") == 1
    )
    assert "<code>transpose_pr.cu:26</code>" in html


def test_hostile_names_stay_text_in_markdown() -> None:
    html = markdown(render(COMPARISONS["hostile"](), "md"))
    for sign in ("<script", "<img", "<b>", "href=", 'javascript:alert(1)"', "\x1b"):
        assert sign not in html
    assert html.count("<details>") == html.count("</details>")
    assert all(len(row) in (5, 4) for row in cells(html))


def test_markdown_fits_into_a_comment() -> None:
    text = render(COMPARISONS["five hundred"](), "md")
    assert len(text) < 64_000 and "are left out here" in text and "and 450 more kernels: `-f json` holds all." in text


class Tags(HTMLParser):
    """Counts tags and keeps what a page would load or run."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []
        self.loads: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        for name, value in attrs:
            if name in ("src", "href") and value and not value.startswith("#"):
                self.loads.append(value)
            assert not name.startswith("on"), name


def test_the_page_is_alone_and_runs_nothing() -> None:
    for name in ("many", "hostile", "another GPU"):
        tags = Tags()
        text = render(COMPARISONS[name](), "html")
        tags.feed(text)
        assert tags.loads == [] and "script" not in tags.seen and "img" not in tags.seen
        assert "default-src 'none'; style-src 'sha256-" in unescape(text)


def test_the_page_has_both_sides_and_links_that_lead_somewhere() -> None:
    text = render(many(), "html")
    for word in ("<h3>Base</h3>", "<h3>Head</h3>", "copy.cu:5", "copy.cu:8", "a[i] = b[i];"):
        assert word in text, word
    targets = set(re.findall(r'href="#([^"]+)"', text))
    assert targets and targets <= set(re.findall(r'id="([^"]+)"', text))
