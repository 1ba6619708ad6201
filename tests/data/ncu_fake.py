#!/usr/bin/env python3
"""Stands in for ncu in tests: answers its queries, runs the program, replays a recorded log, leaves a recorded report.

FAKE_NCU names a JSON file:
  {"version": "2025.3.1.0", "options": [...], "queries": {collection: file},
   "runs": [{"log": file, "report": file | null, "status": 0, "stdout": text, "wait": seconds, "rewrite": {...}}]}
Each run of a program takes the next entry of "runs" (the last one stays) and is noted, with its arguments, in
FAKE_NCU.calls, one JSON list a line. SIGINT during "wait" writes the entry's "interrupted" log instead.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path


def main(words: list[str]) -> int:
    control = Path(os.environ["FAKE_NCU"])
    scene = json.loads(control.read_text())
    if "--version" in words:
        print(f"Fake Command Line Profiler\nVersion {scene.get('version', '2025.3.1.0')} (build 1)")
        return 0
    if "--help" in words:
        print("\n".join(f"  --{option} arg" for option in scene.get("options", [])))
        return 0
    if "--query-metrics" in words:
        kind = words[words.index("--query-metrics-collection") + 1] if len(words) > 1 else "profiling"
        file = scene.get("queries", {}).get(kind)
        print(Path(file).read_text() if file else scene.get("query_error", "==ERROR== unknown collection"))
        return 0 if file else 1
    if "--import" in words:
        file = scene.get("csv")
        print(Path(file).read_text() if file else "==ERROR== cannot import")
        return 0 if file else 1
    return profile(words, scene, control)


def profile(words: list[str], scene: dict, control: Path) -> int:
    calls = control.with_name(control.name + ".calls")
    before = len(calls.read_text().splitlines()) if calls.exists() else 0
    with calls.open("a") as stream:
        stream.write(json.dumps(words) + "\n")
    entry = scene["runs"][min(before, len(scene["runs"]) - 1)]
    if "stdout" in entry:
        print(entry["stdout"], flush=True)
        return entry.get("status", 1)
    log = Path(words[words.index("--log-file") + 1])
    program = words[words.index("--log-file") + 2 :]
    interrupted = []
    signal.signal(signal.SIGINT, lambda *_: interrupted.append(1))
    text = Path(entry["log"]).read_text()
    half = text.rfind("==PROF== Profiling")
    log.write_text(text[:half] if half > 0 else "")
    if entry.get("run", True):
        subprocess.run(program, check=False)
    end = time.monotonic() + entry.get("wait", 0)
    while time.monotonic() < end and not interrupted:
        time.sleep(0.02)
    if interrupted:
        text = Path(entry["interrupted"]).read_text()
    log.write_text(text)
    if "-o" in words and entry.get("report"):
        shutil.copy(entry["report"], words[words.index("-o") + 1])
    return entry.get("status", 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
