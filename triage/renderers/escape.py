"""Names from a report are data: made harmless here, for the terminal and for Markdown.

:func:`clean` comes first everywhere; HTML's own escaping is Jinja's autoescape.
"""

from __future__ import annotations

import re
import unicodedata
from urllib.parse import quote

# A whole terminal sequence goes, not only its first byte: CSI, OSC/DCS/APC/PM/SOS strings, and two-byte escapes.
_TERMINAL = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"
    r"|\x1b[ -/]*[0-~]?"
)
_SPACE = re.compile(r"[\t\n\v\f\r\x85\u2028\u2029]+")
_BYTE = re.compile("[\udc80-\udcff]")
# Cc controls, Cf formats (bidi overrides, zero width, soft hyphen), Cs lone surrogates (not encodable), Co private use.
_DROPPED = frozenset({"Cc", "Cf", "Cs", "Co"})
# Only what could mean something: an underscore inside a word, a colon or a dash inside a line do not.
_MARKDOWN = re.compile(r"([\\`*{}\[\]<|~&$]|(?<![^\W_])_|_(?![^\W_]))")
_MARKDOWN_BLOCK = re.compile(r"^(\s*)([#>+=-])|^(\s*\d+)([.)])(?=\s|$)")
_MENTION = re.compile(r"([@#])(?=[\w-])")
# What GitHub makes a link of by itself.
_AUTOLINK = re.compile(r"(?i)((?:https?|ftp):)(?=//)|(www)(?=\.)")
# What keeps its meaning in a sentence of a rule: code, and the address of a page.
_KEPT = re.compile(r"(?<!`)`([^`]+)`(?!`)|(https://[A-Za-z0-9][\w./~%?=&+:#-]*[A-Za-z0-9/])", re.ASCII)
_IN_ADDRESS = "/:?#&+,;=~%-._!$"


def clean(text: str) -> str:
    """``text`` on one line without anything that a terminal or a reader's eye could be misled by.

    Drops terminal sequences, control characters, bidi and other invisible format characters, private-use
    characters and lone surrogates; line breaks and tabs become one space. A byte of a file's name that is no text
    (Python keeps it as a surrogate) is shown as ``\\xff``: without it the name would be that of another file.
    """
    if text.isascii() and text.isprintable():
        return text
    text = _SPACE.sub(" ", _TERMINAL.sub("", text))
    if text.isascii() and text.isprintable():
        return text
    text = _BYTE.sub(lambda found: f"\\x{ord(found[0]) - 0xDC00:02x}", text)
    return "".join(character for character in text if not is_dropped(character))


def is_dropped(character: str) -> bool:
    """Whether nobody would see the character: a control, a format mark, private use, half a surrogate pair."""
    return unicodedata.category(character) in _DROPPED


def shorten(text: str, limit: int) -> str:
    """``text`` in at most ``limit`` characters, cut in the middle: both ends of a template name tell it apart."""
    if len(text) <= limit:
        return text
    if limit <= 3:
        return text[:limit]
    tail = (limit - 3) // 3
    return f"{text[: limit - 3 - tail]}...{text[len(text) - tail :]}"


def markdown(text: str) -> str:
    """Plain text as GitHub-flavoured Markdown that renders as exactly that text: no markup, link, mention or cell."""
    return _MARKDOWN_BLOCK.sub(r"\1\3\\\2\4", _inline(clean(text)))


def prose(text: str, *, cell: bool = False) -> str:
    """A sentence of a rule as Markdown: spans in backticks stay code and addresses with https links, all else is inert;
    ``cell`` as for :func:`markdown_code`."""
    parts: list[str] = []
    text, place = clean(text), 0
    for found in _KEPT.finditer(text):
        parts.append(_inline(text[place : found.start()]))
        parts.append(f"<{found[2]}>" if found[2] else markdown_code(found[1], cell=cell))
        place = found.end()
    parts.append(_inline(text[place:]))
    return _MARKDOWN_BLOCK.sub(r"\1\3\\\2\4", "".join(parts))


def link(title: str, url: str) -> str:
    """A Markdown link; only its title where the address is not one of https."""
    shown = markdown(title)
    return f"[{shown}]({quote(clean(url), safe=_IN_ADDRESS)})" if url.startswith("https://") else shown


def fenced(code: str, language: str) -> list[str]:
    """Code as the lines of a Markdown block that no line of it can end."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", code)), default=0))
    return [f"{fence}{language}", *(_code_line(line) for line in code.split("\n")), fence]


def _code_line(line: str) -> str:
    return clean(line.expandtabs(4))


def _inline(text: str) -> str:
    # A comment splits the text node, so that no person, issue or page is linked; it renders as nothing.
    escaped = _MENTION.sub(r"\1<!-- -->", _MARKDOWN.sub(r"\\\1", text))
    return _AUTOLINK.sub(r"\1\2<!-- -->", escaped)


def markdown_code(text: str, *, cell: bool = False) -> str:
    """Text as a Markdown code span; in a table ``cell`` a pipe needs a backslash even inside code."""
    text = clean(text).strip()
    if not text:
        return ""
    if cell:
        text = text.replace("|", "\\|")
    fence = "`" * (max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}"
