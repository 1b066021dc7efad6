"""Strengths of runs from battles: Bradley and Terry's model, with ties as half wins."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

ELO_SCALE, ELO_MEAN = 400.0, 1000.0  # of ratings: 400 points are odds of 10 to 1
PRIOR = 1.0  # battles, where no finite strengths fit
_MOST_STEPS, _LONGEST_STEP, _CLOSE = 200, 2.0, 1e-10


def bradley_terry(wins: Floats, prior: Floats | float = 0.0) -> Floats:
    """Strengths b of k runs: P(i beats j) = 1 / (1 + exp(b_j - b_i)), by maximum likelihood.

    Args:
        wins: (..., k, k) how often the row's run beat the column's, >= 0; a tie is half a win of
            both. Leading axes hold problems of their own, such as drawn samples.
        prior: battles, >= 0, that each run is taken to have tied with a run of mean strength, of
            each problem. 0: none, the maximum likelihood alone.

    Returns: (..., k) strengths in natural logarithms of odds, their mean 0.
    Raises: ValueError for other shapes or counts, and where nothing finite is likeliest: without a
        prior some runs never lost to the others (see `is_connected`).
    Source: Bradley and Terry, "Rank Analysis of Incomplete Block Designs" (1952); ties as half
        wins as Chatbot Arena counts them (arXiv:2403.04132). Newton's method on the
        log-likelihood, which has one maximum.

    >>> bradley_terry(np.array([[0.0, 3.0], [1.0, 0.0]])).round(4).tolist()  # odds of 3 to 1
    [0.5493, -0.5493]
    """
    wins = _checked(wins)
    tied = np.broadcast_to(np.asarray(prior, float), wins.shape[:-2])
    if (tied < 0).any():
        raise ValueError("prior: wanted battles >= 0")
    if (~(is_connected(wins) | (tied > 0))).any():
        what = "a group of runs never lost to the others, so that no finite strengths fit"
        raise ValueError(f"{what}; give a prior")
    strengths = np.zeros(wins.shape[:-1])
    met = wins + np.swapaxes(wins, -1, -2)
    for _ in range(_MOST_STEPS):
        gradient, information = _slopes(wins, met, tied, strengths)
        if np.abs(gradient).max(initial=0.0) <= _CLOSE * max(1.0, met.max(initial=0.0)):
            centred: Floats = strengths - strengths.mean(axis=-1, keepdims=True)
            return centred
        step = np.linalg.solve(information, gradient[..., None])[..., 0]
        longest = np.abs(step).max(axis=-1, keepdims=True, initial=_LONGEST_STEP)
        strengths = strengths + step * (_LONGEST_STEP / longest)
    raise ValueError(f"no maximum after {_MOST_STEPS} steps")


def covariance(wins: Floats, strengths: Floats, prior: float = 0.0) -> Floats:
    """(k, k) covariance of strengths, by the information of the battles that were fought.

    Its use is in differences: var(b_i - b_j) = C_ii + C_jj - 2 C_ij. Battles count as independent.
    """
    wins = _checked(wins)
    met = wins + wins.T
    _, information = _slopes(wins, met, np.asarray(prior, float), strengths)
    inverse: Floats = np.linalg.inv(information).astype(np.float64)
    return inverse


def is_connected(wins: Floats) -> NDArray[np.bool_]:
    """(...) whether each run beat or tied each other one, directly or over others in between.

    Only then has the likelihood a maximum (Ford, 1957).

    >>> bool(is_connected(np.array([[0.0, 3.0], [0.0, 0.0]])))
    False
    """
    k = wins.shape[-1]
    reached = ((wins > 0) | np.eye(k, dtype=bool)).astype(np.float32)
    for _ in range(max(1, k).bit_length()):
        reached = (reached @ reached > 0).astype(np.float32)
    return np.asarray((reached > 0).all(axis=(-1, -2)))


def as_ratings(strengths: Floats) -> Floats:
    """Strengths on the scale of Elo ratings, their mean 1000.

    >>> as_ratings(np.array([0.5493, -0.5493])).round(1).tolist()
    [1095.4, 904.6]
    """
    ratings: Floats = ELO_MEAN + ELO_SCALE / np.log(10.0) * strengths
    return ratings


def _slopes(wins: Floats, met: Floats, tied: Floats, strengths: Floats) -> tuple[Floats, Floats]:
    """Gradient (..., k) and information (..., k, k) of the log-likelihood.

    Without a prior all strengths may shift together: the information then has 1 in that direction,
    so that it can be inverted, and no shift in any step.
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


def _checked(wins: Floats) -> Floats:
    wins = np.asarray(wins, float)
    if wins.ndim < 2 or wins.shape[-1] != wins.shape[-2] or not wins.shape[-1]:
        raise ValueError(f"wins: wanted a square for each problem, got {wins.shape}")
    if not np.isfinite(wins).all() or (wins < 0).any():
        raise ValueError("wins: wanted counts >= 0")
    return wins * (1.0 - np.eye(wins.shape[-1]))
