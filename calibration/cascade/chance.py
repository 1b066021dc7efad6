"""How likely people give the label of a first stage: logistic regression on what it says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...judges.combined.confidence import DIGITS, Chance
from ...judges.fitted.correction import IsotonicCurve
from ..fits import fit_rising
from ..settings import topic_folds

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


Bools = NDArray[np.bool_]
MOST_FOLDS = 20  # more topics are left out in as many groups
INNER_FOLDS = 5  # of the topics of a fit, for the curve of its values
FEWEST = 50  # items, below which no chance is fitted


def fit_chance(items: Sequence[Mapping[str, float]], right: Bools, topics: Sequence[str]) -> Chance:
    """A logistic curve of the features, and isotonic shares of its values on topics left out.

    Args:
        items: (n,) features of each item, of which those are used that all have.
        right: (n,) whether its label is. topics: (n,) ids, 2 or more of them.

    Raises: ValueError for fewer than 50 items, one topic, or labels that are all right or wrong.
    Source: isotonic values between the middles of the steps (Oron and Flournoy, "Centered
        isotonic regression", 2017), so that confidence rises throughout.
    """
    names = sorted(set.intersection(*(set(each) for each in items))) if items else []
    table = np.array([[each[name] for name in names] for each in items])
    at = np.asarray(topics)
    _check(len(items), right, at)
    weights, intercept = fit_logistic(table, right)
    raw, seen = np.zeros(len(at)), np.zeros(len(at), np.bool_)
    for split in topic_folds(sorted(set(at.tolist())), min(len(set(at.tolist())), INNER_FOLDS)):
        test = np.isin(at, split.test)
        if len(set(right[~test].tolist())) == 2:
            seen |= test
            raw[test] = _value(table[test], *fit_logistic(table[~test], right[~test]))
    positions, shares = _steps(raw[seen], right[seen])
    return Chance(
        weights={name: float(w) for name, w in zip(names, weights, strict=True) if w},
        intercept=float(intercept),
        curve=IsotonicCurve(places=tuple(positions), shares=(tuple(shares),)),
    )


def held_out(
    items: Sequence[Mapping[str, float]], right: Bools, topics: Sequence[str], seed: int = 0
) -> Floats:
    """(n,) the chance of each item by a fit to other topics. Raises: as `fit_chance`."""
    at = np.asarray(topics)
    _check(len(items), right, at)
    chances = np.full(len(items), np.nan)
    n_folds = min(len(set(topics)), MOST_FOLDS)
    for split in topic_folds(sorted(set(topics)), n_folds, seed=seed):
        test = np.isin(at, split.test)
        train = np.flatnonzero(~test)
        fit = fit_chance([items[i] for i in train.tolist()], right[train], at[train].tolist())
        for i in np.flatnonzero(test).tolist():
            chance = fit.of(items[i])
            chances[i] = np.nan if chance is None else round(chance, DIGITS)
    return chances


def _check(n: int, right: Bools, topics: NDArray[np.str_]) -> None:
    if n < FEWEST or len(set(topics.tolist())) < 2:
        got = f"{n} of {len(set(topics.tolist()))}"
        raise ValueError(f"wanted {FEWEST} labelled items of 2 topics or more, got {got}")
    if right.all() or not right.any():
        what = "right" if right.all() else "wrong"
        raise ValueError(f"all {n} labels of the first stage are {what}: nothing tells them apart")


def _value(table: Floats, weights: Floats, intercept: float) -> Floats:
    from scipy.special import expit

    value: Floats = expit(table @ weights + intercept)
    return value


def _steps(raw: Floats, right: Bools) -> tuple[list[float], list[float]]:
    """The middle of each step of the isotonic fit, and the share that was right in it."""
    fitted = fit_rising(raw, right).at(raw)
    shares, at = np.unique(fitted, return_inverse=True)
    middles = np.bincount(at, raw) / np.bincount(at)
    return middles.tolist(), shares.tolist()
