"""Patterns of kernel names: ``*`` and ``?`` as in a shell, nothing else, so that no pattern can take for ever."""

from __future__ import annotations

from triage.model import Kernel

LONGEST = 300


def matches(pattern: str, text: str) -> bool:
    """Whether ``text`` as a whole fits ``pattern``: ``*`` any characters, ``?`` one. Takes at most their product."""
    place = start = 0
    star, retry = -1, 0
    while place < len(text):
        if start < len(pattern) and pattern[start] == "*":
            star, retry = start, place
            start += 1
        elif start < len(pattern) and pattern[start] in ("?", text[place]):
            start += 1
            place += 1
        elif star >= 0:
            # Let the last star take one character more; earlier stars never need to be tried again.
            retry += 1
            place, start = retry, star + 1
        else:
            return False
    return all(character == "*" for character in pattern[start:])


def base_name(kernel: Kernel) -> str:
    """The bare name of a kernel: without namespaces, template arguments and parameters."""
    name = kernel.function.split("<", 1)[0].split("(", 1)[0].strip()
    return name.rsplit("::", 1)[-1].split(" ")[-1] or kernel.function


def names(pattern: str, kernel: Kernel) -> bool:
    """Whether a pattern names a kernel: by its bare name, its function with template arguments, or its whole name."""
    return any(matches(pattern, text) for text in dict.fromkeys((base_name(kernel), kernel.function, kernel.name)))


def fault_of(pattern: str) -> str:
    """Why a text is no pattern of this kind; empty when it is one."""
    if not pattern:
        return "an empty pattern matches nothing"
    if len(pattern) > LONGEST:
        return f"the pattern has {len(pattern)} characters; at most {LONGEST} are allowed"
    marks = (".*", ".+", ")+", "]+", ")*")
    if pattern.startswith(("regex:", "^")) or pattern.endswith("$") or any(mark in pattern for mark in marks):
        return "regular expressions are not read here; use * for any characters and ? for one"
    return ""
