"""What labels become as more of them are given by a dearer judge."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


def escalated(confidence: Sequence[float] | Floats, share: float) -> Floats:
    """How likely each item is to be judged again, where this share of all items is.

    Args:
        confidence: (n,) of each item; nan: none, which goes first. share: in [0, 1].

    The least sure go first; of items that are equally sure, as many as are left to go, all with the
    same chance, so that no draw moves a figure.

    >>> escalated([0.9, 0.5, 0.5, float("nan")], 0.5).tolist()
    [0.0, 0.5, 0.5, 1.0]
    """
    sure = np.nan_to_num(np.asarray(confidence, np.float64), nan=-np.inf)
    if not 0 <= share <= 1:
        raise ValueError(f"wanted a share from 0 to 1, got {share}")
    _, at, size = np.unique(sure, return_inverse=True, return_counts=True)
    before = np.cumsum(size) - size
    of_group: Floats = np.clip((share * len(sure) - before) / size, 0.0, 1.0)
    return of_group[at]


def mixed_counts(
    truth: Codes, cheap: Codes, dear: Codes, goes: Floats, topic_of: Codes, n_topics: int, k: int
) -> Floats:
    """Counts of (label of people, label given) by topic, where each item goes on with a chance.

    Args:
        truth: (n,) codes 0..k-1. cheap, dear: (n,) codes, -1: no label, in the last column.
        goes: (n,) chance in [0, 1] that the dear one's label is given.

    Returns: (n_topics, k, k + 1) expected counts.
    """
    counts = np.zeros((n_topics, k, k + 1))
    np.add.at(counts, (topic_of, truth, cheap), 1 - goes)  # -1 is the last
    np.add.at(counts, (topic_of, truth, dear), goes)
    return counts


def threshold_of(confidence: Sequence[float] | Floats, share: float) -> tuple[float, float]:
    """The threshold that keeps nearest to all but this share, and the share that goes on then.

    Raises: ValueError where no item has a confidence.

    >>> threshold_of([0.2, 0.4, 0.6, 0.8], 0.5)
    (0.6, 0.5)
    """
    sure = np.asarray(confidence, np.float64)
    confidences = np.unique(sure[~np.isnan(sure)])
    if not len(confidences):
        raise ValueError("no item has a confidence")
    tried = np.append(confidences, np.nextafter(confidences[-1], np.inf))
    goes = np.array([1 - (sure >= threshold).mean() for threshold in tried])
    best = int(np.argmin(np.abs(goes - share)))
    return float(tried[best]), float(goes[best])
