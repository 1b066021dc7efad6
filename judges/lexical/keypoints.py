"""Lexical baselines of the judges of key points and claims: the words that two texts share.

docs/benchmarks/lexical-judge.md says how the cut-off was chosen and shows its fit.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from ...records.key_points import PointEntailment
from ..labels import ClaimMatch, PointUse
from .clauses import MAX_WORDS, statements
from .overlap import content_words, recall, update_nuggets
from .questions import subject_words
from .segments import n_words, sentences

STATED = 0.52  # lowest overlap at which a text states a point
HALF_SURE = 0.4  # shared words at which the score is 0.5

_NO_LETTERS = re.compile(r"[\W_]+")
_NUMBER = re.compile(r"\A\d+\. ")


def measure_stated(
    point: str, text: str, weights: Mapping[str, float] = MappingProxyType({})
) -> float:
    """Measure how much of a point a text contains, in [0, 1].

    The mean of two shares: of the point's content words by weight, and of its three-letter
    sequences, which capture inflections, compounds and word order.
    letters, which see inflections, compounds and word order.

    Args:
        weights: from `overlap.word_weights`; {}: all words weigh the same.
    """
    heaviest = max(weights.values(), default=1.0)
    worth = {word: weights.get(word, heaviest) for word in content_words(point)}
    shared = worth.keys() & content_words(text)
    words = math.fsum(worth[word] for word in shared) / (math.fsum(worth.values()) or 1.0)
    return (words + recall(_triples(point), _triples(text))) / 2


def judge_point(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Yes if key point and response overlap enough; quotes the sentence that shares most words.

    Counting words cannot distinguish a contradiction from silence: the other label is always
    neutral.
    """
    evidence_and_label = _entailment(inputs["key_point"], inputs["response"])
    return dict(zip(("evidence", "verdict"), evidence_and_label, strict=True))


def judge_points(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Judge each point of a list like `judge_point`."""
    by_number = {
        i: _entailment(text, inputs["response"]) for i, text in inputs["key_points"].items()
    }
    return {
        "evidence": {i: evidence for i, (evidence, _) in by_number.items()},
        "verdicts": {i: label for i, (_, label) in by_number.items()},
    }


def filter_point(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Yes if the key point and the subject of the question share a content word."""
    return {"verdict": PointUse.YES if score_filter(inputs)["verdict"] > 0 else PointUse.NO}


def score_filter(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """n / (n + 0.4) for n shared words: 0 for none, 0.71 for one, 0.83 for two."""
    question_words = content_words(subject_words(inputs["question"]))
    n = len(question_words & content_words(inputs["key_point"]))
    return {"verdict": n / (n + HALF_SURE)}


def judge_claims(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Yes if each claim overlaps enough with the key point nearest to it."""
    scores = score_claims(inputs)["verdicts"]
    return {
        "verdicts": {i: ClaimMatch.YES if s >= STATED else ClaimMatch.NO for i, s in scores.items()}
    }


def score_claims(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The largest overlap of the claim with a key point: how much the longer has of the shorter.

    A claim is one statement, so it need not have all the words of a key point that is longer.
    """
    points = _points(inputs["key_points"])
    return {
        "verdicts": {
            i: max((_measure_shared(claim, point) for point in points), default=0.0)
            for i, claim in inputs["claims"].items()
        }
    }


def nearest_point(claim: str, key_points: str) -> str:
    """The numbered key point that a claim overlaps most; "" if there is none."""
    return max(_points(key_points), key=lambda point: _measure_shared(claim, point), default="")


def _points(key_points: str) -> list[str]:
    return [_NUMBER.sub("", line) for line in key_points.splitlines()]


def _measure_shared(claim: str, point: str) -> float:
    shorter, longer = sorted((claim, point), key=len)
    return measure_stated(shorter, longer)


def _entailment(point: str, response: str) -> tuple[str, PointEntailment]:
    if measure_stated(point, response) < STATED:
        return "", PointEntailment.NEUTRAL
    needed = content_words(point)
    evidence = max(sentences(response), key=lambda text: len(needed & content_words(text)))
    return evidence, PointEntailment.YES


@lru_cache(maxsize=4096)
def _triples(text: str) -> frozenset[str]:
    plain = _NO_LETTERS.sub(" ", text.casefold()).strip()
    return frozenset(map("".join, zip(plain, plain[1:], plain[2:], strict=False)))


MAX_POINTS, MAX_POINT_WORDS = 10, 25  # points per window of a document; words per point
SAME = 0.5  # share of common words that merges two points; not fitted


def find_key_points(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The statements that say most, from the sentences with a word of the question.

    Each quotes its sentence. The result does not depend on the known points, so asking again
    adds nothing.
    """
    question_words = content_words(subject_words(inputs["question"]))
    rests_on: dict[str, str] = {}
    for text, sentence in _statements(inputs["document"]):
        if n_words(text) <= MAX_POINT_WORDS and question_words & content_words(sentence):
            rests_on.setdefault(text, sentence)
    listed = {"question": inputs["question"], "limit": MAX_POINTS, "passages": {}}
    best = set(update_nuggets({**listed, "nuggets": list(rests_on)})["updated"])
    new = best.difference(inputs["known"])
    return {
        "points": [
            {"text": text, "spans": [span]} for text, span in rests_on.items() if text in new
        ]
    }


def merge_points(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Merge each point into the first group whose first point shares half of its words.

    The words of the question do not count. A group gets the text of its point with most words.
    """
    question_words = content_words(inputs["question"])
    words = {
        number: content_words(text) - question_words or content_words(text)
        for number, text in inputs["points"].items()
    }
    groups: list[list[str]] = []
    for number, own in words.items():
        same = (g for g in groups if len(own & words[g[0]]) >= SAME * len(own | words[g[0]]))
        if (group := next(same, None)) is not None:
            group.append(number)
        else:
            groups.append([number])
    return {
        "merged": [
            {
                "text": inputs["points"][max(group, key=lambda number: len(words[number]))],
                "members": [int(number) for number in group],
            }
            for group in groups
        ]
    }


def extract_claims(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The statements of the answer in order, each once; pronouns are not resolved."""
    return {"claims": list(dict.fromkeys(text for text, _ in _statements(inputs["answer"])))}


def _statements(text: str) -> Iterator[tuple[str, str]]:
    """Each statement with its sentence; a long sentence without a statement counts as one."""
    for sentence in sentences(text):
        is_whole = n_words(sentence) > MAX_WORDS and sentence[-1] in ".!"
        texts = statements(sentence) or ([" ".join(sentence.split())] if is_whole else [])
        for statement in texts:
            yield statement, sentence
