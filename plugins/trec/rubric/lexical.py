"""The lexical baselines of the judges that grade criteria and that write them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from ....judges.lexical.overlap import (
    NUGGET_FULL,
    NUGGET_PARTIAL,
    content_words,
    recall,
    stem,
)
from ....judges.lexical.segments import sentences
from .rubrics import BinaryCriterionMatch, CriterionMatch

# Words of criteria about the answer itself, which the answer does not have to contain.
_DOES = """address analyse analyze answer cite compare contain cover define describe discuss
evaluate explain give identify include list mention name note outline present provide recommend
reference report response should show specify state suggest summarise summarize text use"""
_ABOUT = frozenset(stem(word) for word in _DOES.split())
_SAYS = re.compile(
    r"(?:the )?(?:answer|report|response)?\s*(?:clearly |correctly |explicitly )?"
    r"(?:explains|mentions|notes|says|states)(?: that)?:?\s+",
    re.IGNORECASE,
)
WEIGHT = 1  # of a criterion that a rule writes


def find_required_text(criterion: str) -> str:
    """Return what an answer should say: a criterion without its first words, such as "States that".

    Without such first words, return the whole criterion.

    >>> find_required_text("The response states that the dam broke in 1976.")
    'the dam broke in 1976.'
    """
    match = _SAYS.match(criterion)
    return criterion[match.end() :] if match else criterion


@lru_cache(maxsize=4096)
def find_wanted_words(criterion: str) -> frozenset[str]:
    """Return the content words that an answer must have; all words if no others remain."""
    return content_words(criterion) - _ABOUT or content_words(criterion)


def grade_criteria(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Give three grades by the share of a criterion's words in the response, cut as for nuggets."""
    return {"verdicts": {key: _grade(share) for key, share in _shares(inputs).items()}}


def grade_binary_criteria(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Give two grades, at the cut of met."""
    labels = BinaryCriterionMatch.NOT_MET, BinaryCriterionMatch.MET
    return {"verdicts": {k: labels[share >= NUGGET_FULL] for k, share in _shares(inputs).items()}}


def score_criteria(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the share that the grades use, for each criterion, in [0, 1]."""
    return {"verdicts": _shares(inputs)}


def write_criteria(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Write a criterion for each of the `wanted` new sentences with most words of the question."""
    question_words, existing = content_words(inputs["question"]), {*inputs["known"]}
    texts = [text for document in inputs["documents"] for text in sentences(document)]
    texts = [text for text in dict.fromkeys(texts) if f"States that: {text}" not in existing]
    best = sorted(texts, key=lambda text: -len(question_words & content_words(text)))
    chosen = set(best[: inputs["wanted"]])
    return {
        "criteria": [
            {"text": f"States that: {text}", "weight": WEIGHT, "kind": "three_way"}
            for text in texts
            if text in chosen
        ]
    }


def _shares(inputs: Mapping[str, Any]) -> dict[str, float]:
    words = content_words(inputs["response"])
    return {key: recall(find_wanted_words(text), words) for key, text in inputs["criteria"].items()}


def _grade(share: float) -> CriterionMatch:
    if share >= NUGGET_FULL:
        return CriterionMatch.MET
    return CriterionMatch.PARTLY if share >= NUGGET_PARTIAL else CriterionMatch.NOT_MET
