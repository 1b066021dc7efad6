"""How likely a label is right, fitted to labels of people by what the judge said beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ...judges.cascade.confidence import DIGITS, Chance
from ...judges.fitted.correction import IsotonicCurve
from ..isotonic import fit_rising
from ..split import topic_folds
from .logistic import fit_logistic

Floats = NDArray[np.float64]
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
