"""Values as YAML reads them back exactly, in ASCII and on one line each: how a baseline is written."""

from __future__ import annotations

import json
import re

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*")
# Words that YAML would read as something else than text.
_WORDS = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})


def text(value: str) -> str:
    """Text: plain where that is safe, else double-quoted with escapes."""
    if _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
        return value
    return '"' + "".join(map(_escaped, value)) + '"'


def texts(values: tuple[str, ...]) -> str:
    """A list of texts."""
    return f"[{', '.join(map(text, values))}]"


def number(value: float) -> str:
    """Six significant digits, whole numbers in full."""
    rounded = float(f"{value:.6g}")
    if rounded.is_integer() and abs(rounded) < 1e15:
        return str(int(value)) if float(value).is_integer() else str(int(rounded))
    return json.dumps(rounded)


def numbers(values: tuple[float, ...] | tuple[int, ...]) -> str:
    """A list of numbers."""
    return f"[{', '.join(number(value) for value in values)}]"


def _escaped(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    code = ord(character)
    if 0x20 <= code < 0x7F:
        return character
    # A lone surrogate has no place in a UTF-8 file.
    if 0xD800 <= code <= 0xDFFF:
        return "\\uFFFD"
    return f"\\x{code:02X}" if code < 0x100 else f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"
