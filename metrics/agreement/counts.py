"""Labels as counts that add up over items, and so over topics: what each coefficient is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from ..ratio import Array

Labels = Sequence[str | None]  # None: not labelled
Counts = NDArray[np.int64]


@dataclass(frozen=True)
class LabelSums:
    """Sums over items that two or more annotators labelled, by topic or by drawn sample (...).

    Attributes:
        n_items: (...) items with a label.
        shares: (..., k) sum over them of the share of the item's labels that are this one.
        n_pairable: (...) items with 2 or more labels.
        agreeing: (...) sum over them of the share of the item's pairs of labels that are equal.
        n_even, agreeing_even: (...) the same of the items with the commonest number of labels.
        even_labels: (..., k) how often each label was given to those.
        coincidences: (..., k, k) ordered pairs of labels of one item, each divided by the item's
            number of labels less one.
    """

    n_items: Array
    shares: Array
    n_pairable: Array
    agreeing: Array
    n_even: Array
    agreeing_even: Array
    even_labels: Array
    coincidences: Array

    def drawn(self, draws: NDArray[np.int64]) -> LabelSums:
        """Sums by topic -> of samples: `draws` (resamples, n_topics) is how often each is drawn."""
        weights = draws.astype(np.float64)
        sums = (getattr(self, field.name) for field in fields(self))
        return LabelSums(*(np.tensordot(weights, each, axes=1) for each in sums))


def check_scale(scale: Sequence[str]) -> None:
    """Raises: ValueError if it repeats a label or has fewer than 2."""
    if len(set(scale)) != len(scale) or len(scale) < 2:
        raise ValueError(f"wanted a scale of 2 or more different labels, got {list(scale)}")


def codes(labels: Labels, scale: Sequence[str], name: str, *, may_miss: bool = True) -> Counts:
    """The position of each label on the scale of k labels, k for None.

    Raises: ValueError for the first label that is not on the scale; `name` is what they are.
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
    """The pair of labels of each item as one number; see `confusion`.

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
    """How many different numbers `pair_codes` gives on a scale of k labels."""
    return (k + 1) ** 2


def confusion(counts: NDArray[np.float64] | Counts, k: int) -> Array:
    """(..., n_pair_codes) counts of pairs -> (..., k, k), without those that lack a label."""
    square = np.asarray(counts, np.float64).reshape(*counts.shape[:-1], k + 1, k + 1)
    return square[..., :k, :k]


def confusion_of(
    one: Labels, other: Labels, scale: Sequence[str], *, may_miss: bool = True
) -> Array:
    """(k, k) counts of the pairs that have both labels. Raises: as `pair_codes`."""
    pairs = pair_codes(one, other, scale, may_miss=may_miss)
    return confusion(np.bincount(pairs, minlength=n_pair_codes(len(scale))), len(scale))


def label_counts(ratings: Sequence[Labels], scale: Sequence[str]) -> Counts:
    """How many annotators gave each label to each item: (n_items, k).

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


def sums_of_items(counts: Counts, topic_of: Counts | None = None, n_topics: int = 1) -> LabelSums:
    """The sums by topic of (n_items, k) label counts: axes (n_topics, ...).

    Args:
        topic_of: (n_items,) the number of each item's topic; None: all of topic 0.
    """
    at = np.zeros(len(counts), np.int64) if topic_of is None else topic_of
    each = counts.sum(axis=1)
    is_pairable, is_even = each >= 2, each == (commonest_number(each) or -1)
    equal = np.zeros(len(counts))
    pairable, n_labels = counts[is_pairable], each[is_pairable]
    equal[is_pairable] = (pairable * (pairable - 1)).sum(axis=1) / (n_labels * (n_labels - 1))

    def by_topic(per_item: NDArray[np.float64] | NDArray[np.bool_]) -> Array:
        if n_topics == 1:  # numpy's sum, in pairs, loses fewer bits than one item after the other
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


def sums_of_pairs(confusions: Array) -> LabelSums:
    """The sums of (..., k, k) counts of pairs of labels: those of two annotators."""
    n = confusions.sum((-2, -1))
    equal = np.trace(confusions, axis1=-2, axis2=-1)
    labels = confusions.sum(-1) + confusions.sum(-2)
    both_ways = confusions + np.swapaxes(confusions, -1, -2)
    return LabelSums(n, labels / 2, n, equal, n, equal, labels, both_ways)


def commonest_number(each: Counts) -> int:
    """The commonest number of labels of an item, of 2 or more; 0: no item has so many.

    Of two numbers as common it is the larger.
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
