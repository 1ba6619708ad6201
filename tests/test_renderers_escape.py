"""triage.renderers.escape: hostile names are harmless, and harmless names stay as they are."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from reports import HOSTILE

from triage.renderers import escape


def rendered_text(markdown: str) -> str:
    """The text that a reader sees, with the comments that split mentions left out."""
    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    words = []
    for token in parser.parse(markdown):
        for child in token.children or ():
            assert child.type in {"text", "html_inline", "code_inline", "softbreak", "text_special"}, child
            if child.type == "html_inline":
                assert child.content == "<!-- -->"
            else:
                words.append(child.content)
    return "".join(words)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("void t_naive<32, 8>(float *)", "void t_naive<32, 8>(float *)"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07after", "after"),
        ("\x9b2Jafter", "after"),
        ("\x1b", ""),
        ("a\r\nb\tc\u2028d", "a b c d"),
        ("abc\u202edcba\u202c\u2066x\u2069", "abcdcbax"),
        ("zero\u200bwidth\u00ad", "zerowidth"),
        ("\ud800", ""),
        ("\ue000", ""),
        ("größe µ 核", "größe µ 核"),
        ("\x00\x7f\x85x", " x"),
    ],
)
def test_clean(text: str, expected: str) -> None:
    assert escape.clean(text) == expected


@given(st.text(st.characters(codec=None)))
def test_clean_leaves_one_visible_encodable_line(text: str) -> None:
    cleaned = escape.clean(text)
    cleaned.encode()
    assert not any(unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"} for character in cleaned)
    assert escape.clean(cleaned) == cleaned


def test_shorten_keeps_both_ends() -> None:
    text = "start" + "x" * 3000 + "end"
    short = escape.shorten(text, 60)
    assert len(short) == 60
    assert short.startswith("start") and short.endswith("end") and "..." in short
    assert escape.shorten("short", 60) == "short"
    assert escape.shorten("abcdef", 2) == "ab"


@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE.keys())
def test_markdown_renders_as_the_same_text(name: str) -> None:
    if escape.clean(name).strip():
        assert rendered_text("x " + escape.markdown(name)) == "x " + escape.clean(name).rstrip()


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126), min_size=1, max_size=40))
def test_any_ascii_text_survives_markdown(text: str) -> None:
    assert rendered_text(escape.markdown(text)).strip() == text.strip()


def test_markdown_links_nobody() -> None:
    assert "@<!-- -->channel" in escape.markdown("@channel")
    assert "#<!-- -->12" in escape.markdown("see #12")


@pytest.mark.parametrize("text", ["http://x.org", "see HTTPS://x.org", "www.x.org", "ftp://x.org", "WWW.x.org"])
def test_markdown_links_no_page(text: str) -> None:
    """GitHub makes links of bare addresses; a comment in the middle keeps it from doing so."""
    assert "<!-- -->" in escape.markdown(text)
    assert rendered_text(escape.markdown(text)) == text


def test_prose_keeps_code_and_https_alone() -> None:
    assert escape.prose("use `a_b|c` and __ldg") == "use `a_b|c` and \\_\\_ldg"
    assert escape.prose("use `a|b`", cell=True) == "use `a\\|b`"
    assert escape.prose("see https://a.org/x_y#z, 2.") == "see <https://a.org/x_y#z>, 2."
    assert escape.prose("- a") == "\\- a"
    assert escape.prose("``x`` <b> [y](javascript:z)") == "\\`\\`x\\`\\` \\<b> \\[y\\](javascript:z)"
    assert escape.prose("https://docs.nvidia.com@evil.org/").startswith("<https://docs.nvidia.com>@<!-- -->evil")


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126), min_size=1, max_size=40))
def test_prose_holds_no_markup_but_code(text: str) -> None:
    rendered_text(escape.prose(text.replace("https:", "")))


def test_a_link_leads_to_https_or_nowhere() -> None:
    assert escape.link("a [b]", "https://x.org/a_(b)?c=d#e") == "[a \\[b\\]](https://x.org/a_%28b%29?c=d#e)"
    assert escape.link("a", "javascript:alert(1)") == "a"
    assert "<img" not in escape.link("a", "https://x) <img src=x onerror=y>")


def test_no_line_of_code_ends_its_block() -> None:
    assert escape.fenced("a\n```\n<b>\n````\tx", "cuda") == ["`````cuda", "a", "```", "<b>", "````    x", "`````"]


@pytest.mark.parametrize(
    "name", [name for name in HOSTILE.values() if name], ids=[key for key in HOSTILE if key != "empty"]
)
def test_markdown_code_in_a_cell_stays_in_its_cell(name: str) -> None:
    table = f"| a | b |\n|--|--|\n| {escape.markdown_code(name, cell=True)} | right |"
    tokens = MarkdownIt("commonmark").enable("table").parse(table)
    cells = [token for token in tokens if token.type == "inline"]
    assert [cell.content for cell in cells[2:]][1] == "right" and len(cells) == 4
    (code,) = cells[2].children or ()
    assert code.type == "code_inline"
    assert code.content.split() == escape.clean(name).split()
