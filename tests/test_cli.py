"""The command line as users meet it: real captures in, exit codes, one-line errors, files that are whole or absent."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
from captures import DATA
from markdown_it import MarkdownIt

from triage import __version__, resources

CAPTURE = DATA / "limiters_h200.csv"


def triage(*arguments: str | Path, cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "triage", *map(str, arguments)],
        capture_output=True, text=True, cwd=cwd, timeout=120, check=False,
        env={**os.environ, "COLUMNS": "80", **environment},
    )  # fmt: skip


def fails(result: subprocess.CompletedProcess[str], code: int) -> list[str]:
    """The lines of standard error of a run that must end with ``code``, with a hint and without a traceback."""
    assert result.returncode == code, result.stderr
    assert "Traceback" not in result.stderr
    lines = result.stderr.strip().splitlines()
    assert lines[0].startswith("triage: ")
    assert any(line.startswith("hint: ") for line in lines)
    return lines


def test_version() -> None:
    assert triage("--version").stdout == f"triage {__version__}\n"


def test_report_prints_one_block_a_kernel_at_80_columns() -> None:
    result = triage("report", CAPTURE)
    assert result.returncode == 0, result.stderr
    assert "uncoalesced-global" in result.stdout
    assert "\x1b" not in result.stdout
    assert max(len(line) for line in result.stdout.splitlines() if "--metrics" not in line) <= 80


def test_report_as_json_follows_its_schema(tmp_path: Path) -> None:
    target = tmp_path / "r.json"
    assert triage("report", CAPTURE, "-f", "json", "-o", target).returncode == 0
    made = json.loads(target.read_text(encoding="utf-8"))
    schema = json.loads((resources.folder("templates") / "report.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(made, schema)
    assert [kernel["index"] for kernel in made["kernels"]] == list(range(30))
    assert made["kernels"][2]["diagnosis"]["limiter"] == "bank-conflicts"


@pytest.mark.parametrize(("suffix", "mark"), [(".html", "<!doctype html>"), (".md", "|"), (".txt", "Try first")])
def test_the_suffix_of_the_output_chooses_the_format(tmp_path: Path, suffix: str, mark: str) -> None:
    target = tmp_path / f"report{suffix}"
    result = triage("report", CAPTURE, "-o", target)
    assert result.returncode == 0, result.stderr
    assert mark in target.read_text(encoding="utf-8")
    assert str(target) in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == [target.name]


def test_an_unknown_suffix_is_a_usage_error(tmp_path: Path) -> None:
    fails(triage("report", CAPTURE, "-o", tmp_path / "report.docx"), 2)


def test_the_output_folder_must_exist_and_nothing_is_left_behind(tmp_path: Path) -> None:
    fails(triage("report", CAPTURE, "-o", tmp_path / "absent" / "r.html"), 2)
    assert list(tmp_path.iterdir()) == []


def test_ncu_rep_and_csv_are_read_together() -> None:
    result = triage("report", DATA / "readers_pr.ncu-rep", CAPTURE, "-f", "json")
    made = json.loads(result.stdout)
    assert [source["kind"] for source in made["sources"]] == ["ncu-rep", "csv-raw"]
    assert {kernel["source"] for kernel in made["kernels"]} == {0, 1}


def test_an_ncu_rep_names_the_line() -> None:
    made = json.loads(triage("report", DATA / "readers_pr.ncu-rep", "-f", "json").stdout)
    found = {kernel["name"]: kernel["diagnosis"] for kernel in made["kernels"]}
    naive = next(diagnosis for diagnosis in found.values() if diagnosis["limiter"] == "uncoalesced-global")
    assert naive["lines"][0]["file"].endswith("transpose_pr.cu")
    assert naive["lines"][0]["line"] == 26


def test_without_ncu_report_the_message_names_both_ways_out(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['ncu_report'] = None\n", encoding="utf-8")
    result = triage("report", DATA / "readers_pr.ncu-rep", PYTHONPATH=str(tmp_path))
    text = " ".join(fails(result, 3))
    assert "pip install" in text
    assert "--page raw --csv" in text


@pytest.mark.parametrize(
    ("content", "word"),
    [(b"", "empty"), (os.urandom(64), ""), (b"a,b\n1,2\n", ""), (b"NVR\0\x04\x00\x00\x00junk", "")],
    ids=["empty", "random", "foreign csv", "truncated report"],
)
def test_bad_files_end_with_3(tmp_path: Path, content: bytes, word: str) -> None:
    path = tmp_path / "bad.ncu-rep"
    path.write_bytes(content)
    assert word in fails(triage("report", path), 3)[0]


def test_missing_file_and_directory_end_with_3(tmp_path: Path) -> None:
    fails(triage("report", tmp_path / "absent.csv"), 3)
    fails(triage("report", tmp_path), 3)


def test_a_log_in_which_nothing_was_profiled_ends_with_6() -> None:
    assert "t_copy" in " ".join(fails(triage("report", DATA / "readers_log_filter_matches_nothing.txt"), 6))


def test_hostile_names_reach_no_format_alive(tmp_path: Path) -> None:
    text = CAPTURE.read_text(encoding="utf-8")
    name = "<script>alert(1)</script>|`x`\x1b[31m" + "k" * 2_860
    hostile = tmp_path / "hostile.csv"
    hostile.write_text(text.replace('"void t_copy<32, 8>(float *, const float *, int)"', f'"{name}"'), encoding="utf-8")
    html = triage("report", hostile, "-f", "html", "-o", "-").stdout
    assert "<script>alert" not in html
    assert "\x1b" not in triage("report", hostile).stdout
    markdown = triage("report", hostile, "-f", "md").stdout
    assert "<script>alert" not in MarkdownIt("commonmark", {"html": True}).enable("table").render(markdown)
    assert json.loads(triage("report", hostile, "-f", "json").stdout)["kernels"][0]["name"] == name


def test_explain_shows_thresholds_with_their_sources() -> None:
    result = triage("explain", CAPTURE, "--kernel", "2")
    assert result.returncode == 0
    assert "bank-conflicts: NAMED" in result.stdout
    assert "Compute Triage Guide" in result.stdout
    assert "[not covered]" in result.stdout


def test_explain_lists_kernels_when_the_name_is_ambiguous() -> None:
    assert "kernels match" in fails(triage("explain", CAPTURE, "--kernel", "t_"), 2)[0]
    assert "no kernel" in fails(triage("explain", CAPTURE, "--kernel", "99"), 2)[0]


def test_rules_list_show_and_test() -> None:
    listing = triage("rules", "list").stdout
    assert len(listing.splitlines()) == 30
    page = triage("rules", "show", "bank-conflicts").stdout
    assert "SharedMemoryConflicts" in page
    assert "undecided while unknown" in triage("rules", "show", "dram-bandwidth").stdout
    assert "did you mean 'bank-conflicts'" in fails(triage("rules", "show", "bank-conflict"), 2)[0]
    assert triage("rules", "test").stdout.endswith("passed, 0 failed\n")


def test_the_playbook_profile_moves_the_cuts() -> None:
    guide = json.loads(triage("report", CAPTURE, "-f", "json").stdout)
    playbook = json.loads(triage("report", CAPTURE, "-f", "json", "--profile", "playbook").stdout)
    assert guide["triage"]["rulebook"] != playbook["triage"]["rulebook"]
    moved = [
        (a["diagnosis"]["limiter"], b["diagnosis"]["limiter"])
        for a, b in zip(guide["kernels"], playbook["kernels"], strict=True)
        if a["diagnosis"]["limiter"] != b["diagnosis"]["limiter"]
    ]
    assert moved


def test_faulty_rules_are_reported_all_at_once(tmp_path: Path) -> None:
    folder = tmp_path / "rules"
    (folder / "limiters").mkdir(parents=True)
    (folder / "thresholds.yaml").write_text("thresholds:\n  busy_pct: {valu: 60, source: x}\n", encoding="utf-8")
    (folder / "limiters" / "mine.yaml").write_text("id: mine\nfamily: launhc\nwhen: {fact: dram_pc, at_least: 3}\n")
    lines = fails(triage("report", CAPTURE, "--rules", folder), 3)
    text = "\n".join(lines)
    assert "thresholds.yaml:2:14" in text
    assert "did you mean 'dram_pct'" in text
    assert "'launhc'" in text


@pytest.mark.parametrize(
    "words", ["report {0}", "explain {0}", "check {0}", "diff {0} {0}", "export {0} -o t.csv", "rules list"]
)
def test_a_folder_of_rules_without_a_rule_file_is_told(tmp_path: Path, words: str) -> None:
    (tmp_path / "rulez").mkdir()
    arguments = words.format(CAPTURE).split()
    lines = fails(triage(*arguments, "--rules", "rulez", cwd=tmp_path), 3)
    assert lines[1].startswith("  rulez:1:1: no-rules holds no rule file")


def test_a_rule_test_that_fails_ends_with_10(tmp_path: Path) -> None:
    shipped = (resources.folder("rules") / "limiters" / "barrier.yaml").read_text(encoding="utf-8")
    (tmp_path / "limiters").mkdir()
    broken = shipped.replace("stall_barrier_pct: 69}, expect: fires", "stall_barrier_pct: 6}, expect: fires")
    assert broken != shipped
    (tmp_path / "limiters" / "barrier.yaml").write_text(broken, encoding="utf-8")
    assert "expected fires, was clear" in " ".join(fails(triage("rules", "test", "--rules", tmp_path), 10))


def test_demo_names_limiters_and_writes_a_page(tmp_path: Path) -> None:
    result = triage("demo", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    for word in ("uncoalesced-global", "bank-conflicts"):
        assert word in result.stdout
    assert "<!doctype html>" in (tmp_path / "triage-demo.html").read_text(encoding="utf-8")


def test_shell_completion_is_offered() -> None:
    assert "--install-completion" in triage("--help").stdout


@pytest.mark.parametrize(
    "told",
    [
        {},
        {"COMP_WORDS": "triage"},
        {"COMP_CWORD": "1"},
        {"COMP_WORDS": "triage", "COMP_CWORD": "one"},
        {"COMP_WORDS": "triage", "COMP_CWORD": "9" * 5_000},
    ],
    ids=lambda told: str(told)[:40],
)
def test_a_completion_that_is_set_up_by_halves(told: dict[str, str]) -> None:
    lines = fails(triage("doctor", _TRIAGE_COMPLETE="complete_bash", **told), 2)
    assert "unexpected" not in lines[0] and "unset _TRIAGE_COMPLETE" in lines[1]


def test_words_are_completed() -> None:
    asked = {"_TRIAGE_COMPLETE": "complete_bash", "COMP_WORDS": "triage ex", "COMP_CWORD": "1"}
    assert triage(**asked).stdout.split() == ["export", "explain"]


def test_nothing_heavy_is_imported_at_start() -> None:
    code = (
        "import sys; import triage.cli; "
        "print([m for m in ('pandas', 'numpy', 'cupy', 'ncu_report', 'jinja2', 'jsonschema') if m in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_every_command_has_help() -> None:
    for command in ("report", "explain", "demo", "profile", "doctor", "rules", "kernels"):
        result = triage(command, "--help")
        assert result.returncode == 0
        assert len(result.stdout) > 200


def test_a_file_that_was_named_and_cannot_be_read_shows_in_the_exit_code(tmp_path: Path) -> None:
    bad = tmp_path / "bad.ncu-rep"
    bad.write_bytes(b"\x1f\x8b nothing")
    made = triage("report", bad, CAPTURE, tmp_path / "absent.csv", "-f", "json")
    # The others are reported all the same, with the warning.
    assert len(json.loads(made.stdout)["kernels"]) == 30
    lines = fails(made, 3)
    assert lines[0] == "triage: the report lacks 2 files that were asked for by name"
    assert "gzip" in lines[1] and "absent.csv: no such file" in lines[2]
    # What is found in a folder may be anything.
    (tmp_path / "good.csv").write_bytes(CAPTURE.read_bytes())
    found = triage("report", tmp_path, "-f", "json")
    assert found.returncode == 0 and "gzip" in json.loads(found.stdout)["warnings"][0]
    assert "asked for by name" in fails(triage("report", tmp_path, bad), 3)[0]
