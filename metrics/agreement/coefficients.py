"""Coefficients of agreement from counts, for many drawn samples at once.

Every function takes arrays whose leading axes (...) run over samples and returns an array of
those axes, nan where the figure is undefined (0/0). All figures come from here: an interval is
that of the drawn samples, and the value is that of the one sample that holds each topic once.
Tests compare with scikit-learn, statsmodels and krippendorff.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from ..ratio import Array, ratio
from .counts import LabelSums, sums_of_pairs

Weights = Literal["unweighted", "linear", "quadratic"]
Level = Literal["nominal", "ordinal", "interval"]
WEIGHTS: tuple[Weights, ...] = ("unweighted", "linear", "quadratic")
LEVELS: tuple[Level, ...] = ("nominal", "ordinal", "interval")


def of_pairs(confusion: Array, scale: Sequence[str]) -> dict[str, Any]:
    """The figures of `Agreement`, from (..., k, k) counts; a dict where it has one."""
    right = np.diagonal(confusion, axis1=-2, axis2=-1)
    by_label = {
        "precision": ratio(right, confusion.sum(-2)),
        "recall": ratio(right, confusion.sum(-1)),
        "f1": ratio(2 * right, confusion.sum(-1) + confusion.sum(-2)),
        "one_vs_rest": one_vs_rest_kappa(confusion),
    }
    of_annotators = of_items(sums_of_pairs(confusion))
    of_annotators.pop("observed")
    return {
        "accuracy": accuracy(confusion),
        "macro_f1": macro_f1(confusion),
        "cohen_kappa": {weights: cohen_kappa(confusion, weights) for weights in WEIGHTS},
        **{
            name: {label: figures[..., i] for i, label in enumerate(scale)}
            for name, figures in by_label.items()
        },
        **of_annotators,
    }


def of_items(sums: LabelSums) -> dict[str, Any]:
    """observed, alpha (by level), fleiss_kappa, randolph_kappa and ac1 of `Reliability`."""
    n_labels = sums.shares.shape[-1]
    return {
        "observed": ratio(sums.agreeing, sums.n_pairable),
        "alpha": {level: krippendorff_alpha(sums.coincidences, level) for level in LEVELS},
        "fleiss_kappa": fleiss_kappa(sums.even_labels, sums.agreeing_even, sums.n_even),
        "randolph_kappa": randolph_kappa(sums.agreeing_even, sums.n_even, n_labels),
        "ac1": gwet_ac1(sums.shares, sums.n_items, sums.agreeing, sums.n_pairable),
    }


def of_several_pairs(confusions: Iterable[Array]) -> tuple[dict[str, Array], Array]:
    """The mean of Cohen's kappa over the pairs that have one, by weights; and how many have.

    Each pair counts by its items, so that somebody with few labels does not move the mean as
    somebody with many does.

    Args:
        confusions: (..., k, k) counts of each pair of annotators.
    """
    means, n_items, n_defined = dict.fromkeys(WEIGHTS, np.zeros(())), np.zeros(()), np.zeros(())
    for confusion in confusions:
        kappas = {weights: cohen_kappa(confusion, weights) for weights in WEIGHTS}
        is_defined = ~np.isnan(kappas["unweighted"])
        n = confusion.sum((-2, -1)) * is_defined
        n_items, n_defined = n_items + n, n_defined + is_defined
        share = np.nan_to_num(ratio(n, n_items))  # 1 for the first, whose kappa stays as it is
        means = {w: mean + share * (np.nan_to_num(kappas[w]) - mean) for w, mean in means.items()}
    return {w: np.where(n_items > 0, mean, np.nan) for w, mean in means.items()}, n_defined


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
    positions = np.arange(confusion.shape[-1])
    apart = np.abs(positions[:, None] - positions).astype(np.float64)
    distance = {"unweighted": (apart > 0) * 1.0, "linear": apart, "quadratic": apart**2}[weights]
    rows, columns = confusion.sum(-1), confusion.sum(-2)
    observed = (confusion * distance).sum((-2, -1)) * confusion.sum((-2, -1))
    expected = ((rows @ distance) * columns).sum(-1)  # whole numbers, so that ties are exact
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
    pairs = totals[..., :, None] * totals[..., None, :]
    by_chance = ratio(pairs, totals.sum(-1)[..., None, None] - 1)
    observed = (coincidences * distance).sum((-2, -1))
    return 1 - ratio(observed, (by_chance * distance).sum((-2, -1)))


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
