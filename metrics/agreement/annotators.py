"""How far several annotators agree among themselves: the ceiling for a judge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

Ratings = Sequence[Sequence[str | None]]  # (n_annotators, n_items); None: not labelled


@dataclass(frozen=True)
class Reliability:
    """Agreement among annotators; None where a figure is undefined (0/0), never nan.

    Attributes:
        n_annotators, n_items, n_labels: who labelled what; items without any label not counted.
        n_pairable: items with 2 or more labels, which `observed`, `alpha` and `ac1` rest on
            (chance in `ac1` also on the items with one).
        n_evenly: items with exactly `labels_each` labels, the commonest number of 2 or more (the
            larger of two as common). Fleiss' and Randolph's kappa want the same number
            everywhere, if not from the same people: they rest on these items alone.
        observed: mean over items of the share of its pairs of labels that are equal, in [0, 1].
        alpha: Krippendorff's, nominal, ordinal and interval (positions on the scale as values),
            <= 1; missing labels allowed. Undefined if all labels are the same.
        fleiss_kappa: <= 1; undefined if all labels are the same.
        randolph_kappa, ac1: <= 1; free of the paradox that a rare label lowers kappa. Chance
            depends on the number of labels on the scale, used or not.
        pairwise_kappa: mean of Cohen's kappa over the pairs of annotators, weighted by the items
            that both labelled.
    """

    n_annotators: int
    n_items: int
    n_labels: int
    n_pairable: int
    n_evenly: int
    labels_each: int
    observed: float | None
    alpha: dict[str, float | None]
    fleiss_kappa: float | None
    randolph_kappa: float | None
    ac1: float | None
    pairwise_kappa: PairwiseKappa

    def as_dict(self) -> dict[str, Any]:
        """The same fields, ready for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class PairwiseKappa:
    """Mean of Cohen's kappa over pairs: unweighted, linear, quadratic; each in [-1, 1] or None.

    Each pair counts by the items that both labelled.

    `n_pairs` pairs have items in common and a kappa; `n_undefined` have none, for they have no
    item in common or one and the same label throughout.
    """

    unweighted: float | None
    linear: float | None
    quadratic: float | None
    n_pairs: int
    n_undefined: int


def reliability(ratings: Ratings, scale: Sequence[str]) -> Reliability:
    """Measure the agreement among annotators of the same items.

    Args:
        ratings: (n_annotators, n_items) labels, None where an annotator did not label an item.
        scale: the k >= 2 labels that may occur, in order where they have one.

    Raises: ValueError if annotators have different numbers of items, the scale repeats a label
        or has fewer than 2, or a label is not on it; it names the index.
    Source: see coefficients.py; mean pairwise kappa: Light (1971).

    >>> figures = reliability([["yes", "no", "no"], ["yes", "no", "yes"]], ["no", "yes"])
    >>> round(figures.fleiss_kappa, 4), round(figures.ac1, 4), figures.n_pairable
    (0.3333, 0.3333, 3)
    """
    import numpy as np

    from ..ratio import values_of
    from .coefficients import of_items
    from .counts import commonest_number, label_counts, sums_of_items

    counts = label_counts(ratings, scale)
    each = counts.sum(axis=1)
    labels_each = commonest_number(each)
    whole = sums_of_items(counts).drawn(np.ones(1, np.int64))
    return Reliability(
        n_annotators=len(ratings),
        n_items=int((each > 0).sum()),
        n_labels=int(each.sum()),
        n_pairable=int((each >= 2).sum()),
        n_evenly=int((each == labels_each).sum()) if labels_each else 0,
        labels_each=labels_each,
        **values_of(of_items(whole)),
        pairwise_kappa=pairwise_kappa(list(combinations(ratings, 2)), scale),
    )


def pairwise_kappa(
    pairs: Sequence[tuple[Sequence[str | None], Sequence[str | None]]], scale: Sequence[str]
) -> PairwiseKappa:
    """Mean of Cohen's kappa over pairs of annotators, or of a judge with each annotator.

    Args:
        pairs: two label lists of the same items, None where one of them has no label. A pair
            counts by the items that have both.

    >>> judge, people = ["a", "b", "b"], [["a", "b", "a"], ["a", None, "b"]]  # kappa .4 and 1
    >>> round(pairwise_kappa([(judge, one) for one in people], ["a", "b"]).unweighted, 3)
    0.64
    """
    from ..ratio import values_of
    from .coefficients import of_several_pairs
    from .counts import confusion_of

    means, n_defined = of_several_pairs(confusion_of(*pair, scale) for pair in pairs)
    n_pairs = int(n_defined)
    return PairwiseKappa(**values_of(means), n_pairs=n_pairs, n_undefined=len(pairs) - n_pairs)
