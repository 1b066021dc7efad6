"""How many independent judges a jury is worth, when its members err together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


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
