"""The registry of renderers: every format copes with every report."""

from __future__ import annotations

import pytest
import reports

from triage.errors import UsageError
from triage.renderers import FORMATS, render


def test_formats() -> None:
    assert FORMATS == ("html", "md", "json", "text", "sarif")


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", reports.ALL)
def test_every_format_renders_every_report(name: str, format: str) -> None:
    text = render(reports.ALL[name](), format)
    assert text.endswith("\n")
    text.encode()
    assert render(reports.ALL[name](), format) == text


def test_an_unknown_format_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="no report format 'pdf'") as caught:
        render(reports.one(), "pdf")
    assert caught.value.exit_code == 2 and "html, md, json, text, sarif" in caught.value.hint
