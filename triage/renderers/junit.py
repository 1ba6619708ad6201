"""JUnit XML of a check: one test case for each gate asked of a kernel.

Valid under both published schemas: that of Jenkins' xunit plugin (the one pytest is tested against) and Windy Road's
schema of Ant's format. No clock and no host get into it: the same check twice is the same to the byte. The time stamp
is ``SOURCE_DATE_EPOCH`` where that is set, as reproducible builds do it.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime
from xml.etree import ElementTree

from triage.gates.model import GATES, Outcome, Result
from triage.numerals import whole
from triage.renderers import diff_wording, wording
from triage.renderers.escape import clean, shorten

_NAME = 400
# The end of the year 9999, as far as dates go.
_LAST_SECOND = 253_402_300_799


def render(result: Result) -> str:
    """The check as JUnit XML. A gate that could not be judged and does not count as violated is a skipped test."""
    outcomes = result.outcomes
    failed = sum(outcome.result == "violated" for outcome in outcomes)
    skipped = sum(outcome.result == "unknown" for outcome in outcomes)
    # One of the schemas takes three decimals here and no more.
    seconds = f"{sum(state.total_ns for state in result.head.states) * 1e-9:.3f}"
    root = ElementTree.Element("testsuites")
    suite = ElementTree.SubElement(
        root,
        "testsuite",
        {
            "name": "triage check",
            "package": "triage",
            "id": "0",
            "hostname": "localhost",
            "timestamp": _timestamp(),
            "tests": str(len(outcomes)),
            "failures": str(failed),
            "errors": "0",
            "skipped": str(skipped),
            "time": seconds,
        },
    )
    properties = ElementTree.SubElement(suite, "properties")
    for name, value in _properties(result):
        ElementTree.SubElement(properties, "property", {"name": name, "value": clean(value)})
    for outcome in outcomes:
        _case(suite, outcome)
    headline = diff_wording.headline(result.comparison) if result.comparison else ""
    ElementTree.SubElement(suite, "system-out").text = headline
    ElementTree.SubElement(suite, "system-err").text = ""
    ElementTree.indent(root, " ")
    body = ElementTree.tostring(root, encoding="unicode", short_empty_elements=True)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{body}\n'


def _case(suite: ElementTree.Element, outcome: Outcome) -> None:
    median = outcome.state.median_ns if outcome.state else None
    attributes = {
        # The kernel is the class, so that viewers fold the gates of one kernel under it.
        "classname": shorten(clean(outcome.kernel), _NAME) or "kernel",
        "name": outcome.gate,
        "time": f"{(median or 0.0) * 1e-9:.9f}",
    }
    case = ElementTree.SubElement(suite, "testcase", attributes)
    if outcome.result == "violated":
        failure = ElementTree.SubElement(case, "failure", {"message": clean(outcome.text), "type": outcome.gate})
        where = f"{clean(outcome.file)}:{outcome.line}" if outcome.file else "no source line is known"
        failure.text = f"{GATES[outcome.gate]}\n{where}\nset in {clean(outcome.place)}"
    elif outcome.result == "unknown":
        ElementTree.SubElement(case, "skipped")


def _properties(result: Result) -> list[tuple[str, str]]:
    found = [("report", result.head.path), ("gpu", wording.device(result.head.device)), ("gates", result.config.source)]
    if result.comparison is not None:
        found.insert(0, ("baseline", result.comparison.base.path))
    return found


def _timestamp() -> str:
    seconds = whole(os.environ.get("SOURCE_DATE_EPOCH", ""), _LAST_SECOND) or 0
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")
