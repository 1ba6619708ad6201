"""The page in headless Chromium: silent, alone, never too wide, usable by keyboard and without its script."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import reports

from triage.model import Report
from triage.renderers import render

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="neither chromium nor chromium-browser is installed"),
]
WIDTHS = (1280, 400)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as running:
        started = running.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


class Visit:
    """One page opened in its own context, with what it complained about and asked for."""

    def __init__(self, browser: Any, folder: Path, report: Report, **options: Any) -> None:
        path = folder / "report.html"
        path.write_text(render(report, "html"), encoding="utf-8")
        self.url = path.as_uri()
        self.context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.complaints.append("dialog"), dialog.dismiss()))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(self.url)

    def unfold(self) -> None:
        self.page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
        self.page.wait_for_timeout(50)

    def sideways(self) -> int:
        overflow: int = self.page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        return overflow

    def __enter__(self) -> Visit:
        return self

    def __exit__(self, *_: object) -> None:
        self.context.close()


@pytest.mark.parametrize("name", reports.ALL)
def test_quiet_alone_and_never_wider_than_the_window(browser: Any, tmp_path: Path, name: str) -> None:
    with Visit(browser, tmp_path, reports.ALL[name]()) as visit:
        for width in WIDTHS:
            visit.page.set_viewport_size({"width": width, "height": 900})
            assert visit.sideways() <= 0, f"{width} px folded"
        visit.unfold()
        for width in WIDTHS:
            visit.page.set_viewport_size({"width": width, "height": 900})
            assert visit.sideways() <= 0, f"{width} px unfolded"
        assert visit.complaints == []
        assert visit.requests == [visit.url]


# Every element with text of its own, with the contrast of its ink against the nearest painted ground.
CONTRAST = """() => {
  const channel = (v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; };
  const light = (text) => {
    const [r, g, b] = text.match(/[\\d.]+/g).map(Number);
    return 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  };
  const ground = (node) => {
    for (; node; node = node.parentElement) {
      const colour = getComputedStyle(node).backgroundColor;
      if (!colour.endsWith(", 0)")) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const poor = [];
  for (const node of document.querySelectorAll("body *")) {
    const speaks = [...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim());
    if (!speaks || !node.checkVisibility()) continue;
    const style = getComputedStyle(node);
    const ink = node.namespaceURI.includes("svg") ? style.fill : style.color;
    const [high, low] = [light(ink), light(ground(node))].sort((x, y) => y - x);
    if ((high + 0.05) / (low + 0.05) < 4.5) poor.push(`${node.tagName} ${node.textContent.slice(0, 30)}`);
  }
  return poor;
}"""
# Numbers everything that a mouse could use.
USABLE = """() => {
  const all = [...document.querySelectorAll("a[href], summary, button, input, pre[tabindex]")];
  const usable = all.filter((element) => element.checkVisibility());
  usable.forEach((element, place) => { element.dataset.place = place; });
  return usable.map((element) => element.textContent.trim().slice(0, 40));
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_both_schemes_are_readable(browser: Any, tmp_path: Path, scheme: str) -> None:
    with Visit(browser, tmp_path, reports.few(), color_scheme=scheme) as visit:
        visit.unfold()
        paper = visit.page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (sum(map(int, paper[4:-1].split(","))) > 384) == (scheme == "light")
        assert visit.page.evaluate(CONTRAST) == []


def test_readable_without_script(browser: Any, tmp_path: Path) -> None:
    with Visit(browser, tmp_path, reports.many(30, metric_count=400), java_script_enabled=False) as visit:
        text = visit.page.locator("body").inner_text()
        assert "Try first:" in text and "could not be decided" in text and "Filter" not in text
        path = visit.page.locator("details.path").first
        path.locator("summary").first.click()
        assert "Which memory mechanism binds?" in path.inner_text()
        metrics = visit.page.locator("details.metrics").first
        metrics.locator("summary").click()
        assert "triage export application.ncu-rep" in metrics.inner_text()
        assert visit.complaints == []


def test_everything_can_be_reached_and_opened_by_keyboard(browser: Any, tmp_path: Path) -> None:
    with Visit(browser, tmp_path, reports.few()) as visit:
        page = visit.page
        wanted = page.evaluate(USABLE)
        reached = set()
        for _ in range(len(wanted) + 5):
            page.keyboard.press("Tab")
            place = page.evaluate("document.activeElement?.dataset.place ?? null")
            reached.update([] if place is None else [int(place)])
        assert [text for place, text in enumerate(wanted) if place not in reached] == []
        summary = page.locator("details.path > summary").first
        summary.focus()
        page.keyboard.press("Enter")
        assert page.locator("details.path").first.get_attribute("open") is not None


def test_the_skip_link_appears_with_focus(browser: Any, tmp_path: Path) -> None:
    with Visit(browser, tmp_path, reports.few()) as visit:
        visit.page.keyboard.press("Tab")
        box = visit.page.locator(".skip").bounding_box()
        assert box is not None and box["x"] >= 0
        visit.page.keyboard.press("Enter")
        assert visit.page.evaluate("document.activeElement.id") == "kernels"


def test_a_fragment_unfolds_what_it_leads_to(browser: Any, tmp_path: Path) -> None:
    with Visit(browser, tmp_path, reports.repeated()) as visit:
        assert not visit.page.locator("#k4").is_visible()
        visit.page.goto(f"{visit.url}#k4")
        assert visit.page.locator("#k4").is_visible()


def test_sort_and_filter(browser: Any, tmp_path: Path) -> None:
    with Visit(browser, tmp_path, reports.few()) as visit:
        page = visit.page
        names = page.locator("table.kernels tbody th code")
        page.get_by_role("button", name="Time", exact=True).click()
        head = page.locator("table.kernels th[aria-sort]")
        assert head.get_attribute("aria-sort") == "descending"
        assert names.first.inner_text() == "sgemm_tiled"
        page.get_by_role("button", name="Time", exact=True).click()
        assert names.first.inner_text() == "reduce_last"
        page.get_by_label("Filter by name or limiter").fill("bank t_sh")
        visible = [row for row in page.locator("table.kernels tbody tr").all() if row.is_visible()]
        assert len(visible) == 1 and "t_shared<32, 8, 0, 1>" in visible[0].inner_text()
        assert "1 of 8" in page.locator("p.tools").inner_text()
        assert visit.complaints == []


@pytest.mark.parametrize("count", [1, 30])
def test_metrics_open_and_can_be_searched(browser: Any, tmp_path: Path, count: int) -> None:
    report = reports.many(count, metric_count=100)
    with Visit(browser, tmp_path, report) as visit:
        details = visit.page.locator("article#k0 details.metrics")
        details.locator("summary").click()
        details.get_by_label("Search").wait_for()
        rows = details.locator("tbody tr")
        assert rows.count() >= 100
        details.get_by_label("Search").fill("hit_0007")
        shown = [row for row in rows.all() if row.is_visible()]
        assert len(shown) == 1 and "lookup_hit_0007" in shown[0].inner_text()
        assert visit.complaints == []


def test_paper_shows_the_path(browser: Any, tmp_path: Path) -> None:
    with Visit(browser, tmp_path, reports.one()) as visit:
        visit.page.emulate_media(media="print")
        visit.page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert visit.page.get_by_text("Which memory mechanism binds?").is_visible()
        assert not visit.page.locator("details.metrics").is_visible()
        visit.page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert visit.page.locator("details.path").get_attribute("open") is None


def test_a_thousand_kernels_open_within_two_seconds(browser: Any, tmp_path: Path) -> None:
    with Visit(browser, tmp_path, reports.many(1000, metric_count=40)) as visit:
        ready = visit.page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd")
        assert 0 < ready < 2000
        assert visit.page.locator("table.kernels tbody tr").count() == 1000
        assert visit.sideways() <= 0
