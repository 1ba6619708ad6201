"""Mutations of reports, and what must hold of each: no crash, and no verdict that the intact file contradicts unless a
warning says that the file is damaged."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from triage.diagnosis import report
from triage.errors import TriageError
from triage.model import Finding, Report
from triage.readers import framing, load
from triage.rules import default_rulebook

# Words of which one stands in every warning that says a file is not as it was written.
DAMAGE = re.compile(
    r"damaged|cut short|\bcut\b|lost|contradict|impossible|skipped|no metric|left out|break off|shorter than|fewer|"
    r"in two ways|stopped|layout version|mixes layouts"
)
Mutation = Callable[[bytes, random.Random], bytes]
_NOISE = (b"\n", b'"', b",", b"\r\n", b"\0", b"==PROF== x\n", b"\xff\xfe", b"-", b"9", b".", b"e9", b'","', b"nan")


def truncated(data: bytes, chance: random.Random) -> bytes:
    return data[: chance.randrange(1, len(data))]


def flipped(data: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 1, 4, 30))):
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def overwritten(data: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(data))
    size = chance.choice((1, 8, 200, 5000))
    return data[:at] + chance.randbytes(min(size, len(data) - at)) + data[at + size :]


def removed(data: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(data))
    return data[:at] + data[at + chance.choice((1, 3, 50, 4000)) :]


def inserted(data: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(data))
    return data[:at] + chance.choice(_NOISE) * chance.choice((1, 1, 40)) + data[at:]


def doubled(data: bytes, chance: random.Random) -> bytes:
    return data + data[: chance.randrange(1, len(data))]


def zeroed(data: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(data))
    size = min(chance.choice((4, 512, 4096)), len(data) - at)
    return data[:at] + bytes(size) + data[at + size :]


def swapped(data: bytes, chance: random.Random) -> bytes:
    a, b = sorted(chance.randrange(len(data)) for _ in range(2))
    size = chance.choice((16, 512))
    return data[:a] + data[b : b + size] + data[a + size : b] + data[a : a + size] + data[b + size :]


def digits(data: bytes, chance: random.Random) -> bytes:
    """One digit of a text replaced, lost or doubled."""
    places = [at for at in (chance.randrange(len(data)) for _ in range(200)) if 48 <= data[at] <= 57]
    if not places:
        return data
    at = places[0]
    new = chance.choice((b"", b"0", b"9", bytes([chance.randrange(48, 58)]), data[at : at + 1] * 2))
    return data[:at] + new + data[at + 1 :]


MUTATIONS: tuple[Mutation, ...] = (truncated, flipped, overwritten, removed, inserted, doubled, zeroed, swapped, digits)


def at_boundaries(path: Path) -> Iterator[bytes]:
    """A report cut at, before and behind every block, with every block left out, and with its first blocks twice."""
    data, ends = path.read_bytes(), framing.read(path).ends
    for end in ends:
        for cut in (end - 1, end, end + 1, end + 5):
            if 4 < cut < len(data):
                yield data[:cut]
    for start, end in pairwise(ends):
        yield data[:start] + data[end:]
        yield data[:end] + data[start:end] + data[end:]


@dataclass
class Intact:
    """A file as it should be read."""

    path: Path
    limiters: dict[str, set[str | None]] = field(default_factory=dict)

    @classmethod
    def of(cls, path: Path) -> Intact:
        made = cls(path)
        found = judged(path)
        said = [*found.warnings, *(text for source in found.sources for text in source.warnings)]
        said += [text for finding in found.findings for text in finding.diagnosis.warnings]
        # Else no mutation of it could be found wanting.
        assert not any(DAMAGE.search(text) for text in said), said
        for finding in found.findings:
            made.limiters.setdefault(finding.kernel.name, set()).add(finding.diagnosis.limiter)
        return made


def judged(path: Path) -> Report:
    """The report on one file, as the command line makes it."""
    from triage.commands import wanted_metrics

    rules = default_rulebook()
    return report(load(path, metrics=wanted_metrics(rules), timeout_s=10), rules)


def complaint(path: Path, intact: Intact) -> str:
    """What a mutated file did that it must not, or ``""``."""
    try:
        made = judged(path)
    except TriageError as error:
        if error.exit_code not in (3, 4, 5, 6) or "\n" in error.message:
            return f"exit code {error.exit_code}: {error.message!r}"
        return ""
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    said = " ".join((*made.warnings, *(text for source in made.sources for text in source.warnings)))
    for finding in made.findings:
        wrong = _contradicted(finding, intact)
        warned = DAMAGE.search(said) or DAMAGE.search(" ".join(finding.diagnosis.warnings))
        if wrong and not warned:
            return wrong
    return ""


def _contradicted(finding: Finding, intact: Intact) -> str:
    limiter = finding.diagnosis.limiter
    known = intact.limiters.get(finding.kernel.name)
    if known is None:
        # A name of its own: no reader can tell; any verdict of the file is accepted.
        known = set().union(*intact.limiters.values())
    if limiter is None or limiter in known:
        return ""
    return f"{finding.kernel.name[:40]} is called {limiter}, not {sorted(map(str, known))}"
