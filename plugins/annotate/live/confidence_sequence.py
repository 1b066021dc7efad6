"""A confidence sequence: an interval of a corrected score that is valid at any time.

A fixed-sample interval covers the score in 95% of samples if you look once. If you look after each
label and stop when you like the result, it fails far more often. A confidence sequence is an
interval for each number of labels, and in 95% of streams of labels *all* of these intervals cover
the score. You may look at any time, stop at any time, and continue later.

It is about **these** items: the score that people would give if they labelled all of them. Topics
are strata, and the only random part is the order in which the items of each topic are labelled. So
items of a topic may depend on each other in any way, and errors may be skewed in any way. It says
nothing about other topics.

**Derivation.** Let G_t be what topic t adds to the score, the sum of w h over its N_t items. The
k-th of them to be labelled is, given all that came before, equally likely any of the others. So
with any predictions p of gains that are made of earlier labels alone

    D = earlier labels' sum of w h + unlabelled items' sum of w p + (N_t - k + 1) w (h - p)

has the mean G_t, given the past: each label gives an unbiased estimate of its topic's part, and
the last one gives it exactly. p = lam f + delta, f the judge's gain, is the line through earlier
labels by least squares, shrunk to the judge's word (PPI++ with an intercept, but predictable). The
deviation x = (N_t - k + 1) w (h - p) is at least -b, where b follows from p <= 1. Fan, Grama and
Liu (2015, lemma 4.1) then give, for 0 <= a b < 1 and psi(u) = -log(1 - u) - u,

    E exp(a (D - G_t) - x^2 psi(a b) / b^2) <= 1, given the past,

the product of which over labels, and a mixture over values of a, is a nonnegative supermartingale.
By Ville's inequality it ever reaches 1/alpha with probability at most alpha. With C_t labels in
topic t that is a lower bound B on the sum of C_t G_t, for all times at once. Where topics had
equally many labels, the score is at least B / C. Else, for any s >= 0, it is at least

    s B + sum_t (1 - s C_t) (the least G_t can be if 1 - s C_t > 0, else the most),

where the least and the most take unlabelled items at 0 and 1; the best s may be taken, as this
holds for all at once. The upper bound is 1 minus the lower one of 1 - h. Bounds never move back.

So topics may come in any order, also one that depends on earlier labels. They should take turns,
because a topic without a label adds its whole weight to the width.

Sources: Waudby-Smith and Ramdas, arXiv:2010.09686 (empirical Bernstein, betting, sampling without
replacement); Waudby-Smith, Stark and Ramdas, arXiv:2107.11323 (the same in audits); Howard,
Ramdas, McAuliffe and Sekhon, arXiv:1810.08240 (mixtures, Ville); Fan, Grama and Liu,
arXiv:1311.5127. Differs: strata by weighing their unbiased estimates alike, where the audits of
Spertus, Sridhar and Stark (arXiv:2409.06680) search for the worst strata means; this one is linear
in them, so that the worst is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ....metrics.inference import LEVEL

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# The prior, in labels: before any label, the judge counts as right.
_PRIOR_LABELS = 4.0
# The weight of all strata in the line of each stratum, in labels.
_LIKE_ALL = 10.0
# The largest a is this over the largest b; neighbours in the mixture differ by the second.
_NEAREST, _RATIO = 0.9, 2.0


@dataclass(frozen=True)
class Order:
    """Items by stratum, and the labelled items in the order of their labels.

    Raises: ValueError if an item occurs twice or an index is out of range.
    """

    strata: Ints  # (n,) 0-based stratum, usually the topic, of all items that could get a label
    labelled: Ints  # (m,) indices of items, in the order of their labels

    def __post_init__(self) -> None:
        n = len(self.strata)
        bad = (self.labelled < 0) | (self.labelled >= n)
        if bad.any():
            raise ValueError(f"labelled[{int(np.argmax(bad))}] is not an item, wanted 0 to {n - 1}")
        if len(np.unique(self.labelled)) < len(self.labelled):
            raise ValueError("an item was labelled twice, wanted only its first label")

    @cached_property
    def of(self) -> Ints:
        """(m,) the stratum of each labelled item."""
        strata: Ints = self.strata[self.labelled]
        return strata

    @cached_property
    def n_strata(self) -> int:
        """The number of strata."""
        return int(self.strata.max(initial=-1)) + 1

    @cached_property
    def left(self) -> Ints:
        """(m,) the number of items of the stratum without a label before this one, with itself."""
        before = self.before(np.ones(len(self.labelled)))
        return self.sizes[self.of] - before.astype(np.int64)

    @cached_property
    def sizes(self) -> Ints:
        """(n_strata,) items of each stratum."""
        return np.bincount(self.strata, minlength=self.n_strata).astype(np.int64)

    @cached_property
    def _grouped(self) -> tuple[Ints, Ints]:
        """(m,) positions by stratum, and of each of these positions the first of its stratum."""
        positions = np.argsort(self.of, kind="stable")
        grouped = self.of[positions]
        return positions, np.searchsorted(grouped, grouped)

    def before(self, x: Floats) -> Floats:
        """(m,) the sum of x (m,) over earlier labels of the same stratum."""
        positions, first = self._grouped
        sums = np.concatenate([[0.0], np.cumsum(x[positions])])
        earlier = np.empty(len(x))
        earlier[positions] = sums[:-1] - sums[first]
        return earlier

    def by_look(self, x: Floats, looks: Ints) -> Floats:
        """(n_looks, n_strata) the sum of x (m,) over a stratum's labels up to each look."""
        on = np.flatnonzero(x[: int(looks[-1])])
        at = np.searchsorted(looks, on + 1) * self.n_strata + self.of[on]
        sums = np.bincount(at, x[on], len(looks) * self.n_strata)
        totals: Floats = sums.reshape(len(looks), self.n_strata).cumsum(axis=0)
        return totals


@dataclass(frozen=True)
class Predictions:
    """The prediction of an item from earlier labels: lam f + delta, where f is the judge's gain.

    Both (m,) use only the labels before each label; 0 <= delta <= lam + delta <= 1.
    """

    lam: Floats
    delta: Floats

    @property
    def of_loss(self) -> Predictions:
        """The prediction of 1 - h from 1 - f."""
        return Predictions(self.lam, 1 - self.lam - self.delta)


def predictions(order: Order, judged: Floats, human: Floats) -> Predictions:
    """The line through a stratum's earlier labels and a few pseudo-labels of all strata.

    Before any label, the pseudo-labels are those of a judge that is right.

    Args:
        judged, human: (m,) gains in [0, 1] in the order of the labels; of people nan = unknown.
    """
    is_labelled = ~np.isnan(human)
    f, h = np.where(is_labelled, judged, 0.0), np.where(is_labelled, human, 0.0)
    n_all = _past(is_labelled * 1.0, _PRIOR_LABELS)

    def mean(x: Floats) -> Floats:
        of_all = _past(x, _PRIOR_LABELS / 2) / n_all
        return (order.before(x) + _LIKE_ALL * of_all) / (
            order.before(is_labelled * 1.0) + _LIKE_ALL
        )

    mean_f, mean_h = mean(f), mean(h)
    lam = np.clip((mean(f * h) - mean_f * mean_h) / (mean(f * f) - mean_f**2), 0.0, 1.0)
    return Predictions(lam, np.clip(mean_h - lam * mean_f, 0.0, 1 - lam))


def _past(x: Floats, prior: float) -> Floats:
    """(m,) the sum over earlier labels and a prior."""
    return prior + np.concatenate([[0.0], np.cumsum(x)[:-1]])


@dataclass(frozen=True)
class ConfidenceSequence:
    """Bounds at each look; all bounds hold together with probability `level`."""

    looks: Ints  # (n_looks,) numbers of labels
    low: Floats  # (n_looks,) never falls
    high: Floats  # (n_looks,) never rises
    level: float


def confidence_sequence(
    order: Order,
    judged: Floats,
    human: Floats,
    weights: Floats,
    *,
    predicted: Predictions | None = None,
    looks: Sequence[int] | None = None,
    level: float = LEVEL,
) -> ConfidenceSequence:
    """Bounds of sum_i w_i h_i, the score that people would give, at every look.

    Args:
        order: how the items were labelled; those of a stratum in random order.
        judged: (n,) the judge's gain of every item, in [0, 1].
        human: (m,) the gain by people of the labelled ones, in [0, 1], in their order; nan: they
            could not tell, which stands at 0 in the lower bound and at 1 in the upper one.
        weights: (n,) >= 0 of each item in the score; 0 of what has no part in it, as items of
            other runs, which are of the draw all the same.
        predicted: by default `predictions` of what weighs here.
        looks: numbers of labels, ascending, at which to look; by default at each from 0 on. With
            fewer looks bounds can only be wider.

    Raises: ValueError if lengths differ, a value is out of range, or looks do not ascend.

    With a label on every item it is the score by people:

    >>> order = Order(np.array([0, 0, 1, 1]), np.array([2, 0, 1, 3]))
    >>> human, judged = np.array([0.0, 1.0, 1.0, 0.5]), np.array([1.0, 1.0, 0.0, 0.0])
    >>> bounds = confidence_sequence(order, judged, human, np.full(4, 0.25))
    >>> bounds.low.tolist(), bounds.high.tolist()
    ([0.0, 0.0, 0.25, 0.5, 0.625], [1.0, 0.75, 0.75, 0.75, 0.625])
    """
    m = len(order.labelled)
    _check(order, judged, human, weights, level)
    at = np.asarray(range(m + 1) if looks is None else looks, dtype=np.int64)
    if not len(at) or (np.diff(at) <= 0).any() or at[0] < 0 or at[-1] > m:
        raise ValueError(f"looks {at.tolist()[:9]}, wanted ascending numbers from 0 to {m}")
    f = judged[order.labelled]
    if predicted is None:
        weighs = weights[order.labelled] > 0
        predicted = predictions(order, f, np.where(weighs, human, np.nan))
    total, rest = float(weights.sum()), (1 - level) / 2
    least, most = np.nan_to_num(human, nan=0.0), np.nan_to_num(human, nan=1.0)
    low = _lower(order, judged, least, weights, predicted, at, rest)
    high = total - _lower(order, 1 - judged, 1 - most, weights, predicted.of_loss, at, rest)
    is_exact = np.abs(high - low) < 1e-12  # but for rounding
    return ConfidenceSequence(at, low, np.where(is_exact, low, high), level)


@dataclass(frozen=True)
class Totals:
    """Of each label (m,): what it says of its stratum's part of the score.

    `unbiased` has, given earlier labels, the stratum's part as its mean; it is `deviation` above
    what was predicted, and could not have been further below than `bound`.
    """

    unbiased: Floats
    deviation: Floats
    bound: Floats


def compute_unbiased_totals(
    order: Order, judged: Floats, human: Floats, weights: Floats, predicted: Predictions
) -> Totals:
    """What each label says of its stratum's sum of w h; arguments as of `confidence_sequence`."""
    on, n_strata = order.labelled, order.n_strata
    w, f = weights[on], judged[on]
    weighs = np.flatnonzero(weights)
    stratum, by_judge = order.strata[weighs], weights[weighs] * judged[weighs]
    left_judged = np.bincount(stratum, by_judge, n_strata)[order.of] - order.before(w * f)
    left_weight = np.bincount(stratum, weights[weighs], n_strata)[order.of] - order.before(w)
    largest = _largest(stratum, weights[weighs], n_strata)[order.of]
    largest_judged = _largest(stratum, by_judge, n_strata)[order.of]
    lam, delta = predicted.lam, predicted.delta
    deviation = order.left * w * (human - lam * f - delta)
    predicted_left = lam * left_judged + delta * left_weight
    bound = order.left * (lam * largest_judged + delta * largest)
    return Totals(order.before(w * human) + predicted_left + deviation, deviation, bound)


def _largest(stratum: Ints, x: Floats, n_strata: int) -> Floats:
    """(n_strata,) the largest of x (n,) >= 0 by stratum."""
    largest = np.zeros(n_strata)
    np.maximum.at(largest, stratum, x)
    return largest


def log_processes(totals: Totals, bets: Floats) -> Floats:
    """(m, n_bets) by how much each label lowers the logarithm of a process: x^2 psi(a b) / b^2.

    The process of a bet a is exp(a sum(unbiased - true part) - sum of these): a nonnegative
    supermartingale as long as a times each bound is below 1.
    """
    u = totals.bound[:, None] * bets
    small = u < 1e-4
    safe = np.where(small, 0.5, u)
    psi = np.where(small, 0.5 + u / 3, (-np.log1p(-safe) - safe) / safe**2)
    lowered: Floats = (totals.deviation[:, None] * bets) ** 2 * psi
    return lowered


def _lower(
    order: Order,
    judged: Floats,
    human: Floats,
    weights: Floats,
    predicted: Predictions,
    looks: Ints,
    alpha: float,
) -> Floats:
    """(n_looks,) lower bounds, of which with probability 1 - alpha all hold."""
    w = weights[order.labelled]
    sums, counts, labelled_weight = (
        order.by_look(x, looks) for x in (w * human, np.ones(len(w)), w)
    )
    left = np.bincount(order.strata, weights, order.n_strata) - labelled_weight
    least = sums.sum(axis=1)
    bets = _bets(order, weights)
    if not len(bets) or not looks[-1]:
        return np.maximum.accumulate(least)
    totals = compute_unbiased_totals(order, judged, human, weights, predicted)
    moved = np.flatnonzero(totals.deviation)  # what was no surprise moves no process
    lowered = log_processes(
        Totals(totals.unbiased[moved], totals.deviation[moved], totals.bound[moved]), bets
    )
    lowered = np.concatenate([np.zeros((1, len(bets))), lowered.cumsum(axis=0)])
    lowered = lowered[np.searchsorted(moved, looks)]
    sum_unbiased = np.concatenate([[0.0], np.cumsum(totals.unbiased)])[looks]
    bound = sum_unbiased - crossing(bets, lowered, float(np.log(1 / alpha)))
    lower = np.maximum(least, score_bound(bound, counts, sums, sums + np.maximum(left, 0.0)))
    running: Floats = np.maximum.accumulate(lower)
    return running


def _bets(order: Order, weights: Floats) -> Floats:
    """The values of a: from the largest allowed down to what suits a label on every item."""
    weighs = np.flatnonzero(weights)
    sizes = order.sizes
    bounds = sizes * _largest(order.strata[weighs], weights[weighs], order.n_strata)
    if not bounds.max(initial=0.0) > 0:
        return np.empty(0)
    most = _NEAREST / bounds.max()
    least = np.sqrt(2 / (sizes @ bounds**2))
    n = 1 + int(np.ceil(np.log(max(most / least, 1.0)) / np.log(_RATIO)))
    bets: Floats = most / _RATIO ** np.arange(n)
    return bets


def crossing(bets: Floats, lowered: Floats, threshold: float) -> Floats:
    """(n_looks,) y at which the even mixture of exp(a y - lowered) reaches exp(threshold).

    From above, where one part alone reaches it; Newton's steps come down to it from there, for the
    logarithm of the mixture is convex.
    """
    aim = threshold + np.log(len(bets))
    y = ((aim + lowered) / bets).min(axis=1)
    for _ in range(40):
        parts = bets * y[:, None] - lowered
        top = parts.max(axis=1)
        shares = np.exp(parts - top[:, None])
        over = top + np.log(shares.sum(axis=1)) - aim
        step = over * shares.sum(axis=1) / (shares @ bets)
        if (over < 1e-9).all():
            break
        y = y - np.maximum(step, 0.0)
    reached: Floats = y
    return reached


def score_bound(bound: Floats, counts: Floats, least: Floats, most: Floats) -> Floats:
    """(n_looks,) the best bound of the sum of G by one of the sum of counts * G; see above.

    Args:
        bound: (n_looks,). counts: (n_looks, n_strata).
        least, most: (n_looks, n_strata) what G can be.
    """
    by = np.argsort(-counts, axis=1, kind="stable")
    c, lo, hi = (np.take_along_axis(x, by, axis=1) for x in (counts, least, most))
    s = np.divide(1.0, c, out=np.zeros_like(c), where=c > 0)

    def above(x: Floats) -> Floats:
        """Over strata with more labels; one with as many has 1 - s C = 0."""
        sums: Floats = np.cumsum(x, axis=1) - x
        return sums

    def below(x: Floats) -> Floats:
        sums: Floats = x.sum(axis=1, keepdims=True) - above(x)
        return sums

    rest = above(hi) - s * above(c * hi) + below(lo) - s * below(c * lo)
    by_s: Floats = np.where(c > 0, s * bound[:, None] + rest, -np.inf)
    best: Floats = by_s.max(axis=1)
    return best


def _check(order: Order, judged: Floats, human: Floats, weights: Floats, level: float) -> None:
    if not 0 < level < 1:
        raise ValueError(f"level is {level}, wanted between 0 and 1")
    n, m = len(order.strata), len(order.labelled)
    sizes = {"judged": (judged, n), "weights": (weights, n), "human": (human, m)}
    for name, (values, wanted) in sizes.items():
        if len(values) != wanted:
            raise ValueError(f"{len(values)} {name} for {wanted} items")
    for name, values, fits in (
        ("judged", judged, (judged >= 0) & (judged <= 1)),
        ("human", human, np.isnan(human) | ((human >= 0) & (human <= 1))),
        ("weights", weights, np.isfinite(weights) & (weights >= 0)),
    ):
        if not fits.all():
            i = int(np.argmin(fits))
            raise ValueError(f"{name}[{i}] is {values[i]}, out of range")
