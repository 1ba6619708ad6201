"""Thins a raw CSV of ncu to the counters that rules use: ``python thin_csv.py IN.csv OUT.csv``.

Kept are the identifying columns and every metric that any way to any fact names; rows and values stay as ncu wrote
them.
"""

import csv
import sys
from pathlib import Path

from triage.commands import wanted_metrics
from triage.rules import default_rulebook


def main(source: str, target: str) -> None:
    wanted = wanted_metrics(default_rulebook())
    with Path(source).open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    kept = [place for place, name in enumerate(rows[0]) if place < 11 or name in wanted]
    with Path(target).open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows([row[p] for p in kept] for row in rows)


if __name__ == "__main__":
    main(*sys.argv[1:])
