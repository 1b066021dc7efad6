"""Rerankers for diversity: MMR, and greedy coverage of sub-questions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..defaults import WEIGHT
from ..fusion import check_ranked, min_max
from ..scored import Encoder, Ranked, Scored, Vectors

Relevance = Literal["scores", "encoder"]


class Mmr:
    """Choose, step by step, the passage with the highest marginal relevance (MMR).

    It is weight * relevance - (1 - weight) * the highest cosine with a chosen passage; ties stay in
    the given order. This value becomes the passage's score; for the first passage, the highest
    cosine counts as -1. So scores never rise, and lie within [-1, 1].

    Args:
        encoder: makes the vectors; only their cosines matter, not their lengths.
        weight: of relevance, in [0, 1]; 1: relevance only.
        hits: number of passages to keep, >= 1; None: all.
        relevance: "scores": the given scores, rescaled to [0, 1] (min-max), so that they are
            comparable with cosines; "encoder": the cosine of query and passage, as in the paper.

    Raises: ValueError for a weight, hits or relevance out of range.
    Source: Carbonell and Goldstein (SIGIR 1998), doi:10.1145/290941.291025.

    >>> from nuggetjudge.retrieval import HashingEncoder
    >>> ranked = [Scored("a", 3.0), Scored("b", 2.9), Scored("c", 2.0)]
    >>> texts = {"a": "a cat sat", "b": "the cat sat", "c": "dogs bark"}
    >>> [one.passage_id for one in Mmr(HashingEncoder()).rerank("pets", ranked, texts)]
    ['a', 'c', 'b']
    """

    def __init__(
        self,
        encoder: Encoder,
        *,
        weight: float = 0.5,
        hits: int | None = None,
        relevance: Relevance = "scores",
    ) -> None:
        if not 0 <= weight <= 1:
            raise ValueError(f"weight is {weight}, wanted a number from 0 to 1")
        if hits is not None and hits < 1:
            raise ValueError(f"hits must be 1 or more, got {hits}")
        if relevance not in ("scores", "encoder"):
            raise ValueError(f"relevance is {relevance!r}, wanted scores or encoder")
        self.encoder = encoder
        self.weight = weight
        self.hits = hits
        self.relevance = relevance

    def rerank(self, query: str, ranked: Sequence[Scored], texts: Mapping[str, str]) -> Ranked:
        """Rerank the passages.

        Raises: ValueError for a passage that is repeated, has no text, or has no finite score.
        """
        check_ranked(ranked)
        for position, (name, _) in enumerate(ranked):
            if name not in texts:
                raise ValueError(f"ranked[{position}]: passage {name!r} has no text")
        if not ranked:
            return []
        vectors = _of_length_one(self.encoder.passages([texts[one.passage_id] for one in ranked]))
        if self.relevance == "scores":
            relevance = np.array(min_max([one.score for one in ranked]))
        else:
            relevance = _cosines(vectors, _of_length_one(self.encoder.queries([query]))[0])
        taken: Ranked = []
        left = np.ones(len(ranked), bool)
        highest = np.full(len(ranked), -1.0)  # with the chosen passages
        for _ in ranked[: self.hits]:
            values = self.weight * relevance - (1 - self.weight) * highest
            best = int(np.argmax(np.where(left, values, -np.inf)))
            taken.append(Scored(ranked[best].passage_id, float(values[best])))
            left[best] = False
            highest = np.maximum(highest, _cosines(vectors, vectors[best]))
        return taken


def _of_length_one(vectors: Vectors) -> NDArray[np.float64]:
    """Rows of length 1; a row of zeros stays zero, with cosine 0 to all."""
    rows = vectors.astype(np.float64)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    np.divide(rows, lengths, out=rows, where=lengths > 0)
    return rows


def _cosines(vectors: NDArray[np.float64], one: NDArray[np.float64]) -> NDArray[np.float64]:
    """Cosine of every row with one vector, in [-1, 1] despite rounding."""
    cosines: NDArray[np.float64] = np.clip(vectors @ one, -1, 1)
    return cosines


HIGHEST_RATING = 5  # arXiv:2506.20051: sub-questions are rated from 0 to 5


def greedy_coverage(
    ranked: Sequence[Scored],
    ratings: Mapping[str, Sequence[float | None]],
    *,
    weight: float = WEIGHT,
    scale: float = HIGHEST_RATING,
    hits: int | None = None,
) -> Ranked:
    """Choose at each step the passage that adds most to the answers of the chosen passages.

    The value of a set of passages: (1 - weight) times the sum over questions of its best rating /
    scale, plus weight times the sum of its relevance, the min-max of the given scores. With weight
    0.5, the relevance of the most relevant passage counts as much as one fully answered question.
    An unknown rating adds nothing. Ties: the given order.

    The value never falls and gains shrink as the set grows, so the first n passages have at
    least 1 - 1/e = 63 % of the value of the best n, for each n.

    Args:
        ranked: best first.
        ratings: passage id -> a rating per question in [0, scale], None if unknown; all
            lists of equal length. A passage without a list has no known rating.
        weight: of relevance, in [0, 1]; 1 keeps the order by scores.
        scale: the highest rating, > 0.
        hits: number of passages to keep, >= 1; None: all.

    Returns: passages in the order of choice, each with its gain as its score; scores never rise.
    Raises: ValueError for a weight, scale, hits, score or rating out of range, a passage twice, or
        lists of unequal length; it names the position.
    Source: arXiv:2506.20051 (CRUX) asks for rankings by coverage; the bound is from Nemhauser,
        Wolsey and Fisher (1978), doi:10.1007/BF01588971.

    >>> ranked = [Scored("a", 3.0), Scored("b", 2.0), Scored("c", 1.0)]
    >>> ratings = {"a": [5, 0], "b": [5, 1], "c": [0, 4]}
    >>> [one.passage_id for one in greedy_coverage(ranked, ratings, weight=0.0)]
    ['b', 'c', 'a']
    """
    _check(weight, scale, hits)
    check_ranked(ranked)
    rises = _matrix(ranked, ratings, scale)
    relevance = np.array(min_max([one.score for one in ranked]))
    best = np.zeros(rises.shape[1])
    left = list(range(len(ranked)))
    taken: Ranked = []
    while left and (hits is None or len(taken) < hits):
        gains = np.maximum(rises[left] - best, 0).sum(axis=1)
        worth = (1 - weight) * gains + weight * relevance[left]
        step = int(worth.argmax())  # the first among equals
        position = left.pop(step)
        taken.append(Scored(ranked[position].passage_id, float(worth[step])))
        best = np.maximum(best, rises[position])
    return taken


def _matrix(
    ranked: Sequence[Scored], ratings: Mapping[str, Sequence[float | None]], scale: float
) -> NDArray[np.float64]:
    """(n_passages, n_questions) ratings / scale; unknown ratings are 0 and add nothing."""
    rated = [(name, ratings[name]) for name, _ in ranked if name in ratings]
    n_questions = len(rated[0][1]) if rated else 0
    for name, row in rated:
        if len(row) != n_questions:
            what = f"{len(row)} ratings, wanted {n_questions} like {rated[0][0]!r}"
            raise ValueError(f"passage {name!r}: {what}")
        for question, rating in enumerate(row):
            if rating is not None and not 0 <= rating <= scale:
                what = f"rating {rating} of question {question}, wanted 0 to {scale} or None"
                raise ValueError(f"passage {name!r}: {what}")
    nothing = [None] * n_questions
    rows = [[rating or 0.0 for rating in ratings.get(name, nothing)] for name, _ in ranked]
    return np.array(rows, dtype=np.float64).reshape(len(ranked), n_questions) / scale


def _check(weight: float, scale: float, hits: int | None) -> None:
    if not 0 <= weight <= 1:
        raise ValueError(f"weight is {weight}, wanted 0 to 1")
    if not 0 < scale < math.inf:
        raise ValueError(f"scale is {scale}, wanted a finite number above 0")
    if hits is not None and hits < 1:
        raise ValueError(f"hits must be 1 or more, got {hits}")
