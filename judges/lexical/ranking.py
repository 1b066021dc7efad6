"""The rule-based twins of judges that set texts side by side, by their words; no model.

A ranker goes by how many of the question's words a passage holds; passages with the same share stay
in the order in which they stand. The battle judge takes the answer that says more: it counts the
distinct content words of each and reads neither question nor criteria, so that it sees no error.
Which answer stands first means nothing to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .nuggets_and_citations import content_words, recall

CLEARLY = 0.55  # share of the words of both that the better answer has


def order_passages(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """All numbers, by falling share of the question's content words."""
    return {"order": [int(number) for number in _ranked(inputs)]}


def best_passage(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The number of the passage with the largest share."""
    return {"best": int(_ranked(inputs)[0])}


def judge_battle(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The answer with more distinct content words, where it has clearly more."""
    share = _share(inputs)
    verdict = "a" if share >= CLEARLY else "b" if 1 - share >= CLEARLY else "tie"
    return {"verdict": verdict}


def score_battle(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The share of answer A in the words of both, by which `judge_battle` goes."""
    return {"verdict": _share(inputs)}


def _ranked(inputs: Mapping[str, Any]) -> list[str]:
    question_words = content_words(inputs["question"])
    shares = {
        n: recall(question_words, content_words(text)) for n, text in inputs["passages"].items()
    }
    return sorted(shares, key=lambda number: -shares[number])


def _share(inputs: Mapping[str, Any]) -> float:
    one, other = (len(content_words(inputs[name])) for name in ("answer_a", "answer_b"))
    return one / (one + other) if one + other else 0.5
