"""The exact command lines."""

from __future__ import annotations

from pathlib import Path

from triage.ncu.command import profile_command, quoted, survey_command
from triage.ncu.find import Ncu
from triage.ncu.options import Options
from triage.ncu.plan import Plan
from triage.ncu.selection import Selection

NCU = Ncu(Path("/opt/ncu"), (2025, 3, 1))
APP = ("./app", "--size", "4 k")
PLAN = Plan("triage", ("gpu__time_duration.sum", "a__b.avg"), ("SourceCounters",))
REPORT, LOG = Path("out/app.ncu-rep"), Path("out/app.log")


def line(options: Options, selection: Selection | None = None, ncu: Ncu = NCU) -> str:
    return quoted(profile_command(ncu, options, PLAN, selection, REPORT, LOG))


def test_survey() -> None:
    assert quoted(survey_command(NCU, Options(APP), LOG)) == (
        "/opt/ncu --config-file off --rename-kernels off --target-processes all --replay-mode kernel "
        "--clock-control none --cache-control all --apply-rules no "
        "--metrics gpu__time_duration.sum --print-units base --print-metric-name name "
        "--print-kernel-base mangled --log-file out/app.log ./app --size '4 k'"
    )


def test_profile_with_a_selection() -> None:
    assert line(Options(APP), Selection("::regex:^(f)$:^(2|3)$", True)) == (
        "/opt/ncu --config-file off --rename-kernels off --target-processes all --replay-mode kernel "
        "--clock-control none --cache-control all --apply-rules no "
        "--section SourceCounters --metrics gpu__time_duration.sum,a__b.avg --import-source yes "
        "--kernel-name-base mangled --kernel-id '::regex:^(f)$:^(2|3)$' --filter-mode per-launch-config "
        "-f -o out/app.ncu-rep --log-file out/app.log ./app --size '4 k'"
    )


def test_a_selection_by_order_counts_globally() -> None:
    assert "--filter-mode" not in line(Options(APP), Selection("::regex:^(f)$:^(9)$", False))


def test_every_option_passes_through() -> None:
    options = Options(
        APP,
        kernel="regex:tile",
        nvtx_include=("step/", "D@x"),
        launch_skip=3,
        launch_count=4,
        profile_from_start=False,
        replay_mode="application",
        target_processes="application-only",
        clock_control="base",
        cache_control="none",
        import_source=False,
    )
    text = line(options)
    for words in (
        "--kernel-name regex:tile",
        "--nvtx --nvtx-include step/ --nvtx-include D@x",
        "--launch-skip 3 --launch-count 4",
        "--profile-from-start off",
        "--replay-mode application",
        "--target-processes application-only",
        "--clock-control base",
        "--cache-control none",
        "--import-source no",
    ):
        assert words in text
    assert "--replay-mode kernel" in quoted(survey_command(NCU, options, LOG)), "one pass needs no replay"
    assert "--profile-from-start off" in quoted(survey_command(NCU, options, LOG))


def test_without_survey_or_filter_bystanders_are_excluded_by_name() -> None:
    assert "--kernel-name-base mangled --kernel-name 'regex:^(?!" in line(Options(APP))
    assert "--kernel-name" not in line(Options(APP, all_kernels=True))
    assert "(?!" not in line(Options(APP, kernel="copy"))


def test_options_that_this_release_lacks_are_not_passed() -> None:
    old = Ncu(Path("ncu"), (2021, 1, 0), frozenset(["config-file", "clock-control"]))
    text = line(Options(APP), Selection("::regex:^(f)$:^(2)$", True), old)
    assert "--rename-kernels" not in text and "--filter-mode" not in text and "--config-file off" in text


def test_the_full_set_is_named() -> None:
    made = profile_command(NCU, Options(APP), Plan("full", (), (), "full"), None, REPORT, LOG)
    assert made[made.index("--set") + 1] == "full" and "--metrics" not in made
