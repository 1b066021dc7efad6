"""Fuses several rankings into one, by ranks or by scores, and cuts a ranking to a token budget."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from .defaults import RRF_K, Norm
from .scored import Ranked, Scored, best_first


def reciprocal_rank(
    rankings: Sequence[Sequence[Scored]], *, k: float = RRF_K, hits: int | None = None
) -> Ranked:
    """Fuse rankings by reciprocal rank: a passage's score is the sum of 1 / (k + its rank).

    The scores of the rankings do not matter. A passage that a ranking lacks gets 0 there.
    Passages with equal scores keep the order of the first ranking, then of the second, and so on.

    Args:
        rankings: of one query, each best first; ranks count from 1.
        k: > -1; a higher k gives the first ranks less advantage.
        hits: number of passages to keep, >= 1; None: all.

    Returns: scores in (0, n_rankings / (k + 1)], best first.
    Raises: ValueError for k or hits out of range, or a passage twice in a ranking; with its
        position.
    Source: Cormack, Clarke and Büttcher (SIGIR 2009), doi:10.1145/1571941.1572114.

    >>> reciprocal_rank([[Scored("a", 9.0), Scored("b", 8.0)], [Scored("b", 0.7)]], k=1)
    [Scored(passage_id='b', score=0.8333333333333333), Scored(passage_id='a', score=0.5)]
    """
    _check(rankings, hits)
    if not k > -1:
        raise ValueError(f"k is {k}, wanted a number above -1")
    earned: dict[str, list[float]] = {}
    for ranked in rankings:
        for rank, one in enumerate(ranked, 1):
            earned.setdefault(one.passage_id, []).append(1 / (k + rank))
    return best_first({name: math.fsum(parts) for name, parts in earned.items()}, hits)


def fuse_weighted(
    rankings: Sequence[Sequence[Scored]],
    weights: Sequence[float],
    *,
    norm: Norm = "min-max",
    hits: int | None = None,
) -> Ranked:
    """Fuse rankings by a weighted sum of scores, which are normalised within each ranking first.

    A passage that a ranking lacks gets 0 there, or the lowest score of that ranking if that score
    is below 0, as with z: being found never lowers a passage.
    Passages with equal scores keep the order of the first ranking, then of the second, and so on.

    Args:
        rankings: of one query, each best first, with finite scores.
        weights: one per ranking, finite, >= 0, not all 0; they need not sum to 1.
        norm: "min-max": (s - min) / (max - min), equal scores all 1; "z": (s - mean) / standard
            deviation of the population, equal scores all 0; "max": s / max; "none": s.
        hits: the number of passages to keep, >= 1; None: all.

    Returns: the weighted sums, best first.
    Raises: ValueError for a number or kind of weights, a norm, a score or hits out of range, a
        passage twice in a ranking, or a best score <= 0 with "max"; it names the position.
    Source: CombSUM of Fox and Shaw (TREC-2, 1993), weighted.
    Differs: ranx gives equal scores 0 with min-max, so that a passage found alone counts as not
        found; and it always gives a missing passage 0, which is the mean score with z.

    >>> fuse_weighted([[Scored("a", 9.0), Scored("b", 7.0)], [Scored("b", 0.7)]], [1.0, 0.5])
    [Scored(passage_id='a', score=1.0), Scored(passage_id='b', score=0.5)]
    """
    _check(rankings, hits)
    if len(weights) != len(rankings):
        raise ValueError(f"{len(weights)} weights for {len(rankings)} rankings")
    for i, weight in enumerate(weights):
        if not (math.isfinite(weight) and weight >= 0):
            raise ValueError(f"weights[{i}] is {weight}, wanted a finite number >= 0")
    if weights and not any(weights):
        raise ValueError("all weights are 0, wanted one above 0")
    if norm not in _NORMS:
        raise ValueError(f"norm is {norm!r}, wanted one of {', '.join(_NORMS)}")
    names = dict.fromkeys(one.passage_id for ranked in rankings for one in ranked)
    earned: dict[str, list[float]] = {name: [] for name in names}
    for i, (ranked, weight) in enumerate(zip(rankings, weights, strict=True)):
        scores = [one.score for one in ranked]
        if norm == "max" and scores and max(scores) <= 0:
            raise ValueError(f"rankings[{i}]: the best score is {max(scores)}, norm max needs > 0")
        normed = _NORMS[norm](scores)
        absent = min(0.0, *normed) if normed else 0.0
        by_id = dict(zip((one.passage_id for one in ranked), normed, strict=True))
        for name, parts in earned.items():
            parts.append(weight * by_id.get(name, absent))
    return best_first({name: math.fsum(parts) for name, parts in earned.items()}, hits)


def min_max(scores: Sequence[float]) -> list[float]:
    """Rescale scores to [0, 1]; equal scores are all 1.

    >>> min_max([9.0, 8.0, 5.0])
    [1.0, 0.75, 0.0]
    """
    low, high = min(scores, default=0.0), max(scores, default=0.0)
    return [(score - low) / (high - low) if high > low else 1.0 for score in scores]


def check_ranked(ranked: Sequence[Scored], which: str = "ranked") -> None:
    """Raise ValueError, with the position, for a repeated passage or a score that is not finite."""
    seen: set[str] = set()
    for position, (name, score) in enumerate(ranked):
        if name in seen:
            raise ValueError(f"{which}[{position}]: passage {name!r} occurs twice")
        if not math.isfinite(score):
            raise ValueError(f"{which}[{position}]: score {score}, wanted a finite number")
        seen.add(name)


def _z(scores: Sequence[float]) -> list[float]:
    if len(set(scores)) < 2:  # the mean of equal scores may differ from them by rounding
        return [0.0] * len(scores)
    mean = math.fsum(scores) / len(scores)
    spread = math.hypot(*(score - mean for score in scores)) / math.sqrt(len(scores))
    return [(score - mean) / spread if spread else 0.0 for score in scores]


def _max(scores: Sequence[float]) -> list[float]:
    return [score / max(scores) for score in scores]


_NORMS: dict[str, Callable[[Sequence[float]], list[float]]] = {
    "min-max": min_max,
    "z": _z,
    "max": _max,
    "none": list,
}


def _check(rankings: Sequence[Sequence[Scored]], hits: int | None) -> None:
    if hits is not None and hits < 1:
        raise ValueError(f"hits must be 1 or more, got {hits}")
    for i, ranked in enumerate(rankings):
        check_ranked(ranked, f"rankings[{i}]")


def within_tokens(
    ranked: Sequence[Scored], texts: Mapping[str, str], limit: int, count: Callable[[str], int]
) -> Ranked:
    """Cut a ranking to a token budget: keep the first passages that fit together.

    No passage is shortened, and none is skipped for a shorter passage below: if the first passage
    is too long, the context is empty.

    Args:
        ranked: the passages, best first.
        texts: passage id -> text, for every passage up to the limit.
        limit: the maximum number of tokens, >= 0.
        count: a function that counts the tokens of a text, such as
            `metrics.token_counter("words")`.

    Returns: the kept passages, best first.
    Raises: ValueError for a limit below 0 or a passage without text; it names the passage.

    >>> texts = {"a": "one two", "b": "three", "c": "four"}
    >>> ranked = [Scored("a", 3.0), Scored("b", 2.0), Scored("c", 1.0)]
    >>> within_tokens(ranked, texts, 3, lambda text: len(text.split()))
    [Scored(passage_id='a', score=3.0), Scored(passage_id='b', score=2.0)]
    """
    if limit < 0:
        raise ValueError(f"limit must be 0 or more tokens, got {limit}")
    n_tokens = 0
    for position, (name, _) in enumerate(ranked):
        if name not in texts:
            raise ValueError(f"ranked[{position}]: passage {name!r} has no text")
        n_tokens += count(texts[name])
        if n_tokens > limit:
            return list(ranked[:position])
    return list(ranked)
