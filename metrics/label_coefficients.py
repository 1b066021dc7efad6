"""Coefficients of agreement from counts, for many drawn samples at once.

Every function takes arrays whose leading axes (...) run over samples, and returns an array with
these axes, nan where the figure is undefined (0/0). Values and intervals use the same functions:
a value comes from the sample with each topic once, an interval from the drawn samples.
Tests compare with scikit-learn, statsmodels and krippendorff.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .inference import Array, ratio

Weights = Literal["unweighted", "linear", "quadratic"]
Level = Literal["nominal", "ordinal", "interval"]
WEIGHTS: tuple[Weights, ...] = ("unweighted", "linear", "quadratic")
LEVELS: tuple[Level, ...] = ("nominal", "ordinal", "interval")


def compute_pair_figures(confusion: Array, scale: Sequence[str]) -> dict[str, Any]:
    """Compute the figures of `Agreement` from (..., k, k) counts; dicts where it has dicts."""
    right = np.diagonal(confusion, axis1=-2, axis2=-1)
    by_label = {
        "precision": ratio(right, confusion.sum(-2)),
        "recall": ratio(right, confusion.sum(-1)),
        "f1": ratio(2 * right, confusion.sum(-1) + confusion.sum(-2)),
        "one_vs_rest": one_vs_rest_kappa(confusion),
    }
    of_annotators = compute_item_figures(sum_pairs(confusion))
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


def compute_item_figures(sums: LabelSums) -> dict[str, Any]:
    """Compute observed, alpha (by level), fleiss_kappa, randolph_kappa and ac1 of `Reliability`."""
    n_labels = sums.shares.shape[-1]
    return {
        "observed": ratio(sums.agreeing, sums.n_pairable),
        "alpha": {level: krippendorff_alpha(sums.coincidences, level) for level in LEVELS},
        "fleiss_kappa": fleiss_kappa(sums.even_labels, sums.agreeing_even, sums.n_even),
        "randolph_kappa": randolph_kappa(sums.agreeing_even, sums.n_even, n_labels),
        "ac1": gwet_ac1(sums.shares, sums.n_items, sums.agreeing, sums.n_pairable),
    }


def average_pairwise_kappa(confusions: Iterable[Array]) -> tuple[dict[str, Array], Array]:
    """Compute the mean of Cohen's kappa over the pairs that have one, by weights, and their number.

    The weight of a pair is its number of items, so that an annotator with few labels moves the
    mean little.

    Args:
        confusions: (..., k, k) counts of each pair of annotators.
    """
    means, n_items, n_defined = dict.fromkeys(WEIGHTS, np.zeros(())), np.zeros(()), np.zeros(())
    for confusion in confusions:
        kappas = {weights: cohen_kappa(confusion, weights) for weights in WEIGHTS}
        is_defined = ~np.isnan(kappas["unweighted"])
        n = confusion.sum((-2, -1)) * is_defined
        n_items, n_defined = n_items + n, n_defined + is_defined
        share = np.nan_to_num(ratio(n, n_items))  # 1 for the first, whose kappa stays unchanged
        means = {w: mean + share * (np.nan_to_num(kappas[w]) - mean) for w, mean in means.items()}
    return {w: np.where(n_items > 0, mean, np.nan) for w, mean in means.items()}, n_defined


def accuracy(confusion: Array) -> Array:
    """Compute the share of equal pairs from (..., k, k) counts."""
    return ratio(np.trace(confusion, axis1=-2, axis2=-1), confusion.sum((-2, -1)))


def macro_f1(confusion: Array) -> Array:
    """Compute the mean F1 over the labels that occur on either side, from (..., k, k) counts."""
    right = np.diagonal(confusion, axis1=-2, axis2=-1)
    used = confusion.sum(-1) + confusion.sum(-2)
    f1 = np.divide(2 * right, used, out=np.zeros_like(used), where=used > 0)
    return ratio(f1.sum(-1), (used > 0).sum(-1))


def cohen_kappa(confusion: Array, weights: Weights = "unweighted") -> Array:
    """Compute Cohen's kappa from (..., k, k) counts; weights are distances between positions.

    Source: Cohen, "Weighted kappa" (1968): 1 - observed / expected weighted disagreement.

    >>> float(cohen_kappa(np.array([[15.0, 10.0], [5.0, 20.0]])).round(3))
    0.4
    """
    positions = np.arange(confusion.shape[-1])
    apart = np.abs(positions[:, None] - positions).astype(np.float64)
    distance = {"unweighted": (apart > 0) * 1.0, "linear": apart, "quadratic": apart**2}[weights]
    rows, columns = confusion.sum(-1), confusion.sum(-2)
    observed = (confusion * distance).sum((-2, -1)) * confusion.sum((-2, -1))
    expected = ((rows @ distance) * columns).sum(-1)  # integers, so that ties are exact
    return 1 - ratio(observed, expected)


def one_vs_rest_kappa(confusion: Array) -> Array:
    """Compute kappa (unweighted) of each label against all others: (..., k, k) -> (..., k)."""
    n = confusion.sum((-2, -1))[..., None]
    both = np.diagonal(confusion, axis1=-2, axis2=-1)
    first, second = confusion.sum(-1) - both, confusion.sum(-2) - both
    binary = np.stack([n - both - first - second, second, first, both], axis=-1)
    return cohen_kappa(binary.reshape(*binary.shape[:-1], 2, 2))


def krippendorff_alpha(coincidences: Array, level: Level) -> Array:
    """Compute Krippendorff's alpha from (..., k, k) coincidences; `interval` uses positions as
    values.

    A coincidence matrix counts each ordered pair of labels of one item, divided by the item's
    number of labels minus one. Source: Krippendorff, "Computing Krippendorff's
    Alpha-Reliability" (2011).
    """
    totals = coincidences.sum(-1)
    if level == "ordinal":  # distance: labels used from one to the other
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
    """Compute Fleiss' kappa of items that all have the same number of labels.

    Args:
        totals: (..., k) number of times each label was given.
        agreeing: (...) sum over items of the share of equal pairs of labels.
        n_items: (...) number of items.

    Source: Fleiss, "Measuring nominal scale agreement among many raters" (1971).
    """
    shares = ratio(totals, totals.sum(-1)[..., None])
    return beyond_chance(ratio(agreeing, n_items), (shares**2).sum(-1))


def randolph_kappa(agreeing: ArrayLike, n_items: ArrayLike, n_labels: int) -> Array:
    """Compute Randolph's free-marginal kappa: Fleiss' kappa with chance 1 / number of labels.

    Source: Randolph, "Free-marginal multirater kappa" (2005).
    """
    return beyond_chance(ratio(agreeing, n_items), np.full(np.shape(agreeing), 1 / n_labels))


def gwet_ac1(
    shares: Array, n_items: ArrayLike, agreeing: ArrayLike, n_pairable: ArrayLike
) -> Array:
    """Compute Gwet's AC1; items may have different numbers of labels.

    Args:
        shares: (..., k) sum over items of each label's share of the item's labels.
        n_items: (...) items with a label.
        agreeing: (...) sum, over the items with 2 or more labels, of the share of equal pairs.
        n_pairable: (...) number of items with 2 or more labels.

    Source: Gwet, "Computing inter-rater reliability and its variance in the presence of high
        agreement" (2008): chance is sum_k(p_k (1 - p_k)) / (k - 1).
    """
    p = ratio(shares, np.asarray(n_items)[..., None])
    by_chance: Array = (p * (1 - p)).sum(-1) / (shares.shape[-1] - 1)
    return beyond_chance(ratio(agreeing, n_pairable), by_chance)


def beyond_chance(observed: Array, by_chance: Array) -> Array:
    """Compute (observed - chance) / (1 - chance)."""
    return ratio(observed - by_chance, 1 - by_chance)


Labels = Sequence[str | None]  # None: not labelled
Counts = NDArray[np.int64]


@dataclass(frozen=True)
class LabelSums:
    """Sums over items that two or more annotators labelled, by topic or by drawn sample (...).

    Attributes:
        n_items: (...) items with a label.
        shares: (..., k) sum over them of each label's share of the item's labels.
        n_pairable: (...) items with 2 or more labels.
        agreeing: (...) sum over them of the share of equal pairs of labels.
        n_even, agreeing_even: (...) the same for items with the commonest number of labels.
        even_labels: (..., k) number of times each label was given to those items.
        coincidences: (..., k, k) ordered pairs of labels of one item, each divided by the item's
            number of labels minus one.
    """

    n_items: Array
    shares: Array
    n_pairable: Array
    agreeing: Array
    n_even: Array
    agreeing_even: Array
    even_labels: Array
    coincidences: Array

    def draw_samples(self, draws: NDArray[np.int64]) -> LabelSums:
        """Sum by sample instead of by topic: `draws` (resamples, n_topics) counts each topic."""
        weights = draws.astype(np.float64)
        sums = (getattr(self, field.name) for field in fields(self))
        return LabelSums(*(np.tensordot(weights, each, axes=1) for each in sums))


def check_scale(scale: Sequence[str]) -> None:
    """Check a scale. Raises: ValueError if it repeats a label or has fewer than 2."""
    if len(set(scale)) != len(scale) or len(scale) < 2:
        raise ValueError(f"wanted a scale of 2 or more different labels, got {list(scale)}")


def codes(labels: Labels, scale: Sequence[str], name: str, *, may_miss: bool = True) -> Counts:
    """Turn each label into its position on the scale of k labels, None into k.

    Raises: ValueError for the first label that is not on the scale; it uses `name` for the list.
    """
    position_of: dict[str | None, int] = {label: i for i, label in enumerate(scale)}
    if may_miss:
        position_of[None] = len(scale)
    positions = np.array([position_of.get(label, -1) for label in labels], np.int64)
    for i in np.flatnonzero(positions < 0).tolist():
        raise ValueError(f"{name}[{i}] is {labels[i]!r}, which is not on {list(scale)}")
    return positions


def pair_codes(
    one: Labels, other: Labels, scale: Sequence[str], *, may_miss: bool = True
) -> Counts:
    """Turn the pair of labels of each item into one number; see `confusion`.

    Raises: ValueError if the lengths differ, or for a bad scale or label.
    """
    check_scale(scale)
    if len(one) != len(other):
        raise ValueError(f"{len(one)} true labels for {len(other)} judged ones")
    first, second = (
        codes(labels, scale, name, may_miss=may_miss)
        for name, labels in (("truth", one), ("judged", other))
    )
    return first * (len(scale) + 1) + second


def n_pair_codes(k: int) -> int:
    """Number of different results of `pair_codes` on a scale of k labels."""
    return (k + 1) ** 2


def confusion(counts: NDArray[np.float64] | Counts, k: int) -> Array:
    """Turn (..., n_pair_codes) counts into (..., k, k), without pairs that lack a label."""
    square = np.asarray(counts, np.float64).reshape(*counts.shape[:-1], k + 1, k + 1)
    return square[..., :k, :k]


def count_confusion(
    one: Labels, other: Labels, scale: Sequence[str], *, may_miss: bool = True
) -> Array:
    """Count pairs with both labels: (k, k). Raises: see `pair_codes`."""
    pairs = pair_codes(one, other, scale, may_miss=may_miss)
    return confusion(np.bincount(pairs, minlength=n_pair_codes(len(scale))), len(scale))


def label_counts(ratings: Sequence[Labels], scale: Sequence[str]) -> Counts:
    """Count the annotators that gave each label to each item: (n_items, k).

    Raises: ValueError if annotators have different numbers of items, or for a bad scale or label.
    """
    check_scale(scale)
    n_items = len(ratings[0]) if ratings else 0
    counts = np.zeros((n_items, len(scale) + 1), np.int64)
    for row, labels in enumerate(ratings):
        if len(labels) != n_items:
            raise ValueError(f"ratings[{row}] has {len(labels)} items, ratings[0] {n_items}")
        counts[np.arange(n_items), codes(labels, scale, f"ratings[{row}]")] += 1
    return counts[:, :-1]


def sum_items(counts: Counts, topic_of: Counts | None = None, n_topics: int = 1) -> LabelSums:
    """Compute sums by topic from (n_items, k) label counts: axes (n_topics, ...).

    Args:
        topic_of: (n_items,) the number of each item's topic; None: topic 0 for all.
    """
    at = np.zeros(len(counts), np.int64) if topic_of is None else topic_of
    each = counts.sum(axis=1)
    is_pairable, is_even = each >= 2, each == (find_commonest_number(each) or -1)
    equal = np.zeros(len(counts))
    pairable, n_labels = counts[is_pairable], each[is_pairable]
    equal[is_pairable] = (pairable * (pairable - 1)).sum(axis=1) / (n_labels * (n_labels - 1))

    def by_topic(per_item: NDArray[np.float64] | NDArray[np.bool_]) -> Array:
        if n_topics == 1:  # numpy's pairwise sum loses fewer bits than a loop
            return np.array([per_item.sum()], np.float64)
        return np.bincount(at, per_item, n_topics).astype(np.float64)

    def columns(per_item: Array) -> Array:
        return np.stack([by_topic(column) for column in per_item.T], axis=-1)

    return LabelSums(
        n_items=by_topic(each > 0),
        shares=columns(counts / np.maximum(each, 1)[:, None]),
        n_pairable=by_topic(is_pairable),
        agreeing=by_topic(equal),
        n_even=by_topic(is_even),
        agreeing_even=by_topic(equal * is_even),
        even_labels=columns(counts * is_even[:, None] * 1.0),
        coincidences=_coincidences(pairable, at[is_pairable], n_topics),
    )


def sum_pairs(confusions: Array) -> LabelSums:
    """Compute sums from (..., k, k) counts of pairs of labels by two annotators."""
    n = confusions.sum((-2, -1))
    equal = np.trace(confusions, axis1=-2, axis2=-1)
    labels = confusions.sum(-1) + confusions.sum(-2)
    both_ways = confusions + np.swapaxes(confusions, -1, -2)
    return LabelSums(n, labels / 2, n, equal, n, equal, labels, both_ways)


def find_commonest_number(each: Counts) -> int:
    """Find the commonest number of labels per item, of 2 or more; 0: no item has 2.

    Of two equally common numbers, the larger one counts.
    """
    how_often = np.bincount(each[each >= 2], minlength=1)
    most = int(how_often.max())
    return int(np.flatnonzero(how_often == most)[-1]) if most else 0


def _coincidences(counts: Counts, topic_of: Counts, n_topics: int) -> Array:
    """(n_topics, k, k), from items with 2 or more labels."""
    k = counts.shape[1]
    coincidences = np.zeros((n_topics, k, k))
    for topic in range(n_topics):
        chosen = counts[topic_of == topic].astype(np.float64)
        weighted = chosen / (chosen.sum(axis=1, keepdims=True) - 1)
        coincidences[topic] = weighted.T @ chosen - np.diag(weighted.sum(axis=0))
    return coincidences
