"""Scores corrected with human labels of some items: prediction-powered estimates by topic.

A score that is linear in its items, sum_i w_i gain_i, is estimated from the judge's gain f_i of
every item and the human gain h_i of the labelled items:

    value = lam * sum_i w_i f_i  +  W * sum_labelled a_i (h_i - lam f_i) / sum_labelled a_i

W = sum_i w_i, and a_i = w_i / (labelled share of the item's stratum). The first term is precise
but biased; the second removes its bias. For any `lam`, the value estimates the human score;
lam = 0 uses only the labels, and a good lam makes the interval short.

Source: arXiv:2301.09633 (PPI) and arXiv:2311.01453 (PPI++, the choice of lam). Survey statistics
calls this form the difference estimator, with the ratio of Hajek (Sarndal, Swensson and
Wretman, "Model Assisted Survey Sampling", 1992, sections 5.7 and 6.3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .inference import LEVEL, Interval

# Pseudo-labels of a judge without information, added to the errors seen in the labels: with few
# labels a good judge may have no error in them, which does not make its score exact.
_PRIOR_LABELS = 2.0


@dataclass(frozen=True)
class Moments:
    """Variances and covariance of a score's human and judge part over choices of labels.

    They can be added over samples: the sum over the runs of a leaderboard gives one lam for all.
    """

    human: float
    judged: float
    both: float

    def __add__(self, other: Moments) -> Moments:
        return Moments(self.human + other.human, self.judged + other.judged, self.both + other.both)

    @property
    def lam(self) -> float:
        """The weight of the judge with the smallest variance, in [0, 1]; 0 if the judge does not
        help.

        Source: arXiv:2311.01453, section 6 (power tuning).
        Differs: if every topic has labels, the variance is only over draws of labels within strata,
            because the part of the topics is then the same for every lam.
        """
        return min(max(self.both / self.judged, 0.0), 1.0) if self.judged > 0 else 0.0

    @property
    def rho(self) -> float | None:
        """Correlation of judge and human gains, weighted as in the score; None without variance."""
        if self.human <= 0 or self.judged <= 0:
            return None
        return min(max(self.both / float(np.sqrt(self.human * self.judged)), -1.0), 1.0)

    def variance(self, lam: float) -> float:
        """Variance of the corrected score at this lam."""
        return max(self.human - 2 * lam * self.both + lam**2 * self.judged, 0.0)

    def label_saving(self, lam: float) -> float | None:
        """Share of the labels that the judge saves: 1 - variance(lam) / variance(0).

        It equals rho squared if lam is neither 0 nor 1; None if human gains do not vary.
        """
        return 1 - self.variance(lam) / self.human if self.human > 0 else None


def moments(items: Sample) -> Moments:
    """Compute the variances and the covariance of a score's two parts, which determine lam.

    Over draws of labels within strata; if some topics have no label, also over topics (by the
    jackknife), because then the choice of labelled topics moves the score too.

    Raises: ValueError if no item with weight has a label, or all labels are in one topic.
    """
    weighs = items.weights > 0
    if (items.stratum_labels[weighs] > 0).all():
        return label_moments(items)
    alone = _without_topics(items, 0.0)[1]
    moved = alone - _without_topics(items, 1.0)[1]  # with full weight on the judge
    return Moments(_jackknife(alone, alone), _jackknife(moved, moved), _jackknife(alone, moved))


def label_moments(items: Sample) -> Moments:
    """Compute the variances and the covariance of a score's two parts over draws of labels.

    They use each labelled item's influence on the ratio, and the stratified variance with the
    finite population correction (Cochran, "Sampling Techniques", 1977, sections 5.6 and 6.11).
    Strata with fewer than 2 labels are merged into one.

    Raises: ValueError if no item with weight has a label.
    """
    on, a = _weigh_labelled(items)
    scale = items.weights.sum() / a.sum()
    influence = [
        scale * a * (gain - np.average(gain, weights=a))
        for gain in (items.human[on], items.judged[on])
    ]
    names, first, at = np.unique(items.strata, return_index=True, return_inverse=True)
    drawn, pool = items.stratum_labels[first], items.stratum_items[first]
    group = np.where(drawn >= 2, np.arange(len(names)), len(names))  # the last: merged
    n = np.bincount(group, drawn, len(names) + 1)
    share = n / np.maximum(np.bincount(group, pool, len(names) + 1), 1)
    factor = np.where(n >= 2, (1 - share) * n / np.maximum(n - 1, 1), 0.0)
    of_label = group[at[on]]

    def cov(x: Floats, y: Floats) -> float:
        sums = [np.bincount(of_label, z, len(names) + 1) for z in (x * y, x, y)]
        return float((factor * (sums[0] - sums[1] * sums[2] / np.maximum(n, 1))).sum())

    h, f = influence
    return Moments(max(cov(h, h), 0.0), max(cov(f, f), 0.0), cov(h, f))


@dataclass(frozen=True)
class Estimate:
    """A corrected score, or the difference of two, with the quantities for its intervals."""

    value: float
    without_topic: Floats  # (n_topics,) the value with each topic left out
    label_variance: float  # over draws of labels, for these topics
    few_labels: float  # its part from pseudo-labels
    label_df: float  # degrees of freedom of label_variance
    n_labels: int
    n_items: int
    n_labelled_topics: int
    all_strata_drawn: bool  # each stratum has 2 labels, or all its items are labelled

    @property
    def topic_variance(self) -> float:
        """Variance over topics and labels, by the jackknife over topics (Quenouille, Tukey).

        Close to the linearised variance with topics as clusters, and slightly larger if a run has
        few labels.
        """
        return _jackknife(self.without_topic, self.without_topic) + self.few_labels


def estimate(items: Sample, lam: float) -> Estimate:
    """Compute the corrected score; `lam` in [0, 1] is the weight of the judge, 0 for none.

    Raises: ValueError if no item with weight has a label, or all labels are in one topic.

    Here the judge's score is 0.75, and in each topic the judge gives 1 but people 0 for one label
    in two:

    >>> nan = float("nan")
    >>> items = sample(judged=[1, 1, 0, 1, 1, 1, 0, 1], human=[1, 0, nan, nan, 1, 0, nan, nan],
    ...                weights=[1 / 8] * 8, topics=[0, 0, 0, 0, 1, 1, 1, 1])
    >>> estimate(items, lam=1.0).value
    0.25
    """
    value, without = _without_topics(items, lam)
    of_labels, m, on = label_moments(items), items.n_labels, items.is_labelled
    shown = of_labels.variance(lam)
    few = min(_PRIOR_LABELS / m, 1.0) * max(of_labels.human - shown, 0.0)
    weighs = items.weights > 0
    drawn, pool = items.stratum_labels[weighs], items.stratum_items[weighs]
    # A stratum's mean costs one degree of freedom, shared by the labels of all runs in it.
    df = float((1 - 1 / items.stratum_labels[on & weighs]).sum()) - 1
    return Estimate(
        value=value,
        without_topic=without,
        label_variance=shown + few,
        few_labels=few,
        label_df=max(df, 1.0),
        n_labels=m,
        n_items=int(weighs.sum()),
        n_labelled_topics=len(np.unique(items.topics[on & weighs])),
        all_strata_drawn=bool(((drawn >= 2) | (drawn == pool)).all()),
    )


def difference(one: Estimate, other: Estimate) -> Estimate:
    """Subtract one score from another over the same topics, paired by topic.

    The labels of the two count as independent draws, because the items differ.

    Raises: ValueError if the two have different numbers of topics.
    """
    if len(one.without_topic) != len(other.without_topic):
        n = (len(one.without_topic), len(other.without_topic))
        raise ValueError(f"scores over {n[0]} and {n[1]} topics")
    return Estimate(
        value=one.value - other.value,
        without_topic=one.without_topic - other.without_topic,
        label_variance=one.label_variance + other.label_variance,
        few_labels=one.few_labels + other.few_labels,
        label_df=min(one.label_df, other.label_df),
        n_labels=one.n_labels + other.n_labels,
        n_items=one.n_items + other.n_items,
        n_labelled_topics=min(one.n_labelled_topics, other.n_labelled_topics),
        all_strata_drawn=one.all_strata_drawn and other.all_strata_drawn,
    )


def measure_gap(items: Sample) -> float:
    """How much higher the judge scores the labelled items than all items; near 0 for random draws.

    Its variance is `moments(items).judged`.
    """
    on, a = _weigh_labelled(items)
    by_labelled = items.weights.sum() * np.average(items.judged[on], weights=a)
    return float(by_labelled - items.weights @ items.judged)


def _weigh_labelled(items: Sample) -> tuple[NDArray[np.bool_], Floats]:
    """Mask of labelled items, and the weight of all items that each labelled item represents."""
    on = items.is_labelled
    a = items.weights[on] * items.stratum_items[on] / items.stratum_labels[on]
    if not a.sum() > 0:
        raise ValueError("no item with weight in the score has a label")
    return on, a


def _without_topics(items: Sample, lam: float) -> tuple[float, Floats]:
    """The value, and (n_topics,) the value with each topic left out."""
    on, a = _weigh_labelled(items)

    def by_topic(x: Floats, where: NDArray[np.bool_] | slice = slice(None)) -> Floats:
        return np.bincount(items.topics[where], x, items.n_topics).astype(np.float64)

    judged, weight = by_topic(items.weights * items.judged), by_topic(items.weights)
    share = by_topic(a, on)
    error = by_topic(a * (items.human[on] - lam * items.judged[on]), on)
    if np.count_nonzero(share) < 2:
        raise ValueError("the labels are in one topic, wanted at least 2 topics")
    value = lam * judged.sum() + weight.sum() * error.sum() / share.sum()
    rest = [x.sum() - x for x in (judged, weight, error, share)]
    n = np.count_nonzero(items.is_counted)
    grown = np.where(
        items.is_counted, n / (n - 1), 1.0
    )  # so that the weights of the other topics sum to 1
    return float(value), grown * (lam * rest[0] + rest[1] * rest[2] / rest[3])


def _jackknife(one: Floats, other: Floats) -> float:
    """The covariance of two values, from their values without each topic."""
    t = len(one)
    return float((t - 1) / t * ((one - one.mean()) * (other - other.mean())).sum())


Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Sample:
    """The items of one score, the human labels of some of them, and how these were drawn.

    Labels count as a random draw within each stratum: a topic, or one run's items of a topic. A
    stratum may include items of other runs, which is why it has two counts.

    Raises: ValueError if lengths differ or a value is out of range; it names the index.
    """

    judged: Floats  # (n,) gain of the item by the judge
    human: Floats  # (n,) gain of the item by people; nan: not labelled
    weights: Floats  # (n,) >= 0; weight of the item in the score
    topics: Ints  # (n,) in 0 .. n_topics - 1
    n_topics: int  # topics that the score averages over, also those without an item here
    strata: Ints  # (n,) name of the item's stratum
    stratum_labels: Ints  # (n,) labels drawn in that stratum
    stratum_items: Ints  # (n,) items in it
    by_own_topics: bool = False  # leave out a topic without items instead of counting 0

    def __post_init__(self) -> None:
        n = len(self.judged)
        for name in ("human", "weights", "topics", "strata", "stratum_labels", "stratum_items"):
            if len(getattr(self, name)) != n:
                raise ValueError(f"{len(getattr(self, name))} {name} for {n} judged gains")
        counts = (self.stratum_labels >= self.is_labelled) & (
            self.stratum_labels <= self.stratum_items
        )
        for name, fits in (
            ("judged", np.isfinite(self.judged)),
            ("human", ~np.isinf(self.human)),
            ("weights", np.isfinite(self.weights) & (self.weights >= 0)),
            ("topics", (self.topics >= 0) & (self.topics < self.n_topics)),
            ("stratum_labels", counts),
        ):
            if not fits.all():
                i = int(np.argmin(fits))
                raise ValueError(f"{name}[{i}] is {getattr(self, name)[i]}, out of range")

    @property
    def is_labelled(self) -> NDArray[np.bool_]:
        """(n,) whether people labelled the item."""
        return ~np.isnan(self.human)

    @property
    def is_counted(self) -> NDArray[np.bool_]:
        """(n_topics,) whether the score averages over the topic."""
        if not self.by_own_topics:
            return np.ones(self.n_topics, dtype=np.bool_)
        counted: NDArray[np.bool_] = np.bincount(self.topics, self.weights, self.n_topics) > 0
        return counted

    @property
    def n_labels(self) -> int:
        """Number of labelled items with weight in the score."""
        return int((self.is_labelled & (self.weights > 0)).sum())


def sample(
    judged: Sequence[float] | Floats,
    human: Sequence[float] | Floats,
    weights: Sequence[float] | Floats,
    topics: Sequence[int] | Ints,
    *,
    strata: Sequence[int] | Ints | None = None,
    n_topics: int | None = None,
) -> Sample:
    """Make a sample whose strata hold no other items; by default, the strata are the topics.

    Args: the fields of `Sample`; `n_topics` by default counts the topics up to the highest number.

    >>> sample([1, 0, 1], [1, float("nan"), 0], [0.5, 0.5, 1], [0, 0, 1]).stratum_labels.tolist()
    [1, 1, 1]
    """
    at = np.asarray(topics, dtype=np.int64)
    names = at if strata is None else np.asarray(strata, dtype=np.int64)
    h = np.asarray(human, dtype=np.float64)
    _, stratum = np.unique(names, return_inverse=True)
    return Sample(
        judged=np.asarray(judged, dtype=np.float64),
        human=h,
        weights=np.asarray(weights, dtype=np.float64),
        topics=at,
        n_topics=int(at.max(initial=-1)) + 1 if n_topics is None else n_topics,
        strata=names,
        stratum_labels=np.bincount(stratum, ~np.isnan(h)).astype(np.int64)[stratum],
        stratum_items=np.bincount(stratum)[stratum],
    )


def interval_like_these(estimate: Estimate, *, level: float = LEVEL) -> Interval:
    """Compute the interval for similar topics: another sample of topics would give another score.

    Student's t, with the number of labelled topics minus 1 as degrees of freedom. If every item has
    a label, it is the t interval of the topic means:

    >>> one = sample([0, 0, 0], human=[0.0, 0.5, 1.0], weights=[1 / 3] * 3, topics=[0, 1, 2])
    >>> interval = interval_like_these(estimate(one, lam=0.0))
    >>> round(interval.low, 3), round(interval.high, 3)
    (-0.742, 1.742)
    """
    half = _quantile(level, estimate.n_labelled_topics - 1) * float(
        np.sqrt(estimate.topic_variance)
    )
    return _around(estimate, half, level)


def interval_of_these(estimate: Estimate, *, level: float = LEVEL) -> Interval:
    """Compute the interval for exactly these topics: labels of every item would give the truth.

    Bounds are None if a stratum has fewer than 2 labels, because its items are not represented.
    """
    if not estimate.all_strata_drawn:
        return Interval(estimate.value, None, None, len(estimate.without_topic), level)
    half = _quantile(level, estimate.label_df) * float(np.sqrt(estimate.label_variance))
    return _around(estimate, half, level)


@dataclass(frozen=True)
class LabelsNeeded:
    """Number of labels of a score's items that an interval of a wanted half-width needs.

    `like_these` None: no number of labels suffices, because with all items labelled the half-width
    would still be `least_half_width`, caused by the topics alone.
    """

    like_these: int | None
    of_these: int
    least_half_width: float


def labels_needed(
    estimate: Estimate, half_width: float, *, level: float = LEVEL
) -> LabelsNeeded | None:
    """Estimate the labels that a half-width needs, drawn like the present ones; None: too few to
    say.

    The variance over labels falls as 1/n - 1/N; the variance over topics stays.

    Raises: ValueError if half_width is not above 0.
    """
    if not half_width > 0:
        raise ValueError(f"half_width is {half_width!r}, wanted above 0")
    if not estimate.all_strata_drawn:
        return None
    topics = max(estimate.topic_variance - estimate.label_variance, 0.0)
    quantile = _quantile(level, estimate.n_labelled_topics - 1)
    spare = (half_width / quantile) ** 2 - topics
    of_these = (half_width / _quantile(level, estimate.label_df)) ** 2
    return LabelsNeeded(
        like_these=_labels_for(estimate, spare) if spare > 0 else None,
        of_these=_labels_for(estimate, of_these),
        least_half_width=quantile * float(np.sqrt(topics)),
    )


def _labels_for(estimate: Estimate, variance: float) -> int:
    """Number of labels at which the variance over label draws falls to this one."""
    n, n_items = estimate.n_labels, estimate.n_items
    if estimate.label_variance <= variance and n == n_items:
        return n
    per_label = estimate.label_variance / (n_items / n - 1) if n < n_items else 0.0
    return int(np.ceil(n_items / (1 + variance / per_label))) if per_label > 0 else n


def _around(estimate: Estimate, half: float, level: float) -> Interval:
    n_topics = len(estimate.without_topic)
    return Interval(estimate.value, estimate.value - half, estimate.value + half, n_topics, level)


def _quantile(level: float, df: float) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(df, (1 + level) / 2))


# Below this singular value of the table the judge hardly distinguishes labels, and undoing its
# errors multiplies noise by more than 10.
_WEAKEST = 0.1


@dataclass(frozen=True)
class ErrorRates:
    """How often the judge gives each label if people give each.

    `table` (k, k): row = label by people, column = label by the judge, rows sum to 1; a row is
    nan if people never gave that label. `n`: the labels behind the table.
    """

    table: Floats
    n: int

    @property
    def sensitivity(self) -> float | None:
        """For 2 labels: how often the judge finds the better one; None if people never gave it."""
        return self._share(1)

    @property
    def specificity(self) -> float | None:
        """For 2 labels: how often the judge finds the worse one; None if people never gave it."""
        return self._share(0)

    def _share(self, label: int) -> float | None:
        if len(self.table) != 2:
            raise ValueError(f"{len(self.table)} labels have no sensitivity, wanted 2")
        share = float(self.table[label, label])
        return None if np.isnan(share) else share


def count_error_rates(human: Ints, judged: Ints, weights: Floats, n_labels: int) -> ErrorRates:
    """Count the judge's errors on human-labelled items.

    Args:
        human: (n,) each item's label by people, in 0 .. n_labels - 1.
        judged: (n,) its label by the judge, in the same range.
        weights: (n,) >= 0; number of items that each represents.

    Raises: ValueError if lengths differ or a label is out of range; it names the index.
    """
    for name, values in (("judged", judged), ("weights", weights)):
        if len(values) != len(human):
            raise ValueError(f"{len(values)} {name} for {len(human)} human labels")
    for name, labels in (("human", human), ("judged", judged)):
        bad = (labels < 0) | (labels >= n_labels)
        if bad.any():
            i = int(np.argmax(bad))
            raise ValueError(f"{name}[{i}] is {labels[i]}, wanted 0 to {n_labels - 1}")
    counts = np.zeros((n_labels, n_labels))
    np.add.at(counts, (human, judged), weights)
    totals = counts.sum(axis=1, keepdims=True)
    table = np.divide(counts, totals, out=np.full_like(counts, np.nan), where=totals > 0)
    return ErrorRates(table, int(np.count_nonzero(weights)))


def correct_shares(observed: Floats, rates: ErrorRates) -> Floats | None:
    """Estimate people's shares of labels from the shares that the judge gave.

    For 2 labels it is (observed + specificity - 1) / (sensitivity + specificity - 1), cut to
    [0, 1]; for k labels the distribution whose image under the table is nearest (least squares).
    It assumes that the judge errs as often on these items as on the items of the table.

    Args:
        observed: (k,) shares of the judge's labels, their sum 1.

    Returns: (k,) shares, their sum 1; a label that people never gave has 0. None if the judge
        hardly distinguishes the labels, or people gave only one.
    Raises: ValueError if `observed` has another length.
    Source: Rogan and Gladen, "Estimating prevalence from the results of a screening test"
        (American Journal of Epidemiology, 1978), for 2 labels; its matrix form for k.

    >>> rates = ErrorRates(np.array([[0.9, 0.1], [0.2, 0.8]]), n=100)
    >>> correct_shares(np.array([0.55, 0.45]), rates).round(6).tolist()
    [0.5, 0.5]
    """
    k = len(rates.table)
    if len(observed) != k:
        raise ValueError(f"{len(observed)} shares for {k} labels")
    seen = ~np.isnan(rates.table[:, 0])
    table = rates.table[seen]
    if len(table) < 2 or np.linalg.svd(table, compute_uv=False)[-1] < _WEAKEST:
        return None
    from scipy.optimize import nnls

    # A heavily weighted last equation keeps the sum at 1.
    heavy = 1e4
    system = np.vstack([table.T, np.full(len(table), heavy)])
    solution, _ = nnls(system, np.append(observed, heavy))
    shares = np.zeros(k)
    shares[seen] = solution / solution.sum()
    return shares
