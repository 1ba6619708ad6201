"""Prints the rule results of a report as JSON; runs as a script, alone in its process.

Arguments: the folder of NVIDIA's reading library, the report. One list on standard output: for each kernel its place,
its name and the rule results that carry an estimate (identifier, metrics pointed at, estimate). Texts are left where
they are.
"""

from __future__ import annotations

import json
import sys
from typing import Any

_KINDS = {1: "local", 2: "global"}


def _results(action: Any) -> list[dict[str, Any]]:
    found = []
    for result in action.rule_results_as_dicts():
        estimate = result.get("speedup_estimation")
        rule = result.get("rule_identifier")
        if not estimate or not isinstance(rule, str):
            continue
        names = [metric.get("name") for metric in result.get("focus_metrics", ())]
        found.append(
            {
                "rule": rule,
                "focus": [name for name in names if isinstance(name, str)],
                "speedup": float(estimate["speedup"]),
                "kind": _KINDS.get(int(estimate["type"]), "unknown"),
            }
        )
    return found


def main(library: str, path: str) -> None:
    """Read ``path`` with the library in the folder ``library``."""
    sys.path.insert(0, library)
    import ncu_report

    kernels: list[dict[str, Any]] = []
    for group in ncu_report.load_report(path):
        for action in group:
            kernels.append({"index": len(kernels), "function": action.name(0) or "", "rules": _results(action)})
    json.dump(kernels, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
