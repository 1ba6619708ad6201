"""Rule files may be a stranger's: what nobody sees is refused with its place, and never printed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from captures import DATA
from test_cli import fails, triage

from triage import explaining, load, report, resources
from triage.model import Diagnosis
from triage.renderers.escape import clean
from triage.rules import default_rulebook, pages
from triage.rules.checks import ConditionReader
from triage.rules.limiterfile import read_limiter
from triage.rules.yamlfile import read

RULES = default_rulebook()
EVIL = "\x1b[31mX\x1b]0;pwn\x07\u202e\u200b\x85\nevil"


def faults(tmp_path: Path, content: str, *, names: bool = False) -> list[str]:
    path = tmp_path / "x.yaml"
    path.write_bytes(content.encode())
    return [str(fault) for fault in read(path, "x.yaml", names=names).faults]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("a: 1\nb: x\x1b[31m\n", "x.yaml:2:5: hidden the file holds U+001B (a control character)"),
        ("a: 1 # x\u202ey\n", "x.yaml:1:9: hidden the file holds U+202E (right-to-left override)"),
        ("a: 1 # x\u2028status: retired\n", "x.yaml:1:9: hidden the file holds U+2028 (line separator)"),
        ("# x\rstatus: retired\n", "x.yaml:1:4: hidden the file holds U+000D (a control character)"),
        ("a: x\u200by\n", "x.yaml:1:5: hidden the file holds U+200B (zero width space)"),
        ("a: x\ue000\n", "x.yaml:1:5: hidden the file holds U+E000 (of no script)"),
        ("a: x\U000e0041\n", "x.yaml:1:5: hidden the file holds U+E0041 (tag latin capital letter a)"),
        ("x\u200b: 1\n", "x.yaml:1:2: hidden"),
        ('a: 1\nb: ["x\\e[31m"]\n', "x.yaml:2:5: hidden the text holds U+001B (a control character)"),
        ('b: "\\u202E"\n', "x.yaml:1:4: hidden the text holds U+202E (right-to-left override)"),
        ('b: "x\\Ly"\n', "x.yaml:1:4: hidden the text holds U+2028"),
        ('"a\\0": 1\n', "x.yaml:1:1: hidden the text holds U+0000"),
    ],
)
def test_refused_with_its_place(tmp_path: Path, content: str, expected: str) -> None:
    (fault,) = faults(tmp_path, content)
    assert fault.startswith(expected)
    assert fault == clean(fault)


def test_a_file_full_of_them_is_told_in_a_few_lines(tmp_path: Path) -> None:
    assert len(faults(tmp_path, "# \u202e\u202e\u202e\n" * 50_000)) == 20


def test_what_is_seen_stands(tmp_path: Path) -> None:
    text = '\ufeffa: größe µ 核 \u00a0→ é e\u0301 🚀\r\nb: |\r\n  x\ty\r\nc: "tab\\t, line\\n, no-break\\_"\r\n'
    assert not faults(tmp_path, text)


def test_names_of_kernels_in_a_baseline_may_hold_them_as_escapes_alone(tmp_path: Path) -> None:
    assert not faults(tmp_path, 'name: "x\\e[31m"\n', names=True)
    assert faults(tmp_path, "name: x\u202e\n", names=True)


def pack(tmp_path: Path, title: str) -> Path:
    source = (resources.folder("rules") / "limiters" / "dram-bandwidth.yaml").read_text(encoding="utf-8")
    folder = tmp_path / "pack" / "limiters"
    folder.mkdir(parents=True)
    lines = [f'title: "{title}"' if line.startswith("title:") else line for line in source.splitlines()]
    (folder / "dram-bandwidth.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder.parent


@pytest.mark.parametrize("title", ["red \\e[31mX\\e]0;pwn\\a", "turned \\u202Eround", "turned \u202eround"])
def test_every_command_refuses_such_a_pack(tmp_path: Path, title: str) -> None:
    folder = pack(tmp_path, title)
    linted = triage("rules", "lint", folder, cwd=tmp_path)
    assert linted.returncode == 3
    assert "pack/limiters/dram-bandwidth.yaml:" in linted.stdout and ": hidden " in linted.stdout
    for arguments in (("list",), ("show", "dram-bandwidth"), ("test",)):
        lines = fails(triage("rules", *arguments, "--rules", folder, cwd=tmp_path), 3)
        assert any(": hidden " in line for line in lines)
    assert "\x1b" not in linted.stdout + linted.stderr and "\u202e" not in linted.stdout + linted.stderr


def test_names_of_rule_files_are_printed_inert(tmp_path: Path) -> None:
    folder = pack(tmp_path, "x")
    (folder / "limiters" / "dram-bandwidth.yaml").rename(folder / "limiters" / "a\x1b[31mb.yaml")
    linted = triage("rules", "lint", folder, cwd=tmp_path)
    assert linted.returncode == 3 and "\x1b" not in linted.stdout + linted.stderr
    odd = tmp_path / "odd\x1b[31mpack"
    folder.rename(odd)
    (odd / "limiters" / "a\x1b[31mb.yaml").rename(odd / "limiters" / "dram-bandwidth.yaml")
    linted = triage("rules", "lint", odd, cwd=tmp_path)
    assert "\x1b" not in linted.stdout + linted.stderr


@pytest.mark.parametrize(
    "url",
    [
        "http://x.org",
        "javascript:alert(1)",
        "https://",
        "https:///x",
        "https://docs.nvidia.com@evil.org/x",
        "https://x.org/a b",
        "https://x.org/'><img src=x>",
        "https://x.org\\\\@evil.org",
    ],
)
def test_a_link_is_https_to_a_host(tmp_path: Path, url: str) -> None:
    assert "url" in codes(tmp_path, url)


def test_links_of_every_kind_of_page_stand(tmp_path: Path) -> None:
    assert "url" not in codes(tmp_path, "https://x.org:8080/a_(b)/c%20d;e?f=g&h=@i#j.k~l,m")


def codes(tmp_path: Path, url: str) -> set[str]:
    """Of the faults of a limiter that links there (and has little else)."""
    path = tmp_path / "x.yaml"
    path.write_text(f'see: [{{title: x, url: "{url}"}}]\n', encoding="utf-8")
    document = read(path, "x.yaml")
    read_limiter(document, document.root, {}, ConditionReader({}, {}))
    return {fault.code for fault in document.faults}


def inert(text: str) -> None:
    assert "evil" in text
    for line in text.removesuffix("\n").split("\n"):
        assert line == clean(line)
        assert not line.startswith("evil")


def test_pages_of_rules_made_in_python_are_inert() -> None:
    limiter = RULES.limiters["dram-bandwidth"]
    changed = replace(limiter, title=EVIL, because=EVIL, evidence=EVIL, unless=(EVIL,), see=((EVIL, EVIL),))
    rules = replace(RULES, limiters={**RULES.limiters, "dram-bandwidth": changed})
    inert(pages.listing(rules))
    inert(pages.page(rules, "dram-bandwidth"))
    fact = replace(RULES.facts["dram_pct"], label=EVIL, says=EVIL)
    inert(pages.page(replace(RULES, facts={**RULES.facts, "dram_pct": fact}), "dram_pct"))


def test_the_walk_is_inert() -> None:
    made = report(load(DATA / "limiters_h200.csv"))
    finding = made.findings[2]
    steps = [replace(step, question=EVIL, answer=EVIL) for step in finding.diagnosis.steps]
    kernel = replace(finding.kernel, name=EVIL)
    shared = {"summary": EVIL, "unless": (EVIL,), "warnings": (EVIL,), "missing": (EVIL,), "collect": EVIL}
    diagnosis: Diagnosis = replace(finding.diagnosis, steps=steps, **shared)
    inert(explaining.explain(replace(finding, kernel=kernel, diagnosis=diagnosis)))
