"""Mutations that keep a report's form: lines, cells, columns, units and separators of texts, blocks of ``.ncu-rep``."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

from triage.readers import framing

Mutation = Callable[[bytes, random.Random], bytes]
_CELL = re.compile(rb'"(?:[^"\n]|"")*"')
_NUMBER = re.compile(rb'(?<=[\s"])[0-9][0-9.,]*(?=[\s"])')
_UNITS = (
    b"ns", b"us", b"ms", b"s", b"hz", b"Mhz", b"Ghz", b"%", b"cycle", b"byte", b"Kbyte", b"Mbyte", b"byte/s",
    b"Gbyte/s", b"Tbyte/s", b"inst", b"inst/cycle", b"warp", b"block", b"sector", b"thread", b"",
)  # fmt: skip
_UNIT = re.compile(rb'(?<=[\s"])(?:[num]?s|[MG]?hz|%|cycle|[KMGT]?byte(?:/s)?|inst(?:/cycle)?|sector|warp)(?=[\s"])')


def _lines(data: bytes) -> list[bytes]:
    return data.splitlines(keepends=True)


def line_removed(data: bytes, chance: random.Random) -> bytes:
    lines = _lines(data)
    at = chance.randrange(len(lines))
    return b"".join(lines[:at] + lines[at + chance.choice((1, 1, 3, 40)) :])


def line_doubled(data: bytes, chance: random.Random) -> bytes:
    lines = _lines(data)
    at = chance.randrange(len(lines))
    return b"".join(lines[: at + chance.choice((1, 1, 30))] + lines[at:])


def lines_swapped(data: bytes, chance: random.Random) -> bytes:
    lines = _lines(data)
    a, b = chance.randrange(len(lines)), chance.randrange(len(lines))
    lines[a], lines[b] = lines[b], lines[a]
    return b"".join(lines)


def lines_moved(data: bytes, chance: random.Random) -> bytes:
    """A block of lines stands elsewhere."""
    lines = _lines(data)
    at, size, to = chance.randrange(len(lines)), chance.choice((1, 5, 40)), chance.randrange(len(lines))
    moved, rest = lines[at : at + size], lines[:at] + lines[at + size :]
    return b"".join(rest[:to] + moved + rest[to:])


def line_joined(data: bytes, chance: random.Random) -> bytes:
    lines = _lines(data)
    at = chance.randrange(len(lines))
    lines[at] = lines[at].rstrip(b"\r\n")
    return b"".join(lines)


def _cells(line: bytes) -> tuple[list[bytes], list[bytes]]:
    """The quoted cells of a line (or its words), and what stands between them."""
    found = list(_CELL.finditer(line)) or list(re.finditer(rb"\S+", line))
    between = [line[a.end() : b.start()] for a, b in pairwise(found)]
    head, tail = (line[: found[0].start()], line[found[-1].end() :]) if found else (line, b"")
    return [each[0] for each in found], [head, *between, tail]


def _put(cells: list[bytes], gaps: list[bytes]) -> bytes:
    while len(gaps) < len(cells) + 1:
        gaps.insert(-1, gaps[1] if len(gaps) > 2 else b",")
    return b"".join(gap + cell for gap, cell in zip(gaps, cells, strict=False)) + gaps[-1]


def cell_changed(data: bytes, chance: random.Random) -> bytes:
    """In one line a cell is lost, doubled, emptied, exchanged with another, or that of another line."""
    lines = _lines(data)
    at, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    cells, gaps = _cells(lines[at])
    if not cells:
        return data
    spot = chance.randrange(len(cells))
    what = chance.randrange(5)
    if what == 0:
        del cells[spot]
        del gaps[spot + 1 if spot < len(cells) else spot]
    elif what == 1:
        cells.insert(spot, cells[spot])
    elif what == 2:
        cells[spot] = b'""' if cells[spot].startswith(b'"') else b" " * len(cells[spot])
    elif what == 3:
        second = chance.randrange(len(cells))
        cells[spot], cells[second] = cells[second], cells[spot]
    else:
        theirs, _ = _cells(lines[other])
        if spot < len(theirs):
            cells[spot] = theirs[spot]
    lines[at] = _put(cells, gaps)
    return b"".join(lines)


def column_changed(data: bytes, chance: random.Random) -> bytes:
    """A column is lost, doubled, or exchanged with another, in all lines or in all but the header."""
    lines = _lines(data)
    width = max(len(_cells(line)[0]) for line in chance.sample(lines, min(len(lines), 9)))
    if not width:
        return data
    a, b, what, skip = chance.randrange(width), chance.randrange(width), chance.randrange(3), chance.choice((0, 0, 1))
    made = lines[:skip]
    for line in lines[skip:]:
        cells, gaps = _cells(line)
        if max(a, b) < len(cells):
            if what == 0:
                del cells[a]
                del gaps[a + 1 if a < len(cells) else a]
            elif what == 1:
                cells.insert(a, cells[a])
            else:
                cells[a], cells[b] = cells[b], cells[a]
            line = _put(cells, gaps)
        made.append(line)
    return b"".join(made)


def value_changed(data: bytes, chance: random.Random) -> bytes:
    """One number: scaled, exchanged with another of the file, or with its digits in another order."""
    found = list(_NUMBER.finditer(data))
    if not found:
        return data
    one, other = chance.choice(found), chance.choice(found)
    digits = list(one[0])
    chance.shuffle(digits)
    new = chance.choice((one[0] + b"0", one[0][:-1] or b"0", other[0], bytes(digits), b"0", b"-" + one[0]))
    return data[: one.start()] + new + data[one.end() :]


def unit_changed(data: bytes, chance: random.Random) -> bytes:
    found = list(_UNIT.finditer(data))
    if not found:
        return data
    one = chance.choice(found)
    return data[: one.start()] + chance.choice(_UNITS) + data[one.end() :]


def separators(data: bytes, chance: random.Random) -> bytes:
    """Other separators of cells, or of digits, in one line or all."""
    lines = _lines(data)
    one = chance.randrange(len(lines))
    spots = chance.choice((range(len(lines)), [one], [one]))
    old, new = chance.choice((
        (b'","', b'";"'), (b'","', b'"\t"'), (b'"', b""), (b'"', b"'"), (b".", b","), (b",", b"."), (b"\n", b"\r\n"),
        (b"\n", b"\r"), (b",", b" "), (b"  ", b"\t"),
    ))  # fmt: skip
    for at in spots:
        lines[at] = lines[at].replace(old, new)
    return b"".join(lines)


def mingled(data: bytes, chance: random.Random) -> bytes:
    """The second half of the lines, or those from anywhere, in front: as of two writers to one file."""
    lines = _lines(data)
    cut = chance.randrange(len(lines))
    if chance.random() < 0.5:
        return b"".join(lines[cut:] + lines[:cut])
    return b"".join(line for pair in zip(lines[:cut], lines[cut:], strict=False) for line in pair)


TEXTS: tuple[Mutation, ...] = (
    line_removed, line_doubled, lines_swapped, lines_moved, line_joined, cell_changed, cell_changed, column_changed,
    value_changed, value_changed, unit_changed, separators, mingled,
)  # fmt: skip


def of_blocks(path: Path) -> tuple[Mutation, ...]:
    """Mutations of the blocks of a report; each starts from the intact file, whatever it is given."""
    intact, frame = path.read_bytes(), framing.read(path)
    blocks = [intact[start:end] for start, end in pairwise(frame.ends)]
    head, payloads = intact[: frame.ends[0]], frame.ends

    def removed(_: bytes, chance: random.Random) -> bytes:
        at = chance.randrange(len(blocks))
        return head + b"".join(blocks[:at] + blocks[at + chance.choice((1, 1, 3)) :])

    def doubled(_: bytes, chance: random.Random) -> bytes:
        at, to = chance.randrange(len(blocks)), chance.randrange(len(blocks))
        return head + b"".join([*blocks[:to], blocks[at], *blocks[to:]])

    def exchanged(_: bytes, chance: random.Random) -> bytes:
        made = blocks.copy()
        a, b = chance.randrange(len(made)), chance.randrange(len(made))
        made[a], made[b] = made[b], made[a]
        return head + b"".join(made)

    def bit(_: bytes, chance: random.Random) -> bytes:
        """Bits inside one block, weighted by blocks and not by their size."""
        at = chance.randrange(len(blocks))
        changed = bytearray(intact)
        for _ in range(chance.choice((1, 1, 1, 3, 10))):
            changed[chance.randrange(payloads[at], payloads[at + 1])] ^= 1 << chance.randrange(8)
        return bytes(changed)

    def inside(_: bytes, chance: random.Random) -> bytes:
        """Bytes inside one block replaced by others of the file, of the same number: the frame stays whole."""
        at = chance.randrange(len(blocks))
        size = min(chance.choice((1, 2, 4, 8, 64, 1000)), len(blocks[at]))
        to = payloads[at] + chance.randrange(len(blocks[at]) - size + 1)
        from_ = chance.randrange(len(intact) - size)
        return intact[:to] + intact[from_ : from_ + size] + intact[to + size :]

    return (removed, doubled, exchanged, bit, bit, inside, inside) if blocks else ()
