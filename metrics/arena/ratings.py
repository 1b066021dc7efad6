"""Strengths and ratings of all runs from judged battles, with intervals by topic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from ..bootstrap import UNBOUNDED, Draws, Interval, Resampling, resampling
from .bradley_terry import PRIOR, Floats, as_ratings, bradley_terry, is_connected
from .elo import drawn_elo, elo


@dataclass(frozen=True)
class Ratings:
    """What battles say of k runs, all in the order of the runs.

    Attributes:
        strengths: Bradley-Terry strengths as ratings, mean 1000; elo: Elo ratings.
        wins: (k, k) how often the row's run beat the column's, a tie as half a win of both.
        has_prior: the strengths rest on a prior, since some runs never lost to the others.
        n_prior_draws: of how many drawn samples the same holds.
    """

    strengths: tuple[Interval, ...]
    elo: tuple[Interval, ...]
    wins: Floats = field(repr=False)
    has_prior: bool
    n_prior_draws: int


def ratings(
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    gains: Floats,
    topics: Sequence[str],
    k: int,
    **draws: Unpack[Draws],
) -> Ratings:
    """Strengths and Elo ratings of k runs with intervals, topics drawn with replacement.

    Args:
        first, second: (n,) numbers of the runs of each judged battle. gains: (n,) of the first: 1,
            0.5 or 0. topics: (n,) the topic of each.
        draws: see `metrics.bootstrap`.

    Where a group of runs never lost to the others, each run is taken to have tied one battle with
    a run of mean strength: nothing finite would be likeliest else. So in drawn samples.

    Raises: ValueError for gains that are none.
    """
    sample = resampling(topics, **draws)
    wins = win_counts(first, second, gains, np.zeros(len(gains), np.int64), 1, k)[0]
    by_topic = win_counts(first, second, gains, sample.topic_of, sample.draws.shape[1], k)
    strengths, has_prior, n_prior_draws = strength_intervals(wins, by_topic, sample)
    value = elo(first, second, gains, k)
    no_topics = np.zeros((len(sample.draws), len(gains)), np.int64)
    counts = sample.draws[:, sample.topic_of] if sample.n_topics else no_topics
    drawn = drawn_elo(first, second, gains, k, counts)
    of_elo = tuple(sample.interval(float(value[i]), drawn[:, i], UNBOUNDED) for i in range(k))
    return Ratings(strengths, of_elo, wins, has_prior, n_prior_draws)


def strength_intervals(
    wins: Floats, by_topic: Floats, sample: Resampling
) -> tuple[tuple[Interval, ...], bool, int]:
    """Strengths as ratings; whether they rest on a prior, and of how many samples that holds.

    Args:
        wins: (k, k) of all battles; by_topic: (n_topics, k, k) of those of each topic.
    """
    drawn_wins = np.tensordot(sample.draws.astype(float), by_topic, axes=1)
    is_whole, are_whole = bool(is_connected(wins)), is_connected(drawn_wins)
    strengths = as_ratings(bradley_terry(wins, 0.0 if is_whole else PRIOR))
    drawn = as_ratings(bradley_terry(drawn_wins, np.where(are_whole, 0.0, PRIOR)))
    intervals = [sample.interval(float(b), drawn[:, i], UNBOUNDED) for i, b in enumerate(strengths)]
    return tuple(intervals), not is_whole, int((~are_whole).sum())


def win_counts(
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    gains: Floats,
    groups: NDArray[np.int64],
    n_groups: int,
    k: int,
) -> Floats:
    """(n_groups, k, k) how often the row's run beat the column's in each group of battles.

    >>> one = np.zeros(1, np.int64)
    >>> win_counts(one, one + 1, np.array([0.5]), one, 1, 2).tolist()  # a tie
    [[[0.0, 0.5], [0.5, 0.0]]]
    """
    counts = np.zeros((n_groups, k, k))
    np.add.at(counts, (groups, first, second), gains)
    np.add.at(counts, (groups, second, first), 1.0 - gains)
    return counts
