"""Makes twenty nights of reports to try the series on: ``python make_series.py FOLDER``.

Each night is a CSV as ncu exports it, with the counters of the bundled capture and durations that vary by up to 1 %.
From the thirteenth night on the padding of the transpose's tile is lost: its counters are those of the unpadded kernel.
"""

import csv
import sys
from pathlib import Path

CAPTURE = Path(__file__).parent.parent / "demo" / "transposes.csv"
NIGHTS, LOST = 20, 12
DURATION = "gpu__time_duration.sum"


def main(folder: str) -> None:
    with CAPTURE.open(encoding="utf-8", newline="") as file:
        header, units, *rows = csv.reader(file)
    name, duration = header.index("Kernel Name"), header.index(DURATION)
    capture = {row[name]: row for row in rows}
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    for night in range(NIGHTS):
        transpose = list(capture["padded_32_float" if night < LOST else "shared_32_float"])
        transpose[name] = "transpose(float *, const float *)"
        copy = list(capture["copy_32_float"])
        for place, row in enumerate((copy, transpose)):
            row[header.index("ID")] = str(place)
            # A wobble without a clock or a seed, so that the series is the same wherever it is made.
            wobble = 1 + ((night * 7 + place * 3) % 11 - 5) / 500
            row[duration] = f"{round(float(row[duration].replace(',', '')) * wobble):,}"
        with (target / f"night-{night + 1:02}.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows((header, units, copy, transpose))


if __name__ == "__main__":
    main(*sys.argv[1:])
