"""Stands in for nvcc, ncu and the calibration programs in the tests of `triage validate`.

VALIDATE_FAKE names a JSON file:
  {"table": raw CSV, "programs": {name: {"kernels": {kernel: {"us": time, "rows": [row of the table, one a profile]}},
   "checks": [[kernel, twin, ok]], "skipped": {kernel: reason}, "compile": complaint, "crash": complaint,
   "ncu": line of the log, "interrupt": number of the profile in which the user stops it}}}
The role is the first argument; a "compiled" program is a script that calls this file.
"""

import csv
import json
import os
import signal
import sys
import time
from pathlib import Path

SCENE = json.loads(Path(os.environ["VALIDATE_FAKE"]).read_text())


def nvcc(words: list[str]) -> int:
    name = Path(next(word for word in words if word.endswith(".cu"))).stem
    if complaint := SCENE["programs"].get(name, {}).get("compile"):
        print(complaint, file=sys.stderr)
        return 2
    target = Path(words[words.index("-o") + 1])
    target.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S -I "{Path(__file__).resolve()}" program "{name}" "$@"\n')
    target.chmod(0o755)
    return 0


def program(name: str, words: list[str]) -> int:
    scene = SCENE["programs"][name]
    if complaint := scene.get("crash"):
        print(complaint, file=sys.stderr)
        return 2
    for kernel, reason in scene.get("skipped", {}).items():
        print(json.dumps({"kernel": kernel, "skipped": reason}))
    if "--time" not in words:
        return 0
    print("a line that is no JSON")
    for kernel, known in scene["kernels"].items():
        print(json.dumps({"kernel": kernel, "grid": [1, 1, 1], "median_us": known["us"]}))
    checks = scene.get("checks", [])
    for kernel, twin, ok in checks:
        print(json.dumps({"check": [kernel, twin], "worst_error": 0, "ok": ok}))
    return 0 if all(ok for _, _, ok in checks) else 1


def ncu(words: list[str]) -> int:
    log = Path(words[words.index("--log-file") + 1])
    command = words[words.index("--log-file") + 2 :]
    name = Path(command[0]).name
    calls = Path(os.environ["VALIDATE_FAKE"] + ".calls")
    before = calls.read_text().splitlines() if calls.exists() else []
    with calls.open("a") as stream:
        stream.write(json.dumps([name, *words]) + "\n")
    times = sum(json.loads(line)[0] == name for line in before)
    scene = SCENE["programs"][name]
    if complaint := scene.get("ncu"):
        log.write_text(f"==PROF== Connected to process 1 ({command[0]})\n{complaint}\n")
        return 1
    if scene.get("interrupt") == times:
        log.write_text(
            f"==PROF== Connected to process 1 ({command[0]})\n==PROF== Trying to shutdown target application\n"
        )
        # A terminal sends it to the whole group; under the tests only the command itself may get it.
        os.kill(int(os.environ["VALIDATE_FAKE_PARENT"]), signal.SIGINT)
        time.sleep(0.2)
        return 9
    program(name, command[1:])
    with Path(SCENE["table"]).open(newline="") as stream:
        head, units, *rows = csv.reader(stream)
    lines = [f"==PROF== Connected to process 1 ({command[0]})"]
    with Path(words[words.index("-o") + 1]).open("w", newline="") as stream:
        write = csv.writer(stream, quoting=csv.QUOTE_ALL)
        write.writerows([head, units])
        for number, (kernel, known) in enumerate(scene["kernels"].items()):
            row = list(rows[known["rows"][min(times, len(known["rows"]) - 1)]])
            row[head.index("ID")], row[head.index("Kernel Name")] = str(number), f"{kernel}(float *)"
            write.writerow(row)
            lines.append(f'==PROF== Profiling "{kernel}" - {number}: 0%....50%....100% - 8 passes')
    log.write_text("\n".join([*lines, "==PROF== Disconnected from process 1", "==PROF== Report: here"]) + "\n")
    return 0


if __name__ == "__main__":
    role, rest = sys.argv[1], sys.argv[2:]
    sys.exit(program(rest[0], rest[1:]) if role == "program" else {"nvcc": nvcc, "ncu": ncu}[role](rest))
