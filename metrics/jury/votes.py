"""The label of several votes: the one most gave, the middle one, or the one nearest the mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

How = Literal["vote", "median", "mean"]
Ties = Literal["between", "worst", "unjudged"]
HOWS: tuple[How, ...] = get_args(How)
TIES: tuple[Ties, ...] = get_args(Ties)
EQUAL = 1e-9  # places that differ by less are equal, but for rounding


def combined(votes: Sequence[int], k: int, how: How, ties: Ties = "between") -> int | None:
    """The label that votes give together.

    Args:
        votes: 1 or more codes 0..k-1, the worst label first.
        how: `vote`: the label that most gave; `median`: the middle one; `mean`: the one nearest
            the mean of the codes.
        ties: where two or more labels have equally many votes, lie in the middle, or are equally
            near the mean: `between`: the one of them nearest the mean (of a vote among labels that
            tie; of a median among all from one middle label to the other), and of two equally near
            ones the worse; `worst`: the worst of them; `unjudged`: none.

    Returns: the code; None for a tie under `unjudged`.
    Raises: ValueError without votes.

    >>> combined([0, 0, 2, 2, 3], 4, "vote"), combined([0, 0, 2, 2, 3], 4, "vote", "unjudged")
    (2, None)
    >>> combined([0, 3], 4, "median"), combined([0, 0, 3], 4, "mean")
    (1, 1)
    """
    if not votes:
        raise ValueError("wanted a vote, got none")
    mean = sum(votes) / len(votes)
    if how == "vote":
        counts = [votes.count(code) for code in range(k)]
        tied = [code for code in range(k) if counts[code] == max(counts)]
    elif how == "median":
        middle = sorted(votes)[(len(votes) - 1) // 2 : len(votes) // 2 + 1]
        tied = list(range(middle[0], middle[-1] + 1))
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
