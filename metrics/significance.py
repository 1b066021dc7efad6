"""Whether two runs, or the runs of a leaderboard, differ by more than chance, tested by topic."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .bootstrap import LEVEL, SHARE, SIGNED, UNBOUNDED, Ends, Interval, mean_interval

EXACT_TOPICS = 15  # up to here all 2^n sign flips are counted, beyond it they are sampled
RESAMPLES = 10_000
_TIE = 1e-12  # differences below this are rounding
_BLOCK = 4_000_000  # numbers in memory at once

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class PairedTest:
    """How the first of two runs compares with the second, over the topics that both have.

    Attributes:
        difference: mean of the first minus mean of the second, with its t interval by topic.
        p: two-sided p-value of the randomisation test, in (0, 1]; None without topics.
        is_exact: whether `p` counts all sign flips; else a seeded sample of them.
        effect_size: difference in standard deviations of the differences by topic (Cohen's d_z);
            None with fewer than 2 topics, or where all topics differ alike.
        wins, ties, losses: topics on which the first is better, equal (to 1e-12), worse.
        n_topics: topics with a value on both sides.
    """

    difference: Interval
    p: float | None
    is_exact: bool
    effect_size: float | None
    wins: int
    ties: int
    losses: int
    n_topics: int


def paired_tests(
    differences: ArrayLike, *, resamples: int = RESAMPLES, seed: int = 0, level: float = LEVEL
) -> list[PairedTest]:
    """Test pairs of runs by their differences per topic.

    Args:
        differences: (n_pairs, n_topics), first run less second; nan: a topic that the pair lacks.
        resamples: sign flips drawn, at least 1. With many pairs more flips
            are drawn, up to 100,000, so that a p-value can outlive the correction for them.
        level: of the interval, in (0, 1).

    The test: if the runs did not differ, the sign of each topic's difference would be a coin
    toss. `p` is the share of tosses whose sum is as far from 0 as the one seen; of a sample of B
    tosses with r such, (r + 1) / (B + 1). All pairs see the same tosses.

    Raises: ValueError for another shape, an infinite difference, resamples < 1 or a level
        outside (0, 1).
    Source: Fisher, "The design of experiments" (1935); for systems: Smucker, Allan and Carterette
        (CIKM 2007); the +1: Phipson and Smyth (2010).

    >>> test = paired_tests([[0.1, 0.2, 0.3, -0.1]])[0]
    >>> test.p, test.is_exact, test.wins, test.losses
    (0.375, True, 3, 1)
    """
    rows = np.asarray(differences, dtype=float)
    if rows.ndim != 2 or np.isinf(rows).any():
        raise ValueError(f"wanted finite (n_pairs, n_topics) differences, got {rows.shape}")
    if resamples < 1 or not 0 < level < 1:
        raise ValueError(f"wanted resamples >= 1 and 0 < level < 1, got {resamples} and {level}")
    n_topics = rows.shape[1]
    p_values = _randomisation(np.nan_to_num(rows), resamples, seed, level)
    return [
        _test(row, float(p), n_topics <= EXACT_TOPICS, level)
        for row, p in zip(rows, p_values, strict=True)
    ]


def mean_intervals(scores: ArrayLike, *, level: float = LEVEL) -> list[Interval]:
    """The mean of each run over topics, with Student's t interval by topic.

    Args:
        scores: (n_runs, n_topics), finite; nan: not judged, left out. The interval of scores that
            are all in [0, 1] stays there, and that of scores of 0 or more does not go below 0.
        level: of the interval, in (0, 1).

    Returns: one a run; value None where nothing was judged.
    Raises: ValueError for another shape or an infinite score.

    >>> [mean] = mean_intervals([[0.0, 0.5, 1.0, 0.5]])
    >>> mean.value, mean.low < 0.5 < mean.high, mean.n_topics
    (0.5, True, 4)
    """
    rows = np.asarray(scores, dtype=float)
    if rows.ndim != 2 or np.isinf(rows).any():
        raise ValueError(f"wanted finite (n_runs, n_topics) scores, got {rows.shape}")
    return [
        mean_interval(values, _ends(values, [SHARE, Ends(0.0, np.inf)]), level=level)
        for row in rows
        for values in [row[~np.isnan(row)]]
    ]


def _ends(values: Floats, ranges: Sequence[Ends]) -> Ends:
    """The first range that holds all values."""
    held = (ends for ends in ranges if ((values >= ends.low) & (values <= ends.high)).all())
    return next(held, UNBOUNDED)


def holm(p_values: Sequence[float]) -> list[float]:
    """P-values corrected for how many were looked at, so that no claim among them is chance alone.

    Source: Holm, "A simple sequentially rejective multiple test procedure" (1979).

    >>> [round(p, 3) for p in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    raw = np.asarray(p_values, dtype=float)
    order = np.argsort(raw)
    corrected = np.maximum.accumulate(raw[order] * np.arange(len(raw), 0, -1))
    adjusted = np.empty_like(raw)
    adjusted[order] = np.minimum(corrected, 1.0)
    return [float(p) for p in adjusted]


def randomised_hsd(scores: ArrayLike, *, resamples: int = RESAMPLES, seed: int = 0) -> Floats:
    """P-values of all pairs of runs, corrected by the largest difference that chance gives.

    Args:
        scores: (n_topics, n_runs), finite: all runs on all topics.
        resamples: B permutations drawn, at least 1.

    Returns: (n_runs, n_runs) p-values in (0, 1], symmetric, 1 on the diagonal: the share of
        permutations of the runs within each topic whose best and worst mean are further apart
        than this pair's, (r + 1) / (B + 1). A pair has the same p-value in every order of the runs
        and topics. Unlike Holm's its power does not die with the number
        of pairs, for pairs that share runs are not independent.
    Raises: ValueError for another shape, no topic, or a score that is not finite.
    Source: the randomised Tukey test of Carterette, "Multiple testing in statistical analysis of
        systems-based information retrieval experiments" (TOIS 30(1), 2012).
    """
    table = np.asarray(scores, dtype=float)
    if table.ndim != 2 or not len(table) or not np.isfinite(table).all():
        raise ValueError(f"wanted finite (n_topics, n_runs) scores, got {table.shape}")
    rng = np.random.default_rng(seed)
    sorted_table = np.sort(table, axis=1)  # chance is the same whatever the order of the runs
    sorted_table = sorted_table[np.lexsort(sorted_table.T)]  # and of the topics
    widest = np.empty(resamples)
    size = max(1, _BLOCK // table.size)
    for start in range(0, resamples, size):
        shape = (min(size, resamples - start), *table.shape)
        shuffled = rng.permuted(np.broadcast_to(sorted_table, shape), axis=2).mean(axis=1)
        widest[start : start + shape[0]] = np.ptp(shuffled, axis=1)
    widest.sort()
    means = table.mean(axis=0)
    apart = np.abs(means[:, None] - means[None, :])
    n_wider = resamples - np.searchsorted(widest, apart - _TIE)
    p_values: Floats = (n_wider + 1) / (resamples + 1)
    return p_values


def _test(row: Floats, p: float, is_exact: bool, level: float) -> PairedTest:
    is_judged = ~np.isnan(row)
    values = row[is_judged]
    n = len(values)
    difference = mean_interval(values, _ends(values, [SIGNED]), level=level)
    if not n:
        return PairedTest(difference, None, is_exact, None, 0, 0, 0, 0)
    spread = float(values.std(ddof=1)) if n > 1 else 0.0
    mean = float(values.mean())
    wins, losses = int((values > _TIE).sum()), int((values < -_TIE).sum())
    return PairedTest(
        difference=difference,
        p=p,
        is_exact=is_exact,
        effect_size=mean / spread if spread > _TIE else None,
        wins=wins,
        ties=n - wins - losses,
        losses=losses,
        n_topics=n,
    )


def _randomisation(differences: Floats, resamples: int, seed: int, level: float) -> Floats:
    """(n_pairs,) p-values; a topic that a pair lacks is 0, which no flip changes."""
    n_pairs, n_topics = differences.shape
    is_exact = n_topics <= EXACT_TOPICS
    enough = min(100_000, int(5 * n_pairs / (1 - level)))
    n_flips = 2**n_topics if is_exact else max(resamples, enough)
    seen = np.abs(differences.sum(axis=1))
    limit = seen - _TIE * (1 + seen)
    n_far = np.zeros(n_pairs)
    size = max(1, _BLOCK // max(1, n_pairs, n_topics))
    for signs in _sign_flips(n_flips, n_topics, is_exact, size, seed):
        n_far += (np.abs(signs @ differences.T) >= limit).sum(axis=0)
    p_values: Floats = n_far / n_flips if is_exact else (n_far + 1) / (n_flips + 1)
    return p_values


def _sign_flips(
    n_flips: int, n_topics: int, is_exact: bool, size: int, seed: int
) -> Iterator[Floats]:
    """Blocks of at most `size` rows of n_topics signs: all there are, or a sample."""
    rng = np.random.default_rng(seed)
    for start in range(0, n_flips, size):
        rows = min(size, n_flips - start)
        if is_exact:
            numbers = np.arange(start, start + rows)
            bits = numbers[:, None] >> np.arange(n_topics) & 1
        else:
            bits = rng.integers(0, 2, size=(rows, n_topics))
        yield (2 * bits - 1).astype(np.float64)
