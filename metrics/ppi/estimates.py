"""Scores corrected with human labels of some items: prediction-powered estimates by topic.

A score that is linear in its items, sum_i w_i gain_i, is estimated from the judge's gain f_i of
every item and the human gain h_i of those items that were labelled:

    value = lam * sum_i w_i f_i  +  W * sum_labelled a_i (h_i - lam f_i) / sum_labelled a_i

W = sum_i w_i, and a_i = w_i / (labelled share of the item's stratum). The first term is precise
and biased, the second removes its bias. Whatever `lam` is, the value estimates the human score;
lam = 0 uses the labels alone, and a good lam makes the interval short.

Source: arXiv:2301.09633 (PPI) and arXiv:2311.01453 (PPI++, the choice of lam), in the form that
survey statistics calls the difference estimator, with the ratio of Hajek (Sarndal, Swensson and
Wretman, "Model Assisted Survey Sampling", 1992, sections 5.7 and 6.3).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .sample import Floats, Sample

# Labels' worth of a judge that knows nothing, added to what the labels show of its errors: with
# few labels a good judge errs in none of them, which does not make its score exact.
_PRIOR_LABELS = 2.0


@dataclass(frozen=True)
class Moments:
    """How the choice of labels moves a score: variance of its human and judge part, covariance.

    They add up over samples: the sum over the runs of a leaderboard tunes one lam for all.
    """

    human: float
    judged: float
    both: float

    def __add__(self, other: Moments) -> Moments:
        return Moments(self.human + other.human, self.judged + other.judged, self.both + other.both)

    @property
    def lam(self) -> float:
        """The weight of the judge that makes the variance smallest, in [0, 1]; 0 for no help.

        Source: arXiv:2311.01453, section 6 (power tuning).
        Differs: where every topic has labels, the variance is that of the draw of labels within
        strata alone, since what topics add is then the same for every lam.
        """
        return min(max(self.both / self.judged, 0.0), 1.0) if self.judged > 0 else 0.0

    @property
    def rho(self) -> float | None:
        """Correlation of judge and human gains as they count in the score; None: no variance."""
        if self.human <= 0 or self.judged <= 0:
            return None
        return min(max(self.both / float(np.sqrt(self.human * self.judged)), -1.0), 1.0)

    def variance(self, lam: float) -> float:
        """Variance of the corrected score at this lam."""
        return max(self.human - 2 * lam * self.both + lam**2 * self.judged, 0.0)

    def label_saving(self, lam: float) -> float | None:
        """Share of the labels that the judge saves: 1 - variance(lam) / variance(0).

        It is rho squared where lam is neither 0 nor 1; None where human gains do not vary.
        """
        return 1 - self.variance(lam) / self.human if self.human > 0 else None


def moments(items: Sample) -> Moments:
    """The variances and the covariance of a score's two parts: what lam is tuned on.

    Over draws of labels within strata; where some topics have no label at all, over topics too
    (by the jackknife), since there the choice of the topics to label moves the score as well.

    Raises: ValueError if no item that weighs has a label, or all that have are of one topic.
    """
    weighs = items.weights > 0
    if (items.stratum_labels[weighs] > 0).all():
        return label_moments(items)
    alone = _without_topics(items, 0.0)[1]
    moved = alone - _without_topics(items, 1.0)[1]  # by the judge, at full trust
    return Moments(_jackknife(alone, alone), _jackknife(moved, moved), _jackknife(alone, moved))


def label_moments(items: Sample) -> Moments:
    """The variances and the covariance of a score's two parts over draws of labels.

    Of each labelled item, its influence on the ratio; of those, the stratified variance with the
    finite population correction (Cochran, "Sampling Techniques", 1977, sections 5.6 and 6.11).
    Strata with fewer than 2 labels are merged into one.

    Raises: ValueError if no item that weighs has a label.
    """
    on, a = _labelled(items)
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
    """A corrected score, or the difference of two, with what its intervals need."""

    value: float
    without_topic: Floats  # (n_topics,) the value with each topic left out
    label_variance: float  # over draws of labels, for these topics
    few_labels: float  # the part of it that no label showed
    label_df: float  # degrees of freedom of label_variance
    n_labels: int
    n_items: int
    n_labelled_topics: int
    all_strata_drawn: bool  # each stratum has 2 labels, or all its items are labelled

    @property
    def topic_variance(self) -> float:
        """Variance over topics and labels, by the jackknife over topics (Quenouille, Tukey).

        Close to the linearised variance with topics as clusters, and a little more careful where
        a run has few labels.
        """
        return _jackknife(self.without_topic, self.without_topic) + self.few_labels


def estimate(items: Sample, lam: float) -> Estimate:
    """The corrected score of one sample; `lam` in [0, 1] is the trust in the judge, 0 for none.

    Raises: ValueError if no item that weighs has a label, or all that have are of one topic.

    Here the judge's score is 0.75, and in each topic it says 1 where people say 0 of one label in
    two:

    >>> from nuggetjudge.metrics.ppi.sample import sample
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
    # A stratum's mean costs a degree of freedom, shared by the labels of all runs in it.
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
    """One score minus another over the same topics, paired by topic.

    The labels of the two count as drawn apart: the items are different ones.

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


def judged_gap(items: Sample) -> float:
    """How much higher the judge scores the labelled items than all; near 0 for a random draw.

    Its variance is `moments(items).judged`.
    """
    on, a = _labelled(items)
    by_labelled = items.weights.sum() * np.average(items.judged[on], weights=a)
    return float(by_labelled - items.weights @ items.judged)


def _labelled(items: Sample) -> tuple[NDArray[np.bool_], Floats]:
    """Which items have a label, and of those the weight of all items they stand for."""
    on = items.is_labelled
    a = items.weights[on] * items.stratum_items[on] / items.stratum_labels[on]
    if not a.sum() > 0:
        raise ValueError("no item that weighs in the score has a label")
    return on, a


def _without_topics(items: Sample, lam: float) -> tuple[float, Floats]:
    """The value, and (n_topics,) the value with each topic left out."""
    on, a = _labelled(items)

    def by_topic(x: Floats, where: NDArray[np.bool_] | slice = slice(None)) -> Floats:
        return np.bincount(items.topics[where], x, items.n_topics).astype(np.float64)

    judged, weight = by_topic(items.weights * items.judged), by_topic(items.weights)
    share = by_topic(a, on)
    error = by_topic(a * (items.human[on] - lam * items.judged[on]), on)
    if np.count_nonzero(share) < 2:
        raise ValueError("the labels are of one topic, wanted 2 topics or more")
    value = lam * judged.sum() + weight.sum() * error.sum() / share.sum()
    rest = [x.sum() - x for x in (judged, weight, error, share)]
    n = np.count_nonzero(items.is_counted)
    grown = np.where(
        items.is_counted, n / (n - 1), 1.0
    )  # so that the other topics weigh 1 together
    return float(value), grown * (lam * rest[0] + rest[1] * rest[2] / rest[3])


def _jackknife(one: Floats, other: Floats) -> float:
    """The covariance of two values, from what they are without each topic."""
    t = len(one)
    return float((t - 1) / t * ((one - one.mean()) * (other - other.mean())).sum())
