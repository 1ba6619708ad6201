"""``diff``, ``check`` and ``baseline`` on the command line: what is printed where, files, exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from pathlib import Path

import compared
import pytest

from triage import cli, commands
from triage.model import Report

READ = commands.diagnosed
HEAD, BASE = str(compared.PR_HEAD), str(compared.PR_BASE)


@cache
def read_once(file: Path) -> Report:
    """Reading a report costs a process and most of a second: once for all of these tests."""
    return READ([file], compared.rules(), command="triage")


@pytest.fixture(autouse=True)
def cached(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "diagnosed", lambda files, rules, **_: read_once(files[0]))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Each test in a folder of its own, outside of any workflow."""
    monkeypatch.chdir(tmp_path)
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "SOURCE_DATE_EPOCH"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def triage(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["triage", *words])
    return cli.run()


def test_a_baseline_may_lie_above_the_folder_of_its_gates(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    """Several packages of one repository share it; where the command runs makes no difference."""
    assert triage(monkeypatch, "baseline", BASE, "-o", "base.yaml") == 0
    (folder / "package" / "src").mkdir(parents=True)
    (folder / "package" / "triage.yaml").write_text("gates: {baseline: ../base.yaml}\n")
    for place in ("package", "package/src"):
        monkeypatch.chdir(folder / place)
        assert triage(monkeypatch, "check", HEAD) == 0
        assert "8.08x as fast" in capsys.readouterr().out


def test_check_passes_on_the_repaired_transpose(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert triage(monkeypatch, "check", HEAD, "--baseline", BASE) == 0
    out, err = capsys.readouterr()
    assert "8.08x as fast" in out and out.endswith("slower_than, limiter_changed, spills): all hold\n") and err == ""


def test_check_backwards_fails_with_a_line_each_and_writes_the_files(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    (folder / "src").mkdir()
    (folder / "src" / "transpose_pr.cu").write_text("// a source\n")
    words = [
        "check",
        BASE,
        "--baseline",
        HEAD,
        "--sarif",
        "r.sarif",
        "--junit",
        "r.xml",
        "--markdown",
        "r.md",
        "--github",
    ]
    assert triage(monkeypatch, *words) == 10
    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert lines[0] == "triage: 2 of 6 gates asked of 2 kernels are violated"
    assert lines[1].startswith(
        "  slower_than: transpose: takes 8.08x the time (33.8 us to 273 us); allowed are 5 % more"
    )
    assert lines[2].startswith(
        "  limiter_changed: transpose: its limiter moved from dram-bandwidth to uncoalesced-global"
    )
    assert lines[3].startswith("hint: ") and len(lines) == 4
    assert "::error file=src/transpose_pr.cu,line=26,title=triage slower_than::transpose" in out
    results = json.loads((folder / "r.sarif").read_text())["runs"][0]["results"]
    for result in results:
        place = result["locations"][0]["physicalLocation"]
        assert place["artifactLocation"]["uri"] == "src/transpose_pr.cu" and place["region"] == {"startLine": 26}
    assert [result["ruleId"] for result in results] == ["slower_than", "limiter_changed"]
    assert 'failures="2"' in (folder / "r.xml").read_text() and "gates violated" in (folder / "r.md").read_text()


def test_the_same_check_twice_is_the_same_to_the_byte(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    made = []
    for name in ("a", "b"):
        words = ["--sarif", f"{name}.sarif", "--junit", f"{name}.xml", "--markdown", f"{name}.md"]
        triage(monkeypatch, "check", BASE, "--baseline", HEAD, *words)
        made.append([(folder / f"{name}.{suffix}").read_bytes() for suffix in ("sarif", "xml", "md")])
    assert made[0] == made[1]


def test_a_committed_baseline_stands_for_the_report(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    assert triage(monkeypatch, "baseline", HEAD, "-o", "base.yaml") == 0
    (folder / "triage.yaml").write_text("gates: {baseline: base.yaml, slower_than: 50%}\n")
    capsys.readouterr()
    assert triage(monkeypatch, "check", BASE) == 10
    assert "allowed are 50 % more" in capsys.readouterr().err
    assert triage(monkeypatch, "check", HEAD) == 0
    assert triage(monkeypatch, "diff", "base.yaml", BASE) == 0
    assert "takes 8.08x the time" in capsys.readouterr().out.replace("\n", " ")


def test_a_baseline_that_lost_a_kernel_does_not_pass(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    assert triage(monkeypatch, "baseline", BASE, "-o", "base.yaml") == 0
    text = (folder / "base.yaml").read_text()
    (folder / "base.yaml").write_text(text[: text.index('- name: "transpose')])
    assert triage(monkeypatch, "check", HEAD, "--baseline", "base.yaml") == 3
    err = capsys.readouterr().err
    assert "written with 2 kernels of 75 facts, and has 1 kernel" in err and "hint: write it again" in err
    assert triage(monkeypatch, "diff", "base.yaml", HEAD) == 3


def test_what_the_team_expects_of_a_kernel_is_a_gate(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    (folder / "triage.yaml").write_text(
        "kernels:\n"
        "  - match: transpose\n"
        "    expect: dram-bandwidth\n"
        "    max_duration: 40 us\n"
        "    min_effective_bandwidth: 3 TB/s\n"
        "    parameters: {N: 4096}\n"
        "    ideal_bytes: 2 * N * N * 4\n"
    )
    assert triage(monkeypatch, "check", HEAD) == 0
    assert triage(monkeypatch, "check", BASE) == 10
    err = capsys.readouterr().err
    for gate in ("limiters: transpose", "max_duration: transpose", "min_effective_bandwidth: transpose"):
        assert gate in err
    assert "492 GB/s; asked are 3.00 TB/s" in err


def test_without_a_baseline_it_says_what_was_not_asked(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert triage(monkeypatch, "check", HEAD) == 0
    assert "no baseline" in capsys.readouterr().out


def test_within_github_actions_annotations_and_summary_need_no_option(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(folder / "summary.md"))
    assert triage(monkeypatch, "check", BASE, "--baseline", HEAD) == 10
    assert "::error title=triage slower_than::" in capsys.readouterr().out
    assert "| `slower_than` | violated |" in (folder / "summary.md").read_text()


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["diff", BASE, "none.ncu-rep"], 3, "none.ncu-rep"),
        (["diff", BASE, HEAD, "--launches", "x"], 2, "--launches x is no range"),
        (["diff", BASE, HEAD, "-o", "x.pdf"], 2, "names no format"),
        (["diff", BASE, HEAD, "--noise", "much"], 2, "--noise"),
        (["diff", BASE, HEAD, "-k", "gemm"], 2, "no kernel 'gemm'"),
        (["check", HEAD, "--config", "none.yaml"], 2, "there is no file none.yaml"),
        (["check", HEAD, "--baseline", "none.yaml"], 3, "none.yaml"),
        (["baseline", HEAD, "-o", "/nowhere/base.yaml"], 2, "cannot write"),
    ],
)
def test_errors_are_one_line_and_a_hint(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str], status: int, said: str
) -> None:
    assert triage(monkeypatch, *words) == status
    err = capsys.readouterr().err
    assert said in err and "hint: " in err and "Traceback" not in err


def test_a_source_root_that_does_not_exist_is_a_usage_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert triage(monkeypatch, "check", HEAD, "--source-root", "nowhere") == 2
    assert "the folder nowhere does not exist" in capsys.readouterr().err


def test_faulty_gates_end_with_three(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    (folder / "triage.yaml").write_text("gates:\n  slower_then: 5%\n  spills: maybe\n")
    assert triage(monkeypatch, "check", HEAD) == 3
    err = capsys.readouterr().err
    assert "triage.yaml:2:3: unknown-key" in err and "triage.yaml:3:3: value" in err


def test_a_limiter_that_no_rule_defines_ends_with_three(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    (folder / "triage.yaml").write_text("gates:\n  limiters: [memory-latancy]\n")
    assert triage(monkeypatch, "check", HEAD) == 3
    said = "triage.yaml:2:3: unknown-limiter no limiter is called 'memory-latancy' (did you mean 'memory-latency'?)"
    assert said in capsys.readouterr().err


def test_faults_of_the_gates_come_before_those_of_the_rules(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    (folder / "triage.yaml").write_text("kernels:\n  - {match: a, expcet: barrier}\ngates:\n  spills: maybe\n")
    assert triage(monkeypatch, "check", HEAD) == 3
    err = capsys.readouterr().err
    assert "triage.yaml:2:16: unknown-key" in err and "triage.yaml:4:3: value" in err


@pytest.mark.parametrize(
    "section",
    [
        "kernels:\n  - {match: transpsoe, max_duration: 1 s}\n",
        "{}:\n  kernels:\n    - {match: transpsoe, spills: fail}\n",
    ],
)
def test_a_gate_without_a_kernel_is_said_and_counts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: Path, section: str
) -> None:
    text = section.replace("{}:", "gates:")
    line = text.splitlines().index(next(each for each in text.splitlines() if "match" in each)) + 1
    (folder / "triage.yaml").write_text(text)
    assert triage(monkeypatch, "check", HEAD, "--sarif", "r.sarif", "--junit", "r.xml", "--markdown", "r.md") == 10
    err = capsys.readouterr().err
    assert f"triage.yaml:{line}: the gate matches no kernel of the report (did you mean 'transpose'?)" in err
    (result,) = json.loads((folder / "r.sarif").read_text())["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]
    assert result["ruleId"] == "unmatched" and place["artifactLocation"]["uri"] == "triage.yaml"
    assert place["region"] == {"startLine": line}
    assert 'classname="transpsoe" name="unmatched"' in (folder / "r.xml").read_text()
    assert "| `unmatched` | violated |" in (folder / "r.md").read_text()
    allowed = f"{text}  unmatched: allow\n" if "gates" in text else f"{text}gates: {{unmatched: allow}}\n"
    (folder / "triage.yaml").write_text(allowed)
    assert triage(monkeypatch, "check", HEAD) == 0


def test_a_percentage_on_the_bundled_capture(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    demo = Path(__file__).parent.parent / "examples" / "demo" / "transposes.csv"
    (folder / "triage.yaml").write_text("gates:\n  min_effective_bandwidth: 20%\n")
    assert triage(monkeypatch, "check", str(demo)) == 10
    err = capsys.readouterr().err
    assert err.startswith("triage: 4 of 30 gates asked of 15 kernels are violated")
    # The H200's DRAM has a peak of 4.8 TB/s; a CSV has no source lines, so the gate's own place is shown.
    assert "20.0 % of the DRAM's peak, 962 GB/s [triage.yaml:2]" in err and "cannot be judged" not in err


def test_diff_of_the_repeats_with_themselves(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    repeats = str(compared.REPEATS)
    assert triage(monkeypatch, "diff", repeats, repeats, "--launches", "0-4:5-9") == 0
    out, err = capsys.readouterr()
    assert out.startswith("6 kernels did not change.") and err == ""
    assert triage(monkeypatch, "diff", repeats, repeats) == 0
    assert "compared with itself" in capsys.readouterr().err


def test_diff_writes_the_format_of_the_suffix(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    for name, sign in (("d.html", "<!doctype html>"), ("d.md", "### "), ("d.json", "{"), ("d.txt", "transpose is")):
        assert triage(monkeypatch, "diff", BASE, HEAD, "-o", name) == 0
        assert (folder / name).read_text().startswith(sign)


def test_the_commands_stand_in_the_help() -> None:
    done = subprocess.run([sys.executable, "-m", "triage", "--help"], capture_output=True, text=True, check=True)
    for command in ("diff", "check", "baseline", "export"):
        assert f" {command} " in done.stdout


@pytest.mark.parametrize(
    ("option", "begins"),
    [("--sarif", '{\n "$schema"'), ("--junit", "<?xml"), ("--markdown", "## triage: ")],
)
def test_a_document_on_standard_output_stands_there_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: Path, option: str, begins: str
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    words = ["check", BASE, "--baseline", HEAD, "--github"]
    assert triage(monkeypatch, *words, option, "kept") == 10
    aside = capsys.readouterr()
    assert triage(monkeypatch, *words, option, "-") == 10
    out, err = capsys.readouterr()
    assert out.startswith(begins) and out.rstrip("\n") == (folder / "kept").read_text("utf-8").rstrip("\n")
    # What is said beside it, annotations included, is the same and goes to standard error.
    assert sorted(err.splitlines()) == sorted([*aside.out.splitlines(), *aside.err.splitlines()])
    assert sorted(path.name for path in folder.iterdir()) == ["kept"]


def test_standard_output_takes_one_document(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    assert triage(monkeypatch, "check", HEAD, "--sarif", "-", "--junit", "-") == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("triage: standard output ('-') is asked for more than once\nhint: ")
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("words", [["--json", "-"], ["--roofs", "-"]])
def test_a_measurement_is_no_document_beside_its_table(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: Path, words: list[str]
) -> None:
    assert triage(monkeypatch, "kernels", "bench", *words) == 2
    assert "standard output carries the table" in capsys.readouterr().err and list(folder.iterdir()) == []
