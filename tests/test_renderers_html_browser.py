"""The page in headless Chromium: silent, alone, never too wide, usable by keyboard and without its script."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
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


@pytest.fixture(scope="module")
def axe() -> str:
    """The program of axe-core, as the package carries it."""
    package = pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed")
    return (Path(package.__file__).parent / "axe.min.js").read_text(encoding="utf-8")


def slim(report: Report) -> Report:
    """The report with three metrics a kernel: a row of a table is as accessible as the next one."""
    kernels = (replace(each.kernel, metrics=dict(list(each.kernel.metrics.items())[:3])) for each in report.findings)
    findings = tuple(replace(each, kernel=kernel) for each, kernel in zip(report.findings, kernels, strict=True))
    return replace(report, findings=findings)


# Contrast takes most of axe's time: these have every colour there is, light and dark.
CONTRASTED = {"one kernel", "every family", "undecided"}
AUDITED = {
    "no kernel": (reports.empty, 1280, "light"),
    "one kernel": (reports.one, 1280, "dark"),
    "every family": (reports.few, 1280, "light"),
    "undecided": (reports.undecided, 400, "dark"),
    "hostile names": (reports.hostile, 1280, "light"),
    "thirty kernels": (lambda: reports.many(30, metric_count=5), 400, "dark"),
}


@pytest.mark.parametrize("case", AUDITED)
def test_axe_finds_no_violation(browser: Any, axe: str, tmp_path: Path, case: str) -> None:
    make, width, scheme = AUDITED[case]
    options = {"viewport": {"width": width, "height": 900}, "color_scheme": scheme, "bypass_csp": True}
    with Visit(browser, tmp_path, slim(make()), **options) as visit:
        if case != "thirty kernels":
            visit.unfold()
        visit.page.evaluate(axe)
        contrast = "true" if case in CONTRASTED else "false"
        rules = f"{{ 'color-contrast': {{ enabled: {contrast} }} }}"
        found = visit.page.evaluate(f"axe.run(document, {{ resultTypes: ['violations'], rules: {rules} }})")
        said = [f"{rule['id']}: {node['html'][:160]}" for rule in found["violations"] for node in rule["nodes"]]
        assert said == []
        assert len(found["passes"]) >= 10


@pytest.mark.parametrize("name", reports.ALL)
def test_quiet_alone_and_never_wider_than_the_window(browser: Any, tmp_path: Path, name: str) -> None:
    with Visit(browser, tmp_path, slim(reports.ALL[name]())) as visit:
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
    // The ranks in the bar of time stand on the colour of their part.
    if (node.closest(".time a")) return getComputedStyle(node.closest("a").querySelector("rect")).fill;
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
  const all = [...document.querySelectorAll("a[href], summary, button, input, textarea, pre[tabindex]")];
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


def test_a_kernel_is_copied_as_markdown(browser: Any, tmp_path: Path) -> None:
    permissions = ["clipboard-read", "clipboard-write"]
    with Visit(browser, tmp_path, reports.few(), permissions=permissions) as visit:
        article = visit.page.locator("article#k1")
        article.get_by_role("button", name="Copy as Markdown").click()
        article.get_by_text("Copied").wait_for()
        text = visit.page.evaluate("navigator.clipboard.readText()")
        assert text.startswith("#### `t_shared<32, 8, 0, 1>`: bank-conflicts") and "**Try first:**" in text
        assert visit.complaints == []


def test_where_copying_is_not_allowed_the_text_is_there_to_select(browser: Any, tmp_path: Path) -> None:
    with Visit(browser, tmp_path, reports.few()) as visit:
        visit.page.evaluate("void (navigator.clipboard.writeText = () => Promise.reject(new Error('no')))")
        article = visit.page.locator("article#k1")
        article.get_by_role("button", name="Copy as Markdown").click()
        area = article.locator("textarea")
        area.wait_for()
        assert "**Try first:**" in area.input_value()
        assert visit.page.evaluate("document.activeElement.tagName") == "TEXTAREA"
        assert visit.sideways() <= 0


def test_the_bar_of_time_leads_to_the_kernels(browser: Any, tmp_path: Path) -> None:
    with Visit(browser, tmp_path, reports.few()) as visit:
        first = visit.page.locator("figure.time a").first
        assert first.get_attribute("aria-label").startswith("1: sgemm_tiled, ")
        first.focus()
        visit.page.keyboard.press("Enter")
        assert visit.page.evaluate("location.hash") == first.get_attribute("href")


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
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            visible = page.locator("table.kernels tbody tr:visible").all_inner_texts()
            assert len(visible) == 1 and "t_shared<32, 8, 0, 1>" in visible[0]
        assert "1 of 8" in page.locator("#kernels p.tools").inner_text()
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
        for width in WIDTHS:
            visit.page.set_viewport_size({"width": width, "height": 900})
            shown = details.locator("tbody tr:visible").all_inner_texts()
            assert len(shown) == 1 and "lookup_hit_0007" in shown[0] and "32-byte sectors" in shown[0]
        assert visit.complaints == []


def test_paper_shows_the_path(browser: Any, tmp_path: Path) -> None:
    with Visit(browser, tmp_path, reports.one()) as visit:
        visit.page.emulate_media(media="print")
        visit.page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert visit.page.get_by_text("Which memory mechanism binds?").is_visible()
        assert not visit.page.locator("details.metrics").is_visible()
        visit.page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert visit.page.locator("details.path").get_attribute("open") is None


def test_a_thousand_kernels_open_and_filter(browser: Any, tmp_path: Path) -> None:
    with Visit(browser, tmp_path, reports.many(1000, metric_count=40)) as visit:
        assert visit.page.locator("table.kernels tbody tr").count() == 1000
        for width in WIDTHS:
            visit.page.set_viewport_size({"width": width, "height": 900})
            assert visit.sideways() <= 0
        assert visit.complaints == [] and visit.requests == [visit.url]
