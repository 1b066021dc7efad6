"""Labels of several judges of one item: combined, weighted, and how much they say together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

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


Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

LEAST_ITEMS, LEAST_MEMBERS = 100, 3  # below, confusion matrices are guesses
MOST_STEPS = 1000
CHANGE = 1e-6  # of a probability, below which EM ends
NEVER = 1e-10  # stands for a probability of 0, whose log there is none of


@dataclass(frozen=True)
class DawidSkene:
    """What EM ended with.

    Attributes:
        probabilities: (n, k) of each item's label.
        shares: (k,) of the labels.
        confusions: (m, k, k) probability that a judge says the column where the row is true; a row
            of a label that no item has is 0.
        log_likelihood: of all votes, natural log.
        n_steps: of EM. converged: whether it ended before the most that it may take.
    """

    probabilities: Floats
    shares: Floats
    confusions: Floats
    log_likelihood: float
    n_steps: int
    converged: bool

    @property
    def codes(self) -> Codes:
        """(n,) the likeliest label of each item, of equally likely ones the worst."""
        likeliest: Codes = self.probabilities.argmax(1)
        return likeliest


def dawid_skene(votes: Codes, k: int, *, most_steps: int = MOST_STEPS) -> DawidSkene:
    """The likeliest labels, where each judge has a confusion matrix of its own.

    Judges are taken to err independently, given the truth. Where they err together, as models do,
    the probabilities are far too sure, and EM may settle on what the judges share instead of the
    truth: beside labels of people it has to be shown, not trusted.

    Args:
        votes: (n, m) codes 0..k-1, -1 where a judge gave none; each item has one at least.

    Raises: ValueError for a code out of range, or an item without votes; it names the index.
    Source: Dawid and Skene, "Maximum likelihood estimation of observer error-rates using the EM
        algorithm" (1979): maximum likelihood, begun at the shares of the votes, nothing smoothed.
    """
    if votes.ndim != 2 or not votes.size:
        raise ValueError(f"wanted items by judges, got {votes.shape}")
    for i, j in np.argwhere((votes < -1) | (votes >= k)):
        raise ValueError(f"votes[{i}, {j}] is {votes[i, j]}, wanted -1 to {k - 1}")
    for i in np.flatnonzero((votes < 0).all(1)):
        raise ValueError(f"votes[{i}] is empty: nobody labelled the item")
    n, m = votes.shape
    by_judge = (votes[:, :, None] == np.arange(k)).astype(np.float64)
    one_hot, chances = by_judge.reshape(n, m * k), by_judge.sum(1)
    chances /= chances.sum(1, keepdims=True)
    n_steps, change = 0, 1.0
    while n_steps < most_steps and change >= CHANGE:
        n_steps += 1
        shares = chances.mean(0)
        counts = (chances.T @ one_hot).reshape(k, m, k).swapaxes(0, 1)
        sums = counts.sum(2, keepdims=True)
        confusions = np.divide(counts, sums, out=np.zeros_like(counts), where=sums > 0)
        logs = np.log(np.maximum(confusions, NEVER))
        joint = np.log(np.maximum(shares, NEVER)) + one_hot @ logs.swapaxes(1, 2).reshape(m * k, k)
        highest = joint.max(1, keepdims=True)
        after = np.exp(joint - highest)
        likelihood = float((highest[:, 0] + np.log(after.sum(1))).sum())
        after /= after.sum(1, keepdims=True)
        change = float(np.abs(after - chances).max())
        chances = after
    return DawidSkene(chances, shares, confusions, likelihood, n_steps, change < CHANGE)


@dataclass(frozen=True)
class EffectiveVotes:
    """`value` independent judges say as much as the `n_members` at hand; None: not known.

    `correlation` is the mean over the pairs of members whose errors both vary, None without any.
    """

    n_members: int
    value: float | None
    correlation: float | None


def effective_votes(errors: NDArray[np.float64]) -> EffectiveVotes:
    """The effective number of judges, m / (1 + (m - 1) r), r the mean correlation of their errors.

    Args:
        errors: (n, m) 1 where a judge's label is wrong, 0 where it is right, nan where it gave
            none. A pair is correlated over the items that both labelled.

    Where errors go against each other (r < 0) the value is above m; None from r = -1 / (m - 1) on,
    where errors cancel out.
    Source: Kish, "Survey Sampling" (1965), the design effect of equally correlated values.

    >>> same = np.array([[1.0, 1.0], [0.0, 0.0], [1.0, 1.0], [0.0, 0.0]])
    >>> effective_votes(same).value
    1.0
    """
    m = errors.shape[1]
    correlations = [
        r
        for i in range(m)
        for j in range(i + 1, m)
        if (r := _correlation(errors[:, i], errors[:, j])) is not None
    ]
    if m < 2 or not correlations:
        return EffectiveVotes(m, float(m) if m == 1 else None, None)
    mean = float(np.mean(correlations))
    effect = 1 + (m - 1) * mean
    return EffectiveVotes(m, m / effect if effect > 0 else None, mean)


def _correlation(one: NDArray[np.float64], other: NDArray[np.float64]) -> float | None:
    both = ~np.isnan(one) & ~np.isnan(other)
    x, y = one[both], other[both]
    if len(x) < 2 or not np.ptp(x) or not np.ptp(y):
        return None
    return float(np.corrcoef(x, y)[0, 1])
