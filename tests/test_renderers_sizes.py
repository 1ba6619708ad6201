"""Whether the limiter is the same at two sizes, in every format and through the command line."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest
import reports
from captures import DATA
from compared import PR_BASE, PR_HEAD, side, state
from markdown_it import MarkdownIt
from test_cli import fails, triage

from triage.compare.sizes import SameLimiter, same_limiter
from triage.errors import UsageError
from triage.renderers import sizes

CAPTURE = DATA / "limiters_h200.csv"


def two(small: str | None, large: str | None) -> SameLimiter:
    return same_limiter(side(state(limiter=small)), side(state(limiter=large, grid=(9, 1, 1))))


def mixed() -> SameLimiter:
    return same_limiter(
        side(state("a"), state("b", limiter=None), state("c"), state("d", confidence="low"), state("s")),
        side(state("a"), state("b"), state("c", limiter="sleep"), state("d"), state("l", (5e5,), limiter=None)),
    )


def hostile() -> SameLimiter:
    made = [
        state(text, function=text, limiter=text or None, nvtx=(text,), grid=(n, 1, 1))
        for n, text in enumerate(reports.HOSTILE.values(), 1)
    ]
    return same_limiter(side(*made), side(*made))


def many() -> SameLimiter:
    return same_limiter(
        side(*(state(f"k{n}") for n in range(20_000))),
        side(*(state(f"k{n}", limiter="sleep" if n == 19_999 else "dram-bandwidth") for n in range(20_000))),
    )


RESULTS: dict[str, Callable[[], SameLimiter]] = {"mixed": mixed, "hostile": hostile, "same": lambda: two("x", "x")}


@pytest.mark.parametrize(
    ("small", "large", "words"),
    [
        ("sleep", "sleep", "Same limiter at both sizes for copy: the smaller problem may stand for the larger."),
        ("sleep", "barrier", "Not the same limiter at both sizes: of 1 kernel that matters, 1 with another limiter."),
        (None, "barrier", "Cannot tell: of 1 kernel that matters, 1 undecided at one size or both."),
    ],
)
def test_the_headline(small: str | None, large: str | None, words: str) -> None:
    assert sizes.headline(two(small, large)) == words


def test_text_has_one_line_a_kernel() -> None:
    lines = sizes.render(mixed(), "text").splitlines()
    assert lines[lines.index("") + 1 :] == [
        "  differs    c: dram-bandwidth at the small size, sleep at the large, 20.0 % of the time",
        "  undecided  b: undecided at the small size, dram-bandwidth at the large, 20.0 % of the time",
        "  missing    l: only at the large size, undecided, 55.6 % of the time",
        "  same       a: dram-bandwidth, 20.0 % of the time",
        "  same       d: dram-bandwidth (low confidence) at the small size, dram-bandwidth at the large, "
        "20.0 % of the time",
        "  missing    s: only at the small size, dram-bandwidth, 20.0 % of the time, does not decide",
    ]
    assert "1 with another limiter, 1 undecided at one size or both, 1 not run at the small size." in " ".join(lines)


@pytest.mark.parametrize("name", RESULTS)
def test_json_keeps_its_schema(name: str) -> None:
    document = json.loads(sizes.render(RESULTS[name](), "json"))
    jsonschema.Draft202012Validator(sizes.schema()).validate(document)


def test_hostile_names_stay_text() -> None:
    html = MarkdownIt("commonmark", {"html": True}).enable("table").render(sizes.render(hostile(), "md"))
    for sign in ("<script", "<img", "<b>", "href=", 'javascript:alert(1)"', "\x1b"):
        assert sign not in html
    assert html.count("<tr>") == 1 + len(reports.HOSTILE)
    text = sizes.render(hostile(), "text")
    assert "\x1b" not in text and len(text.splitlines()) <= 6 + len(reports.HOSTILE)


def test_of_many_kernels_those_that_are_not_the_same_are_shown_and_the_rest_counted() -> None:
    result = many()
    for form in ("text", "md"):
        text = sizes.render(result, form)
        assert len(text) < 10_000 and "k19999" in text
        assert "and 19,950 more kernels (19,950 same); -f json lists all, -k GLOB chooses" in text.replace("\\", "")
    assert len(json.loads(sizes.render(result, "json"))["kernels"]) == 20_000


def test_an_unknown_format_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="no format 'pdf'"):
        sizes.render(mixed(), "pdf")


@pytest.fixture(scope="module")
def larger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The capture with other grids, of as many blocks: their number bears on the verdicts."""
    with CAPTURE.open(encoding="utf-8", newline="") as file:
        header, units, *rows = csv.reader(file)
    grid = header.index("Grid Size")
    for row in rows:
        x, y, z = row[grid].strip("()").split(",")
        row[grid] = f"({z}, {x}, {y})"
    target = tmp_path_factory.mktemp("sizes") / "large.csv"
    with target.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows([header, units, *rows])
    return target


def test_the_command_line_says_same_with_0(larger: Path, tmp_path: Path) -> None:
    result = triage("diff", "--same-limiter", CAPTURE, larger)
    assert result.returncode == 0, result.stderr
    assert "Same limiter at both sizes" in result.stdout and result.stdout.count("\n  same ") == 30
    target = tmp_path / "sizes.json"
    assert triage("diff", "--same-limiter", CAPTURE, larger, "-o", target).returncode == 0
    document = json.loads(target.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(sizes.schema()).validate(document)
    assert document["answer"] == "same" and len(document["kernels"]) == 30
    assert sum(one["small"]["grid"] != one["large"]["grid"] for one in document["kernels"]) > 25


def test_the_command_line_says_differs_with_10() -> None:
    result = triage("diff", "--same-limiter", PR_BASE, PR_HEAD, "-f", "md")
    lines = fails(result, 10)
    assert "Not the same limiter" in lines[0] and "profile the larger problem" in lines[1]
    assert "| `transpose` | differs | `uncoalesced-global` | `dram-bandwidth` |" in result.stdout


def test_the_command_line_says_cannot_tell_with_10() -> None:
    # The larger report has too few counters for an answer.
    result = triage("diff", "--same-limiter", CAPTURE, DATA / "readers_raw_auto.csv", "--kernel", "t_*")
    assert "Cannot tell" in fails(result, 10)[0]
    assert "undecided  t_naive: uncoalesced-global at the small size, undecided at the large" in result.stdout


def test_a_baseline_may_be_either_side(larger: Path, tmp_path: Path) -> None:
    base = tmp_path / "small.yaml"
    assert triage("baseline", CAPTURE, "-o", base).returncode == 0
    assert triage("diff", "--same-limiter", base, larger).returncode == 0


@pytest.mark.parametrize("more", [("-f", "html"), ("-o", "x.html"), ("--noise", "3%")])
def test_what_does_not_go_together_is_refused(more: tuple[str, str]) -> None:
    fails(triage("diff", "--same-limiter", "absent.csv", "absent.csv", *more), 2)
