"""A word that someone may have meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def closest(word: str, known: Iterable[str]) -> str:
    """`` (did you mean 'x'?)`` with the known word nearest to ``word``, or an empty string."""
    near = get_close_matches(word, list(known), n=1, cutoff=0.7)
    return f" (did you mean {near[0]!r}?)" if near else ""
