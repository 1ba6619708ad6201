"""The action's steps, run as scripts; the workflow, the GitLab pipeline and the hooks name what exists."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import compared
import pytest
import yaml

from triage.gates import baseline

ROOT = Path(__file__).parent.parent
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"]}
# Answers a GitHub API of one comment thread, kept in FAKE_COMMENTS.
GH = """#!{python}
import json, os, sys
from pathlib import Path
words = sys.argv[1:]
store = Path(os.environ["FAKE_COMMENTS"])
comments = json.loads(store.read_text())
if os.environ.get("FAKE_FORBIDDEN") == "all" or ("--method" in words and os.environ.get("FAKE_FORBIDDEN")):
    sys.exit("gh: Resource not accessible by integration (HTTP 403)")
assert words[0] == "api" and os.environ["GH_TOKEN"] == "secret"
path = next(word for word in words if word.startswith("repos/"))
if "--method" not in words:
    assert path == "repos/o/r/issues/7/comments" and "--paginate" in words
    marker = words[words.index("--jq") + 1].split('"')[1]
    print("\\n".join(str(one["id"]) for one in comments if one["body"].startswith(marker)))
    sys.exit()
method = words[words.index("--method") + 1]
body = Path(words[words.index("-F") + 1].removeprefix("body=@")).read_text()
if method == "POST":
    assert path == "repos/o/r/issues/7/comments"
    comments.append({{"id": len(comments) + 1, "body": body}})
else:
    (one,) = [one for one in comments if path == f"repos/o/r/issues/comments/{{one['id']}}"]
    one["body"] = body
store.write_text(json.dumps(comments))
"""


class Runner:
    """A runner's working folder: environment, files, and the steps that it runs."""

    def __init__(self, folder: Path, **inputs: str) -> None:
        self.folder = folder
        self.inputs = {name: str(entry.get("default", "")) for name, entry in ACTION["inputs"].items()} | inputs
        self.inputs |= {"pull-request": "7", "token": "secret"}
        (folder / "bin").mkdir(exist_ok=True)
        gh = folder / "bin" / "gh"
        gh.write_text(GH.format(python=sys.executable))
        gh.chmod(0o755)
        launcher = folder / "bin" / "triage"
        launcher.write_text(f'#!/bin/sh\nexec {sys.executable} -m triage "$@"\n')
        launcher.chmod(0o755)
        self.output, self.summary, self.comments = (folder / name for name in ("output", "summary.md", "comments.json"))
        self.output.touch()
        if not self.comments.exists():
            self.comments.write_text("[]")
        self.extra: dict[str, str] = {}

    def run(self, name: str) -> subprocess.CompletedProcess[str]:
        """Run a step the way a runner does: `bash --noprofile --norc -eo pipefail`, inputs only through its env."""
        step = STEPS[name]
        assert "${{" not in step["run"], "an input inside a script is an injection"
        env = {
            "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "HOME": str(self.folder),
            "GITHUB_ACTIONS": "true",
            "GITHUB_REPOSITORY": "o/r",
            "GITHUB_OUTPUT": str(self.output),
            "GITHUB_STEP_SUMMARY": str(self.summary),
            "FAKE_COMMENTS": str(self.comments),
            **self.extra,
        }
        env |= {key: self.value(text) for key, text in step.get("env", {}).items()}
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        return subprocess.run(command, cwd=self.folder, env=env, capture_output=True, text=True, check=False)

    def value(self, text: str) -> str:
        """An expression of the action: an input, or an output of a step that ran."""
        name = re.fullmatch(r"\$\{\{ ([a-z.-]+) \}\}", text)
        assert name, text
        place = name[1].split(".")
        return self.inputs[place[1]] if place[0] == "inputs" else self.outputs[place[-1]]

    @property
    def outputs(self) -> dict[str, str]:
        """What steps wrote to GITHUB_OUTPUT."""
        return dict(line.split("=", 1) for line in self.output.read_text().splitlines())

    @property
    def bodies(self) -> list[str]:
        """The comments on the pull request."""
        return [one["body"] for one in json.loads(self.comments.read_text())]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A checkout with both captures (as baselines, which are quick to read) and the source."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "transpose_pr.cu").write_text("")
    for name, path in (("base.yaml", compared.PR_BASE), ("head.yaml", compared.PR_HEAD)):
        (tmp_path / name).write_text(baseline.dump(compared.captured(path)))
    (tmp_path / "base.ncu-rep").symlink_to(compared.PR_BASE)
    (tmp_path / "head.ncu-rep").symlink_to(compared.PR_HEAD)
    return tmp_path


def test_report_and_comparison(folder: Path) -> None:
    runner = Runner(folder, base="base.yaml", report="head.ncu-rep")
    done = runner.run("Report and comparison")
    assert done.returncode == 0, done.stderr
    assert "8.08x as fast" in (folder / "triage-out" / "diff.html").read_text()
    assert (folder / "triage-out" / "report.html").read_text().startswith("<!doctype html>")


def test_without_a_base_there_is_a_report_and_no_comparison(folder: Path) -> None:
    done = Runner(folder, report="head.ncu-rep").run("Report and comparison")
    assert done.returncode == 0, done.stderr
    assert {path.name for path in (folder / "triage-out").iterdir()} == {"report.html", "report.md"}


def test_gates_that_hold_and_the_verdict(folder: Path) -> None:
    (folder / "triage-out").mkdir()
    runner = Runner(folder, base="base.yaml", report="head.yaml")
    done = runner.run("Gates")
    assert done.returncode == 0, done.stderr
    assert runner.outputs == {"status": "0", "sarif": "triage-out/triage.sarif"}
    assert "all gates hold" in runner.summary.read_text()
    assert runner.run("Verdict").returncode == 0


def test_gates_that_are_violated_fail_the_job_only_after_the_comment(folder: Path) -> None:
    (folder / "triage-out").mkdir()
    runner = Runner(folder, base="head.yaml", report="base.yaml", comment="true")
    done = runner.run("Gates")
    assert done.returncode == 0 and runner.outputs["status"] == "10"
    assert "::error file=src/transpose_pr.cu,line=26,title=triage slower_than::" in done.stdout
    sarif = json.loads((folder / "triage-out" / "triage.sarif").read_text())
    assert len(sarif["runs"][0]["results"]) == 2
    assert runner.run("Comment").returncode == 0
    (body,) = runner.bodies
    assert body.startswith("<!-- triage:triage -->\n## triage: 2 gates violated") and "transpose_pr.cu:26" in body
    assert runner.run("Verdict").returncode == 10


def test_the_next_push_updates_the_comment(folder: Path) -> None:
    out = folder / "triage-out"
    out.mkdir()
    other = {"id": 5, "body": "a person's words, with <!-- triage:triage --> in them"}
    (folder / "comments.json").write_text(json.dumps([other]))
    runner = Runner(folder, report="x")
    for text in ("first", "second"):
        (out / "check.md").write_text(text)
        done = runner.run("Comment")
        assert done.returncode == 0, done.stderr
    assert runner.bodies == [other["body"], "<!-- triage:triage -->\nsecond"]
    Runner(folder, report="x", **{"comment-id": "nightly"}).run("Comment")
    assert len(Runner(folder, report="x").bodies) == 3


@pytest.mark.parametrize("forbidden", ["all", "write"])
def test_a_token_that_may_not_write_is_a_warning(folder: Path, forbidden: str) -> None:
    (folder / "triage-out").mkdir()
    (folder / "triage-out" / "check.md").write_text("x")
    runner = Runner(folder, report="x")
    runner.extra = {"FAKE_FORBIDDEN": forbidden}
    done = runner.run("Comment")
    assert done.returncode == 0 and "::warning title=triage::" in done.stdout and runner.bodies == []


def test_an_unreadable_report_fails_at_once(folder: Path) -> None:
    (folder / "triage-out").mkdir()
    done = Runner(folder, report="none.ncu-rep").run("Gates")
    assert done.returncode == 3 and "none.ncu-rep" in done.stderr


def test_inputs_are_data_and_no_script(folder: Path) -> None:
    (folder / "triage-out").mkdir()
    done = Runner(folder, report="head.yaml; touch pwned", config="$(touch pwned)").run("Gates")
    assert done.returncode in (2, 3) and not (folder / "pwned").exists()


def documents() -> dict[str, Any]:
    names = ("examples/github-workflow/triage.yml", "examples/gitlab/.gitlab-ci.yml")
    return {name: yaml.safe_load((ROOT / name).read_text(encoding="utf-8")) for name in names}


def test_the_workflow_uses_the_inputs_that_the_action_has() -> None:
    workflow = documents()["examples/github-workflow/triage.yml"]
    (step,) = [step for step in workflow["jobs"]["judge"]["steps"] if "OWNER/triage" in step.get("uses", "")]
    assert set(step["with"]) <= set(ACTION["inputs"]) and "report" in step["with"]
    assert workflow["jobs"]["judge"]["permissions"]["pull-requests"] == "write"


def test_the_commands_of_the_examples_exist() -> None:
    from typer.main import get_command

    from triage.cli import app

    commands = get_command(app).commands  # type: ignore[attr-defined]
    workflow, pipeline = documents().values()
    lines = [step["run"] for job in workflow["jobs"].values() for step in job["steps"] if "run" in step]
    lines += [step["run"] for step in ACTION["runs"]["steps"]]
    lines += [line for job in ("measure", "triage") for line in pipeline[job]["script"]]
    found = re.findall(r"^\s*triage (\w+)([^\n]*(?:\\\n[^\n]*)*)", "\n".join(lines), re.M)
    assert {name for name, _ in found} == {"profile", "report", "diff", "check"}
    for name, rest in found:
        known = {
            option for parameter in commands[name].params for option in (*parameter.opts, *parameter.secondary_opts)
        }
        ours = rest.split(" -- ")[0]
        assert set(re.findall(r"(?<!\S)--?[a-z][a-z-]*", ours)) <= known, (name, ours)


def test_the_gates_of_the_example_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    from triage.gates import config

    found = config.load(ROOT / "examples" / "github-workflow" / "triage.yaml")
    assert found.gates.slower_than == 0.05 and [scope.match for scope in found.kernels] == ["transpose*"]


def test_the_hooks_name_commands_that_exist() -> None:
    from typer.main import get_command

    from triage.cli import app

    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    rules = get_command(app).commands["rules"].commands  # type: ignore[attr-defined]
    for hook in hooks:
        program, group, command = hook["entry"].split()[:3]
        assert (program, group) == ("triage", "rules") and command in rules
        assert hook["language"] == "python" and re.compile(hook["files"]).search("perf-rules/limiters/my-limiter.yaml")
