"""How long an answer is, counted as the TREC RAG tracks count it."""

import unicodedata
from collections.abc import Iterable

RAG24_MAX_WORDS = 400  # TREC RAG 2024 answer format: white-space words after NFKC
RAG26_MAX_WORDS = 1024  # TREC RAG 2026 guidelines of July 2026, summed over the answer's objects


def count_words(text: str) -> int:
    """Number of words in `text`: its white-space separated parts after NFKC normalisation, >= 0.

    Chinese or Thai prose, written without spaces, counts as very few words.

    Source: the response length rule of TREC RAG 2024. NFKC matters little: it opens up signs such
    as U+FDFA, one character that stands for four words.
    Differs: the rule of 2026, `count_summed_words`, is without NFKC.

    >>> count_words("  Wind makes\\u00a0them sway. ")
    4
    """
    return len(unicodedata.normalize("NFKC", text).strip().split())


def count_summed_words(texts: Iterable[str]) -> int:
    """Number of words of an answer's objects, summed, without NFKC, >= 0.

    Source: TREC RAG 2026 guidelines of July 2026, `sum(len(item["text"].split()) ...)`; headings
    and rows of tables count too, and more than 1,024 are rejected.

    >>> count_summed_words(["# Tides", "The moon pulls the sea."])
    7
    """
    return sum(len(text.split()) for text in texts)
