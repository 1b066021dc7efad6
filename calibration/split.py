"""Which topics a judge is fitted on, chosen by, and tested on; no topic is in two parts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ..records.reading.problems import InputError

SHARES = (0.4, 0.2, 0.4)  # of the topics: train, dev, test


@dataclass(frozen=True)
class Split:
    """Topic ids: what a method fits on, what it chooses by, and what it never sees."""

    train: tuple[str, ...]
    dev: tuple[str, ...]
    test: tuple[str, ...]

    def __post_init__(self) -> None:
        parts = (*self.train, *self.dev, *self.test)
        if len(set(parts)) != len(parts):
            raise ValueError("a topic is in two parts of the split")


def split_topics(
    topics: Sequence[str], *, shares: tuple[float, float, float] = SHARES, seed: int = 0
) -> Split:
    """Topics drawn into train, dev and test; the same for the same topics, shares and seed.

    Train and test get a topic at least, and so does dev if its share is not 0 and there are 3.

    Raises: ValueError for fewer than 2 topics, or shares that are negative, do not sum to 1, or
        leave nothing to train or test.

    >>> split_topics(["t1", "t2", "t3", "t4", "t5"])
    Split(train=('t3', 't5'), dev=('t4',), test=('t1', 't2'))
    """
    if min(shares) < 0 or abs(sum(shares) - 1) > 1e-9 or not shares[0] or not shares[2]:
        raise ValueError(f"wanted shares of train, dev and test that sum to 1, got {shares}")
    names = _drawn(topics, seed)
    n = len(names)
    n_dev = min(max(1, round(shares[1] * n)), n - 2) if shares[1] else 0
    n_test = min(max(1, round(shares[2] * n)), n - n_dev - 1)
    parts = names[: n - n_dev - n_test], names[n - n_dev - n_test : n - n_test], names[n - n_test :]
    train, dev, test = (tuple(sorted(part)) for part in parts)
    return Split(train, dev, test)


def topic_folds(topics: Sequence[str], n_folds: int, *, seed: int = 0) -> list[Split]:
    """Splits in which each topic is tested once, by a fit to the topics of all other folds.

    Raises: ValueError for fewer than 2 folds, or more than there are topics.
    """
    names = _drawn(topics, seed)
    if not 2 <= n_folds <= len(names):
        raise ValueError(f"wanted 2 to {len(names)} folds, one topic each at least, got {n_folds}")
    folds = [names[i::n_folds] for i in range(n_folds)]
    return [Split(tuple(sorted(set(names) - set(fold))), (), tuple(sorted(fold))) for fold in folds]


def check_unseen(fitted_on: Iterable[str], splits: Iterable[Split]) -> None:
    """Raise InputError if a judge was fitted before on topics that it would be tested on."""
    if seen := sorted({topic for split in splits for topic in split.test}.intersection(fitted_on)):
        what = f"the judge's file was fitted to labels of {seen[0]}"
        more = f" and {len(seen) - 1} more topics" if len(seen) > 1 else ""
        how = "take the split (seed) that it was fitted with, labels of other topics, or no state"
        raise InputError(f"{what}{more}, which would be tested on; {how}")


def _drawn(topics: Sequence[str], seed: int) -> list[str]:
    names = sorted(set(topics))
    if len(names) < 2:
        raise ValueError(f"wanted 2 topics or more, got {len(names)}")
    order = np.random.default_rng(seed).permutation(len(names))
    return [names[i] for i in order]
