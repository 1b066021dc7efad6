"""Does a text say this in these words, and where? For quotes that a model gives as evidence."""

from __future__ import annotations

import re


def find_quote(quote: str, text: str) -> tuple[int, int] | None:
    """Where the quote stands in the text: `text[start:end]`, the first place if there are several.

    Exact first, without white space at either end of the quote; else with any white space between
    its words. Letters, case and punctuation must be the same, and a blank quote stands nowhere.

    >>> find_quote("the river  rose", "Then the river\\nrose.")
    (5, 19)
    >>> find_quote("The river rose", "Then the river rose.") is None
    True
    """
    words = quote.split()
    if not words:
        return None
    exact = quote.strip()
    if (start := text.find(exact)) >= 0:
        return start, start + len(exact)
    match = re.search(r"\s+".join(map(re.escape, words)), text)
    return match.span() if match else None


def is_quoted(quote: str, text: str) -> bool:
    """Whether the quote stands in the text, as find_quote reads it."""
    return find_quote(quote, text) is not None
