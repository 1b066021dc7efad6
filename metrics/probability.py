"""Quality of label probabilities: Brier score, log loss, calibration error, reliability."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

BINS = 10
SUM_TO_ONE = 1e-6  # allowed deviation of an item's sum from 1
MIN_PROBABILITY = 1e-15  # replaces a probability of 0 in log loss


@dataclass(frozen=True)
class ReliabilityBin:
    """Items with probabilities from `low` to `high`: predicted and observed share.

    Attributes:
        n: items in the bin, >= 1.
        mean_probability: their mean probability of the event, in [0, 1].
        share: the observed share of the event, in [0, 1].
    """

    low: float
    high: float
    n: int
    mean_probability: float
    share: float


@dataclass(frozen=True)
class ProbabilityScores:
    """Quality of the probabilities of n items; None if n is 0.

    Attributes:
        brier: mean over items of sum_j (p_j - [label = j])^2, in [0, 2]; 0 is best.
        log_loss: mean of -ln p(label), >= 0; a probability of 0 counts as 1e-15.
        ece: mean over j = 1..k-1 of the calibration error of P(label >= j), in [0, 1].
    """

    n: int
    brier: float | None
    log_loss: float | None
    ece: float | None

    def as_dict(self) -> dict[str, Any]:
        """The same fields, ready for JSON."""
        return asdict(self)


def probability_scores(
    probabilities: ArrayLike, labels: Sequence[int] | NDArray[np.int64], *, bins: int = BINS
) -> ProbabilityScores:
    """Score the probabilities of k labels against the true ones.

    Args:
        probabilities: (n, k), k >= 2, each row in [0, 1] with sum 1, the lowest label first.
        labels: (n,) true codes 0..k-1.
        bins: number of bins of the calibration error.

    Raises: ValueError for lengths that differ, invalid probabilities, or a label that is
        not a code; it names the index.
    Source: Brier, "Verification of forecasts expressed in terms of probability" (1950), his sum
        over all labels: for two labels twice the mean square error of P(label = 1).

    >>> round(probability_scores([[0.8, 0.2], [0.4, 0.6]], [0, 1]).brier, 4)
    0.2
    """
    chances, codes = _check(probabilities, labels)
    n, k = chances.shape
    if not n:
        return ProbabilityScores(0, None, None, None)
    true_chances = chances[np.arange(n), codes]
    at_least = [chances[:, j:].sum(axis=1).clip(0, 1) for j in range(1, k)]
    errors = [calibration_error(p, codes >= j, bins=bins) for j, p in enumerate(at_least, 1)]
    return ProbabilityScores(
        n=n,
        brier=float(((chances - np.eye(k)[codes]) ** 2).sum(axis=1).mean()),
        log_loss=float(-np.log(np.maximum(true_chances, MIN_PROBABILITY)).mean()),
        ece=float(np.mean([error for error in errors if error is not None])),
    )


def calibration_error(
    probabilities: ArrayLike, happened: ArrayLike, *, bins: int = BINS
) -> float | None:
    """Compute the expected calibration error: mean distance of share and mean probability.

    Args:
        probabilities: (n,) of an event, in [0, 1]. happened: (n,) whether it happened.
        bins: of equal size, see `reliability_curve`; few items or few bins hide errors.

    Returns: a value in [0, 1], 0 is best; None without items.
    Source: Naeini et al., "Obtaining well calibrated probabilities using Bayesian binning" (2015),
        with bins of equal mass (Nixon et al., arXiv:1904.01685).

    >>> round(calibration_error([0.1, 0.1, 0.9, 0.9], [0, 0, 1, 0], bins=2), 4)
    0.25
    """
    curve = reliability_curve(probabilities, happened, bins=bins)
    n = sum(row.n for row in curve)
    off = sum(row.n * abs(row.share - row.mean_probability) for row in curve)
    return off / n if n else None


def reliability_curve(
    probabilities: ArrayLike, happened: ArrayLike, *, bins: int = BINS
) -> list[ReliabilityBin]:
    """Compute predicted against observed shares, in bins of about equally many items.

    Items are sorted into `bins` equal parts; items with the same probability stay together, in the
    part of the first of them. So the order of the items does not matter, and fewer different
    probabilities give fewer bins.

    Args and Raises: see `calibration_error`; ValueError names the index.
    """
    p, came = np.asarray(probabilities, dtype=np.float64), np.asarray(happened, dtype=np.float64)
    if p.ndim != 1 or p.shape != came.shape:
        raise ValueError(f"wanted one outcome for each probability, got {came.shape} for {p.shape}")
    if bins < 1:
        raise ValueError(f"wanted at least 1 bin, got {bins}")
    for i in np.flatnonzero(~((p >= 0) & (p <= 1))):
        raise ValueError(f"probabilities[{i}] is {p[i]}, wanted 0 to 1")
    for i in np.flatnonzero((came != 0) & (came != 1)):
        raise ValueError(f"happened[{i}] is {came[i]}, wanted 0 or 1")
    part = bins * np.searchsorted(np.sort(p), p, side="left") // max(1, len(p))
    rows = []
    for each in np.unique(part):
        inside = part == each
        rows.append(
            ReliabilityBin(
                low=float(p[inside].min()),
                high=float(p[inside].max()),
                n=int(inside.sum()),
                mean_probability=float(p[inside].mean()),
                share=float(came[inside].mean()),
            )
        )
    return rows


def _check(
    probabilities: ArrayLike, labels: Sequence[int] | NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    chances, codes = np.asarray(probabilities, dtype=np.float64), np.asarray(labels)
    if not chances.size and not codes.size:
        return np.empty((0, 2)), np.empty(0, np.int64)
    if chances.ndim != 2 or chances.shape[1] < 2 or codes.shape != chances.shape[:1]:
        raise ValueError(
            f"wanted (n, k) probabilities of n labels, got {chances.shape} for {codes.shape}"
        )
    for i in np.flatnonzero(~((chances >= 0) & (chances <= 1)).all(axis=1)):
        raise ValueError(f"probabilities[{i}] are {chances[i].tolist()}, wanted 0 to 1")
    for i in np.flatnonzero(abs(chances.sum(axis=1) - 1) > SUM_TO_ONE):
        raise ValueError(f"probabilities[{i}] sum to {chances[i].sum()}, wanted 1")
    for i in np.flatnonzero(~np.isin(codes, range(chances.shape[1]))):
        raise ValueError(f"labels[{i}] is {codes[i]!r}, wanted 0 to {chances.shape[1] - 1}")
    return chances, codes.astype(np.int64)
