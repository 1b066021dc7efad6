"""How long an answer is, counted as the TREC RAG tracks count it."""

import unicodedata

RAG24_MAX_WORDS = 400  # TREC RAG 2024 answer format: white-space words after NFKC
RAG26_MAX_WORDS = 1024  # TREC RAG 2026 guidelines of July 2026, summed over the answer's objects


def count_words(text: str) -> int:
    """Number of words in `text`: its white-space separated parts after NFKC normalisation, >= 0.

    Chinese or Thai prose, written without spaces, counts as very few words.

    Source: the response length rule of TREC RAG 2024. NFKC matters little: it opens up signs such
    as U+FDFA, one character that stands for four words.
    Differs: the 2026 rule sums `len(text.split())` over an answer's objects, without NFKC.

    >>> count_words("  Wind makes\\u00a0them sway. ")
    4
    """
    return len(unicodedata.normalize("NFKC", text).strip().split())
