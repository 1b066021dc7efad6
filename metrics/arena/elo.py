"""Elo ratings that do not depend on the order of battles: means over seeded orders."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .bradley_terry import ELO_MEAN, ELO_SCALE, Floats

K = 32.0  # points that a battle moves, at most: Elo, "The Rating of Chessplayers" (1978)
ORDERS = 100
_MOST_UPDATES = 20_000_000  # of all drawn samples together
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
    """(k,) Elo ratings: each run starts at 1000, and K = 32; the mean over random orders.

    Args:
        first, second: (n,) numbers from 0 of the runs of each battle.
        gains: (n,) what the first got: 1 won, 0.5 tied, 0 lost.
        k: how many runs there are. orders: in how many orders the battles are fought.

    Raises: ValueError if nothing is drawn or a gain is outside [0, 1].
    Source: Elo (1978); arXiv:2403.04132 has why one order alone is not enough.

    >>> elo(np.array([0]), np.array([1]), np.array([1.0]), 2).tolist()  # even odds: half of K
    [1016.0, 984.0]
    """
    if orders < 1 or ((gains < 0) | (gains > 1)).any():
        raise ValueError(f"wanted gains from 0 to 1 and orders >= 1, got {orders} orders")
    rng = np.random.default_rng(seed)
    numbers = np.broadcast_to(np.arange(len(gains)), (orders, len(gains)))
    ratings: Floats = _fought(rng.permuted(numbers, axis=1), first, second, gains, k).mean(axis=0)
    return ratings


def drawn_elo(
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    gains: Floats,
    k: int,
    counts: NDArray[np.int64],
    *,
    seed: int = 0,
) -> Floats:
    """(resamples, k) the same of drawn samples; each over 1 to 4 orders, fewer of many battles.

    Args:
        counts: (resamples, n) how often each battle is in a sample.
    """
    rng = np.random.default_rng(seed)
    most = int(counts.sum(axis=1).max(initial=0))
    orders = max(1, min(4, _MOST_UPDATES // max(1, most * len(counts))))
    total = np.zeros((len(counts), k))
    for _ in range(orders):
        numbers = np.full((len(counts), most), _NO_BATTLE)
        for row, drawn in zip(numbers, counts, strict=True):
            battles = np.repeat(np.arange(len(gains)), drawn)
            rng.shuffle(battles)
            row[: len(battles)] = battles
        total += _fought(numbers, first, second, gains, k)
    return total / orders


def _fought(
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
