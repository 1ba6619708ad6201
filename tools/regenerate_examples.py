"""Makes ``examples/reports`` and the README's screenshot again from the captures in this repository.

Run it from a checkout after a change of rules or templates: ``python tools/regenerate_examples.py``. A test compares
what it would write with what is there (``--check`` does the same); the screenshot needs Playwright and Chromium and is
left as it is without them.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import re
import shutil
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
REPORTS = ROOT / "examples" / "reports"
# Captures, relative to the root so that the reports name them as a reader of the repository would.
CAPTURES = {"transposes": "examples/demo/transposes.csv", "transpose_pr": "tests/data/readers_pr.ncu-rep"}
# JSON of many kernels is long and says nothing more about the format.
FORMATS = {"transposes": ("html", "md"), "transpose_pr": ("html", "md", "json")}
SCREENSHOT = ROOT / "docs" / "report.png"
SHOWN = "transpose_pr"
_SIZE = (1040, 1210)
_PACKED = re.compile(r'(<script type="text/plain" id="packed">)([^<]*)(</script>)')


def reports(names: tuple[str, ...] = tuple(CAPTURES)) -> Iterator[tuple[Path, str]]:
    """Every report with the path it belongs at."""
    from triage import commands
    from triage.renderers import render

    rules = commands.rulebook([], "guide")
    before = Path.cwd()
    os.chdir(ROOT)
    try:
        for name in names:
            capture = CAPTURES[name]
            made = commands.diagnosed([Path(capture)], rules, command=f"triage report {capture}")
            for format_ in FORMATS[name]:
                yield REPORTS / f"{name}.{format_}", render(made, format_)
    finally:
        os.chdir(before)


def comparable(text: str) -> str:
    """A report without what may differ while it says the same: versions, digests, how well a library deflates."""
    text = _PACKED.sub(lambda found: found[1] + _unpacked(found[2]) + found[3], text)
    text = re.sub(r'("rulebook": |rules |with the rules )"?[0-9a-f]{12}"?', r"\1DIGEST", text)
    return re.sub(r'("version": "|[Mm]ade by triage |<sub>triage )[^",< ]+', r"\1VERSION", text)


def stale(names: tuple[str, ...] = tuple(CAPTURES)) -> list[str]:
    """Names of the files that no longer are what they would be made as."""
    return [
        str(path.relative_to(ROOT))
        for path, text in reports(names)
        if not path.is_file() or comparable(path.read_text(encoding="utf-8")) != comparable(text)
    ]


def screenshot(page: Path, target: Path) -> bool:
    """A picture (PNG) of the top of ``page``; False where there is no browser to take it with."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return False
    if chromium is None:
        return False
    width, height = _SIZE
    target.parent.mkdir(exist_ok=True)
    with sync_playwright() as running:
        browser = running.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        opened = browser.new_page(viewport={"width": width, "height": height}, color_scheme="light")
        opened.goto(page.as_uri())
        # The list and the first verdict fit into one picture without what stands between them.
        opened.evaluate("document.querySelectorAll('.roofline, .tools').forEach((part) => part.remove())")
        opened.screenshot(path=str(target), clip={"x": 0, "y": 0, "width": width, "height": height})
        browser.close()
    return True


def main() -> int:
    """Write everything, or with ``--check`` say what is stale (exit status 1)."""
    parser = argparse.ArgumentParser(description="Make examples/reports and docs/report.png again.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail where a report is stale")
    if parser.parse_args().check:
        found = stale()
        print("\n".join(f"stale: {name}" for name in found) or "examples/reports are up to date")
        return 1 if found else 0
    REPORTS.mkdir(parents=True, exist_ok=True)
    for path, text in reports():
        path.write_text(text, encoding="utf-8", newline="\n")
        print(f"{path.relative_to(ROOT)}: {len(text.encode()):,} bytes")
    if screenshot(REPORTS / f"{SHOWN}.html", SCREENSHOT):
        print(f"{SCREENSHOT.relative_to(ROOT)}: {SCREENSHOT.stat().st_size:,} bytes")
    else:
        print("no Playwright or Chromium here: the screenshot is as it was", file=sys.stderr)
    return 0


def _unpacked(text: str) -> str:
    return json.dumps(json.loads(zlib.decompress(base64.b64decode(text))), sort_keys=True)


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.exit(main())
