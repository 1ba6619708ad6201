"""The catalogue is in step with the rules and whole; the guide works when it is typed along and knows every code."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from markdown_it import MarkdownIt
from test_cli import fails, triage

from triage.rules import default_rulebook
from triage.rules.catalogue import pages, write_all
from triage.rules.rulebook import LimiterDef

ROOT = Path(__file__).parents[1]
RULES = default_rulebook()
PAGES = pages(RULES)
GUIDE = (ROOT / "docs" / "writing-rules.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", PAGES)
def test_the_committed_page_is_in_step(name: str) -> None:
    committed = (ROOT / "docs" / "rules" / name).read_text(encoding="utf-8")
    assert committed == PAGES[name], "run `triage rules docs`"


def test_no_page_of_a_limiter_that_is_gone() -> None:
    assert {path.name for path in (ROOT / "docs" / "rules").glob("*.md")} == set(PAGES)


@pytest.mark.parametrize("limiter", RULES.limiters.values(), ids=lambda limiter: limiter.id)
def test_a_page_has_every_part(limiter: LimiterDef) -> None:
    page = PAGES[f"{limiter.id}.md"]
    for heading in (
        "How it shows",
        "What to try",
        "When a library",
        "What it is confused",
        "Thresholds",
        "What proves",
    ):
        assert f"## {heading}" in page, heading
    assert page.count("```cuda") == 2
    assert limiter.guide.before != limiter.guide.after
    assert "To be sure: " in page
    assert limiter.guide.proof
    assert limiter.id not in {confusion.limiter for confusion in limiter.guide.confused_with}


def test_what_proves_a_limiter_is_a_calibration_kernel_that_has_it() -> None:
    manifest = yaml.safe_load((ROOT / "kernels" / "limiters" / "manifest.yaml").read_text(encoding="utf-8"))
    accepted = {kernel["kernel"]: kernel["accept"] for kernel in manifest["kernels"]}
    for limiter in RULES.limiters.values():
        for kernel in limiter.guide.proof:
            assert limiter.id in accepted[kernel], (limiter.id, kernel)


def anchors(text: str) -> set[str]:
    found = set(re.findall(r'<a id="([^"]+)">', text))
    for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE):
        found.add(re.sub(r"[^a-z0-9 _-]", "", heading.lower().replace("`", "")).replace(" ", "-"))
    return found


def test_every_link_leads_somewhere() -> None:
    texts = {f"docs/rules/{name}": text for name, text in PAGES.items()} | {"docs/writing-rules.md": GUIDE}
    for name, text in texts.items():
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            if target.startswith("https://"):
                continue
            file, _, anchor = target.partition("#")
            path = (ROOT / name).parent / file if file else ROOT / name
            assert path.exists(), (name, target)
            if anchor and path.suffix == ".md":
                assert anchor in anchors(path.read_text(encoding="utf-8")), (name, target)


def test_pages_of_limiters_that_are_gone_are_removed(tmp_path: Path) -> None:
    write_all(RULES, tmp_path)
    (tmp_path / "gone.md").write_text(PAGES["barrier.md"], encoding="utf-8")
    (tmp_path / "mine.md").write_text("# Mine\n", encoding="utf-8")
    write_all(RULES, tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {*PAGES, "mine.md"}


def test_the_guide_typed_along_makes_a_limiter_that_works(tmp_path: Path) -> None:
    section = GUIDE[GUIDE.index("## A new limiter, from") : GUIDE.index("## How a rule is judged")]
    for block in re.finditer(r"```yaml\n(.*?)```", section, re.DOTALL):
        name = re.findall(r"`([\w./-]+\.yaml)`", section[: block.start()])[-1]
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block[1], encoding="utf-8")
    capture = ROOT / "examples" / "team-rules" / "perf-rules" / "captures" / "nightly.csv"
    linted = triage("rules", "lint", cwd=tmp_path)
    assert (linted.returncode, linted.stdout) == (0, "no fault in perf-rules, triage.yaml\n")
    assert triage("rules", "test", cwd=tmp_path).stdout.endswith("passed, 0 failed\n")
    assert "Too short to tune" in triage("rules", "show", "short-launch", cwd=tmp_path).stdout
    assert "short-launch: NAMED" in triage("explain", capture, "-k", "soa_update", cwd=tmp_path).stdout
    team = tmp_path / "triage.yaml"
    team.write_text(team.read_text(encoding="utf-8").replace("resize*", "soa*"), encoding="utf-8")
    fails(triage("check", capture, cwd=tmp_path), 10)


def test_every_other_example_of_the_guide_is_yaml() -> None:
    for block in re.findall(r"```yaml\n(.*?)```", GUIDE, re.DOTALL):
        yaml.safe_load(block)


def test_the_guide_names_every_code_and_no_other() -> None:
    table = GUIDE[GUIDE.index("| code | what is wrong |") : GUIDE.index("Rule files may come")]
    named = {code for row in table.splitlines() if "|" in row for code in re.findall(r"`([a-z-]+)`", row.split("|")[1])}
    package = ROOT / "triage"
    used: set[str] = set()
    for path in [*package.glob("rules/*.py"), *package.glob("rules/lint/*.py"), *package.glob("team/*.py")]:
        text = re.sub(r"\s+", " ", path.read_text(encoding="utf-8"))
        used |= set(re.findall(r'\.(?:fault|advise)\( ?[\w\[\]"]+, [^,]+, "([a-z-]+)", ', text))
        used |= set(re.findall(r'document\.at\( ?\(?[\w, ]+\)?, "([a-z-]+)", ', text))
        used |= set(re.findall(r'Fault\([^"]*"([a-z-]+)", ', text))
        used |= set(re.findall(r'Fault\(\*limiter\.spots\.get\([^)]*\)\)?, "([a-z-]+)"', text))
    used -= {"fixes", "lines"}  # keys, not codes
    used |= {f"unknown-{what}" for what in ("threshold", "fact", "limiter")}
    assert used - named == set()
    assert named - used - {"unreadable", "key", "incomplete", "counter", "encoding"} == set()


def test_the_python_of_the_guide_works(tmp_path: Path) -> None:
    import triage as package
    from triage.team import load

    (tmp_path / "triage.yaml").write_text(
        "retire: [sleep]\nkernels: [{match: 'a*', expect: [barrier]}]\n", encoding="utf-8"
    )
    rules = package.load_rulebook([tmp_path / "triage.yaml"])
    assert rules.limiters["sleep"].status == "retired"
    assert load(tmp_path).expectations[0].limiters == ("barrier",)


def test_the_index_says_the_id_of_every_question_and_how_it_picks() -> None:
    index = PAGES["README.md"]
    for question in RULES.path:
        pick = ", pick: largest" if question.pick == "largest" else ""
        assert f"1. `[{question.id}]` {question.ask} (decision {question.decision}{pick})" in index


HOSTILE = (
    "<script>alert(1)</script> <img src=x onerror=y> [x](javascript:alert(1)) ![i](http://x/i.png) http://x.org "
    "www.x.org **b** | cell | @you #1\n# heading\n```\n<b>\x1b[31m\u202e evil"
)


def test_texts_of_a_team_stay_texts() -> None:
    """Each text of the rules, replaced: no markup of it comes alive, and every link leads to a page or to https."""
    url = "https://x.org/)<script>alert(1)</script>"
    limiters = {
        name: replace(
            limiter,
            title=HOSTILE,
            because=HOSTILE,
            evidence=HOSTILE,
            fixes=tuple(replace(fix, text=HOSTILE) for fix in limiter.fixes),
            unless=(HOSTILE,),
            experiment=HOSTILE,
            see=((HOSTILE, url), (HOSTILE, "javascript:alert(1)")),
            tests=tuple(replace(case, name=HOSTILE) for case in limiter.tests),
            headroom=replace(limiter.headroom, because=HOSTILE) if limiter.headroom else None,
            guide=replace(
                limiter.guide,
                before=HOSTILE,
                after=HOSTILE,
                library=HOSTILE,
                proof=(HOSTILE,),
                confused_with=tuple(replace(one, tell=HOSTILE) for one in limiter.guide.confused_with),
            ),
        )
        for name, limiter in RULES.limiters.items()
    }
    facts = {name: replace(fact, label=HOSTILE, says=HOSTILE, unit=HOSTILE) for name, fact in RULES.facts.items()}
    one = next(iter(RULES.thresholds.values()))
    thresholds = {HOSTILE: replace(one, source=HOSTILE, name=HOSTILE)}
    path = tuple(replace(question, id=HOSTILE, ask=HOSTILE, decision=HOSTILE) for question in RULES.path)
    identity = replace(RULES.identity, profile=HOSTILE)
    rules = replace(RULES, limiters=limiters, facts=facts, thresholds=thresholds, path=path, identity=identity)
    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    for name, text in pages(rules).items():
        assert "evil" in text or name == "reference.md"
        assert "\x1b" not in text and "\u202e" not in text
        for token in parser.parse(text):
            assert token.type != "html_block" or token.content.startswith(("<!-- Made by", '<a id="')), token.content
            for part in token.children or ():
                assert part.type != "image"
                assert part.type != "html_inline" or part.content in ("<!-- -->", "</a>") or "<a id=" in part.content
                if part.type == "link_open":
                    target = str(part.attrGet("href"))
                    assert target.startswith("https://x.org/") or re.fullmatch(r"[\w./-]+\.md(#\w+)?|#[\w-]+", target)
                if part.type == "text":
                    assert "://" not in part.content and "www." not in part.content


def test_what_the_guide_says_of_adding_to_a_question() -> None:
    """Of the question that it names the strengths can be compared; the id of each question is real."""
    section = GUIDE[GUIDE.index('<a id="adding-to-a-question">') : GUIDE.index("**Rivals.**")]
    level = next(question for question in RULES.path if question.id == "level")
    assert "before: level" in section
    assert level.pick == "largest"
    units = {RULES.facts[RULES.limiters[answer.limiter].strength].unit for answer in level.answers}
    assert units == {"%"}
