"""Start-up: how long a command takes that does no work, and what it imports.

python benchmarks/startup.py
"""

from __future__ import annotations

import subprocess
import sys
from statistics import median

import measure

_COMMANDS = (("--version",), ("--help",), ("rules", "list"), ("report", "--help"))
_RUNS = 7
_HEAVY = ("pandas", "numpy", "jinja2", "rich", "yaml", "ncu_report", "cupy", "multiprocessing")


def main() -> None:
    rows = [["command", "median", "fastest"]]
    for words in _COMMANDS:
        times = [measure.command(measure.triage(*words), poll_s=0.005).seconds for _ in range(_RUNS)]
        rows.append([f"triage {' '.join(words)}", f"{median(times):.3f} s", f"{min(times):.3f} s"])
    print("python benchmarks/startup.py\n")
    print(measure.table(rows))
    code = f"import sys, triage.cli; print(*(name for name in {_HEAVY!r} if name in sys.modules))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    print(f"\nheavy modules that the command line imports: {', '.join(found) or 'none'}")


if __name__ == "__main__":
    main()
