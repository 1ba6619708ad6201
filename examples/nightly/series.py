"""The limiter of one kernel over many reports: ``python series.py TABLE KERNEL``, with a table of ``triage export``."""

import sys

import pandas


def main(path: str, kernel: str) -> None:
    table = pandas.read_parquet(path) if path.endswith(".parquet") else pandas.read_csv(path)
    series = table[table["kernel"] == kernel]
    nights = series.groupby("report", sort=True).agg(
        limiter=("limiter", "first"), microseconds=("duration_ns", lambda ns: ns.median() / 1000)
    )
    nights["limiter"] = nights["limiter"].fillna("undecided")
    nights["moved"] = nights["limiter"].ne(nights["limiter"].shift()) & (nights.index != nights.index[0])
    for report, night in nights.iterrows():
        note = "  <- the limiter moved" if night["moved"] else ""
        print(f"{report.rsplit('/', 1)[-1]:<16} {night['microseconds']:8.1f} us  {night['limiter']}{note}")


if __name__ == "__main__":
    main(*sys.argv[1:])
