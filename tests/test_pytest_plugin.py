"""The pytest plugin, run by pytest on tests of its own."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path

import compared
import pytest

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
    result.assert_outcomes(errors=1, failed=1)
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
