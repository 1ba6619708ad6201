"""What a metric is, from the parts of its name: our own words, kept in ``rules/metrics.yaml``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from triage import resources


@dataclass(frozen=True, slots=True)
class Words:
    """What units, counters, roll-ups and rates are called; ``starts`` are counters by beginning, longest first."""

    units: Mapping[str, str]
    counters: Mapping[str, str]
    starts: tuple[tuple[str, str], ...]
    rollups: Mapping[str, str]
    rates: Mapping[str, str]


def meaning(name: str, glossary: Mapping[str, str]) -> str:
    """One sentence without its full stop about a fact or metric; empty where nothing is known about its name.

    ``glossary`` (of the report) comes first; then the counter, the roll-up and the rate that the name says, as in
    ``dram__bytes_read.sum.per_second``.
    """
    if name in glossary:
        return glossary[name].rstrip(".")
    words = _words()
    stem, *suffixes = name.split(".")
    subject = words.counters.get(stem) or _by_start(stem, words.starts) or words.units.get(stem.partition("__")[0], "")
    if not subject:
        return ""
    parts = [words.rollups.get(part) or words.rates.get(part) for part in suffixes]
    return ", ".join([subject, *(part for part in parts if part)])


def _by_start(stem: str, starts: tuple[tuple[str, str], ...]) -> str:
    for start, text in starts:
        if stem.startswith(start):
            return text.replace("{}", stem[len(start) :].replace("_", " ").strip())
    return ""


@lru_cache(maxsize=1)
def _words() -> Words:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    data = yaml.load((resources.folder("rules") / "metrics.yaml").read_text(encoding="utf-8"), Loader=loader)
    counters = {name: text for name, text in data["counters"].items() if not name.endswith("*")}
    starts = [(name[:-1], text) for name, text in data["counters"].items() if name.endswith("*")]
    starts.sort(key=lambda pair: -len(pair[0]))
    return Words(data["units"], counters, tuple(starts), data["rollups"], data["rates"])
