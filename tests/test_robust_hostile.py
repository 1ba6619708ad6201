"""Reports from strangers: names that are code somewhere, values no type holds, sizes no machine has."""

from __future__ import annotations

import csv
import json
import os
import random
import re
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest

from triage import commands
from triage.errors import TriageError, UnreadableReport
from triage.model import Report
from triage.readers import load
from triage.renderers import render
from triage.rules import default_rulebook

LEADING = (
    "ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream", "Block Size", "Grid Size",
    "Device", "CC",
)  # fmt: skip
NAMES = (
    "=cmd|' /C calc'!A0",
    "+1+1",
    "<script>alert(1)</script>",
    "</script><svg onload=alert(1)>",
    '"><img src=x onerror=alert(1)>',
    "\x1b]0;title\x07\x1b[2J\x1b[31mred",
    "\x9b31mred",
    "photo\u202egnp.exe",
    "zero\u200bwidth",
    "`rm -rf /`; $(reboot) | cat",
    "../../etc/passwd",
    "{{ 7 * 7 }}{% raise %}",
    "![x](http://example.invalid/x.png) [a](javascript:alert(1))",
    "@everyone #1",
    "%s %n {0} {kernel}",
    "line\nbreak\r\nheader: x",
    "k" * 30_000,
    "<" * 5000,
    "(" * 5000,
    " ",
    "\ud800",
)
VALUES = ("1e308", "1e309", "-1e308", "1" + "0" * 400, "nan", "-5", "1e22", "٣", "0x10", "1_000", "--5", "9" * 5000)


def raw(path: Path, metrics: list[tuple[str, str]], rows: list[list[object]]) -> Path:
    with path.open("w", newline="", encoding="utf-8", errors="surrogatepass") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL)
        writer.writerow([*LEADING, *(name for name, _ in metrics)])
        writer.writerow([""] * len(LEADING) + [unit for _, unit in metrics])
        writer.writerows(rows)
    return path


def leading(number: int, name: str = "k(int)", grid: str = "(128, 128, 1)", device: str = "0") -> list[object]:
    return [number, 1, name, "host", name, 1, 7, "(32, 8, 1)", grid, device, "9.0"]


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> Report:
    metrics = [("gpu__time_duration.sum", "ns"), ("dram__cycles_active.avg.pct_of_peak_sustained_elapsed", "%")]
    rows = [[*leading(number, name), 100_000 + number, 80] for number, name in enumerate(NAMES)]
    path = raw(tmp_path_factory.mktemp("hostile") / "names.csv", metrics, rows)
    return commands.diagnosed([path], default_rulebook(), command="triage report 'x\x1b[2J\u202e.csv'")


def test_every_name_is_read(named: Report) -> None:
    # A line break at the end of a cell and a lone surrogate are no names; everything else arrives.
    assert len(named.findings) >= len(NAMES) - 2
    assert all(len(finding.kernel.name) <= 20_003 for finding in named.findings)


@pytest.mark.parametrize("format_", ["text", "html", "md", "json"])
def test_names_are_inert(named: Report, format_: str) -> None:
    made = render(named, format_)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200b]", made)
    assert "49" not in re.findall(r"\{\{ 7 \* 7 \}\}|\b49\b(?=\{% raise)", made)
    if format_ == "html":
        assert "<script>alert" not in made and "<svg onload" not in made and "<img src" not in made
        assert "default-src &#39;none&#39;" in made
    if format_ == "md":
        prose = re.sub(r"(`+)[^`].*?\1", "", made)
        assert not re.search(r"(?<!\\)!\[x\]\(http", prose) and "<script" not in prose and "<svg" not in prose
    if format_ == "json":
        assert {each["name"] for each in json.loads(made)["kernels"]} >= set(NAMES[:5])


def test_errors_do_not_carry_escapes(capsys: pytest.CaptureFixture[str]) -> None:
    commands.report_error(UnreadableReport("x\x1b[2J\ny\u202e: bad", "h\x07int", details=("d\x1b]0;a\x07", "e" * 9999)))
    commands.say_written(Path("a\x1b[31m\nb.html"))
    said = capsys.readouterr().err
    assert not re.search("[\x00-\x09\x0b-\x1f\u202e]", said)
    assert len(said.splitlines()) == 5 and max(map(len, said.splitlines())) <= 2000


@pytest.mark.parametrize("value", VALUES)
def test_values_that_no_type_holds(tmp_path: Path, value: str) -> None:
    names = (
        "gpu__time_duration.sum", "launch__grid_dim_x", "launch__grid_dim_y", "launch__grid_dim_z", "launch__sm_count",
        "launch__stream_id", "device__attribute_compute_capability_major", "launch__grid_size",
        "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    )  # fmt: skip
    row = [*leading(0, grid=f"({value}, 1, 1)", device=value), *[value] * len(names)]
    path = raw(tmp_path / "x.csv", [(name, "") for name in names], [row])
    made = commands.diagnosed([path], default_rulebook(), command="")
    for format_ in ("text", "html", "md", "json"):
        assert render(made, format_)


def test_a_long_cell_is_bounded(tmp_path: Path) -> None:
    path = raw(tmp_path / "x.csv", [("gpu__time_duration.sum", "ns")], [[*leading(0, "k" * 70_000_000), 5]])
    begun = time.monotonic()
    with pytest.raises(UnreadableReport, match="64 million"):
        load(path)
    assert time.monotonic() - begun < 10


def test_many_metrics_are_bounded(tmp_path: Path) -> None:
    count = 50_000
    metrics = [(f"sm__m{number}.sum", "inst") for number in range(count)]
    path = raw(tmp_path / "x.csv", metrics, [[*leading(0), *["1"] * count]])
    made = commands.diagnosed([path], default_rulebook(), command="")
    assert len(render(made, "text")) < 5000


def bomb(blocks: int) -> bytes:
    """A zstd frame whose blocks each repeat one byte 131,072 times."""
    head = b"\x28\xb5\x2f\xfd\x00\x88"
    body = [struct.pack("<I", 131072 << 3 | 1 << 1 | (number == blocks - 1))[:3] + b"\0" for number in range(blocks)]
    return head + b"".join(body)


def test_a_bomb_is_bounded(tmp_path: Path) -> None:
    pytest.importorskip("ncu_report")
    path = tmp_path / "x.ncu-repz"
    path.write_bytes(bomb(60_000))
    begun = time.monotonic()
    with pytest.raises(TriageError):
        load(path, memory_bytes=300 << 20)
    assert time.monotonic() - begun < 10


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="resident memory is watched on Linux")
def test_a_bomb_behind_a_report_is_ended_before_it_fills_the_memory(tmp_path: Path) -> None:
    """Zeros are empty blocks to NVIDIA's reader, which keeps something of each: 250 MB made 2 GB."""
    pytest.importorskip("ncu_report")
    report = (Path(__file__).parent / "data" / "readers_pr.ncu-rep").read_bytes()
    parts = [report[at : at + 131072] for at in range(0, len(report), 131072)]
    stored = b"".join(struct.pack("<I", len(part) << 3)[:3] + part for part in parts)
    zeros = bomb(2000)
    path = tmp_path / "x.ncu-repz"
    path.write_bytes(zeros[:6] + stored + zeros[6:])
    code = (
        "import resource, sys\nfrom triage import load\nfrom triage.errors import UnreadableReport\n"
        # Where this Python can decompress, the reader is given no more than the report.
        "from triage.readers import zstd\nzstd.library = lambda: None\n"
        "try:\n    load(sys.argv[1])\n"
        "except UnreadableReport as error:\n"
        "    print(error.message, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10, sep='\\n')\n"
    )
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)}
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, env=env, check=True)
    message, megabytes = done.stdout.splitlines()
    assert message.endswith("opening the report needs more memory than allowed")
    assert int(megabytes) < 600


def run(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    root = Path(__file__).parent.parent
    env = {**os.environ, "PYTHONPATH": str(root)}
    return subprocess.run(
        [sys.executable, "-m", "triage", *words], capture_output=True, text=True, cwd=cwd, env=env, timeout=60
    )


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX files")
def test_the_command_line_on_what_is_no_report(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo.csv")
    (tmp_path / "loop.csv").symlink_to("loop.csv")
    (tmp_path / "empty.csv").touch()
    (tmp_path / "noise.csv").write_bytes(random.Random(3).randbytes(9000))
    with (tmp_path / "sparse.ncu-rep").open("wb") as file:
        file.truncate(3 << 30)
    done = run("report", ".", cwd=tmp_path)
    assert done.returncode == 3 and "Traceback" not in done.stderr
    assert "none of 5 files can be read" in done.stderr
    for name in ("fifo.csv", "loop.csv", "empty.csv", "noise.csv", "sparse.ncu-rep"):
        assert name in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "empty.csv", "fifo.csv", "loop.csv", "noise.csv", "sparse.ncu-rep",
    ]  # fmt: skip


def test_a_file_that_vanishes_while_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from triage.readers import text

    path = raw(tmp_path / "x.csv", [("gpu__time_duration.sum", "ns")], [[*leading(0), 5]])
    real = text.read

    def gone(*given: object) -> object:
        path.unlink()
        return real(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(text, "read", gone)
    with pytest.raises(UnreadableReport, match="reading failed"):
        load(path)


@pytest.mark.parametrize("value", ["1e308", "5e-324", "1e-320", "1e154", "0", "1e-308"])
def test_numbers_at_the_ends_of_a_float(value: str, tmp_path: Path) -> None:
    """What no kernel can have goes through every page, comparison and gate without an exception."""
    source = (Path(__file__).parent / "data" / "limiters_h200.csv").read_text(encoding="utf-8")
    head, units, *rows = list(csv.reader(source.splitlines()))[:8]
    for number, row in enumerate(rows):
        # Another share of the metrics in each kernel, so that ratios of both kinds occur.
        for at in range(len(LEADING), len(row)):
            if (at + number) % (number + 1) == 0:
                row[at] = value
    for name, table in (("base", rows), ("head", rows[::-1])):
        with (tmp_path / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, quoting=csv.QUOTE_ALL).writerows([head, units, *table])
    (tmp_path / "good.csv").write_text(source, encoding="utf-8")
    for words in (
        ("report", "base.csv", "-f", "html", "-o", "r.html"),
        ("diff", "good.csv", "base.csv"),
        ("diff", "base.csv", "head.csv", "-f", "html", "-o", "d.html"),
        ("check", "head.csv", "--baseline", "good.csv", "--sarif", "s.sarif"),
    ):
        done = run(*words, cwd=tmp_path)
        assert done.returncode in (0, 10), done.stderr
        assert "unexpected" not in done.stderr
