"""Least squares whose errors are by topic: what an error of a judge, or a change, goes with."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..bootstrap import (
    LEVEL,
    SIGNED,
    UNBOUNDED,
    Interval,
    jackknife_interval,
    student_interval,
)

Floats = NDArray[np.float64]

# Columns that explain each other up to this share are one: their effects cannot be told apart.
_SAME = 1e-9


@dataclass(frozen=True)
class Fit:
    """Coefficients of k columns, and what they are without each topic.

    `values` (k,), `without` (n_topics, k): nan where the rest cannot tell the columns apart.
    """

    values: Floats
    without: Floats = field(repr=False)
    n: int

    def error(self, column: int) -> float:
        """The standard error of a coefficient (CR3); nan for one topic, or where undefined.

        Source: Bell and McCaffrey, "Bias reduction in standard errors for linear regression with
        multi-stage samples" (2002), as the sum of squares of what leaving out a topic changes.
        Where each row is a topic of its own it is HC3 (MacKinnon and White 1985).
        """
        moved = self.without[:, column] - self.values[column]
        return math.sqrt(float(moved @ moved)) if len(moved) > 1 else math.nan

    def interval(self, column: int, *, level: float = LEVEL) -> Interval:
        """Student's t with one degree of freedom less than there are topics."""
        n_topics, value, error = len(self.without), float(self.values[column]), self.error(column)
        if math.isnan(error):
            return Interval(value, None, None, n_topics, level)
        return student_interval(value, error, n_topics, UNBOUNDED, level=level)


def least_squares(y: ArrayLike, columns: ArrayLike, topics: Sequence[str]) -> Fit | None:
    """Ordinary least squares, with topics as clusters.

    Args:
        y: (n,) what is explained.
        columns: (n, k); a constant is one only if it is among them.
        topics: (n,) of each row; rows of one topic are not independent.

    Returns: None where the columns cannot be told apart: one of them is constant beside another,
        or a sum of others, or there are fewer rows than columns.
    Raises: ValueError if lengths differ.

    >>> fit = least_squares([0.0, 1.0, 2.0, 5.0], [[1, 0], [1, 1], [1, 2], [1, 3]], list("abcd"))
    >>> fit.values.round(3).tolist(), round(fit.error(1), 3)
    ([-0.4, 1.6], 0.731)
    """
    x, target = np.asarray(columns, np.float64), np.asarray(y, np.float64)
    if not len(x) == len(target) == len(topics):
        raise ValueError(f"{len(target)} values, {len(x)} rows, {len(topics)} topics")
    size = np.abs(x).max(axis=0, initial=0.0)
    if len(x) < x.shape[1] or not (size > 0).all():
        return None
    x = x / size
    names, of_row = np.unique(np.asarray(topics), return_inverse=True)
    squares = np.zeros((len(names), x.shape[1], x.shape[1]))
    products = np.zeros((len(names), x.shape[1]))
    np.add.at(squares, of_row, x[:, :, None] * x[:, None, :])
    np.add.at(products, of_row, x * target[:, None])
    solution = _solved(squares.sum(axis=0)[None], products.sum(axis=0)[None])[0]
    if np.isnan(solution).any():
        return None
    without = _solved(squares.sum(axis=0) - squares, products.sum(axis=0) - products)
    return Fit(solution / size, without / size, len(x))


def mean_by_topic(
    values: ArrayLike, topics: Sequence[str] | None, *, level: float = LEVEL
) -> Interval:
    """The mean of n values in [-1, 1], with the interval by leaving out a topic at a time.

    Args:
        values: (n,) differences of shares or gains; of none the mean is None.
        topics: (n,) of each value; None: not known, there are no bounds.

    >>> interval = mean_by_topic([0.0, 0.5, 1.0], ["a", "b", "c"])
    >>> round(interval.low, 3), interval.value, interval.high
    (-0.742, 0.5, 1.0)
    """
    y = np.asarray(values, np.float64)
    of_value = [""] * len(y) if topics is None else topics
    fit = least_squares(y, np.ones((len(y), 1)), of_value) if len(y) else None
    if fit is None:
        return Interval(None, None, None, 0, level)
    return jackknife_interval(float(fit.values[0]), fit.without[:, 0], SIGNED, level=level)


def _solved(squares: Floats, products: Floats) -> Floats:
    """(m, k) the solutions of m systems; nan where one has none."""
    solutions = np.full(products.shape, np.nan)
    values = np.linalg.eigvalsh(squares)
    good = values[:, 0] > _SAME * np.maximum(values[:, -1], 1e-300)
    solutions[good] = np.linalg.solve(squares[good], products[good][:, :, None])[:, :, 0]
    return solutions
