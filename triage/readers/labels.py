"""Labels of the details page to metric names.

A label means different metrics in different sections (``Memory Throughput`` is a percentage in one and bytes per
second in another), so the key is the section with the label. The table is ``labels.json`` beside this file.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from pathlib import Path

_METRIC = re.compile(r"[A-Za-z0-9]+_{1,2}[A-Za-z0-9_]*[A-Za-z0-9_.:]*|[a-z]+:[a-z]\S*|(?:thread_)?inst_executed\S*")
_RUN = "Command line profiler metrics"


class Labels:
    """Resolves ``(section, label)``; ``table`` maps a section's title to its labels."""

    def __init__(self, table: dict[str, dict[str, str]]) -> None:
        self._table = {_plain(section): labels for section, labels in table.items()}
        everywhere: dict[str, set[str]] = {}
        for labels in table.values():
            for label, name in labels.items():
                everywhere.setdefault(label, set()).add(name)
        # A label that means one metric in every section we know keeps that meaning in a section that was renamed.
        self._anywhere = {label: names.copy().pop() for label, names in everywhere.items() if len(names) == 1}

    def metric(self, section: str, label: str) -> str | None:
        """The metric's name, ``None`` for a label that is not known in that section."""
        if section == _RUN or (" " not in label and _METRIC.fullmatch(label)):
            return label
        labels = self._table.get(_plain(section))
        if labels is not None and label in labels:
            return labels[label]
        return self._anywhere.get(label)


def _plain(section: str) -> str:
    """Section titles without the suffixes and cases that changed over the years."""
    return re.sub(r"[^a-z0-9]", "", section.lower())


@lru_cache(maxsize=1)
def known() -> Labels:
    """The labels of ncu 2019 to 2026."""
    return Labels(json.loads(Path(__file__).with_name("labels.json").read_text(encoding="utf-8")))
