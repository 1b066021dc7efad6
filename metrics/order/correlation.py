"""Whether two lists of scores put the same items in the same order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..ratio import Array


def orders(truth: Sequence[float], judged: Sequence[float]) -> dict[str, float | None]:
    """tau_b, tau_ap, spearman and pearson of two lists of scores: the functions below at once.

    Returns, raises: as `kendall_tau`.

    >>> {name: round(value, 3) for name, value in orders([1, 2, 3, 4], [1, 2, 4, 3]).items()}
    {'tau_b': 0.667, 'tau_ap': 0.333, 'spearman': 0.8, 'pearson': 0.8}
    """
    import numpy as np

    from ..ratio import values_of
    from .coefficients import of_drawn_cells

    x, y = _checked(truth, judged)
    if not len(x):
        return dict.fromkeys(("tau_b", "tau_ap", "spearman", "pearson"))
    by_name = of_drawn_cells(x, y, np.zeros(len(x), np.int64), np.ones((1, 1), np.int64))
    return values_of({name: values[0] for name, values in by_name.items()})


def kendall_tau(truth: Sequence[float], judged: Sequence[float]) -> float | None:
    """Kendall's tau-b of two lists of scores of the same items, in [-1, 1]; 1 = same order.

    Ties: a pair that is tied on one side is neither agreement nor disagreement, and tau-b takes
    it out of that side's share of the denominator; so tau reaches 1 only if the ties are the same
    on both sides. Scores are tied when exactly equal: compare scores rounded alike, since a score
    printed to 4 digits has ties that the full one has not.

    Returns: tau, or None when it is undefined: fewer than 2 items, or one side all equal.
    Raises: ValueError if the lengths differ or a score is not finite; it names the index.
    Source: Kendall, "The treatment of ties in ranking problems" (1945).

    >>> round(kendall_tau([1, 2, 3, 4], [1, 2, 4, 3]), 4)
    0.6667
    >>> kendall_tau([1, 2], [5, 5]) is None
    True
    """
    return orders(truth, judged)["tau_b"]


def top_k_tau(truth: Sequence[float], judged: Sequence[float], k: int) -> float | None:
    """Tau-b over the k items that the truth ranks highest: is the top of the order right?

    Items tied in truth with the k-th are all taken, so that the order of the lists changes
    nothing; there may be more than k of them (`n_top`).

    Returns: None where `kendall_tau` of them is, or there are fewer than k items.
    Raises: ValueError as `kendall_tau`, and if k is below 1.

    >>> top_k_tau([4, 3, 2, 1], [3, 4, 1, 2], k=2)
    -1.0
    """
    _checked(truth, judged)
    chosen = _top(truth, k)
    return kendall_tau([truth[i] for i in chosen], [judged[i] for i in chosen]) if chosen else None


def n_top(truth: Sequence[float], k: int) -> int:
    """How many items `top_k_tau` takes: k and those tied with the k-th; 0 if there are fewer.

    >>> n_top([4, 3, 3, 1], k=2), n_top([4, 3], k=5)
    (3, 0)
    """
    return len(_top(truth, k))


def tau_ap(truth: Sequence[float], judged: Sequence[float]) -> float | None:
    """AP correlation: as tau, but errors near the top of the judged order weigh more; in [-1, 1].

    The mean, over the items below the first of the judged order, of (right - wrong) / all among
    the items judged above: right if the truth puts them above too, else wrong. So it is not
    symmetric: the judged order is the one walked through.

    Ties: an item is compared with those judged strictly higher, and is left out if there is none
    (those tied at the top). A pair that the judge tells apart and the truth does not is wrong. So
    it reaches 1 if the ties are the same on both sides, and the mean of both directions is
    tau_ap,b of Urbano and Marrero, "The treatment of ties in AP correlation" (2017).

    Returns, raises: as `kendall_tau`.
    Source: Yilmaz, Aslam and Robertson, "A new rank correlation coefficient for information
        retrieval" (2008), Equation 3: 2 / (n - 1) sum_i(C(i) / (i - 1)) - 1.

    >>> tau_ap([4, 3, 2, 1], [4, 3, 1, 2]) > tau_ap([4, 3, 2, 1], [3, 4, 2, 1])
    True
    """
    return orders(truth, judged)["tau_ap"]


def spearman(truth: Sequence[float], judged: Sequence[float]) -> float | None:
    """Spearman's rank correlation, in [-1, 1]; tied items share the mean of their ranks.

    Returns, raises: as `kendall_tau`.

    >>> spearman([1, 2, 3], [10, 30, 20])
    0.5
    """
    import numpy as np

    from ..ratio import value_of
    from . import coefficients as of

    x, y = _checked(truth, judged)
    return value_of(of.spearman(x, y, np.ones(len(x)))) if len(x) else None


def pearson(truth: Sequence[float], judged: Sequence[float]) -> float | None:
    """Pearson's correlation of the scores themselves, in [-1, 1]; 1 = they lie on a rising line.

    Returns, raises: as `kendall_tau`.

    >>> round(pearson([1, 2, 3], [10, 30, 20]), 4), round(pearson([1, 2, 4], [1, 2, 9]), 4)
    (0.5, 0.9762)
    """
    return orders(truth, judged)["pearson"]


def _checked(truth: Sequence[float], judged: Sequence[float]) -> tuple[Array, Array]:
    """The scores as arrays. Raises: ValueError as `kendall_tau` says."""
    import numpy as np

    if len(truth) != len(judged):
        raise ValueError(f"{len(truth)} true scores for {len(judged)} judged ones")
    for name, scores in (("truth", truth), ("judged", judged)):
        for i, score in enumerate(scores):
            if not math.isfinite(score):
                raise ValueError(f"{name}[{i}] is {score!r}, wanted a finite number")
    return np.asarray(truth, np.float64), np.asarray(judged, np.float64)


def _top(truth: Sequence[float], k: int) -> list[int]:
    if k < 1:
        raise ValueError(f"wanted k >= 1, got {k}")
    if len(truth) < k:
        return []
    least = sorted(truth, reverse=True)[k - 1]
    return [i for i, score in enumerate(truth) if score >= least]
