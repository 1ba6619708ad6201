"""triage.renderers.markdown: GitHub-flavoured Markdown that fits into a comment and that no name breaks out of."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser

import pytest
import reports
from markdown_it import MarkdownIt
from markdown_it.token import Token

from triage.renderers import escape, render, wording


def parse(text: str) -> list[Token]:
    return MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).parse(text)


class Tags(HTMLParser):
    """Every tag that the rendered comment holds."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.opened: list[str] = []
        self.closed: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.opened.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        self.closed.append(tag)


def rows(tokens: list[Token]) -> list[list[str]]:
    found: list[list[str]] = []
    inside = False
    for token in tokens:
        if token.type == "tr_open":
            found.append([])
        inside = (inside or token.type in {"th_open", "td_open"}) and token.type not in {"th_close", "td_close"}
        if inside and token.type == "inline":
            found[-1].append("".join(child.content for child in token.children or ()))
    return found


@pytest.mark.parametrize("name", reports.ALL)
def test_one_table_with_a_row_for_each_kernel(name: str) -> None:
    report = reports.ALL[name]()
    tokens = parse(render(report, "md"))
    groups = {(finding.kernel.name, finding.diagnosis.limiter) for finding in report.findings}
    assert sum(token.type == "table_open" for token in tokens) == (1 if groups else 0)
    table = rows(tokens)
    assert len(table) == (len(groups) + 1 if groups else 0)
    assert all(len(row) == 5 for row in table)


@pytest.mark.parametrize("name", reports.ALL)
def test_only_our_own_markup_is_rendered(name: str) -> None:
    text = render(reports.ALL[name](), "md")
    html = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(text)
    tags = Tags(html)
    allowed = {"h3", "p", "ul", "li", "table", "thead", "tbody", "tr", "th", "td", "code", "pre", "em", "strong"}
    assert set(tags.opened) <= allowed | {"details", "summary", "sub", "br"}
    assert tags.opened.count("details") == tags.closed.count("details") == tags.opened.count("summary")
    assert {key for key, _ in tags.attributes} <= {"style", "class"}


def test_hostile_names_read_as_they_are() -> None:
    report = reports.hostile()
    table = rows(parse(render(report, "md")))
    shown = {row[0] for row in table[1:]}
    expected = {escape.shorten(wording.label(finding.kernel, 100), 100) for finding in report.findings}
    assert {" ".join(name.split()) for name in shown} == {" ".join(name.split()) for name in expected}


def test_a_row_and_its_block() -> None:
    text = render(reports.one(), "md")
    assert text.startswith("### t_shared is limited by shared-memory bank conflicts at transpose.cu:31.\n")
    assert "| `t_shared<32, 8, 0, 1>` | `bank-conflicts` | high | 91.6 us | 100 % |" in text
    assert "<details><summary><code>t_shared&lt;32, 8, 0, 1&gt;</code>: bank-conflicts</summary>" in text
    assert "**Try first:** Pad the fastest dimension of the shared array by one element. (small effort)" in text
    assert "- `transpose.cu:31`: 96.4 %" in text
    assert "- Which memory mechanism binds? The LSU data stage is full of replays. *answered here*" in text


def test_what_holds_across_kernels() -> None:
    text = render(reports.few(), "md")
    assert "**Across kernels**\n\n- t_shared and t_copy run one after the other" in text.replace("t\\_", "t_")
    assert "Across kernels" not in render(reports.one(), "md")


def test_undecided_gives_counters_and_command() -> None:
    text = render(reports.undecided(), "md")
    assert "*undecided*" in text and "3 counters would settle it, collected by" in text
    fences = [token.content.strip() for token in parse(text) if token.type == "fence"]
    assert fences == [reports.UNDECIDED.collect]


def test_a_command_cannot_close_its_fence() -> None:
    evil = replace(reports.UNDECIDED, collect="ncu ```` \n```\n<script>")
    tokens = parse(render(reports.report(reports.finding(0, "k", evil, 1.0)), "md"))
    assert [token.content for token in tokens if token.type == "fence"] == ["ncu ````  ``` <script>\n"]


def test_it_fits_into_a_comment() -> None:
    text = render(reports.many(1000), "md")
    assert len(text) <= 60_500
    assert "and 950 more kernels" in text and "left out here" in text
    assert text.count("<details>") == text.count("</details>") > 5
