"""Characters in a rule file that nobody sees: terminal escapes, direction marks, zero widths, odd line breaks.

They make a file say something else than a reviewer reads (a comment that ends at U+2028, a name turned around by
U+202E), and would act on the terminal that prints a rule. A file is refused for them, comments included.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

# Faults of one file; a file of a megabyte could hold as many.
_MOST = 20
_ASCII = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
# Line breaks of YAML that most editors and reviews show as none.
_BREAKS = "\r\x0b\x0c\x85\u2028\u2029"


def in_file(text: str) -> Iterator[tuple[tuple[int, int], str]]:
    """The first of them in each line of a file, as its (line, column) and what is wrong with it."""
    text = text.replace("\r\n", "\n")
    found = _set(text)
    if not found:
        return
    told = 0
    for number, line in enumerate(text.split("\n"), start=1):
        for column, character in enumerate(line, start=1):
            if character in found:
                yield (number, column), f"the file holds {_name(character)}, which is not shown: take it out"
                told += 1
                break
        if told == _MOST:
            return


def in_value(text: str) -> str:
    """What is wrong with a value: such a character can also be written as an escape, ``"\\e"``. Empty for none."""
    found = _set(text)
    first = next((character for character in text if character in found), "")
    return f"the text holds {_name(first)}, which is not shown: write it without" if first else ""


def without(text: str) -> str:
    """The text with them gone, for the messages about its other faults."""
    found = _set(text)
    return "".join(character for character in text if character not in found)


def _set(text: str) -> frozenset[str]:
    if text.isascii():
        return frozenset(_ASCII.findall(text))
    from triage.renderers.escape import is_dropped

    return frozenset(
        character
        for character in set(text)
        if character not in "\n\t" and (character in _BREAKS or is_dropped(character))
    )


def _name(character: str) -> str:
    what = unicodedata.name(character, "a control character" if ord(character) < 0xA0 else "of no script")
    return f"U+{ord(character):04X} ({what.lower()})"
