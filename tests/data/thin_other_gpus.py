"""Thins counters of public reports to those that rules use: ``python thin_other_gpus.py FOLDER OUT.json``."""

import json
import sys
from pathlib import Path

from triage.commands import wanted_metrics
from triage.rules import default_rulebook


def main(source: str, target: str) -> None:
    wanted = wanted_metrics(default_rulebook())
    found = []
    for path in sorted(Path(source).glob("*.json")):
        report = json.loads(path.read_text(encoding="utf-8"))
        kernels = [
            {"name": kernel["name"], "metrics": {n: v for n, v in kernel["metrics"].items() if n in wanted}}
            for kernel in report["kernels"][:1]
        ]
        found.append({key: report[key] for key in ("gpu", "cc", "ncu", "source")} | {"kernels": kernels})
    Path(target).write_text(json.dumps(found, indent=0) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
