"""Rank for coverage: each passage for the questions that those before it leave open."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ..defaults import WEIGHT
from ..fusion import check_ranked, min_max
from ..scored import Ranked, Scored

HIGHEST_RATING = 5  # arXiv:2506.20051: sub-questions are rated from 0 to 5


def greedy_coverage(
    ranked: Sequence[Scored],
    ratings: Mapping[str, Sequence[float | None]],
    *,
    weight: float = WEIGHT,
    scale: float = HIGHEST_RATING,
    hits: int | None = None,
) -> Ranked:
    """Take at each step the passage that adds most to what the passages taken before answer.

    What a set of passages is worth: (1 - weight) times the sum over questions of its best rating /
    scale, plus weight times the sum of its relevance, which is the min-max of the scores that come
    in. With weight 0.5 the most relevant passage earns by its relevance as much as by answering
    one question in full. A rating that is not known adds nothing. Equal gains: the order given.

    That worth never falls and gains shrink as the set grows, so the first n passages are worth at
    least 1 - 1/e = 63 % of the best n there are, for each n.

    Args:
        ranked: best first.
        ratings: passage id -> a rating per question in [0, scale], None where it is not known; all
            lists as long. A passage without a list has no known rating.
        weight: of relevance, in [0, 1]; 1 keeps the order by scores.
        scale: the highest rating, > 0.
        hits: how many passages to keep, >= 1; None: all.

    Returns: passages in the order taken, with what each added as its score; scores never rise.
    Raises: ValueError for a weight, scale, hits, score or rating out of range, a passage twice, or
        lists of unequal length; it names the position.
    Source: arXiv:2506.20051 (CRUX) asks for rankings by coverage; the bound is that of Nemhauser,
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
        step = int(worth.argmax())  # the first of equals
        position = left.pop(step)
        taken.append(Scored(ranked[position].passage_id, float(worth[step])))
        best = np.maximum(best, rises[position])
    return taken


def _matrix(
    ranked: Sequence[Scored], ratings: Mapping[str, Sequence[float | None]], scale: float
) -> NDArray[np.float64]:
    """(n_passages, n_questions) ratings / scale, not known = 0, which adds nothing."""
    rated = [(name, ratings[name]) for name, _ in ranked if name in ratings]
    n_questions = len(rated[0][1]) if rated else 0
    for name, row in rated:
        if len(row) != n_questions:
            what = f"{len(row)} ratings, wanted {n_questions} as of {rated[0][0]!r}"
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
