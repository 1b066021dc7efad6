"""Logistic regression with a ridge: which features say that a label is right."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
PRECISION = 1e-8  # of the gradient, of items
RIDGE = 1.0  # the usual one, on standardised features; none on the intercept


def fit_logistic(table: Floats, right: NDArray[np.bool_]) -> tuple[Floats, float]:
    """Weights and intercept of P(right), with a ridge on standardised features.

    Args:
        table: (n, k) features; one that is the same for all items weighs 0.
        right: (n,) with both values.

    Source: minus the log-likelihood plus half the squared weights, which is convex; its least by
        Newton's steps inside a region of trust (scipy.optimize). A test compares scikit-learn.
    """
    from scipy.optimize import minimize
    from scipy.special import expit

    middle, width = table.mean(0), table.std(0)
    width = np.where(width > 0, width, 1.0)
    x = np.column_stack([(table - middle) / width, np.ones(len(table))])
    ridge = np.append(np.full(table.shape[1], RIDGE), 0.0)
    signs = np.where(right, 1.0, -1.0)

    def loss(at: Floats) -> float:
        return float(np.logaddexp(0, -signs * (x @ at)).sum() + ridge @ at**2 / 2)

    def slope(at: Floats) -> Floats:
        gradient: Floats = x.T @ (expit(x @ at) - right) + ridge * at
        return gradient

    def curvature(at: Floats) -> Floats:
        chance = expit(x @ at)
        hessian: Floats = (x.T * (chance * (1 - chance))) @ x + np.diag(ridge)
        return hessian

    fit: Any = minimize(
        loss, np.zeros(x.shape[1]), jac=slope, hess=curvature, method="trust-exact",
        options={"gtol": PRECISION * len(x)},
    )  # fmt: skip
    weights = fit.x[:-1] / width
    return weights, float(fit.x[-1] - weights @ middle)
