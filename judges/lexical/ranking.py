"""The rule-based twins of judges that set texts side by side, by their words; no model.

A ranker goes by how many of the question's words a passage holds; passages with the same share stay
in the order in which they stand.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .nuggets_and_citations import content_words, recall


def order_passages(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """All numbers, by falling share of the question's content words."""
    return {"order": [int(number) for number in _ranked(inputs)]}


def best_passage(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The number of the passage with the largest share."""
    return {"best": int(_ranked(inputs)[0])}


def _ranked(inputs: Mapping[str, Any]) -> list[str]:
    question_words = content_words(inputs["question"])
    shares = {
        n: recall(question_words, content_words(text)) for n, text in inputs["passages"].items()
    }
    return sorted(shares, key=lambda number: -shares[number])
