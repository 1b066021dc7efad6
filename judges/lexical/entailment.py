"""The rule-based twins of the judges of key points and claims: the words that two texts share.

docs/lexical.md says how the cut was chosen and shows the fit.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from ...records.key_points import PointEntailment
from ..labels import ClaimMatch, PointUse
from .answers import subject_words
from .nuggets_and_citations import content_words, recall
from .segments import sentences

STATED = 0.52  # overlap from which a text states a point
HALF_SURE = 0.4  # shared words that make a point half sure to answer a question

_NO_LETTERS = re.compile(r"[\W_]+")
_NUMBER = re.compile(r"\A\d+\. ")


def stated(point: str, text: str, weights: Mapping[str, float] = MappingProxyType({})) -> float:
    """How much of a point a text holds, in [0, 1].

    The mean of two shares: of the point's content words by weight, and of its runs of three
    letters, which see inflections, compounds and word order.

    Args:
        weights: of `overlap.word_weights`; {}: all words weigh the same.
    """
    heaviest = max(weights.values(), default=1.0)
    worth = {word: weights.get(word, heaviest) for word in content_words(point)}
    shared = worth.keys() & content_words(text)
    words = math.fsum(worth[word] for word in shared) / (math.fsum(worth.values()) or 1.0)
    return (words + recall(_triples(point), _triples(text))) / 2


def judge_point(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Yes by the overlap of key point and response, with the sentence that shares most words.

    Counting words cannot tell what contradicts a point from what is silent on it: the other label
    is always neutral.
    """
    evidence_and_label = _entailment(inputs["key_point"], inputs["response"])
    return dict(zip(("evidence", "verdict"), evidence_and_label, strict=True))


def judge_points(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The same for each of a list of key points."""
    by_number = {
        i: _entailment(text, inputs["response"]) for i, text in inputs["key_points"].items()
    }
    return {
        "evidence": {i: evidence for i, (evidence, _) in by_number.items()},
        "verdicts": {i: label for i, (_, label) in by_number.items()},
    }


def filter_point(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Yes where the key point and what the question is about share a content word."""
    return {"verdict": PointUse.YES if score_filter(inputs)["verdict"] > 0 else PointUse.NO}


def score_filter(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """n / (n + 0.4) for n shared words: 0 for none, 0.71 for one, 0.83 for two."""
    question_words = content_words(subject_words(inputs["question"]))
    n = len(question_words & content_words(inputs["key_point"]))
    return {"verdict": n / (n + HALF_SURE)}


def judge_claims(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Yes by the overlap of each claim with the key point that is nearest to it."""
    scores = score_claims(inputs)["verdicts"]
    return {
        "verdicts": {i: ClaimMatch.YES if s >= STATED else ClaimMatch.NO for i, s in scores.items()}
    }


def score_claims(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The most that claim and a key point overlap: how much the longer holds of the shorter.

    A claim is one statement, so it need not have all the words of a key point that is longer.
    """
    points = _points(inputs["key_points"])
    return {
        "verdicts": {
            i: max((_shared(claim, point) for point in points), default=0.0)
            for i, claim in inputs["claims"].items()
        }
    }


def nearest_point(claim: str, key_points: str) -> str:
    """The one of numbered key points that a claim overlaps most, "" if there is none."""
    return max(_points(key_points), key=lambda point: _shared(claim, point), default="")


def _points(key_points: str) -> list[str]:
    return [_NUMBER.sub("", line) for line in key_points.splitlines()]


def _shared(claim: str, point: str) -> float:
    shorter, longer = sorted((claim, point), key=len)
    return stated(shorter, longer)


def _entailment(point: str, response: str) -> tuple[str, PointEntailment]:
    if stated(point, response) < STATED:
        return "", PointEntailment.NEUTRAL
    needed = content_words(point)
    evidence = max(sentences(response), key=lambda text: len(needed & content_words(text)))
    return evidence, PointEntailment.YES


@lru_cache(maxsize=4096)
def _triples(text: str) -> frozenset[str]:
    plain = _NO_LETTERS.sub(" ", text.casefold()).strip()
    return frozenset(map("".join, zip(plain, plain[1:], plain[2:], strict=False)))
