"""The manifest of the calibration kernels: what it holds, and which faults are reported where."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from triage import resources
from triage.driver import sources
from triage.errors import FaultyRules, UsageError
from triage.rules import default_rulebook
from triage.validate import manifest

RULES = default_rulebook()
ENTRIES = manifest.load(limiters=RULES.limiters)
LIMITERS = resources.folder("kernels") / "limiters"


def test_it_names_every_kernel_of_every_program_in_the_order_of_launch() -> None:
    for program in sources.programs():
        if not program.name.startswith("limiters/"):
            continue
        name = program.name.removeprefix("limiters/")
        listed = [entry.kernel for entry in ENTRIES if entry.program == name]
        assert sorted(listed) == sorted(program.kernels), name
        text = program.path.read_text(encoding="utf-8")
        places = [text.index(f"LAUNCH(bench, {kernel},") for kernel in listed]
        assert places == sorted(places), name


def test_enough_kernels_with_twins_and_traps() -> None:
    assert len(ENTRIES) >= 60
    assert sum(entry.twin is not None for entry in ENTRIES) >= 60
    assert sum(entry.trap for entry in ENTRIES) >= 10


def test_every_limiter_is_twice_the_only_right_answer() -> None:
    only = Counter(entry.accept[0] for entry in ENTRIES if len(entry.accept) == 1)
    assert not [limiter for limiter in RULES.limiters if only[limiter] < 2]


def test_every_fix_is_one_that_the_limiter_lists() -> None:
    """The text of a fix may change in the rules: then what the twin does has to be looked up again."""
    first = 0
    for entry in ENTRIES:
        if entry.fix is None:
            continue
        texts = [fix.text for limiter in entry.accept for fix in RULES.limiters[limiter].fixes]
        assert sum(text.startswith(entry.fix) for text in texts) == 1, entry.kernel
        first += RULES.limiters[entry.accept[0]].fixes[0].text.startswith(entry.fix)
    assert first >= 25


def test_a_twin_is_compared_with_its_kernel_by_the_program() -> None:
    for entry in ENTRIES:
        if entry.twin is not None:
            text = (LIMITERS / entry.file).read_text(encoding="utf-8")
            assert f'bench.same("{entry.kernel}", "{entry.twin}"' in text, entry.kernel


def test_a_twin_that_keeps_the_limiter_says_so_or_accepts_another() -> None:
    by_name = {entry.kernel: entry for entry in ENTRIES}
    for entry in ENTRIES:
        if entry.twin is not None and not entry.trap:
            twin = by_name[entry.twin]
            assert twin.keeps or set(twin.accept) - {entry.accept[0]}, entry.kernel


GOOD = """\
kernels:
- kernel: slow
  file: pair.cu
  accept: [barrier]
  forbid: [sleep]
  twin: fast
  fix: Look
  at: {0.5: [tail-wave], 2: [barrier, sleep]}
  why: it waits
- kernel: fast
  file: pair.cu
  accept: [pipe-fma]
  forbid: []
  twin: null
  keeps: true
  trap: true
  min_cc: 80
  why: it does not
"""


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "limiters" / "manifest.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_every_key_is_read(tmp_path: Path) -> None:
    slow, fast = manifest.load(write(tmp_path, GOOD), limiters=RULES.limiters)
    assert (slow.program, slow.twin, slow.fix, slow.min_cc) == ("pair", "fast", "Look", 75)
    assert slow.at == {0.5: ("tail-wave",), 2.0: ("barrier", "sleep")}
    assert (fast.keeps, fast.trap, fast.min_cc, fast.forbid) == (True, True, 80, ())


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            "accept: [barrier]",
            "accept: [barier]",
            "limiters/manifest.yaml:4:3: accept no limiter is called 'barier', bar",
        ),
        ("accept: [barrier]", "accept: []", ":4:3: accept at least one limiter must be right"),
        ("accept: [barrier]", "accept: barrier", ":4:3: accept 'accept' is a list"),
        ("forbid: [sleep]", "forbid: [barrier]", ":5:3: forbid 'barrier' cannot be right and wrong"),
        ("twin: fast", "twin: faster", ":6:3: twin the twin 'faster' is not in the manifest"),
        ("twin: fast", "twin: [fast]", ":6:3: twin 'twin' is the name of a kernel, or null"),
        ("twin: fast", "twin: null", ":7:3: fix a fix is what the twin makes"),
        ("  why: it waits", "  whi: it waits", "unknown key 'whi', why?"),
        ("  why: it waits\n", "", ":2:3: why 'why' is missing"),
        ("kernel: fast", "kernel: slow", "duplicate the kernel 'slow' stands twice"),
        ("min_cc: 80", "min_cc: new", "'min_cc' is a compute capability times ten"),
        ("{0.5: [tail-wave], 2: [barrier, sleep]}", "{half: [tail-wave]}", ":8:8: at 'half' is no scale"),
        ("{0.5: [tail-wave], 2: [barrier, sleep]}", "{nan: [tail-wave]}", ":8:8: at 'nan' is no scale"),
        ("{0.5: [tail-wave], 2: [barrier, sleep]}", "{0: [tail-wave]}", ":8:8: at '0' is no scale"),
        ("{0.5: [tail-wave], 2: [barrier, sleep]}", "[tail-wave]", ":8:3: at 'at' maps a scale"),
        ("kernels:", "kernel:", "holds a list named 'kernels'"),
        ("- kernel: slow", "- slow\n- kernel: slow", "an entry is a map"),
    ],
)
def test_faults_are_reported_with_their_line(tmp_path: Path, old: str, new: str, words: str) -> None:
    with pytest.raises(FaultyRules) as caught:
        manifest.load(write(tmp_path, GOOD.replace(old, new)), limiters=RULES.limiters)
    assert any(words in line for line in caught.value.details), caught.value.details


def test_all_faults_come_at_once(tmp_path: Path) -> None:
    text = GOOD.replace("[barrier]", "[barier]").replace("min_cc: 80", "min_cc: new")
    with pytest.raises(FaultyRules, match="has 2 faults"):
        manifest.load(write(tmp_path, text), limiters=RULES.limiters)


def test_programs_kernels_and_limiters_choose_whole_programs() -> None:
    def programs(*names: str) -> set[str]:
        return {entry.program for entry in manifest.select(names, ENTRIES)}

    assert manifest.select((), ENTRIES) == ENTRIES
    assert programs("tail_wave") == programs("tail_wave.cu") == programs("tail_of_big_blocks") == {"tail_wave"}
    assert "host_memory" in programs("host-memory")
    assert programs("sleep") == {"sleep"}, "the program, though a trap has the limiter as well"
    assert programs("sleep", "barrier") == {"sleep", "barrier"}
    with pytest.raises(UsageError, match="tail_wav'"):
        manifest.select(("tail_wav",), ENTRIES)
