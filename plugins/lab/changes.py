"""Split a change of score into the change of the judge and the change of the systems.

A score is S = sum_i w_i f_i over the items of a version, with f the judge's gains. On anchors,
which are items that both versions judged, only the judge can have changed:

    instrument = W * sum_t W_t d_t / sum_t W_t       over the topics t that have anchors
    systems    = (S_new - S_old) - instrument

d_t is the mean of f_new - f_old over the anchors of a topic, each with its weight in the score. W_t
is the weight of the topic (for a topic that the old score lacks, the mean weight of the others),
and W the total weight. With labels h of people on the anchors, the same mean of f - h says how far
each version is from people, and the change of the instrument is the change of f - h.

Source: the difference estimator of metrics/ppi.py, with the old judge instead of people; variances
by the jackknife over topics, of both terms together.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...metrics.inference import (
    LEVEL,
    RESAMPLES,
    SHARE,
    SIGNED,
    UNBOUNDED,
    Ends,
    Interval,
    jackknife_interval,
    ratio,
    resampling,
    student_interval,
)
from ...metrics.label_agreement import pairwise_intervals, pairwise_kappa
from ...metrics.rank_correlation import kendall_tau

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOVED, HELD, UNKNOWN = "moved", "held", "cannot tell"


@dataclass(frozen=True)
class Side:
    """A version's score by topic, for n_topics topics in the order of both sides.

    `earned`: sum of weight times gain over a topic's items. `weight`: sum of their weights.
    `is_counted`: whether the topic belongs to this side's mean, with or without items.
    """

    earned: Floats = field(repr=False)
    weight: Floats = field(repr=False)
    is_counted: NDArray[np.bool_] = field(repr=False)

    @property
    def score(self) -> float:
        """The sum over topics."""
        return float(self.earned.sum())

    def without(self, values: Floats) -> Floats:
        """(n_topics,) the sum without each topic, the other weights scaled to the same total."""
        n = int(np.count_nonzero(self.is_counted))
        grown = np.where(self.is_counted, n / max(n - 1, 1), 1.0)
        rest: Floats = (values.sum() - values) * grown
        return rest


@dataclass(frozen=True)
class Anchors:
    """The n items that both versions judged, as (n,) arrays; `human` is nan without a label."""

    topics: Ints  # the index of the item's topic
    weights: Floats  # > 0; only the proportions within a topic matter
    old: Floats  # gain by the old judge
    new: Floats
    human: Floats


@dataclass(frozen=True)
class Drift:
    """The change from the old version to the new one, in units of the score.

    `bias_old`, `bias_new`: judge minus people on the anchors; None unless people labelled all.
    """

    score_old: float
    score_new: float
    raw: Interval
    instrument: Interval
    systems: Interval
    bias_old: Interval | None
    bias_new: Interval | None


def drift(old: Side, new: Side, anchors: Anchors, *, level: float = LEVEL) -> Drift:
    """Split the change of a score into the change of the judge and the change of the systems.

    Intervals use Student's t with the jackknife; degrees of freedom: topics with anchors minus 1.
    If no anchor changed, the bounds are those of a share of 0 of n (Clopper and Pearson 1934:
    1 - ((1 - level) / 2)^(1/n)), not 0.

    Raises: ValueError if all anchors have the same topic, or arrays differ in length.

    Twelve items, two per topic; the new judge gives each of them 0.5 more:

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
        raise ValueError("both sides must have the same topics in the same order")
    change, without = _on_anchors(anchors.new - anchors.old, anchors, old)
    n_topics = len(np.unique(anchors.topics))
    df = n_topics - 1

    def interval(value: float, rest: Floats, df: int | None = df) -> Interval:
        nothing = 1e-12  # rounding errors of equal sums
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
    """The mean of the anchors' values, weighted as in the score, and without each topic."""
    n = len(old.weight)
    own = np.bincount(anchors.topics, anchors.weights, n)
    if np.count_nonzero(own) < 2:
        raise ValueError("all anchors have the same topic; wanted 2 topics or more")
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


# Columns that explain each other up to this share cannot be separated.
_SAME = 1e-9


@dataclass(frozen=True)
class Fit:
    """The coefficients of k columns, with all topics and without each topic.

    `values` (k,), `without` (n_topics, k): nan if the other topics cannot separate the columns.
    """

    values: Floats
    without: Floats = field(repr=False)
    n: int

    def error(self, column: int) -> float:
        """The standard error of a coefficient (CR3); nan for one topic, or if undefined.

        Source: Bell and McCaffrey, "Bias reduction in standard errors for linear regression with
        multi-stage samples" (2002), as the sum of squared changes from leaving out each topic.
        If each row is its own topic, this is HC3 (MacKinnon and White 1985).
        """
        moved = self.without[:, column] - self.values[column]
        return math.sqrt(float(moved @ moved)) if len(moved) > 1 else math.nan

    def interval(self, column: int, *, level: float = LEVEL) -> Interval:
        """The interval by Student's t; degrees of freedom: number of topics minus 1."""
        n_topics, value, error = len(self.without), float(self.values[column]), self.error(column)
        if math.isnan(error):
            return Interval(value, None, None, n_topics, level)
        return student_interval(value, error, n_topics, UNBOUNDED, level=level)


def least_squares(y: ArrayLike, columns: ArrayLike, topics: Sequence[str]) -> Fit | None:
    """Ordinary least squares, with topics as clusters.

    Args:
        y: (n,) the dependent variable.
        columns: (n, k); no constant is added.
        topics: (n,) the topic of each row; rows of one topic are not independent.

    Returns: None if the columns cannot be separated: two of them are constant, one is a sum of
        others, or there are fewer rows than columns.
    Raises: ValueError if lengths differ.

    >>> fit = least_squares([0.0, 1.0, 2.0, 5.0], [[1, 0], [1, 1], [1, 2], [1, 3]], list("abcd"))
    >>> fit.values.round(3).tolist(), round(fit.error(1), 3)
    ([-0.4, 1.6], 0.731)
    """
    x, target = np.asarray(columns, np.float64), np.asarray(y, np.float64)
    if not len(x) == len(target) == len(topics):
        raise ValueError(f"{len(target)} values, {len(x)} rows, {len(topics)} topics")
    size = np.abs(x).max(axis=0, initial=0.0)
    if len(x) < x.shape[1] or not (size > 0).all():
        return None
    x = x / size
    names, of_row = np.unique(np.asarray(topics), return_inverse=True)
    squares = np.zeros((len(names), x.shape[1], x.shape[1]))
    products = np.zeros((len(names), x.shape[1]))
    np.add.at(squares, of_row, x[:, :, None] * x[:, None, :])
    np.add.at(products, of_row, x * target[:, None])
    solution = _solve(squares.sum(axis=0)[None], products.sum(axis=0)[None])[0]
    if np.isnan(solution).any():
        return None
    without = _solve(squares.sum(axis=0) - squares, products.sum(axis=0) - products)
    return Fit(solution / size, without / size, len(x))


def _solve(squares: Floats, products: Floats) -> Floats:
    """(m, k) the solutions of m systems; nan for a system without a solution."""
    solutions = np.full(products.shape, np.nan)
    values = np.linalg.eigvalsh(squares)
    good = values[:, 0] > _SAME * np.maximum(values[:, -1], 1e-300)
    solutions[good] = np.linalg.solve(squares[good], products[good][:, :, None])[:, :, 0]
    return solutions


Labels = Sequence[str | None]  # (n_items,) None: not judged


@dataclass(frozen=True)
class RunShift:
    """The changes of the scores of n runs, in [0, 1], and tau-b between their two orders.

    For several pairs of labellings: the mean and the largest over all pairs, and the mean tau-b.
    """

    n: int
    mean: float | None
    largest: float | None
    tau_b: float | None


@dataclass(frozen=True)
class LabelShift:
    """The comparison of two labellings of the same items, or the mean over several such pairs.

    Attributes:
        n: pairs of labels compared, without items that one side did not judge.
        kappa: Cohen's, unweighted and, for an ordered scale, linear.
        changed: share of the labels that differ, in [0, 1].
        best: share of the best label in the second labelling minus the share in the first.
        gain: mean gain, second minus first. Both are None for a scale without order.
        runs: changes of the runs' scores; a score is the mean over topics of the run's mean gain.
    """

    n: int
    kappa: dict[str, Interval]
    changed: Interval
    best: Interval | None
    gain: Interval | None
    runs: RunShift | None

    def as_dict(self) -> dict[str, Any]:
        """The same fields, ready for JSON."""
        return asdict(self)


def label_shift(
    pairs: Sequence[tuple[Labels, Labels]],
    scale: Sequence[str],
    gains: Mapping[str, float] | None,
    topics: Sequence[str] | None,
    runs: Sequence[str] | None = None,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    level: float = LEVEL,
) -> LabelShift:
    """Compare labellings of the same n items, pair by pair, with topic-bootstrap intervals.

    Args:
        pairs: one or more pairs of labellings of n items; None in a labelling: not judged.
        scale: the k >= 2 labels, worst to best if they have an order.
        gains: label -> gain in [0, 1]; None: the labels have no order.
        topics: the topic of each item; None: unknown, then no interval has bounds.
        runs: the run of each item; None: items belong to no run.

    Raises: ValueError without a pair, if lengths differ, or if a label is not on the scale.

    >>> shift = label_shift([(["no", "yes"], ["yes", "yes"])], ["no", "yes"],
    ...                     {"no": 0.0, "yes": 1.0}, ["t1", "t2"], ["a", "b"])
    >>> shift.n, shift.changed.value, shift.best.value, shift.runs.mean, shift.runs.tau_b
    (2, 0.5, 0.5, 0.5, None)
    """
    _check_lengths(pairs, topics, runs)
    kappas = pairwise_kappa(pairs, scale)
    intervals = pairwise_intervals(
        kappas, pairs, scale, topics, resamples=resamples, seed=seed, level=level
    )
    sample = resampling(topics, resamples=resamples, seed=seed, level=level)
    per_item = np.array([_counts(pairs, i, scale, gains) for i in range(len(pairs[0][0]))])
    n = int(per_item[:, 0].sum()) if len(per_item) else 0
    drawn = sample.sums(per_item) if sample.n_topics else np.zeros((0, 4))

    def mean(column: int, ends: Ends) -> Interval:
        value = float(per_item[:, column].sum()) / n if n else None
        return sample.interval(value, ratio(drawn[:, column], drawn[:, 0]), ends)

    return LabelShift(
        n=n,
        kappa={
            name: intervals[name]
            for name in ("unweighted", *(("linear",) if gains is not None else ()))
        },
        changed=mean(1, SHARE),
        best=mean(2, SIGNED) if gains is not None else None,
        gain=mean(3, SIGNED) if gains is not None else None,
        runs=_runs(pairs, gains, topics, runs) if gains is not None and runs is not None else None,
    )


def _check_lengths(
    pairs: Sequence[tuple[Labels, Labels]],
    topics: Sequence[str] | None,
    runs: Sequence[str] | None,
) -> None:
    if not pairs:
        raise ValueError("no pair of labellings; wanted one or more")
    sides = {
        f"pairs[{i}][{j}]": side for i, pair in enumerate(pairs) for j, side in enumerate(pair)
    }
    n = len(pairs[0][0])
    for name, values in {**sides, "topics": topics, "runs": runs}.items():
        if values is not None and len(values) != n:
            raise ValueError(f"{name} has {len(values)} items, pairs[0][0] has {n}")


def _counts(
    pairs: Sequence[tuple[Labels, Labels]],
    i: int,
    scale: Sequence[str],
    gains: Mapping[str, float] | None,
) -> list[float]:
    """Counts of one item: pairs of labels, pairs that differ, changes of best label and gain."""
    sums = [0.0, 0.0, 0.0, 0.0]
    for one, other in pairs:
        first, second = one[i], other[i]
        if first is None or second is None:
            continue
        sums[0] += 1
        sums[1] += first != second
        sums[2] += (second == scale[-1]) - (first == scale[-1])
        sums[3] += gains[second] - gains[first] if gains is not None else 0.0
    return sums


def _runs(
    pairs: Sequence[tuple[Labels, Labels]],
    gains: Mapping[str, float],
    topics: Sequence[str] | None,
    runs: Sequence[str],
) -> RunShift:
    shifts: list[float] = []
    taus: list[float] = []
    scored: set[str] = set()
    for one, other in pairs:
        cells: dict[str, dict[str, list[tuple[float, float]]]] = {}
        for i, (first, second) in enumerate(zip(one, other, strict=True)):
            if first is not None and second is not None:
                of_run = cells.setdefault(runs[i], {})
                topic = topics[i] if topics is not None else ""
                of_run.setdefault(topic, []).append((gains[first], gains[second]))
        scores = [_score(of_run) for _, of_run in sorted(cells.items())]
        scored |= cells.keys()
        shifts += [abs(second - first) for first, second in scores]
        tau = kendall_tau([score[0] for score in scores], [score[1] for score in scores])
        taus += [tau] if tau is not None else []
    return RunShift(
        n=len(scored),
        mean=math.fsum(shifts) / len(shifts) if shifts else None,
        largest=max(shifts, default=None),
        tau_b=math.fsum(taus) / len(taus) if taus else None,
    )


def _score(of_run: Mapping[str, Sequence[tuple[float, float]]]) -> tuple[float, float]:
    """The score of a run in both labellings."""
    means = [[math.fsum(side) / len(side) for side in zip(*cell, strict=True)]
             for _, cell in sorted(of_run.items())]  # fmt: skip
    first, second = (math.fsum(side) / len(means) for side in zip(*means, strict=True))
    return first, second
