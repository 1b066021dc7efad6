"""How far several annotators agree among themselves: the ceiling for a judge."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, TypedDict

from .pairs import cohen_kappas

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .coefficients import Level

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
        pairwise_kappa: mean of Cohen's kappa over the pairs of annotators.
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

    `n_pairs` pairs have items in common and a kappa; `n_undefined` have none, for they have no
    item in common or one and the same label throughout.
    """

    unweighted: float | None
    linear: float | None
    quadratic: float | None
    n_pairs: int
    n_undefined: int


class ChanceCorrected(TypedDict):
    """Four coefficients that Agreement and Reliability share."""

    alpha: dict[str, float | None]
    fleiss_kappa: float | None
    randolph_kappa: float | None
    ac1: float | None


def reliability(ratings: Ratings, scale: Sequence[str]) -> Reliability:
    """Measure the agreement among annotators of the same items.

    Args:
        ratings: (n_annotators, n_items) labels, None where an annotator did not label an item.
        scale: the k >= 2 labels that may occur, in order where they have one.

    Raises: ValueError if annotators have different numbers of items, the scale repeats a label
        or has fewer than 2, or a label is not on it; it names the index.
    Source: see coefficients.py. Alpha by krippendorff, Fleiss' and Randolph's kappa by statsmodels,
        Cohen's by scikit-learn. Mean pairwise kappa: Light (1971).

    >>> found = reliability([["yes", "no", "no"], ["yes", "no", "yes"]], ["no", "yes"])
    >>> round(found.fleiss_kappa, 4), round(found.ac1, 4), found.n_pairable
    (0.3333, 0.3333, 3)
    """
    counts = label_counts(ratings, scale)
    each = counts.sum(axis=1)
    labels_each = evenly(each)
    observed = agreeing(counts[each >= 2])
    return Reliability(
        n_annotators=len(ratings),
        n_items=int((each > 0).sum()),
        n_labels=int(each.sum()),
        n_pairable=len(observed),
        n_evenly=int((each == labels_each).sum()) if labels_each else 0,
        labels_each=labels_each,
        observed=float(observed.mean()) if len(observed) else None,
        **chance_corrected(ratings, scale),
        pairwise_kappa=pairwise_kappa(list(combinations(ratings, 2)), scale),
    )


def pairwise_kappa(
    pairs: Sequence[tuple[Sequence[str | None], Sequence[str | None]]], scale: Sequence[str]
) -> PairwiseKappa:
    """Mean of Cohen's kappa over pairs of annotators, or of a judge with each annotator.

    Args:
        pairs: two label lists of the same items, None where one of them has no label.

    >>> judge, people = ["a", "b", "b"], [["a", "b", "a"], ["a", None, "b"]]
    >>> pairwise_kappa([(judge, one) for one in people], ["a", "b"]).unweighted
    0.7
    """
    found = [cohen_kappas(*in_common(*pair), scale) for pair in pairs]
    defined = [kappas for kappas in found if kappas["unweighted"] is not None]
    means = {
        name: math.fsum(kappas[name] or 0.0 for kappas in defined) / len(defined)
        if defined
        else None
        for name in ("unweighted", "linear", "quadratic")
    }
    return PairwiseKappa(**means, n_pairs=len(defined), n_undefined=len(found) - len(defined))


def in_common(
    one: Sequence[str | None], other: Sequence[str | None]
) -> tuple[list[str], list[str]]:
    """The labels of the items that both labelled."""
    both = [(a, b) for a, b in zip(one, other, strict=True) if a is not None and b is not None]
    return [a for a, _ in both], [b for _, b in both]


def chance_corrected(ratings: Ratings, scale: Sequence[str]) -> ChanceCorrected:
    """Krippendorff's alpha, Fleiss' and Randolph's kappa and Gwet's AC1; see `Reliability`."""
    from .coefficients import LEVELS, gwet_ac1

    counts = label_counts(ratings, scale)
    each = counts.sum(axis=1)
    n_used = int((counts[each >= 2].sum(axis=0) > 0).sum())
    labels_each = evenly(each)
    evenly_labelled = counts[each == labels_each] if labels_each else counts[:0]
    shares = counts[each > 0] / each[each > 0, None]
    equal = agreeing(counts[each >= 2])
    ac1 = float(gwet_ac1(shares.sum(axis=0), len(shares), equal.sum(), len(equal)))
    return {
        "alpha": {level: _alpha(counts, level) if n_used > 1 else None for level in LEVELS},
        "fleiss_kappa": _fleiss(evenly_labelled, "fleiss"),
        "randolph_kappa": _fleiss(evenly_labelled, "randolph"),
        "ac1": None if math.isnan(ac1) else ac1,
    }


def label_counts(ratings: Ratings, scale: Sequence[str]) -> NDArray[np.int64]:
    """How many annotators gave each label to each item: (n_items, k)."""
    import numpy as np

    if len(set(scale)) != len(scale) or len(scale) < 2:
        raise ValueError(f"wanted a scale of 2 or more different labels, got {list(scale)}")
    code = {label: i for i, label in enumerate(scale)}
    n_items = len(ratings[0]) if ratings else 0
    counts = np.zeros((n_items, len(scale)), np.int64)
    for row, labels in enumerate(ratings):
        if len(labels) != n_items:
            raise ValueError(f"ratings[{row}] has {len(labels)} items, ratings[0] {n_items}")
        for i, label in enumerate(labels):
            if label is None:
                continue
            if label not in code:
                what = f"ratings[{row}][{i}] is {label!r}"
                raise ValueError(f"{what}, which is not on {list(scale)}")
            counts[i, code[label]] += 1
    return counts


def agreeing(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """The share of each item's pairs of labels that are equal: (n, k) counts, rows >= 2, -> (n,)"""
    each = counts.sum(axis=1)
    found: NDArray[np.float64] = (counts * (counts - 1)).sum(axis=1) / (each * (each - 1))
    return found


def evenly(each: NDArray[np.int64]) -> int:
    """The commonest number of labels of an item, of 2 or more; 0: no item has so many."""
    import numpy as np

    how_often = np.bincount(each[each >= 2], minlength=1)
    most = int(how_often.max())
    return int(np.flatnonzero(how_often == most)[-1]) if most else 0


def _alpha(counts: NDArray[np.int64], level: Level) -> float:
    import krippendorff

    return min(1.0, float(krippendorff.alpha(value_counts=counts, level_of_measurement=level)))


def _fleiss(counts: NDArray[np.int64], method: str) -> float | None:
    from statsmodels.stats.inter_rater import fleiss_kappa

    used = counts.sum(axis=0) > 0
    if not len(counts) or (method == "fleiss" and used.sum() < 2):
        return None
    return min(1.0, float(fleiss_kappa(counts, method=method)))  # rounding may step over by a bit
