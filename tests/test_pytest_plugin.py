"""The pytest plugin, run by pytest on tests of its own."""

from __future__ import annotations

import json
import re
from importlib import import_module
from pathlib import Path

import compared
import pytest
import reports

from triage.gates import baseline

pytest_plugins = ["pytester"]
# pytester forgets the modules that a run imports: what every run needs is imported once, here.
for _name in ("commands", "compare.commands", "gates.judge", "ncu.session", "readers.text", "renderers", "team"):
    import_module(f"triage.{_name}")
DATA = compared.DATA


@pytest.fixture
def suite(pytester: pytest.Pytester) -> pytest.Pytester:
    """A folder with both captures beside the tests, as baselines: those are read at once, a report by a process."""
    for name, path in (("base.yaml", compared.PR_BASE), ("head.yaml", compared.PR_HEAD)):
        (pytester.path / name).write_text(baseline.dump(compared.captured(path)))
    return pytester


def run(suite: pytest.Pytester, body: str, *options: str) -> pytest.RunResult:
    suite.makepyfile(f"import pytest\n{body}")
    return suite.runpytest_inprocess("-p", "triage.pytest_plugin", "-p", "no:cacheprovider", "-rs", *options)


def test_markers_pass_and_fail_with_a_line_each(suite: pytest.Pytester) -> None:
    result = run(
        suite,
        """
ASKED = dict(kernel="transpose", limiter=["dram-bandwidth"], max_duration="40 us", min_effective_bandwidth="3 TB/s")

@pytest.mark.triage(report="head.yaml", **ASKED)
def test_good():
    pass

@pytest.mark.triage(report="base.yaml", **ASKED)
def test_bad():
    raise SystemError("the marker is checked first")

@pytest.mark.triage(report="base.yaml", kernel="gemm", limiter="x")
def test_absent():
    pass

@pytest.mark.parametrize("name", ["scale", "transpose"])
@pytest.mark.triage(report="head.yaml")
def test_code(name, triage_kernels):
    assert triage_kernels[name].limiter in ("memory-latency", "dram-bandwidth")
    assert len(triage_kernels) == 2
""",
    )
    result.assert_outcomes(passed=3, failed=2)
    text = result.stdout.str()
    assert "transpose: is limited by uncoalesced-global; expected is dram-bandwidth [transpose_pr.cu:26]" in text
    assert "transpose: takes 273 us; allowed are 40.0 us" in text
    assert "moves the bytes it needs at 492 GB/s; asked are 3.00 TB/s" in text
    assert "no kernel matches 'gemm'" in text and "SystemError" not in text and "pytest_plugin.py" not in text


def test_the_fixture_without_a_marker(suite: pytest.Pytester) -> None:
    result = run(
        suite,
        """
def test_code(triage_kernels):
    with pytest.raises(LookupError, match="no report yet"):
        triage_kernels["transpose"]
    kernel = triage_kernels.load("base.yaml")["trans*"]
    assert kernel.duration_ns == 272960 and 4.9e11 < kernel.effective_bandwidth() < 5e11
    assert kernel.effective_bandwidth(27296) == pytest.approx(1e8)
    kernel.check(limiter="uncoalesced-global", max_duration="1 ms", min_effective_bandwidth="10%")
    with pytest.raises(AssertionError, match="allowed are 1.00 us"):
        kernel.check(max_duration="1 us")
    with pytest.raises(ValueError, match="is no time"):
        kernel.check(max_duration="1 apple")
    with pytest.raises(LookupError, match="2 kernels match"):
        triage_kernels.load("base.yaml")["*"]
    assert "uncoalesced-global" in repr(kernel)
""",
    )
    result.assert_outcomes(passed=1)


def test_a_misspelt_key_is_refused_at_once(suite: pytest.Pytester) -> None:
    result = run(suite, '@pytest.mark.triage(report="x", limitter="y")\ndef test_a(): pass\n')
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "unknown limitter; known are report, command, kernel, limiter" in result.stderr.str()


def test_what_was_not_measured_fails(suite: pytest.Pytester) -> None:
    (suite.path / "repeats.csv").symlink_to(compared.REPEATS)
    result = run(
        suite,
        """
@pytest.mark.triage(report="repeats.csv", kernel="sfu", limiter="pipe-xu", min_effective_bandwidth="1 GB/s")
def test_a():
    pass
""",
    )
    result.assert_outcomes(failed=1)
    assert "sfu: is undecided; expected is pipe-xu (cannot be judged)" in result.stdout.str()
    assert "has no known effective bandwidth" in result.stdout.str()


HOSTILE = {key: name or "x" for key, name in reports.HOSTILE.items()} | {
    "command": "::error file=x::pwn",
    "command later": "x\n::error file=x::pwn",
    "carriage return": "x\r::error::pwn",
}


def test_names_of_a_report_are_inert_in_all_that_is_printed(suite: pytest.Pytester) -> None:
    """No escape, no line and no command of a name is left: pytest's output goes to terminals and to logs of CI."""
    states = [
        compared.state(name, function=name, limiter="barrier", index=at) for at, name in enumerate(HOSTILE.values())
    ]
    (suite.path / "hostile.yaml").write_text(baseline.dump(compared.side(*states)))
    result = run(
        suite,
        """
@pytest.mark.triage(report="hostile.yaml", limiter="dram-bandwidth")
def test_several():
    pass

@pytest.mark.triage(report="hostile.yaml", kernel="\\x1b[31mnone*", limiter="dram-bandwidth")
def test_none():
    pass

@pytest.mark.parametrize("place", range(18))
def test_code(triage_kernels, place):
    kernel = list(triage_kernels.load("hostile.yaml"))[place]
    print(kernel)
    kernel.check(limiter="dram-bandwidth", max_duration="1 us")

def test_lookup(triage_kernels):
    triage_kernels.load("hostile.yaml")["*"]
""",
    )
    result.assert_outcomes(failed=3 + len(HOSTILE))
    for line in result.stdout.lines:
        assert line.isprintable() and "\u202e" not in line, line
        assert not line.removeprefix("E").strip().startswith("::"), line
        assert not line.strip().startswith(("second", "pwn")), line
    assert "kernel ::error file=x::pwn: is limited by barrier; expected is dram-bandwidth" in result.stdout.str()


FAULTS = {
    'report="gone.csv", limiter="barrier"': "gone.csv: no such file (hint: check the path)",
    'report="notes.txt", limiter="barrier"': "notes.txt: ",
    'report="notes.txt"': "notes.txt: ",
    'report="a\\0b", limiter="barrier"': "a",
    'report="/tmp/" + "x" * 5000, limiter="barrier"': "marker triage: ",
    'report=3, limiter="barrier"': "report must be a path: text or pathlib.Path, not 3 (int)",
    'report=b"head.yaml", limiter="barrier"': "report must be a path: text or pathlib.Path, not b'head.yaml' (bytes)",
    'report="", limiter="barrier"': "report must be a path, and is empty",
    'report="head.yaml", command="true", limiter="barrier"': "report and command are both given (hint: leave one",
    'report="head.yaml", kernel=3, limiter="barrier"': "kernel must be a pattern of names, not 3 (int)",
    'report="head.yaml", kernel="scale", limiter=7': "limiter must be the id of a limiter, or a list of them, not 7",
    'report="head.yaml", kernel="scale", limiter=[]': "limiter must be the id of a limiter, or a list of them, and is",
    'report="head.yaml", kernel="scale", limiter=[7]': "limiter[0] must be text, not 7 (int)",
    'report="head.yaml", kernel="scale", limiter="memory-latncy"': "(did you mean 'memory-latency'?) (hint: `triage",
    'report="head.yaml", kernel="scale", max_duration=40': "40 is no time; write it with ns, us, ms or s",
    'report="head.yaml", kernel="scale", max_duration="0 us"': "'0 us' is 0; it must be above",
    'report="head.yaml", kernel="scale", min_effective_bandwidth="9 apples"': "is no bandwidth",
    'report="head.yaml", kernel="scale", ideal_bytes=float("nan")': "nan is no number of bytes",
    'command="./gone --fast", limiter="barrier"': "there is no program './gone' (hint: check its path",
    'command="./app \'open", limiter="barrier"': "cannot be split: no closing quotation (hint: give a command line",
    'command="", limiter="barrier"': "command is empty (hint: give a command line",
    'command=[], limiter="barrier"': "command must begin with the program to run, and is empty",
    'command=3, limiter="barrier"': "or a list of its words, not 3 (int)",
    'command={"./app": 1}, limiter="barrier"': "or a list of its words, not {'./app': 1} (dict)",
    'command=["./app", None], limiter="barrier"': "command[1] must be a word: text, a path or a number, not None",
    'limiter="barrier"': "no report yet: use load(...), profile(...), or a triage marker with report=...",
}


def test_a_fault_of_a_marker_is_one_line_without_our_traceback(suite: pytest.Pytester) -> None:
    app(suite.path)
    (suite.path / "notes.txt").write_text("nothing\n")
    body = "".join(
        f"@pytest.mark.triage({marker})\ndef test_{at}():\n    raise SystemError('not reached')\n\n"
        for at, marker in enumerate(FAULTS)
    )
    result = run(suite, body)
    result.assert_outcomes(failed=len(FAULTS))
    failures = re.split(r"^=+ (?:warnings|short test) summary", result.stdout.str(), flags=re.MULTILINE)[0]
    blocks = re.split(r"^_+ test_\d+ _+$", failures, flags=re.MULTILINE)[1:]
    for block, (marker, expected) in zip(blocks, FAULTS.items(), strict=True):
        lines = [line for line in block.splitlines() if line.strip("= ")]
        assert len(lines) == 1, (marker, lines)
        assert expected in lines[0], marker
        assert len(lines[0]) < 2200


def test_faulty_rules_of_the_team_are_named_with_their_lines(suite: pytest.Pytester) -> None:
    (suite.path / "triage.yaml").write_text("rules: 3\nkernel: []\n")
    (suite.path / ".git").mkdir()
    result = run(suite, '@pytest.mark.triage(report="head.yaml", kernel="scale")\ndef test_a(): pass\n')
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["marker triage: * faults in *", "- triage.yaml:*", "- triage.yaml:*"])
    result.stdout.no_fnmatch_line("*Error*")


def test_a_fault_in_a_tests_own_code_ends_at_its_line(suite: pytest.Pytester) -> None:
    result = run(
        suite,
        """
def test_load(triage_kernels):
    triage_kernels.load("gone.csv")

def test_type(triage_kernels):
    triage_kernels.load(3)

def test_program(triage_kernels):
    triage_kernels.profile("./gone", 3)

def test_nothing(triage_kernels):
    triage_kernels.profile()

def test_index(triage_kernels):
    triage_kernels.load("head.yaml")[0]

def test_limiter(triage_kernels):
    triage_kernels.load("head.yaml")["scale"].check(limiter="memory-latncy")

def test_bytes(triage_kernels):
    triage_kernels.load("head.yaml")["scale"].effective_bandwidth("many")

@pytest.fixture
def mine(triage_kernels):
    return triage_kernels["*"]

@pytest.mark.triage(report="gone.csv")
def test_setup(mine):
    pass
""",
    )
    result.assert_outcomes(failed=7, errors=1)
    text = result.stdout.str()
    assert not re.search(r"^\S*(testing|arguments|readers|pytest_plugin)\S*\.py:\d+", text, re.MULTILINE)
    assert "UnreadableReport: " in text and "gone.csv: no such file (hint: check the path)" in text
    assert "TypeError: kernel must be a pattern of names, not 0 (int)" in text
    assert "ValueError: no limiter is called 'memory-latncy' (did you mean 'memory-latency'?)" in text


def test_the_closest_marker_with_a_report_is_the_fixtures(suite: pytest.Pytester) -> None:
    result = run(
        suite,
        """
@pytest.mark.triage(report="head.yaml")
class TestHead:
    @pytest.mark.triage(kernel="transpose", limiter="dram-bandwidth")
    def test_of_the_class(self, triage_kernels):
        assert triage_kernels["transpose"].limiter == "dram-bandwidth"

    @pytest.mark.triage(report="base.yaml", kernel="transpose", limiter="uncoalesced-global")
    def test_own(self, triage_kernels):
        assert triage_kernels["transpose"].limiter == "uncoalesced-global"
""",
    )
    result.assert_outcomes(passed=2)


PROFILED = """
@pytest.mark.triage(command="./app --fast", kernel="*", limiter="x")
def test_marker():
    pass

def test_fixture(triage_kernels):
    assert len(triage_kernels.profile("./app")) > 0
"""


def test_without_ncu_profiling_is_skipped_or_fails(suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    app(suite.path)
    monkeypatch.setattr("triage.ncu.session.prepare", raises)
    run(suite, PROFILED).assert_outcomes(skipped=2)
    result = run(suite, PROFILED, "--triage-strict")
    result.assert_outcomes(failed=2)
    assert "ncu was not found here" in result.stdout.str()


def raises(*_: object) -> None:
    from triage.errors import NcuFailed

    raise NcuFailed("ncu was not found here", "install it")


def app(folder: Path) -> None:
    path = folder / "app"
    path.write_text("#!/bin/sh\nexit 0\n")
    path.chmod(0o755)


def test_profiling_a_command(suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    app(suite.path)
    control = suite.path / "fake.json"
    names = ["config-file", "rename-kernels", "target-processes", "replay-mode", "clock-control", "cache-control"]
    names += ["apply-rules", "filter-mode", "query-metrics-collection"]
    kinds = ("profiling", "launch", "source", "warpsampling", "groups")
    queries = {kind: str(DATA / f"ncu_query_{kind}.txt") for kind in kinds}
    recorded = {"log": str(DATA / "ncu_hello.log"), "report": str(DATA / "ncu_hello.ncu-rep")}
    runs = [{"log": str(DATA / "ncu_survey.log")}, recorded]
    control.write_text(json.dumps({"options": names, "queries": queries, "runs": runs}))
    monkeypatch.setenv("NCU", str(DATA / "ncu_fake.py"))
    monkeypatch.setenv("FAKE_NCU", str(control))
    monkeypatch.setenv("XDG_CACHE_HOME", str(suite.path / "cache"))
    result = run(
        suite,
        """
def test_fixture(triage_kernels):
    kernels = triage_kernels.profile("./app")
    assert len(kernels) > 0 and all(kernel.state.kernel.name for kernel in kernels)
""",
        "--triage-strict",
    )
    result.assert_outcomes(passed=1)


def test_the_documented_example_runs_on_the_bundled_capture(pytester: pytest.Pytester) -> None:
    example = Path(__file__).parent.parent / "examples" / "pytest" / "test_kernels.py"
    pytester.runpytest_inprocess("-p", "triage.pytest_plugin", "-p", "no:cacheprovider", str(example)).assert_outcomes(
        passed=3
    )
