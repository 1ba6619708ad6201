"""The memory picture of one kernel: SM, L1, L2, DRAM and host, with bands between them drawn to one scale."""

from __future__ import annotations

from dataclasses import dataclass

from triage import quantities
from triage.model import Diagnosis
from triage.renderers.known import known_fact

# Pixels down, percent across: the picture keeps its height and takes the width that there is.
_THICKEST = 40.0
_MIDDLE = 76.0
_NODE_WIDTH = 12.0
_NODE_TOP, _NODE_HEIGHT = 50.0, 52.0
_LEFT = {"SM": 0.0, "L1": 29.33, "L2": 58.67, "DRAM": 88.0}
_HOST_TOP, _HOST_HEIGHT = 166.0, 26.0
# Waste below this share of a link's bytes is not drawn.
_WORTH = 0.05


@dataclass(frozen=True, slots=True)
class Band:
    """A link across: ``x`` and ``width`` in percent, the rest in pixels; ``waste_height`` of it is hatched."""

    x: float
    width: float
    y: float
    height: float
    known: bool
    waste_y: float = 0.0
    waste_height: float = 0.0


@dataclass(frozen=True, slots=True)
class Vertical:
    """The link down from L2 to the host."""

    x: float
    y1: float
    y2: float
    width: float
    known: bool


@dataclass(frozen=True, slots=True)
class Node:
    """A box: ``x``, ``width``, ``middle`` in percent, the rest in pixels."""

    name: str
    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> float:
        return self.x + self.width / 2

    @property
    def text_y(self) -> float:
        return self.y + self.height / 2 + 5


@dataclass(frozen=True, slots=True)
class Word:
    """A number beside a link or under a box."""

    text: str
    x: float
    y: float
    anchor: str = "middle"
    kind: str = "amount"


@dataclass(frozen=True, slots=True)
class Picture:
    """Everything the template draws; ``missing`` names what was not collected."""

    sentence: str
    height: float
    nodes: tuple[Node, ...]
    bands: tuple[Band, ...]
    verticals: tuple[Vertical, ...]
    words: tuple[Word, ...]
    missing: tuple[str, ...]


def picture(diagnosis: Diagnosis) -> Picture | None:
    """The picture, or ``None`` when the bytes of no link are known. Facts read: see ``_LINKS``; bytes and percent."""
    known = {name: known_fact(diagnosis, name) for name in _NAMES}
    amounts = [known[name] for name in ("l1_bytes", "l2_bytes", "dram_read_bytes", "dram_write_bytes", "host_bytes")]
    present = [amount for amount in amounts if amount is not None]
    if not present:
        return None
    scale = max(present)
    draw = _Drawing(known, scale)
    draw.across("SM", "L1", "l1_bytes", "l1_pct", (("l1_waste_bytes", "unused"), ("local_bytes", "local memory")))
    draw.across("L1", "L2", "l2_bytes", "l2_pct", (("waste_bytes", "unused"),))
    draw.dram()
    draw.host()
    for name, hit in (("L1", "l1_hit_pct"), ("L2", "l2_hit_pct")):
        rate = known[hit]
        if rate is not None:
            draw.words.append(
                Word(f"hit {quantities.percent(rate)}", _LEFT[name] + _NODE_WIDTH / 2, _NODE_TOP - 8, kind="hit")
            )
    nodes = [Node(name, left, _NODE_TOP, _NODE_WIDTH, _NODE_HEIGHT) for name, left in _LEFT.items()]
    with_host = known["host_bytes"] is not None
    if with_host:
        nodes.append(Node("Host", _LEFT["L2"], _HOST_TOP, _NODE_WIDTH, _HOST_HEIGHT))
    lowest = max([_NODE_TOP + _NODE_HEIGHT, *(word.y for word in draw.words)])
    return Picture(
        _sentence(known),
        max(lowest + 8, _HOST_TOP + _HOST_HEIGHT + 4 if with_host else 0.0),
        tuple(nodes),
        tuple(draw.bands),
        tuple(draw.verticals),
        tuple(draw.words),
        tuple(text for name, text in _NAMES.items() if known[name] is None and text),
    )


_NAMES = {
    "l1_bytes": "bytes between SM and L1",
    "l1_pct": "use of L1",
    "l1_hit_pct": "hit rate of L1",
    "l2_bytes": "bytes between L1 and L2",
    "l2_pct": "use of L2",
    "l2_hit_pct": "hit rate of L2",
    "waste_bytes": "bytes moved and not used",
    "dram_read_bytes": "bytes read from DRAM",
    "dram_write_bytes": "bytes written to DRAM",
    "dram_pct": "use of DRAM",
    "host_bytes": "bytes to and from host memory",
    # Waste is drawn where it is known; without these counters nobody misses it.
    "l1_waste_bytes": "",
    "local_bytes": "",
    "dram_waste_bytes": "",
    "pcie_pct": "",
}


class _Drawing:
    def __init__(self, known: dict[str, float | None], scale: float) -> None:
        self.known = known
        self.scale = scale
        self.bands: list[Band] = []
        self.verticals: list[Vertical] = []
        self.words: list[Word] = []

    def across(self, start: str, end: str, amount: str, use: str, causes: tuple[tuple[str, str], ...]) -> None:
        """A link with its waste at the lower edge; ``causes`` are facts of wasted bytes and a word for each."""
        x, width = _gap(start, end)
        middle = x + width / 2
        count, share = self.known[amount], self.known[use]
        thickness = self._thickness(count)
        lost, word = self._lost(count, causes)
        lost_height = min(self._thickness(lost), thickness) if lost else 0.0
        top = _MIDDLE - thickness / 2
        self.bands.append(_band(x, width, top, thickness, count is not None, lost_height))
        if count is not None:
            self.words.append(Word(quantities.size(count), middle, _MIDDLE - thickness / 2 - 6))
        self._below(middle, _MIDDLE + thickness / 2 + 16, share, lost, word)

    def dram(self) -> None:
        """Reads above, writes below; what is wasted of both together is divided by their size."""
        x, width = _gap("L2", "DRAM")
        middle = x + width / 2
        read, write = self.known["dram_read_bytes"], self.known["dram_write_bytes"]
        above, below = self._thickness(read), self._thickness(write)
        total = (read or 0.0) + (write or 0.0)
        lost, word = self._lost(total, (("dram_waste_bytes", "unused"),))
        part = min(1.0, lost / total) if lost and total else 0.0
        self.bands.append(_band(x, width, _MIDDLE - 2 - above, above, read is not None, part * above))
        self.bands.append(_band(x, width, _MIDDLE + 2, below, write is not None, part * below))
        if read is not None:
            self.words.append(Word("read", middle, _MIDDLE - 22 - above))
            self.words.append(Word(quantities.size(read), middle, _MIDDLE - 8 - above))
        place = _MIDDLE + below + 18
        if write is not None:
            self.words.append(Word(quantities.size(write), middle, place))
            self.words.append(Word("written", middle, place + 14))
            place += 29
        self._below(middle, place, self.known["dram_pct"], lost, word)

    def _lost(self, count: float | None, causes: tuple[tuple[str, str], ...]) -> tuple[float, str]:
        """Wasted bytes of a link and a word for why; a small part of it is not worth drawing."""
        found = [(lost, word) for fact, word in causes if count and (lost := self.known[fact] or 0.0) >= _WORTH * count]
        return sum(lost for lost, _ in found), " and ".join(word for _, word in found)

    def _below(self, middle: float, place: float, share: float | None, lost: float, word: str) -> None:
        if share is not None:
            self.words.append(Word(quantities.percent(share), middle, place, kind="use"))
            place += 15
        if lost:
            self.words.append(Word(quantities.size(lost), middle, place, kind="lost"))
            self.words.append(Word(word, middle, place + 14, kind="lost"))

    def host(self) -> None:
        count = self.known["host_bytes"]
        if count is None:
            return
        x = _LEFT["L2"] + _NODE_WIDTH / 2
        self.verticals.append(Vertical(x, _NODE_TOP + _NODE_HEIGHT, _HOST_TOP, round(self._thickness(count), 1), True))
        place = _HOST_TOP + _HOST_HEIGHT / 2 + 5
        self.words.append(Word(quantities.size(count), _LEFT["L2"] - 1, place, anchor="end"))
        if self.known["pcie_pct"] is not None and count:
            use = f"{quantities.percent(self.known['pcie_pct'])} of PCIe"
            self.words.append(Word(use, _LEFT["L2"] + _NODE_WIDTH + 1, place, anchor="start", kind="use"))

    def _thickness(self, count: float | None) -> float:
        if count is None or count < 0:
            return 1.0
        return max(_THICKEST * count / self.scale, 1.0) if self.scale else 1.0


def _band(x: float, width: float, top: float, height: float, known: bool, lost: float) -> Band:
    return Band(x, width, round(top, 1), round(height, 1), known, round(top + height - lost, 1), round(lost, 1))


def _gap(start: str, end: str) -> tuple[float, float]:
    x = _LEFT[start] + _NODE_WIDTH
    return round(x, 2), round(_LEFT[end] - x, 2)


def _sentence(known: dict[str, float | None]) -> str:
    parts = ["The thickness of each band is its bytes, all to one scale; percentages are of the unit's peak."]
    places = (
        ("L1 moved for the SMs", known["l1_waste_bytes"], known["l1_bytes"]),
        ("L1 asked of L2", known["waste_bytes"], known["l2_bytes"]),
    )
    said = [
        f"{quantities.whole_percent(min(100 * waste / whole, 100.0))} of what {words}"
        for words, waste, whole in places
        if waste and whole and waste >= _WORTH * whole
    ]
    if said:
        parts.append(f"{' and '.join(said)} was not used (hatched).")
    local, whole = known["local_bytes"], known["l1_bytes"]
    if local and whole and local >= _WORTH * whole:
        share = quantities.whole_percent(min(100 * local / whole, 100.0))
        parts.append(f"{share} of what L1 moved is local memory, spilled registers or indexed arrays (hatched).")
    return " ".join(parts)
