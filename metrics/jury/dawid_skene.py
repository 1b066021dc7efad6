"""Labels from judges of unequal skill without any truth: Dawid and Skene's model, by EM."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

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
