"""examples/reports and the screenshot: what `python tools/regenerate_examples.py` makes of the captures here."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent
TOOL = ROOT / "tools" / "regenerate_examples.py"


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("regenerate_examples", TOOL)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["transposes", "transpose_pr"])
def test_the_reports_are_in_step(tool: ModuleType, name: str) -> None:
    if name == "transpose_pr":
        pytest.importorskip("ncu_report", reason="ncu-report is not installed: .ncu-rep files cannot be read")
    assert tool.stale((name,)) == [], "run `python tools/regenerate_examples.py`"


def test_a_changed_verdict_is_stale_a_changed_digest_is_not(tool: ModuleType) -> None:
    page = (ROOT / "examples" / "reports" / "transpose_pr.html").read_text(encoding="utf-8")
    text = (ROOT / "examples" / "reports" / "transpose_pr.json").read_text(encoding="utf-8")
    assert tool.comparable(page) != tool.comparable(page.replace("uncoalesced-global", "dram-bandwidth"))
    digest = text.split('"rulebook": "')[1].split('"')[0]
    for written in (page, text):
        assert digest in written
        assert tool.comparable(written) == tool.comparable(written.replace(digest, "0123456789ab"))


def test_the_examples_stay_small(tool: ModuleType) -> None:
    files = list(tool.REPORTS.iterdir())
    assert {file.suffix for file in files} == {".html", ".md", ".json"}
    assert all(file.stat().st_size < 700_000 for file in files)
    picture = tool.SCREENSHOT.read_bytes()
    assert picture.startswith(b"\x89PNG") and len(picture) < 300_000


def test_the_readme_capture_names_file_and_line() -> None:
    page = (ROOT / "examples" / "reports" / "transpose_pr.html").read_text(encoding="utf-8")
    heading = page.split("<h1>")[1].split("</h1>")[0]
    assert "transpose_pr.cu:26" in heading
