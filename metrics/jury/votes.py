"""The label of several votes: the one most gave, the middle one, or the one nearest the mean."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Literal, get_args

How = Literal["vote", "median", "mean"]
Ties = Literal["between", "worst", "unjudged"]
HOWS: tuple[How, ...] = get_args(How)
TIES: tuple[Ties, ...] = get_args(Ties)
EQUAL = 1e-9  # sums of weights, and places, that differ by less are equal, but for rounding


def combined(
    votes: Sequence[int], k: int, how: How, ties: Ties = "between", weights: Sequence[float] = ()
) -> int | None:
    """The label that votes give together.

    Args:
        votes: 1 or more codes 0..k-1, the worst label first.
        how: `vote`: the label that most gave; `median`: the middle one; `mean`: the one nearest
            the mean of the codes.
        ties: where two or more labels have equally many votes, lie in the middle, or are equally
            near the mean: `between`: the one of them nearest the mean (of a vote among labels that
            tie; of a median among all from one middle label to the other), and of two equally near
            ones the worse; `worst`: the worst of them; `unjudged`: none.
        weights: how much each vote counts, >= 0, not all 0; (): 1.

    Returns: the code; None for a tie under `unjudged`.
    Raises: ValueError without votes, or without any weight.

    >>> combined([0, 0, 2, 2, 3], 4, "vote"), combined([0, 0, 2, 2, 3], 4, "vote", "unjudged")
    (2, None)
    >>> combined([0, 3], 4, "median"), combined([0, 0, 3], 4, "mean")
    (1, 1)
    >>> combined([0, 1], 2, "vote", weights=[0.2, 0.3])
    1
    """
    shares = masses(votes, k, weights)
    total = sum(shares)
    if total <= 0:
        raise ValueError("wanted a vote that counts, got none")
    mean = sum(code * share for code, share in enumerate(shares)) / total
    if how == "vote":
        tied = [code for code, share in enumerate(shares) if share >= max(shares) - EQUAL]
    elif how == "median":
        reached = list(accumulate(shares))
        low = next(code for code, sum_ in enumerate(reached) if sum_ >= total / 2 - EQUAL)
        high = next(code for code, sum_ in enumerate(reached) if sum_ > total / 2 + EQUAL)
        tied = list(range(low, high + 1))
    else:
        away = [abs(code - mean) for code in range(k)]
        tied = [code for code in range(k) if away[code] <= min(away) + EQUAL]
    if len(tied) == 1:
        return tied[0]
    if ties == "unjudged":
        return None
    if ties == "worst":
        return tied[0]
    nearest = min(abs(code - mean) for code in tied)
    return next(code for code in tied if abs(code - mean) <= nearest + EQUAL)


def masses(votes: Sequence[int], k: int, weights: Sequence[float] = ()) -> list[float]:
    """The sum of the weights of each label's votes, (k,)."""
    sums = [0.0] * k
    for code, weight in zip(votes, weights or [1.0] * len(votes), strict=True):
        sums[code] += weight
    return sums
