"""triage.renderers.html without a browser: self-contained, escaped, honest, small enough, quick enough."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest
import reports
from markdown_it import MarkdownIt

from triage.model import Device, Quantity, Roof
from triage.renderers import escape, inlined, memory, overview, page, ranking, render, roofline, shared, timebar

VOID = {"meta", "rect", "line", "path", "circle", "use", "br", "wbr", "input"}


class Page(HTMLParser):
    """Collects tags, attributes, ids, text and the contents of script and style elements."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.blocks: dict[str, list[str]] = {"script": [], "style": []}
        self.words: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.text = " ".join(" ".join(self.words).split())
        self.ids = [attributes["id"] for _, attributes in self.tags if "id" in attributes]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag in self.blocks:
            self.blocks[tag].append("")
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        # The metric table leaves out end tags that HTML lets us leave out.
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] in self.blocks:
            self.blocks[self._open[-1]][-1] += data
        else:
            self.words.append(data)

    def count(self, tag: str) -> int:
        return sum(name == tag for name, _ in self.tags)


def unpacked(found: Page) -> dict[str, Any]:
    kept: dict[str, Any] = json.loads(zlib.decompress(base64.b64decode(found.blocks["script"][0])))
    return kept


def made(name: str) -> Page:
    return Page(render(reports.ALL[name](), "html"))


@pytest.mark.parametrize("name", reports.ALL)
def test_nothing_is_loaded_from_anywhere(name: str) -> None:
    text = render(reports.ALL[name](), "html")
    found = Page(text)
    for tag, attributes in found.tags:
        assert tag not in {"img", "link", "iframe", "object", "embed", "base", "form", "audio", "video"}, tag
        assert "src" not in attributes and "style" not in attributes
        assert not [key for key in attributes if key.startswith("on")]
        if tag in {"a", "use"}:
            assert re.match(r"#[\w-]+$|https?://", attributes["href"] or ""), attributes
    style = "".join(found.blocks["style"])
    assert "@import" not in style and not re.search(r"url\((?!#)", style)


@pytest.mark.parametrize("name", reports.ALL)
def test_the_policy_allows_exactly_our_style_and_script(name: str) -> None:
    found = made(name)
    (policy,) = [attributes["content"] for tag, attributes in found.tags if attributes.get("http-equiv")]
    assert policy is not None and policy.startswith("default-src 'none'") and "unsafe" not in policy
    programs = found.blocks["style"] + [
        block
        for block, (_, attributes) in zip(
            found.blocks["script"], [tag for tag in found.tags if tag[0] == "script"], strict=True
        )
        if attributes.get("type") is None
    ]
    assert len(programs) == 2
    for program in programs:
        digest = base64.b64encode(hashlib.sha256(program.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy


@pytest.mark.parametrize("name", reports.ALL)
def test_ids_are_unique_and_every_fragment_leads_somewhere(name: str) -> None:
    found = made(name)
    assert len(found.ids) == len(set(found.ids))
    for tag, attributes in found.tags:
        if tag == "a" and (attributes["href"] or "").startswith("#"):
            assert (attributes["href"] or "")[1:] in found.ids


@pytest.mark.parametrize("name", reports.ALL)
def test_every_kernel_of_the_report_has_its_fragment(name: str) -> None:
    ids = made(name).ids
    assert {f"k{place}" for place in range(len(reports.ALL[name]().findings))} <= set(ids)


def test_hostile_names_are_text() -> None:
    report = reports.hostile()
    text = render(report, "html")
    found = Page(text)
    assert found.count("script") == 1 + ('id="packed"' in text)
    assert "&lt;script&gt;alert(" in text and "<script>alert(" not in text
    assert "{{ 7 * 7 }}" in found.text
    assert "javascript:" not in "".join(attributes.get("href") or "" for _, attributes in found.tags)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2066-\u2069]", text)
    # A long name is shown shortened in the heading and in full below.
    assert text.count("std::tuple&lt;float, int&gt;, " * 120) >= 1
    assert '"quoted" &amp;' in text or "&#34;quoted&#34; &amp;" in text


def test_what_a_kernel_says() -> None:
    text = made("one").text
    for sentence in (
        "t_shared is limited by shared-memory bank conflicts at transpose.cu:31.",
        "high confidence",
        "Try first: Pad the fastest dimension of the shared array by one element. small effort",
        "at most 2.18x as fast: DRAM would be the next to bind",
        "96 % of the bank-conflict wavefronts at transpose.cu:31",
        "94.1 %",
        "Not if: The conflicts sit behind a saturated DRAM",
        "Low occupancy : Registers cap the resident warps",
        "Not collected: tensor pipe.",
        "short_scoreboard data from shared memory 48.2 %",
        "Which memory mechanism binds? answered here",
        "shared conflict share 94.1 % is above 10 %",
        "Is the time lost between kernels? not covered",
        "DRAM bandwidth : DRAM is 28.1 % busy",
        "The SM ran at 1.98 GHz",
    ):
        assert sentence in text, sentence


def test_an_undecided_kernel_says_how_to_decide_it() -> None:
    text = made("undecided").text
    assert "3 counters were not collected. This command collects them: ncu --metrics" in text
    # The command names every counter: a list would say them twice.
    assert "The counters by name" not in text
    assert text.count("smsp__thread_inst_executed_per_inst_executed.ratio") == 1


def test_counters_that_the_command_does_not_name_are_listed() -> None:
    vague = replace(reports.UNDECIDED, collect="triage profile -k mystery_kernel ./your-program")
    text = Page(render(reports.report(reports.finding(0, "mystery_kernel(int)", vague, 1.0)), "html")).text
    assert "The counters by name l1tex__data_bank_conflicts_pipe_lsu.sum" in text
    assert "triage profile -k mystery_kernel ./your-program" in text


def test_low_confidence_shows_the_experiment() -> None:
    assert "An experiment that would settle it: Launch the same kernel with twice the blocks" in made("few").text


def test_unknown_is_never_zero() -> None:
    text = made("partial").text
    assert "not timed" in text and "DRAM use" in text
    assert not re.search(r"\b(nan|inf|None)\b", text)


def test_repeated_launches_share_one_section() -> None:
    found = made("repeated")
    assert found.count("article") == 2
    assert "12 launches, 90.0 us to 101 us each" in found.text
    assert "24 launches are folded into 2 rows" in found.text


def test_metrics_are_a_plain_table_where_they_are_few() -> None:
    found = made("few")
    assert unpacked(found)["metrics"] is None
    assert "lookup_hit_0001.sum" in found.text
    # A fact has the sentence of the rules, a metric the words of its parts.
    assert "DRAM interface, in percent of its peak" in found.text
    assert "32-byte sectors that global accesses touch in L1, operation ld lookup hit 0001, summed" in found.text


def test_metrics_are_one_block_where_they_are_many() -> None:
    report = reports.many(30, metric_count=400)
    found = Page(render(report, "html"))
    data = unpacked(found)["metrics"]
    columns, values = data["kernels"]["7"]
    table = dict(zip(columns, values, strict=True)) | dict(zip(*data["same"], strict=True))
    kernel = report.findings[7].kernel
    for name, metric in kernel.metrics.items():
        if name.startswith("group:"):
            assert name not in data["names"]
            continue
        column = data["names"].index(name)
        if isinstance(metric, Quantity):
            assert table[column] == pytest.approx(metric.value, rel=1e-5) and data["units"][column] == metric.unit
        else:
            assert table[column] == escape.shorten(metric, 300)
    assert len(data["same"][0]) > 100
    place = data["names"].index("launch__func_cache_config")
    assert data["says"][data["said"][place]] == "Launch of this kernel"
    assert "triage export application.ncu-rep -o metrics.csv" in found.text


def test_thirty_kernels_stay_under_a_megabyte() -> None:
    assert len(render(reports.many(30, metric_count=1_400), "html").encode()) < 1_000_000


def test_a_hundred_kernels_stay_under_two_megabytes() -> None:
    """The time that it takes is measured by benchmarks/render.py."""
    assert len(render(reports.many(100, metric_count=1_400), "html").encode()) < 2_000_000


def test_beyond_a_hundred_kernels_sections_are_brief_and_say_so() -> None:
    found = Page(render(reports.many(130), "html"))
    assert found.count("article") == 130
    assert "for the first 100 kernels only. triage explain application.ncu-rep --kernel" in found.text


def test_paths_of_later_kernels_are_packed_and_escaped() -> None:
    report = reports.many(30)
    found = Page(render(report, "html"))
    order = [group.place for group in ranking.by_saving(ranking.groups(report))]
    paths = unpacked(found)["paths"]
    assert set(paths) == {str(place) for place in order[12:]}
    assert all("Which memory mechanism binds?" in path for path in paths.values())
    assert found.text.count("Which memory mechanism binds?") == 12
    hostile = "".join(unpacked(made("hostile"))["paths"].values())
    assert "<script" not in hostile and "<img" not in hostile
    # Every threshold that a packed path quotes is explained on the page.
    quoted = set(re.findall(r'href="#(from-\d+)"', "".join(paths.values())))
    assert quoted and quoted <= set(found.ids)


def test_what_is_most_worth_fixing_comes_first() -> None:
    ranked = ranking.by_saving(ranking.groups(reports.few()))
    order = re.findall(r'<article class="kernel [\w ]+" id="k(\d+)"', render(reports.few(), "html"))
    assert order == [str(group.place) for group in ranked]


def test_roofline_places_kernels_under_their_roofs() -> None:
    (figure,) = roofline.figures(ranking.by_saving(ranking.groups(reports.few())))
    assert {roof.label for roof in figure.roofs} == {"DRAM 4.80 TB/s", "FP32 66.9 TFLOP/s", "FP64 33.5 TFLOP/s"}
    assert figure.attained.startswith("All roofs are peaks of the datasheet")
    assert len(figure.points) == 6
    (note,) = figure.notes
    assert note.text.startswith("Not drawn") and len(note.kernels) == 2
    slope, fp64, fp32 = figure.roofs
    # The roofs meet the slope: the higher one at its end, the lower one on the way.
    assert (slope.x2, slope.y2) == (fp32.x1, fp32.y1) and fp64.x1 < fp32.x1 and fp64.y1 > fp32.y1
    assert all(0 <= point.x <= 100 and 0 <= point.y <= 100 for point in figure.points)
    assert figure.sentence.startswith("4 of 6 kernels lie left of the ridge, where DRAM is the roof.")


def test_a_kernel_without_arithmetic_sits_at_the_left_edge() -> None:
    idle = reports.facts(
        arithmetic_intensity=(0.0, "flop/byte"),
        achieved_flops=(0.0, "flop/s"),
        dram_peak_bytes_per_s=(4.8e12, "byte/s"),
        fp32_peak_flops=(6e13, "flop/s"),
    )
    report = reports.report(reports.finding(0, "copy", replace(reports.DRAM, facts=idle), 1.0))
    (figure,) = roofline.figures(ranking.groups(report))
    (point,) = figure.points
    assert (point.x, point.y) == (0.0, 100.0)
    assert figure.notes[0].text == "Without floating-point arithmetic, so at the left edge:"


@pytest.mark.parametrize("measured", [True, False])
def test_the_attainable_roof_is_drawn_and_says_where_it_comes_from(measured: bool) -> None:
    roof = Roof(reports.H200, 4.2e12, measured, "copy of 1 GiB")
    (figure,) = roofline.figures(ranking.groups(reports.few()), (roof,))
    reach, slope = figure.roofs[:2]
    assert reach.reach and reach.label == "attainable 4.20 TB/s" and not slope.reach and not slope.label
    # Below the peak everywhere, so it meets the highest roof further right.
    assert reach.x2 > slope.x2 and reach.y2 == slope.y2
    assert ("measured on this GPU, 88 % of its peak: copy of 1 GiB" in figure.attained) == measured
    assert ("from documentation: copy of 1 GiB" in figure.attained) != measured
    assert "4.80 TB/s for DRAM" in figure.attained


def test_a_roof_of_another_gpu_is_not_drawn() -> None:
    roof = Roof(Device(name="NVIDIA A100-SXM4-80GB"), 1.8e12, True, "copy")
    (figure,) = roofline.figures(ranking.groups(reports.few()), (roof,))
    assert not any(line.reach for line in figure.roofs)


@pytest.mark.parametrize(("busy", "drawn"), [(71.0, True), (5.2, False)])
def test_the_tensor_roof_appears_with_a_kernel_that_uses_it(busy: float, drawn: bool) -> None:
    tensor = reports.facts(
        pipe_tensor_pct=(busy, "%"),
        tensor_peak_flops=(1.07e15, "flop/s"),
        achieved_tensor_flops=(busy / 100 * 1.07e15, "flop/s"),
        arithmetic_intensity_tensor=(800.0, "flop/byte"),
        ridge_point_tensor=(223.0, "flop/byte"),
    )
    diagnosis = replace(reports.FMA, facts={**reports.PICTURE_FACTS, **tensor})
    report = reports.report(reports.finding(0, "hgemm", diagnosis, 1.0))
    (figure,) = roofline.figures(ranking.groups(report))
    assert ("FP16 tensor 1,070 TFLOP/s" in {line.label for line in figure.roofs}
            or "FP16 tensor 1.07 PFLOP/s" in {line.label for line in figure.roofs}) == drawn  # fmt: skip
    assert ("as FP16 tensor" in figure.points[0].title) == drawn


def test_where_the_time_goes() -> None:
    ranked = ranking.by_saving(ranking.groups(reports.few()))
    parts = timebar.segments(ranked)
    assert sum(part.width for part in parts) == pytest.approx(100, abs=0.1)
    assert parts[0].place == ranked[0].place and parts[0].title.startswith("1: ")
    assert [part.x for part in parts] == sorted(part.x for part in parts)
    # The shortest kernel, 0.2 %, is not drawn alone.
    assert parts[-1].place is None and parts[-1].title == "1 other kernel, 0.22 % of the time together"
    assert timebar.segments(ranking.groups(reports.one())) == ()
    assert timebar.segments(ranking.groups(reports.partial())) == ()


def test_shared_memory_says_wavefronts_replays_and_ideal() -> None:
    found = shared.shared(reports.CONFLICTS)
    assert found is not None and found.missing == ()
    assert found.sentence == (
        "93 % of 17.7 M wavefronts are bank-conflict replays (hatched). The accesses of the code take 17.3 M where "
        "1.05 M would do: 16.5 times the ideal."
    )
    every, loads = found.rows
    assert every.name == "All accesses" and every.ideal + every.replays == pytest.approx(100)
    assert every.replays == pytest.approx(92.7, abs=0.1) and loads.share == "96.4 %"


def test_a_kernel_without_shared_accesses_has_no_section_and_unknown_is_not_none() -> None:
    used = reports.facts(shared_access_wavefronts=(0.0, ""), shared_wavefronts=(262144.0, ""))
    assert shared.shared(replace(reports.DRAM, facts=used)) is None
    bare = reports.facts(shared_wavefronts=(7e6, ""), shared_stage_pct=(34.0, "%"))
    found = shared.shared(replace(reports.DRAM, facts=bare))
    assert found is not None and found.rows[0].share == "not collected"
    assert found.missing[0] == "bank conflicts" and "replay" not in found.sentence


def test_hints_lead_to_their_rows() -> None:
    text = made("few").text
    assert "Across kernels t_shared and t_copy run one after the other: up to 134 MB less traffic. In the list:" in text
    assert "Across kernels" not in made("one").text


def test_every_detailed_kernel_can_be_copied_as_markdown() -> None:
    found = made("few")
    texts = unpacked(found)["markdown"]
    assert set(texts) == {str(place) for place in range(8)}
    assert texts["1"].startswith("#### `t_shared<32, 8, 0, 1>`: bank-conflicts\n\n94 % of the shared-memory wavefronts")
    assert "**Try first:** Pad the fastest dimension" in texts["1"] and "<details>" not in texts["1"]
    for text in unpacked(made("hostile"))["markdown"].values():
        inline = [child for token in MarkdownIt().parse(text) for child in token.children or ()]
        assert {child.content for child in inline if child.type == "html_inline"} <= {"<!-- -->"}


def test_clocks_and_passes_are_said() -> None:
    assert overview.how_measured(reports.few()) == "Measured with SM clock 1.98 GHz."
    assert overview.how_measured(reports.undecided()) == ""


def test_numbers_stay_with_their_units() -> None:
    assert page.prose("77.8 % of 4.23 TB/s in 12 us, 3 of 4") == "77.8\u00a0% of 4.23\u00a0TB/s in 12\u00a0us, 3 of 4"


def test_no_roofline_without_peaks() -> None:
    assert roofline.figures(ranking.groups(reports.undecided())) == ()


def test_memory_picture_is_to_scale_and_says_what_is_missing() -> None:
    picture = memory.picture(reports.CONFLICTS)
    assert picture is not None
    l1, l2, read, write = picture.bands
    assert l2.height / l1.height == pytest.approx(2.68 / 5.37, abs=0.01)
    assert l2.waste_height / l2.height == pytest.approx(1.1 / 2.68, abs=0.02)
    assert read.height > write.height > 1
    assert picture.missing == ("bytes to and from host memory",)
    assert memory.picture(reports.UNDECIDED) is None


def test_waste_is_drawn_on_every_link_that_carries_it() -> None:
    lost = reports.facts(
        l1_waste_bytes=(2.7e8, "byte"),
        local_bytes=(1e8, "byte"),
        dram_waste_bytes=(3e7, "byte"),
        host_bytes=(0.0, "byte"),
    )
    picture = memory.picture(replace(reports.CONFLICTS, facts={**reports.PICTURE_FACTS, **lost}))
    assert picture is not None
    l1, _, read, write = picture.bands
    assert l1.waste_height / l1.height == pytest.approx(3.7 / 5.37, abs=0.02)
    assert read.waste_height / read.height == pytest.approx(write.waste_height / write.height, abs=0.02)
    assert {word.text for word in picture.words if word.kind == "lost"} >= {
        "370 MB",
        "unused and local memory",
        "30.0 MB",
    }
    assert "50 % of what L1 moved for the SMs and 41 % of what L1 asked of L2 was not used" in picture.sentence
    assert "19 % of what L1 moved is local memory" in picture.sentence
    assert max(word.y for word in picture.words) < picture.height


def test_a_link_that_was_not_collected_is_drawn_as_unknown() -> None:
    picture = memory.picture(reports.partial().findings[1].diagnosis)
    assert picture is not None
    assert [band.known for band in picture.bands] == [False, False, True, False]
    assert "bytes written to DRAM" in picture.missing


def test_only_web_links_are_links() -> None:
    links = (("a", "https://x.example"), ("b", "javascript:alert(1)"), ("c", "data:text/html,x"))
    assert page.web_links(links) == (("a", "https://x.example"),)


def test_a_bar_stays_on_its_scale() -> None:
    assert [page.width(value) for value in (None, float("nan"), -3, 0.04, 50, 131)] == [
        "0", "0", "0%", "0%", "50%", "100%",
    ]  # fmt: skip


def test_page_does_not_depend_on_line_ends(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    from pathlib import Path

    assert isinstance(tmp_path, Path)
    asset = tmp_path / "x.css"
    asset.write_bytes(b"a {}\r\nb {}\r\n")
    assert inlined.asset(asset) == "a {}\nb {}\n"
