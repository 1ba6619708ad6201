"""A baseline is read whole or refused with what is wrong: cut, merged, misspelt, of another form."""

from __future__ import annotations

from pathlib import Path

import compared
import pytest
from compared import side, state

from triage.errors import UnreadableReport
from triage.gates import baseline
from triage.gates.baseline_form import MAGIC, form_of
from triage.gates.baseline_load import load

FACTS = {"registers_per_thread": 32, "spill_requests": 0}
GOOD = baseline.dump(side(state("copy", facts=FACTS, line=7), state("transpose", facts=FACTS, limiter=None)))
# As the releases before the count wrote it.
OLD = "\n".join(line for line in GOOD.splitlines() if not line.startswith(("count:", "end:"))) + "\n"


def again(tmp_path: Path, text: str | bytes) -> compared.Snapshot:
    path = tmp_path / "baseline.yaml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return load(path)


def refused(tmp_path: Path, text: str | bytes) -> UnreadableReport:
    with pytest.raises(UnreadableReport) as caught:
        again(tmp_path, text)
    assert caught.value.exit_code == 3 and caught.value.hint
    return caught.value


def test_every_cut_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "baseline.yaml"
    assert GOOD.endswith("\nend: true\n")
    # The line break at the end may be lost: editors do that.
    for size in range(len(MAGIC), len(GOOD) - 1):
        path.write_text(GOOD[:size], encoding="utf-8")
        with pytest.raises(UnreadableReport):
            load(path)


def test_no_line_of_what_is_compared_can_be_lost(tmp_path: Path) -> None:
    lines = GOOD.splitlines(keepends=True)
    whole = again(tmp_path, GOOD)
    for number, line in enumerate(lines):
        word = line.split(":")[0].strip(" -")
        if line.strip() and not line.startswith("#") and word in ("name", "limiter", "kernels", "count", "end", *FACTS):
            refused(tmp_path, "".join(lines[:number] + lines[number + 1 :]))
    assert whole.states[0].facts == FACTS and len(whole.states) == 2


def test_a_kernel_lost_in_a_merge_is_counted_and_the_remedy_named(tmp_path: Path) -> None:
    start = GOOD.index("- name: transpose")
    fault = refused(tmp_path, GOOD[:start] + "end: true\n")
    assert len(fault.details) == 1 and ":13:1: count it was written with 2 kernels of 4 facts" in fault.details[0]
    assert "has 1 kernel of 2 facts: lines were lost, or two files were merged" in fault.details[0]
    assert "triage baseline REPORT -o FILE" in fault.hint and "'count: {kernels: 1, facts: 2}'" in fault.hint
    mended = GOOD[:start].replace("kernels: 2, facts: 4", "kernels: 1, facts: 2") + "end: true\n"
    assert len(again(tmp_path, mended).states) == 1


def test_two_branches_that_each_added_a_kernel(tmp_path: Path) -> None:
    # Both wrote the same new count, so git saw no conflict.
    kernel = GOOD[GOOD.index("- name: copy") : GOOD.index("- name: transpose")]
    merged = GOOD.replace("end: true", kernel.replace("copy", "third") + "end: true")
    fault = refused(tmp_path, merged)
    assert "has 3 kernels of 6 facts" in fault.details[0] and "'count: {kernels: 3, facts: 6}'" in fault.hint
    assert len(again(tmp_path, merged.replace("kernels: 2, facts: 4", "kernels: 3, facts: 6")).states) == 3


@pytest.mark.parametrize("text", [GOOD, OLD])
def test_both_sides_of_one_kernel_are_told(tmp_path: Path, text: str) -> None:
    kernel = text[text.index("- name: copy") : text.index("- name: transpose")]
    fault = refused(tmp_path, text.replace(kernel, kernel + kernel.replace("100000", "90000")))
    assert any("twice the kernel 'copy' stands twice" in line for line in fault.details)
    assert "leave one of each kernel" in fault.hint


def test_an_unresolved_conflict_is_named_as_one(tmp_path: Path) -> None:
    line = "count: {kernels: 2, facts: 4}"
    conflict = f"<<<<<<< HEAD\n{line}\n=======\n{line.replace('2', '3')}\n>>>>>>> main"
    fault = refused(tmp_path, GOOD.replace(line, conflict))
    assert fault.details[0].endswith(":13:1: conflict holds a merge conflict that was not resolved")
    assert "take one side" in fault.hint


def test_baselines_of_earlier_releases_stay_readable(tmp_path: Path) -> None:
    assert "count" not in OLD and again(tmp_path, OLD).states == again(tmp_path, GOOD).states


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("limiter: dram-bandwidth", "limitter: dram-bandwidth", "a kernel has no key 'limitter' (did you mean 'limi"),
        ("  limiter: dram-bandwidth\n", "", "a kernel lacks the key 'limiter'"),
        ("limiter: dram-bandwidth", "limiter:", "'limiter' must be text"),
        ("limiter: dram-bandwidth", "limiter: DRAM bandwidth", "'limiter' must be the id of a limiter"),
        ("limiter: dram-bandwidth", "limiter: x\n  beside: {Y z: 2}", "'beside' has a key 'Y z', which is no id"),
        ("gpu:", "gpuu:", "a baseline has no key 'gpuu' (did you mean 'gpu'?)"),
        ("sms: 132", "sms: many", "'sms' must be a whole number"),
        ("clocks: free", "clocks: fre", "'clocks' must be one of free, controlled (did you mean 'free'?)"),
        ("confidence: high", "confidence: hihg", "'confidence' must be one of high, medium, low"),
        ("    spill_requests:", "    spill_request:", "fact 'spill_request' (did you mean 'spill_requests'?)"),
        ("spill_requests: 0", "spill_requests: none", "'spill_requests' must be a number"),
        ("durations_ns: [100000]", "durations_ns: [fast]", "an entry of 'durations_ns' must be a number"),
        ("durations_ns: [100000]", "duration_ns: [100000]", "did you mean 'durations_ns'?"),
        ("grid: [1024, 1, 1]", "grid: [1024, x, 1]", "an entry of 'grid' must be a whole number"),
        ("grid: [1024, 1, 1]", "grid: [999999999999999999999, 1, 1]", "an entry of 'grid' must be a whole number"),
        ("launches: 1", "launches: -1", "'launches' must be a whole number"),
        ("grid: [1024, 1, 1]", "grid: [1024]", "'grid' must have three sizes"),
        ("launches: 1", "launches: many", "'launches' must be a whole number"),
        ("share: 90", "sharing: 90", "an entry of 'lines' has no key 'sharing' (did you mean 'share'?)"),
        ("facts: 4}", "fact: 4}", "'count' has no key 'fact' (did you mean 'facts'?)"),
        ("end: true", "end: false", "'end' must be true"),
    ],
)
def test_what_no_comparison_would_look_at_is_a_fault(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in GOOD
    fault = refused(tmp_path, GOOD.replace(old, new, 1))
    assert any(said in line for line in fault.details), fault.details
    assert all(line.startswith(f"{tmp_path / 'baseline.yaml'}:") for line in fault.details)


@pytest.mark.parametrize(
    "text",
    [
        f"{MAGIC}\n",
        f"{MAGIC}\nkernels: 5\n",
        f"{MAGIC}\nkernels: []\n",
        f"{MAGIC}\nkernels:\n- 5\n",
        f"{MAGIC}\nkernels:\n- {{grid: [1, 2, 3]}}\n",
        f"{MAGIC}\nkernels:\n- {{name: a, limiter: undecided, facts: [1]}}\n",
        f"{MAGIC}\nkernels:\n- {{name: a, limiter: undecided, facts: {{b: 1}}}}\n",
        f"{MAGIC}\nkernels: &a [*a]\n",
        f"{MAGIC}\n- 5\n",
        f"{MAGIC}\nkernels: [",
    ],
)
def test_damaged_baselines_are_refused_with_their_faults(tmp_path: Path, text: str) -> None:
    assert refused(tmp_path, text).details


@pytest.mark.parametrize(
    "text",
    [
        "\ufeff" + GOOD,
        "\n\n" + GOOD,
        GOOD.replace("\n", "\r\n"),
        "# Copyright of somebody\n---\n" + GOOD,
        GOOD.replace("\n", "\r\n").encode("utf-16"),
        ("\ufeff" + GOOD).encode("utf-16-be"),
        GOOD.removesuffix("\n"),
        GOOD.replace('cc: "9.0"', "cc: 9.0"),
    ],
    ids=["BOM", "blank lines", "CRLF", "comment", "UTF-16", "UTF-16 BE", "no line break", "no quotes"],
)
def test_what_editors_and_shells_do_to_a_file_is_harmless(tmp_path: Path, text: str | bytes) -> None:
    loaded = again(tmp_path, text)
    assert loaded.states == again(tmp_path, GOOD).states and loaded.device.cc == "9.0"
    (tmp_path / "baseline.txt").write_bytes(text.encode() if isinstance(text, str) else text)
    assert form_of(tmp_path / "baseline.txt") == "1"


def test_another_form_and_another_file_are_named_as_what_they_are(tmp_path: Path) -> None:
    newer = refused(tmp_path, GOOD.replace(MAGIC, "# triage baseline 2"))
    assert "is a baseline of form 2, and this triage reads form 1" in newer.message and "newer" in newer.hint
    bare = refused(tmp_path, GOOD.replace(f"{MAGIC}\n", ""))
    assert "does not begin with the line '# triage baseline 1'" in bare.message


def test_a_baseline_where_a_report_belongs_is_named_as_one(tmp_path: Path) -> None:
    from triage.readers import load as report

    for name, text in (("a.yaml", GOOD), ("b.yaml", "\ufeff\n" + GOOD)):
        (tmp_path / name).write_text(text, encoding="utf-8")
        with pytest.raises(UnreadableReport, match="is a baseline of triage, not a report") as caught:
            report(tmp_path / name)
        assert "triage check REPORT --baseline" in caught.value.hint
