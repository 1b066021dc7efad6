"""The rising curve nearest to values that rise on the whole, by its knots."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Rising:
    """A curve that never falls: straight between its knots, level beyond them.

    Attributes:
        knots: (k,) rising x of the knots. values: (k,) the curve there; none falls.
    """

    knots: Floats
    values: Floats

    def at(self, x: Floats) -> Floats:
        """(n,) the curve at x."""
        return np.interp(x, self.knots, self.values)


def fit_rising(x: ArrayLike, y: ArrayLike) -> Rising:
    """Isotonic regression of y (n,) on x (n,), both finite; equal x count as one, with their mean.

    Knots inside a level stretch are left out. Raises: ValueError for lengths that differ or none.
    Source: Barlow et al. (1972), computed by scipy.optimize.isotonic_regression.

    >>> fit_rising([1, 2, 3, 4], [0, 1, 0, 1]).values.tolist()
    [0.0, 0.5, 0.5, 1.0]
    """
    from scipy.optimize import isotonic_regression

    positions, at, times = np.unique(
        np.asarray(x, np.float64), return_inverse=True, return_counts=True
    )
    sums = np.bincount(at, np.asarray(y, np.float64))
    values = isotonic_regression(sums / times, weights=times).x
    inside = np.zeros(len(values), np.bool_)
    inside[1:-1] = (values[1:-1] == values[:-2]) & (values[1:-1] == values[2:])
    return Rising(positions[~inside], values[~inside])
