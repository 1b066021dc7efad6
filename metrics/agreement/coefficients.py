"""Coefficients of agreement from counts, for many drawn samples at once.

Every function takes arrays whose leading axes (...) run over samples and returns an array of
those axes, nan where the figure is undefined (0/0). They serve the intervals; the point values
come from scikit-learn, statsmodels and krippendorff, and the tests show that both are equal.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Weights = Literal["unweighted", "linear", "quadratic"]
Level = Literal["nominal", "ordinal", "interval"]
WEIGHTS: tuple[Weights, ...] = ("unweighted", "linear", "quadratic")
LEVELS: tuple[Level, ...] = ("nominal", "ordinal", "interval")


def accuracy(confusion: Array) -> Array:
    """Share of equal pairs, from (..., k, k) counts."""
    return ratio(np.trace(confusion, axis1=-2, axis2=-1), confusion.sum((-2, -1)))


def macro_f1(confusion: Array) -> Array:
    """Mean F1 over the labels that occur on either side, from (..., k, k) counts."""
    right = np.diagonal(confusion, axis1=-2, axis2=-1)
    used = confusion.sum(-1) + confusion.sum(-2)
    f1 = np.divide(2 * right, used, out=np.zeros_like(used), where=used > 0)
    return ratio(f1.sum(-1), (used > 0).sum(-1))


def cohen_kappa(confusion: Array, weights: Weights = "unweighted") -> Array:
    """Cohen's kappa from (..., k, k) counts; the weights are distances between positions.

    Source: Cohen, "Weighted kappa" (1968): 1 - observed / expected weighted disagreement.

    >>> float(cohen_kappa(np.array([[15.0, 10.0], [5.0, 20.0]])).round(3))
    0.4
    """
    places = np.arange(confusion.shape[-1])
    apart = np.abs(places[:, None] - places).astype(np.float64)
    distance = {"unweighted": (apart > 0) * 1.0, "linear": apart, "quadratic": apart**2}[weights]
    rows, columns = confusion.sum(-1), confusion.sum(-2)
    observed = (confusion * distance).sum((-2, -1)) * confusion.sum((-2, -1))
    expected = ((rows @ distance) * columns).sum(-1)
    return 1 - ratio(observed, expected)


def one_vs_rest_kappa(confusion: Array) -> Array:
    """Unweighted kappa of each label against all others: (..., k, k) counts -> (..., k)."""
    n = confusion.sum((-2, -1))[..., None]
    both = np.diagonal(confusion, axis1=-2, axis2=-1)
    first, second = confusion.sum(-1) - both, confusion.sum(-2) - both
    binary = np.stack([n - both - first - second, second, first, both], axis=-1)
    return cohen_kappa(binary.reshape(*binary.shape[:-1], 2, 2))


def krippendorff_alpha(coincidences: Array, level: Level) -> Array:
    """Krippendorff's alpha from (..., k, k) coincidences; `interval` takes positions as values.

    A coincidence matrix counts each ordered pair of labels of one item, divided by the item's
    number of labels less one. Source: Krippendorff, "Computing Krippendorff's
    Alpha-Reliability" (2011).
    """
    totals = coincidences.sum(-1)
    if level == "ordinal":  # the distance of two labels is the labels used from one to the other
        values = np.cumsum(totals, axis=-1) - totals / 2
    else:
        values = np.broadcast_to(np.arange(totals.shape[-1], dtype=np.float64), totals.shape)
    distance = (values[..., :, None] - values[..., None, :]) ** 2
    if level == "nominal":
        distance = (distance > 0) * 1.0
    # A label's distance to itself is 0, so its pairs with itself need not be taken out.
    expected = (totals[..., :, None] * totals[..., None, :] * distance).sum((-2, -1))
    observed = (coincidences * distance).sum((-2, -1))
    return 1 - ratio(observed * (totals.sum(-1) - 1), expected)


def fleiss_kappa(totals: Array, agreeing: ArrayLike, n_items: ArrayLike) -> Array:
    """Fleiss' kappa of items that all have the same number of labels.

    Args:
        totals: (..., k) how often each label was given.
        agreeing: (...) sum over items of the share of its pairs of labels that are equal.
        n_items: (...) how many items.

    Source: Fleiss, "Measuring nominal scale agreement among many raters" (1971).
    """
    shares = ratio(totals, totals.sum(-1)[..., None])
    return beyond_chance(ratio(agreeing, n_items), (shares**2).sum(-1))


def randolph_kappa(agreeing: ArrayLike, n_items: ArrayLike, n_labels: int) -> Array:
    """Randolph's free-marginal kappa: as Fleiss', with chance 1 / number of labels on the scale.

    Source: Randolph, "Free-marginal multirater kappa" (2005).
    """
    return beyond_chance(ratio(agreeing, n_items), np.full(np.shape(agreeing), 1 / n_labels))


def gwet_ac1(
    shares: Array, n_items: ArrayLike, agreeing: ArrayLike, n_pairable: ArrayLike
) -> Array:
    """Gwet's AC1; items may have different numbers of labels.

    Args:
        shares: (..., k) sum over items of the share of the item's labels that are this one.
        n_items: (...) items with a label.
        agreeing: (...) sum, over the items with 2 or more labels, of the share of equal pairs.
        n_pairable: (...) how many such items.

    Source: Gwet, "Computing inter-rater reliability and its variance in the presence of high
        agreement" (2008): chance is sum_k(p_k (1 - p_k)) / (k - 1).
    """
    p = ratio(shares, np.asarray(n_items)[..., None])
    by_chance: Array = (p * (1 - p)).sum(-1) / (shares.shape[-1] - 1)
    return beyond_chance(ratio(agreeing, n_pairable), by_chance)


def beyond_chance(observed: Array, by_chance: Array) -> Array:
    """(observed - chance) / (1 - chance)."""
    return ratio(observed - by_chance, 1 - by_chance)


def ratio(above: ArrayLike, below: ArrayLike) -> Array:
    """Their quotient, nan where `below` is 0 (to rounding: counts are whole, shares in [0, 1])."""
    one, other = np.broadcast_arrays(np.asarray(above, float), np.asarray(below, float))
    found: Array = np.divide(
        one, other, out=np.full(other.shape, np.nan), where=np.abs(other) > 1e-12
    )
    return found
