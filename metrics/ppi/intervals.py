"""Intervals of corrected scores, for two questions, and the labels that a wanted one takes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..bootstrap import LEVEL, Interval
from .estimates import Estimate


def interval_like_these(estimate: Estimate, *, level: float = LEVEL) -> Interval:
    """The interval for topics like these: another sample of topics would give another score.

    Student's t with one degree of freedom less than there are topics with labels. With a label
    on every item it is the t interval of the topic means:

    >>> from nuggetjudge.metrics.ppi.sample import sample
    >>> from nuggetjudge.metrics.ppi.estimates import estimate
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
    """The interval for these very topics: people labelling every item would give the truth.

    Bounds are None where a stratum has 1 label or none, for then its items are not represented.
    """
    if not estimate.all_strata_drawn:
        return Interval(estimate.value, None, None, len(estimate.without_topic), level)
    half = _quantile(level, estimate.label_df) * float(np.sqrt(estimate.label_variance))
    return _around(estimate, half, level)


@dataclass(frozen=True)
class LabelsNeeded:
    """How many labels of a score's items an interval of a wanted half-width takes.

    `like_these` None: no number of labels of these topics gets there, for with all items
    labelled the half-width would still be `least_half_width`, which the topics alone cause.
    """

    like_these: int | None
    of_these: int
    least_half_width: float


def labels_needed(
    estimate: Estimate, half_width: float, *, level: float = LEVEL
) -> LabelsNeeded | None:
    """Labels that a half-width needs, drawn as the present ones; None: too few to say.

    The variance over labels falls as 1/n - 1/N; that over topics stays.

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
    """Labels at which the variance over draws of them comes down to this one."""
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
