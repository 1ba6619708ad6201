"""A word that someone may have meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

# For names of metrics and sets, which are long: what is near one by the measure for words has little in common with it.
STRICT = 0.7


def closest(word: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """`` (did you mean 'x'?)`` with the known word nearest to ``word``, or an empty string. ``cutoff`` is the least
    likeness, from 0 to 1 (:func:`difflib.get_close_matches`)."""
    near = get_close_matches(word, list(known), n=1, cutoff=cutoff)
    return f" (did you mean {near[0]!r}?)" if near else ""
