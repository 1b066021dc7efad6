"""Strengths of runs from judged battles: Bradley and Terry's model, Elo, and intervals by topic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from ....metrics.inference import UNBOUNDED, Draws, Interval, Resampling, resampling

Floats = NDArray[np.float64]

ELO_SCALE, ELO_MEAN = 400.0, 1000.0  # of ratings: 400 points are odds of 10 to 1
PRIOR = 1.0  # battles, if no finite strengths fit
_MAX_STEPS, _LONGEST_STEP, _CLOSE = 200, 2.0, 1e-10


def bradley_terry(wins: Floats, prior: Floats | float = 0.0) -> Floats:
    """Compute strengths b of k runs by maximum likelihood: P(i beats j) = 1 / (1 + exp(b_j - b_i)).

    Args:
        wins: (..., k, k) how often the row's run beat the column's, >= 0; a tie is half a win of
            both. Leading axes are separate problems, such as bootstrap samples.
        prior: the number of battles, >= 0, that each run is assumed to have tied with a run of mean
            strength, for each problem. 0: no prior, the maximum likelihood alone.

    Returns: (..., k) strengths in natural logarithms of odds, with mean 0.
    Raises: ValueError for other shapes or counts, and if no finite strengths are likeliest: without
        a prior, some runs never lost to the others (see `is_connected`).
    Source: Bradley and Terry, "Rank Analysis of Incomplete Block Designs" (1952); ties as half wins
        as Chatbot Arena counts them (arXiv:2403.04132). Newton's method on the log-likelihood,
        which has one maximum.

    >>> bradley_terry(np.array([[0.0, 3.0], [1.0, 0.0]])).round(4).tolist()  # odds of 3 to 1
    [0.5493, -0.5493]
    """
    wins = _check(wins)
    tied = np.broadcast_to(np.asarray(prior, float), wins.shape[:-2])
    if (tied < 0).any():
        raise ValueError("prior: wanted battles >= 0")
    if (~(is_connected(wins) | (tied > 0))).any():
        what = "a group of runs never lost to the others, so that no finite strengths fit"
        raise ValueError(f"{what}; give a prior")
    strengths = np.zeros(wins.shape[:-1])
    met = wins + np.swapaxes(wins, -1, -2)
    for _ in range(_MAX_STEPS):
        gradient, information = _slopes(wins, met, tied, strengths)
        if np.abs(gradient).max(initial=0.0) <= _CLOSE * max(1.0, met.max(initial=0.0)):
            centred: Floats = strengths - strengths.mean(axis=-1, keepdims=True)
            return centred
        step = np.linalg.solve(information, gradient[..., None])[..., 0]
        longest = np.abs(step).max(axis=-1, keepdims=True, initial=_LONGEST_STEP)
        strengths = strengths + step * (_LONGEST_STEP / longest)
    raise ValueError(f"no maximum after {_MAX_STEPS} steps")


def covariance(wins: Floats, strengths: Floats, prior: float = 0.0) -> Floats:
    """Return the (k, k) covariance of strengths, from the information of the judged battles.

    Use it for differences: var(b_i - b_j) = C_ii + C_jj - 2 C_ij. Battles count as independent.
    """
    wins = _check(wins)
    met = wins + wins.T
    _, information = _slopes(wins, met, np.asarray(prior, float), strengths)
    inverse: Floats = np.linalg.inv(information).astype(np.float64)
    return inverse


def is_connected(wins: Floats) -> NDArray[np.bool_]:
    """Return (...) whether each run beat or tied each other run, directly or through other runs.

    Only then does the likelihood have a maximum (Ford, 1957).

    >>> bool(is_connected(np.array([[0.0, 3.0], [0.0, 0.0]])))
    False
    """
    k = wins.shape[-1]
    reached = ((wins > 0) | np.eye(k, dtype=bool)).astype(np.float32)
    for _ in range(max(1, k).bit_length()):
        reached = (reached @ reached > 0).astype(np.float32)
    return np.asarray((reached > 0).all(axis=(-1, -2)))


def as_ratings(strengths: Floats) -> Floats:
    """Return strengths on the scale of Elo ratings, with mean 1000.

    >>> as_ratings(np.array([0.5493, -0.5493])).round(1).tolist()
    [1095.4, 904.6]
    """
    ratings: Floats = ELO_MEAN + ELO_SCALE / np.log(10.0) * strengths
    return ratings


def _slopes(wins: Floats, met: Floats, tied: Floats, strengths: Floats) -> tuple[Floats, Floats]:
    """Gradient (..., k) and information (..., k, k) of the log-likelihood.

    Without a prior, a shift of all strengths changes nothing. The information gets a 1 in that
    direction, so that it can be inverted and no step shifts the strengths.
    """
    k = strengths.shape[-1]
    chance = _sigmoid(strengths[..., :, None] - strengths[..., None, :])
    alone = _sigmoid(strengths)  # against a run of mean strength
    gradient = (wins - met * chance).sum(axis=-1) + tied[..., None] * (0.5 - alone)
    weights = met * chance * (1.0 - chance)
    own = weights.sum(axis=-1) + tied[..., None] * alone * (1.0 - alone)
    shift = np.where(tied > 0, 0.0, 1.0 / k)[..., None, None]
    return gradient, own[..., None] * np.eye(k) - weights + shift


def _sigmoid(x: Floats) -> Floats:
    chance: Floats = 0.5 * (1.0 + np.tanh(0.5 * x))
    return chance


def _check(wins: Floats) -> Floats:
    wins = np.asarray(wins, float)
    if wins.ndim < 2 or wins.shape[-1] != wins.shape[-2] or not wins.shape[-1]:
        raise ValueError(f"wins: wanted a square for each problem, got {wins.shape}")
    if not np.isfinite(wins).all() or (wins < 0).any():
        raise ValueError("wins: wanted counts >= 0")
    return wins * (1.0 - np.eye(wins.shape[-1]))


K = 32.0  # points that a battle moves, at most: Elo, "The Rating of Chessplayers" (1978)
ORDERS = 100
_MAX_UPDATES = 20_000_000  # of all drawn samples together
_NO_BATTLE = -1


def elo(
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    gains: Floats,
    k: int,
    *,
    orders: int = ORDERS,
    seed: int = 0,
) -> Floats:
    """Return (k,) Elo ratings: each run starts at 1000, and K = 32; the mean over random orders.

    Args:
        first, second: (n,) the 0-based numbers of the runs of each battle.
        gains: (n,) the gain of the first run: 1 win, 0.5 tie, 0 loss.
        k: the number of runs.
        orders: the number of random orders of the battles.

    Raises: ValueError for fewer than one order, or a gain outside [0, 1].
    Source: Elo (1978); arXiv:2403.04132 explains why one order is not enough.

    >>> elo(np.array([0]), np.array([1]), np.array([1.0]), 2).tolist()  # even odds: half of K
    [1016.0, 984.0]
    """
    if orders < 1 or ((gains < 0) | (gains > 1)).any():
        raise ValueError(f"wanted gains from 0 to 1 and orders >= 1, got {orders} orders")
    rng = np.random.default_rng(seed)
    numbers = np.broadcast_to(np.arange(len(gains)), (orders, len(gains)))
    ratings: Floats = _rate_battles(rng.permuted(numbers, axis=1), first, second, gains, k).mean(
        axis=0
    )
    return ratings


def draw_elo(
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    gains: Floats,
    k: int,
    counts: NDArray[np.int64],
    *,
    seed: int = 0,
) -> Floats:
    """Return (resamples, k) Elo ratings of samples, each the mean over 1 to 4 random orders.

    The more battles there are, the fewer orders.

    Args:
        counts: (resamples, n) how often each battle is in a sample.
    """
    rng = np.random.default_rng(seed)
    most = int(counts.sum(axis=1).max(initial=0))
    orders = max(1, min(4, _MAX_UPDATES // max(1, most * len(counts))))
    total = np.zeros((len(counts), k))
    for _ in range(orders):
        numbers = np.full((len(counts), most), _NO_BATTLE)
        for row, drawn in zip(numbers, counts, strict=True):
            battles = np.repeat(np.arange(len(gains)), drawn)
            rng.shuffle(battles)
            row[: len(battles)] = battles
        total += _rate_battles(numbers, first, second, gains, k)
    return total / orders


def _rate_battles(
    numbers: NDArray[np.int64],
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    gains: Floats,
    k: int,
) -> Floats:
    """(rows, k) ratings after the battles of each row, one column after the other."""
    rows = np.arange(len(numbers))
    ratings = np.full((len(numbers), k), ELO_MEAN)
    for battle in numbers.T:
        is_fought = battle != _NO_BATTLE
        one, other = first[battle], second[battle]
        apart = ratings[rows, other] - ratings[rows, one]
        moved = K * (gains[battle] - 1.0 / (1.0 + 10.0 ** (apart / ELO_SCALE))) * is_fought
        ratings[rows, one] += moved
        ratings[rows, other] -= moved
    return ratings


@dataclass(frozen=True)
class Ratings:
    """The ratings of k runs, all in the order of the runs.

    Attributes:
        strengths: Bradley-Terry strengths as ratings, with mean 1000.
        elo: Elo ratings.
        wins: (k, k) how often the row's run beat the column's; a tie is half a win of both.
        has_prior: True if the strengths use a prior, because some runs never lost to the others.
        n_prior_draws: the number of bootstrap samples that use a prior.
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
    """Compute strengths and Elo ratings of k runs, with intervals from a bootstrap of topics.

    Args:
        first, second: (n,) the 0-based numbers of the runs of each judged battle.
        gains: (n,) the gain of the first run: 1, 0.5 or 0.
        topics: (n,) the topic of each battle.
        draws: see `metrics.inference`.

    If a group of runs never lost to the others, no finite strengths are likeliest. Then each run is
    assumed to have tied one battle with a run of mean strength. The same holds in each sample.

    Raises: ValueError for invalid gains.
    """
    sample = resampling(topics, **draws)
    wins = win_counts(first, second, gains, np.zeros(len(gains), np.int64), 1, k)[0]
    by_topic = win_counts(first, second, gains, sample.topic_of, sample.draws.shape[1], k)
    strengths, has_prior, n_prior_draws = strength_intervals(wins, by_topic, sample)
    value = elo(first, second, gains, k)
    no_topics = np.zeros((len(sample.draws), len(gains)), np.int64)
    counts = sample.draws[:, sample.topic_of] if sample.n_topics else no_topics
    drawn = draw_elo(first, second, gains, k, counts)
    of_elo = tuple(sample.interval(float(value[i]), drawn[:, i], UNBOUNDED) for i in range(k))
    return Ratings(strengths, of_elo, wins, has_prior, n_prior_draws)


def strength_intervals(
    wins: Floats, by_topic: Floats, sample: Resampling
) -> tuple[tuple[Interval, ...], bool, int]:
    """Return strengths as ratings, whether they use a prior, and the number of samples that do.

    Args:
        wins: (k, k) wins over all battles.
        by_topic: (n_topics, k, k) wins over the battles of each topic.
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
    """Return (n_groups, k, k) how often the row's run beat the column's in each group of battles.

    >>> one = np.zeros(1, np.int64)
    >>> win_counts(one, one + 1, np.array([0.5]), one, 1, 2).tolist()  # a tie
    [[[0.0, 0.5], [0.5, 0.0]]]
    """
    counts = np.zeros((n_groups, k, k))
    np.add.at(counts, (groups, first, second), gains)
    np.add.at(counts, (groups, second, first), 1.0 - gains)
    return counts
