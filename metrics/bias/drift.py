"""Did the judge move, or what it judges? A change of score, split by items that both judged.

A score is S = sum_i w_i f_i over the items of a version, f the judge's gains. On anchors, items
that both versions judged, what the judge gives can only have changed by itself:

    instrument = W * sum_t W_t d_t / sum_t W_t       over the topics t that have anchors
    systems    = (S_new - S_old) - instrument

d_t is the mean over the anchors of a topic of f_new - f_old, each with its weight in the score, W_t
the weight of the topic (of one that the old score lacks, that of the others on average), W that of
all. With labels h of people on the anchors the same mean of f - h is how far each version is from
people, and the instrument's change is that of f - h.

Source: the difference estimator of metrics/ppi/estimates.py, with the old judge in the place of
people; variances by the jackknife over topics, of both terms together.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..bootstrap import LEVEL, SIGNED, Interval, jackknife_interval

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOVED, HELD, UNKNOWN = "moved", "held", "cannot tell"


@dataclass(frozen=True)
class Side:
    """A version's score by topic, of n_topics that both sides have in the same order.

    `earned`: sum of weight times gain of a topic's items, `weight`: of their weights, `is_counted`:
    whether the score is a mean over this topic, items or not; not so for one of the other side.
    """

    earned: Floats = field(repr=False)
    weight: Floats = field(repr=False)
    is_counted: NDArray[np.bool_] = field(repr=False)

    @property
    def score(self) -> float:
        """The sum over topics."""
        return float(self.earned.sum())

    def without(self, values: Floats) -> Floats:
        """(n_topics,) the sum of one of these without each topic, the others weighing as much."""
        n = int(np.count_nonzero(self.is_counted))
        grown = np.where(self.is_counted, n / max(n - 1, 1), 1.0)
        rest: Floats = (values.sum() - values) * grown
        return rest


@dataclass(frozen=True)
class Anchors:
    """Items that both versions judged: (n,) each; `human` nan where people did not label it."""

    topics: Ints  # the index of the item's topic
    weights: Floats  # > 0; only their shares within a topic count
    old: Floats  # what the old judge says it earns
    new: Floats
    human: Floats


@dataclass(frozen=True)
class Drift:
    """What changed from the old version to the new, as changes of the score.

    `bias_old`, `bias_new`: the judge less people on the anchors; None without labels of all.
    """

    score_old: float
    score_new: float
    raw: Interval
    instrument: Interval
    systems: Interval
    bias_old: Interval | None
    bias_new: Interval | None


def drift(old: Side, new: Side, anchors: Anchors, *, level: float = LEVEL) -> Drift:
    """Split the change of a score into that of the judge and that of what it judges.

    Intervals are Student's t over the jackknife, with one degree of freedom less than topics have
    anchors. Where no anchor changed at all, its bounds are those of a share of which none of n was
    seen (1 - ((1 - level) / 2)^(1/n), Clopper and Pearson 1934), not 0.

    Raises: ValueError if the anchors are of one topic, or arrays differ in length.

    Twelve items, two a topic; the new judge gives all of them 0.5 more:

    >>> topics, weights = np.repeat(np.arange(6), 2), np.full(12, 1 / 12)
    >>> every = np.ones(6, dtype=bool)
    >>> side = Side(np.full(6, 0.25 / 6), np.full(6, 1 / 6), every)
    >>> grown = Side(np.full(6, 0.75 / 6), np.full(6, 1 / 6), every)
    >>> f, h = np.full(12, 0.25), np.full(12, np.nan)
    >>> change = drift(side, grown, Anchors(topics, weights, f, f + 0.5, h))
    >>> round(change.instrument.value, 9), abs(round(change.systems.value, 9))
    (0.5, 0.0)
    """
    if not len(old.earned) == len(old.weight) == len(new.earned) == len(new.weight):
        raise ValueError("both sides have the same topics, in the same order")
    change, without = _on_anchors(anchors.new - anchors.old, anchors, old)
    n_topics = len(np.unique(anchors.topics))
    df = n_topics - 1

    def interval(value: float, rest: Floats, df: int | None = df) -> Interval:
        nothing = 1e-12  # what is left of sums that are equal
        if abs(value) < nothing and (np.abs(rest) < nothing).all():
            value, rest = 0.0, np.zeros_like(rest)
        return jackknife_interval(value, rest, SIGNED, level=level, df=df)

    raw = new.score - old.score
    raw_without = new.without(new.earned) - old.without(old.earned)
    instrument = interval(change, without)
    systems = interval(raw - change, raw_without - without)
    if not (anchors.new - anchors.old).any():
        least = float(old.weight.sum()) * (1 - ((1 - level) / 2) ** (1 / len(anchors.old)))
        instrument, systems = _wider(instrument, least), _wider(systems, least)
    bias: list[Interval | None] = [None, None]
    if not np.isnan(anchors.human).any():
        bias = [interval(*_on_anchors(f - anchors.human, anchors, old))
                for f in (anchors.old, anchors.new)]  # fmt: skip
    return Drift(
        score_old=old.score,
        score_new=new.score,
        raw=interval(raw, raw_without, None),
        instrument=instrument,
        systems=systems,
        bias_old=bias[0],
        bias_new=bias[1],
    )


def status(change: Interval, margin: float) -> str:
    """`moved` if the interval has no 0, `held` if it lies within +- margin, else `cannot tell`.

    >>> status(Interval(0.02, 0.01, 0.03, 9), 0.05), status(Interval(0.0, -0.02, 0.02, 9), 0.05)
    ('moved', 'held')
    >>> status(Interval(0.02, -0.1, 0.14, 9), 0.05)
    'cannot tell'
    """
    if change.low is None or change.high is None:
        return UNKNOWN
    if change.low > 0 or change.high < 0:
        return MOVED
    return HELD if -margin <= change.low and change.high <= margin else UNKNOWN


def _on_anchors(values: Floats, anchors: Anchors, old: Side) -> tuple[float, Floats]:
    """The mean of the anchors' values as it counts in the score, and without each topic."""
    n = len(old.weight)
    own = np.bincount(anchors.topics, anchors.weights, n)
    if np.count_nonzero(own) < 2:
        raise ValueError("the anchors are of one topic, wanted 2 topics or more")
    usual = old.weight.sum() / max(int(np.count_nonzero(old.weight)), 1)
    shares = np.where(own > 0, np.where(old.weight > 0, old.weight, usual), 0.0)
    means = np.bincount(anchors.topics, anchors.weights * values, n) / np.where(own > 0, own, 1.0)
    parts, total = shares * means, old.weight.sum()
    value = float(total * parts.sum() / shares.sum())
    rest = (parts.sum() - parts) / (shares.sum() - shares)
    return value, old.without(old.weight) * rest


def _wider(interval: Interval, by: float) -> Interval:
    if interval.low is None or interval.high is None:
        return interval
    low, high = max(interval.low - by, SIGNED.low), min(interval.high + by, SIGNED.high)
    return Interval(interval.value, low, high, interval.n_topics, interval.level)
