"""Texts in the place of those that a model may make: a dry run counts as many as are wanted."""

from __future__ import annotations

from collections.abc import Sequence

UNKNOWN = "what a model makes of it, which nobody knows beforehand"


def filled(texts: Sequence[str], most: int) -> list[str]:
    """The texts, and up to `most` of them: the same over and over, each with a number.

    >>> filled(["Wind moves it."], 3)
    ['Wind moves it.', 'Wind moves it. 2', 'Wind moves it. 3']
    """
    repeated = texts or [UNKNOWN]
    more = range(len(texts), most)
    return [*texts, *(f"{repeated[n % len(repeated)]} {n + 1}" for n in more)]
