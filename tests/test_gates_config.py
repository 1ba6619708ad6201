"""The ``gates:`` section of triage.yaml: found upwards, read exactly, refused with every fault at its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from triage.errors import FaultyRules, UsageError
from triage.gates import config, values
from triage.gates.model import GATES, Config, Gates
from triage.gates.values import Bandwidth


def load(tmp_path: Path, text: str) -> Config:
    path = tmp_path / "triage.yaml"
    path.write_text(text, encoding="utf-8")
    return config.load(path)


def faults(tmp_path: Path, text: str) -> list[str]:
    with pytest.raises(FaultyRules) as caught:
        load(tmp_path, text)
    assert caught.value.exit_code == 3
    return [line.removeprefix(f"{tmp_path}/") for line in caught.value.details]


def test_everything_at_once(tmp_path: Path) -> None:
    found = load(
        tmp_path,
        """
profile: guide
gates:
  slower_than: 3%
  limiter_changed: always
  limiters: [dram-bandwidth, near-limit]
  max_duration: 1.5 ms
  min_effective_bandwidth: 80%
  ideal_bytes: 2 * 4096 * 4096 * 4
  spills: allow
  new_kernels: fail
  removed_kernels: fail
  undecided: fail
  comparable: allow
  unmatched: allow
  unknown: allow
  baseline: perf/base.yaml
  noise: {floor: 1%, single: 4%, short: 8%, short_below: 10 us}
  kernels:
    - match: "transpose*"
      slower_than: 1%
      min_effective_bandwidth: 2.5 TB/s
    - {match: warmup, skip: true}
""",
    )
    assert found.gates == Gates(
        slower_than=0.03,
        limiter_changed="always",
        limiters=("dram-bandwidth", "near-limit"),
        max_duration=1.5e6,
        min_effective_bandwidth=Bandwidth(80, percent=True),
        ideal_bytes=134217728.0,
        spills=False,
        new_kernels=True,
        removed_kernels=True,
        undecided=True,
        comparable=False,
        unmatched=False,
        unknown="held",
    )
    places = dict(found.places)
    assert places["slower_than"].endswith("triage.yaml:4:3") and places["unmatched"].endswith("triage.yaml:15:3")
    assert "kernels" not in places and "unknown" not in places
    assert found.baseline == str(tmp_path / "perf/base.yaml")
    assert (found.noise.floor, found.noise.single, found.noise.short, found.noise.short_ns) == (
        0.01,
        0.04,
        0.08,
        10_000,
    )
    first, second = found.kernels
    assert first.match == "transpose*" and dict(first.changes) == {
        "slower_than": 0.01,
        "min_effective_bandwidth": Bandwidth(2.5e12),
    }
    assert first.place.endswith("triage.yaml:20:7") and dict(second.changes) == {"skip": True}


def test_without_a_file_or_a_section_the_defaults_hold(tmp_path: Path) -> None:
    assert config.load(None) == Config()
    assert load(tmp_path, "rules: []\n").gates == Gates()
    assert load(tmp_path, "").gates == Gates()


def test_every_fault_is_reported_at_its_place(tmp_path: Path) -> None:
    found = faults(
        tmp_path,
        """gates:
  slower_then: 5%
  slower_than: fast
  limiter_changed: sometimes
  limiters: []
  max_duration: 40
  min_effective_bandwidth: 3 apples
  spills: maybe
  unknown: 7
  noise: {floor: x, celling: 1%}
  kernels:
    - slower_than: 5%
    - match: "a"
      skip: perhaps
      colour: red
    - nonsense
""",
    )
    # The place is shown from where the command was started; here that is another folder.
    assert [f"{Path(place).name} {code}" for place, code, *_ in (line.split(" ") for line in found)] == [
        "triage.yaml:2:3: unknown-key",
        "triage.yaml:3:3: value",
        "triage.yaml:4:3: value",
        "triage.yaml:5:3: value",
        "triage.yaml:6:3: value",
        "triage.yaml:7:3: value",
        "triage.yaml:8:3: value",
        "triage.yaml:9:3: value",
        "triage.yaml:10:11: value",
        "triage.yaml:10:21: unknown-key",
        "triage.yaml:12:7: match",
        "triage.yaml:14:7: value",
        "triage.yaml:15:7: unknown-key",
        "triage.yaml:16:7: value",
    ]
    assert "did you mean slower_than?" in found[0] and "write it with ns, us, ms or s" in found[4]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("gates: &a {slower_than: 5%}\n", "anchor"),
        ("gates: !!python/object:os.system {}\n", "tag"),
        ("gates: {spills: fail, spills: allow}\n", "duplicate-key"),
        ("gates: [1]\n", "gates"),
        ("- 1\n", "type"),
        ("gates:\n\t- x\n", "yaml"),
        ("gates: {baseline: [x]}\n", "value"),
        ("gates: {kernels: {a: 1}}\n", "value"),
        ("gates: {ideal_bytes: 'open(1)'}\n", "value"),
    ],
)
def test_hostile_and_odd_files_are_refused(tmp_path: Path, text: str, code: str) -> None:
    assert f" {code} " in faults(tmp_path, text)[0]


def test_a_limiter_that_no_rule_defines_is_a_fault_at_its_place(tmp_path: Path) -> None:
    text = """gates:
  limiters: [memory-latancy, dram-bandwidth]
  kernels:
    - match: a
      limiters: our-own
    - {match: b, limiters: [undecided, barrier]}
    - {match: c, limiters: allow}
    - nonsense
"""
    path = tmp_path / "triage.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FaultyRules) as caught:
        config.load(path, ["memory-latency", "dram-bandwidth", "barrier"])
    found = [line.split("triage.yaml:", 1)[1] for line in caught.value.details]
    assert found == [
        "2:3: unknown-limiter no limiter is called 'memory-latancy' (did you mean 'memory-latency'?)",
        "5:7: unknown-limiter no limiter is called 'our-own'",
        "8:7: value an entry of kernels must be a map with the key match",
    ]
    # Where no rules are at hand every id is taken.
    path.write_text(text.replace("    - nonsense\n", ""), encoding="utf-8")
    assert config.load(path).gates.limiters == ("memory-latancy", "dram-bandwidth")


def test_what_is_no_id_is_one_fault(tmp_path: Path) -> None:
    path = tmp_path / "triage.yaml"
    path.write_text("gates: {limiters: [Not An Id]}\n", encoding="utf-8")
    with pytest.raises(FaultyRules) as caught:
        config.load(path, ["barrier"])
    (line,) = caught.value.details
    assert ": value limiters: " in line


def test_an_entry_of_the_team_is_described_by_all_that_it_selects_by(tmp_path: Path) -> None:
    found = load(
        tmp_path,
        'kernels:\n  - {match: [a, "b*"], expect: barrier}\n'
        '  - {nvtx: step, grid: [4, "*"], block: 256, cc: ">=9.0", expect: barrier}\n',
    )
    assert [scope.match for scope in found.kernels] == [
        "a, b*",
        "*; nvtx step; grid 4 x *; block 256; cc >=9.0",
    ]


def test_found_upwards(tmp_path: Path) -> None:
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    assert config.find(below) is None or tmp_path not in config.find(below).parents
    (tmp_path / "triage.yaml").write_text("gates: {}\n")
    assert config.find(below) == tmp_path / "triage.yaml"
    (tmp_path / "a" / "triage.yaml").write_text("gates: {}\n")
    assert config.find(below) == tmp_path / "a" / "triage.yaml"


def test_a_config_that_is_not_there_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no file"):
        config.load(tmp_path / "none.yaml")


def test_values() -> None:
    assert values.share("5%") == values.share(5) == values.share("5 %") == 0.05
    assert values.duration("40 us") == 40_000 and values.duration("1e3ns") == 1000 and values.duration("2 s") == 2e9
    assert values.bandwidth("900 GB/s") == Bandwidth(9e11) and values.bandwidth("80%") == Bandwidth(80, percent=True)
    assert values.size("2 * 4096 * 4096 * 4") == 134217728 and values.size(64) == 64
    for reader, value in (
        (values.share, "5 us"),
        (values.share, True),
        (values.duration, "-1 us"),
        (values.duration, "us"),
        (values.bandwidth, 5),
        (values.size, "dram_bytes"),
        (values.size, "0"),
        (values.size, [1]),
        (values.share, None),
    ):
        with pytest.raises(ValueError, match=r"\w"):
            reader(value)


def test_the_page_on_gates_describes_every_gate() -> None:
    text = (Path(__file__).parent.parent / "docs" / "gates.md").read_text(encoding="utf-8")
    for gate in (*GATES, "ideal_bytes", "skip", "unknown", "baseline", "noise", "kernels", "match"):
        assert f"`{gate}`" in text, gate
