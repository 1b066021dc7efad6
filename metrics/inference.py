"""Intervals and tests of scores by topic: bootstrap, jackknife, Student's t, randomisation tests.

Topics are the sample of a test collection, so topics are resampled or left out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray

RESAMPLES = 1000
MAX_RESAMPLES = 100_000  # all are in memory at once
LEVEL = 0.95
_ROUNDING = 1e-12


class Ends(NamedTuple):
    """The smallest and the largest value that a figure can have.

    `is_logit`: the interval is computed on the logit scale; otherwise it is cut at the ends.
    """

    low: float
    high: float
    is_logit: bool = False


SHARE = Ends(0.0, 1.0, is_logit=True)
BEYOND_CHANCE = Ends(-1.0, 1.0, is_logit=True)  # kappa, alpha: here the logit scale is Fisher's z
SIGNED = Ends(-1.0, 1.0)  # differences of shares, and rank correlations, which can be 1 exactly
SIGNED_DIFFERENCE = Ends(-2.0, 2.0)
UNBOUNDED = Ends(-math.inf, math.inf)


class Draws(TypedDict, total=False):
    """Settings of intervals: number of samples, seed and level.

    Missing settings have the defaults of `resampling`.
    """

    resamples: int
    seed: int
    level: float


@dataclass(frozen=True)
class Interval:
    """A figure with its interval at `level`, and the number of topics behind it.

    The interval includes the figure, and stays within the range of the figure. `low` and `high` are
    None if the figure is undefined, if there are fewer than 2 topics, if it is undefined in most of
    the drawn samples, or if none was drawn.
    """

    value: float | None
    low: float | None
    high: float | None
    n_topics: int
    level: float = LEVEL


@dataclass(frozen=True)
class Resampling:
    """Items by topic, and the number of times each topic is drawn.

    Attributes:
        topic_of: (n_items,) the number of each item's topic among the topics in sorted order.
        n_topics: number of topics; 0: unknown, so nothing is drawn.
        draws: (resamples, max(n_topics, 1)) counts, see `topic_draws`.
        level: of the intervals, in (0, 1).
    """

    topic_of: NDArray[np.int64] = field(repr=False)
    n_topics: int
    draws: NDArray[np.int64] = field(repr=False)
    level: float = LEVEL

    def counts_by_topic(self, codes: NDArray[np.int64], n_codes: int) -> NDArray[np.float64]:
        """Count each code in each topic: (n_items,) codes -> (n_topics, n_codes)."""
        n_topics = self.draws.shape[1]
        counts = np.bincount(self.topic_of * n_codes + codes, minlength=n_topics * n_codes)
        return counts.reshape(n_topics, n_codes).astype(np.float64)

    def counts(self, codes: NDArray[np.int64], n_codes: int) -> NDArray[np.float64]:
        """Count each code in each sample: (n_items,) codes -> (resamples, n_codes)."""
        return self.draws.astype(np.float64) @ self.counts_by_topic(codes, n_codes)

    def sums(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sum over the items of each sample: (n_items, ...) -> (resamples, ...)."""
        by_topic = np.zeros((self.draws.shape[1], *values.shape[1:]))
        np.add.at(by_topic, self.topic_of, values)
        return np.tensordot(self.draws.astype(np.float64), by_topic, axes=1)

    def interval(self, value: float | None, drawn: NDArray[np.float64], ends: Ends) -> Interval:
        """Compute `interval` for these topics."""
        return interval(value, drawn, self.n_topics, ends, level=self.level)

    def mean(self, values: ArrayLike, weights: ArrayLike, ends: Ends = SHARE) -> Interval:
        """Compute the weighted mean of the items' values, with its interval; of 0 and 1, a share.

        Args:
            values, weights: (n_items,) each; an item of weight 0 does not count.
            ends: of the values.

        >>> resampling(["a", "b"], resamples=0).mean([1, 0], [3, 1]).value
        0.75
        """
        weight = np.asarray(weights, float)
        both = np.column_stack([weight * np.asarray(values, float), weight])
        total = both.sum(axis=0)
        drawn = self.sums(both) if self.n_topics else np.zeros((0, 2))
        value = float(total[0] / total[1]) if total[1] else None
        return self.interval(value, ratio(drawn[:, 0], drawn[:, 1]), ends)


def resampling(
    topics: Sequence[str] | None,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    level: float = LEVEL,
) -> Resampling:
    """Group items by their topics and draw the topics; the order of items does not matter.

    Args:
        topics: the topic of each item; None: unknown, every interval is empty.
        resamples: number of samples; 0: every interval is empty.

    Raises: ValueError if resamples is negative or above 100,000, or level outside (0, 1).

    >>> sample = resampling(["t2", "t1", "t2"], resamples=500)
    >>> sample.topic_of.tolist(), sample.n_topics
    ([1, 0, 1], 2)
    """
    if not 0 <= resamples <= MAX_RESAMPLES or not 0 < level < 1:
        wanted = f"0 <= resamples <= {MAX_RESAMPLES:,} and 0 < level < 1"
        raise ValueError(f"wanted {wanted}, got {resamples} and {level}")
    if not topics:
        return Resampling(np.zeros(0, np.int64), 0, np.zeros((0, 1), np.int64), level)
    names, topic_of = np.unique(np.asarray(topics), return_inverse=True)
    if resamples:
        draws = topic_draws(len(names), resamples=resamples, seed=seed)
    else:
        draws = np.zeros((0, len(names)), np.int64)
    return Resampling(topic_of.astype(np.int64), len(names), draws, level)


def topic_draws(n_topics: int, *, resamples: int = RESAMPLES, seed: int = 0) -> NDArray[np.int64]:
    """Draw topics: (resamples, n_topics) counts; each row sums to n_topics.

    Source: Efron, "Bootstrap methods" (1979), with the topic as the unit (cluster bootstrap).
    Raises: ValueError if n_topics or resamples is below 1.
    """
    if n_topics < 1 or resamples < 1:
        raise ValueError(f"wanted 1 or more, got {n_topics} topics and {resamples} resamples")
    rng = np.random.default_rng(seed)
    return rng.multinomial(n_topics, np.full(n_topics, 1 / n_topics), size=resamples)


def interval(
    value: float | None,
    drawn: NDArray[np.float64],
    n_topics: int,
    ends: Ends,
    *,
    level: float = LEVEL,
) -> Interval:
    """Compute the interval of a figure by topic bootstrap: Student's t with the bootstrap error.

    The error is the root mean square distance of the drawn figures to the value. So a figure that
    is lower (or higher) on drawn topics, such as a rank correlation, has a wider interval.
    Percentiles would be too narrow for few topics, and could miss the value.

    Args:
        value: the figure on all topics; None: undefined.
        drawn: (resamples,) the figure on each drawn sample; nan if it is undefined there.
        n_topics: the number of topics.
        ends: the range of the figure, see `student_interval`.

    >>> one = interval(0.5, np.array([0.4, 0.6]), 20, SIGNED)
    >>> round(one.low, 3), one.value, round(one.high, 3)
    (0.285, 0.5, 0.715)
    """
    defined = drawn[~np.isnan(drawn)]
    if value is None or n_topics < 2 or not len(defined) or 2 * len(defined) < len(drawn):
        return Interval(value, None, None, n_topics, level)
    error = math.sqrt(n_topics / (n_topics - 1) * float(((defined - value) ** 2).mean()))
    return student_interval(value, error, n_topics, ends, level=level)


def mean_interval(values: ArrayLike, ends: Ends, *, level: float = LEVEL) -> Interval:
    """Compute the mean of n values, one per topic, with Student's t interval; None if n is 0.

    >>> one = mean_interval([0.0, 0.5, 1.0], SIGNED)
    >>> round(one.low, 3), one.value, one.high
    (-0.742, 0.5, 1.0)
    """
    of_topics = np.asarray(values, float)
    n = len(of_topics)
    if n < 2:
        return Interval(float(of_topics[0]) if n else None, None, None, n, level)
    error = float(of_topics.std(ddof=1)) / math.sqrt(n)
    return student_interval(float(of_topics.mean()), error, n, ends, level=level)


def jackknife_interval(
    value: float | None,
    without: NDArray[np.float64],
    ends: Ends,
    *,
    level: float = LEVEL,
    df: int | None = None,
) -> Interval:
    """Compute the interval of a figure by leaving out one topic at a time, with Student's t.

    Args:
        value: the figure on all topics; None: undefined.
        without: (n_topics,) the figure without each topic. If one is nan, the bounds are None.
        ends: the range of the figure, see `student_interval`.
        df: degrees of freedom, if the figure depends on fewer topics; None: n_topics - 1.

    Source: Tukey, "Bias and confidence in not-quite large samples" (1958); t with n_topics - 1
        degrees of freedom.

    >>> interval = jackknife_interval(2.0, np.array([1.5, 2.0, 2.5]), UNBOUNDED)
    >>> round(interval.low, 3), round(interval.high, 3)
    (-0.484, 4.484)
    """
    n = len(without)
    if value is None or n < 2 or np.isnan(without).any():
        return Interval(value, None, None, n, level)
    variance = (n - 1) / n * float(((without - without.mean()) ** 2).sum())
    return student_interval(value, math.sqrt(variance), n, ends, level=level, df=df)


def mean_by_topic(
    values: ArrayLike, topics: Sequence[str] | None, *, level: float = LEVEL
) -> Interval:
    """Compute the mean of n values in [-1, 1]; its interval leaves out one topic at a time.

    Args:
        values: (n,) differences of shares or gains; None if n is 0.
        topics: (n,) the topic of each value; None: unknown, no bounds.

    >>> interval = mean_by_topic([0.0, 0.5, 1.0], ["a", "b", "c"])
    >>> round(interval.low, 3), interval.value, interval.high
    (-0.742, 0.5, 1.0)
    """
    of_item = np.asarray(values, float)
    if not len(of_item):
        return Interval(None, None, None, 0, level)
    _, topic_of = np.unique([""] * len(of_item) if topics is None else topics, return_inverse=True)
    sums, counts = np.bincount(topic_of, of_item), np.bincount(topic_of)
    without = ratio(sums.sum() - sums, len(of_item) - counts)
    return jackknife_interval(float(sums.sum() / len(of_item)), without, SIGNED, level=level)


def student_interval(
    value: float,
    error: float,
    n_topics: int,
    ends: Ends,
    *,
    level: float = LEVEL,
    df: int | None = None,
) -> Interval:
    """Compute Student's t interval of a figure with a standard error, within the figure's range.

    Args:
        ends: the figure's range. A share of 0 or 1 has the interval of Clopper and Pearson (1934)
            for this number of topics.
        df: degrees of freedom; None: n_topics - 1.

    >>> student_interval(0.0, 0.0, 10, SHARE).high == 1 - 0.025 ** (1 / 10)
    True
    >>> student_interval(0.9, 0.05, 20, UNBOUNDED).high > 1 > student_interval(
    ...     0.9, 0.05, 20, SHARE).high > 0.95
    True
    """
    from scipy.special import expit, stdtrit

    half = float(stdtrit(n_topics - 1 if df is None else df, (1 + level) / 2)) * error
    low, high = value - half, value + half
    below, above = value - ends.low, ends.high - value
    if ends.is_logit and min(below, above) > _ROUNDING:
        width = ends.high - ends.low
        logit, step = math.log(below / above), half * width / (below * above)
        low, high = (ends.low + width * float(expit(logit + x)) for x in (-step, step))
    elif ends == SHARE:
        least = ((1 - level) / 2) ** (1 / n_topics)
        low, high = (0.0, max(high, 1 - least)) if value < 0.5 else (min(low, least), 1.0)
    # The interval always includes the value, despite rounding or a value outside the range.
    low, high = min(max(low, ends.low), value), max(min(high, ends.high), value)
    return Interval(value, low, high, n_topics, level)


Array = NDArray[np.float64]


def ratio(above: ArrayLike, below: ArrayLike) -> Array:
    """Divide; nan where `below` is 0 (up to rounding: counts are whole, shares are in [0, 1]).

    >>> ratio([1, 0], [2, 0]).tolist()
    [0.5, nan]
    """
    one, other = np.broadcast_arrays(np.asarray(above, float), np.asarray(below, float))
    quotient: Array = np.divide(
        one, other, out=np.full(other.shape, np.nan), where=np.abs(other) > 1e-12
    )
    return quotient


def as_number(figure: ArrayLike) -> float | None:
    """Turn a figure in [-1, 1] into a number: None if undefined; rounding errors are cut off.

    >>> as_number(1 + 1e-15), as_number(ratio(0, 0))
    (1.0, None)
    """
    number = float(np.asarray(figure))
    return None if math.isnan(number) else max(-1.0, min(1.0, number))


def as_numbers(figures: Mapping[str, Any]) -> dict[str, Any]:
    """Apply `as_number` to figures by name, at any depth."""
    return {
        name: as_numbers(figure) if isinstance(figure, Mapping) else as_number(figure)
        for name, figure in figures.items()
    }


EXACT_TOPICS = 15  # up to here all 2^n sign flips are counted, beyond it they are sampled
N_PERMUTATIONS = 10_000
_TIE = 1e-12  # differences below this are rounding
_BLOCK = 4_000_000  # numbers in memory at once

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class PairedTest:
    """The difference of two runs over their common topics.

    Attributes:
        difference: mean of the first minus mean of the second, with its t interval by topic.
        p: two-sided p-value of the randomisation test, in (0, 1]; None without topics.
        is_exact: whether `p` counts all sign flips; otherwise a seeded sample of them.
        effect_size: difference in standard deviations of the differences by topic (Cohen's d_z);
            None with fewer than 2 topics, or if all topics have the same difference.
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


def compare_pairs(
    differences: ArrayLike, *, resamples: int = N_PERMUTATIONS, seed: int = 0, level: float = LEVEL
) -> list[PairedTest]:
    """Test pairs of runs by their differences per topic.

    If the runs did not differ, the sign of each topic's difference would be a coin toss. `p` is the
    share of sign flips whose sum is as far from 0 as the observed one; for a sample of B flips with
    r such, (r + 1) / (B + 1). All pairs use the same flips.

    Args:
        differences: (n_pairs, n_topics), first run minus second; nan: a topic that the pair lacks.
        resamples: sign flips drawn, at least 1. For many pairs more flips are drawn, up to
            100,000, so that p-values can stay significant after correction.
        level: of the interval, in (0, 1).

    Raises: ValueError for another shape, an infinite difference, resamples < 1 or a level
        outside (0, 1).
    Source: Fisher, "The design of experiments" (1935); for systems: Smucker, Allan and Carterette
        (CIKM 2007); the +1: Phipson and Smyth (2010).

    >>> test = compare_pairs([[0.1, 0.2, 0.3, -0.1]])[0]
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
    """Compute the mean of each run over topics, with Student's t interval by topic.

    Args:
        scores: (n_runs, n_topics), finite; nan: not judged, left out. The interval of scores that
            are all in [0, 1] stays there, and that of scores of 0 or more does not go below 0.
        level: of the interval, in (0, 1).

    Returns: one interval per run; value None if nothing was judged.
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
    """The first range that includes all values."""
    held = (ends for ends in ranges if ((values >= ends.low) & (values <= ends.high)).all())
    return next(held, UNBOUNDED)


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct p-values for the number of tests (family-wise error rate), by Holm's method.

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


def compute_randomised_hsd(
    scores: ArrayLike, *, resamples: int = N_PERMUTATIONS, seed: int = 0
) -> Floats:
    """Compute p-values of all pairs of runs by the randomised Tukey HSD test.

    Args:
        scores: (n_topics, n_runs), finite: all runs on all topics.
        resamples: B permutations drawn, at least 1.

    Returns: (n_runs, n_runs) p-values in (0, 1], symmetric, 1 on the diagonal: the share of
        permutations of the runs within each topic in which the best and the worst mean differ by
        more than this pair, (r + 1) / (B + 1). The order of runs and topics does not change it. It
        keeps more power than Holm's correction for many pairs, since pairs that share runs are
        not independent.
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
    """(n_pairs,) p-values; a topic that a pair lacks counts 0, which no flip changes."""
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
    """Blocks of at most `size` rows of n_topics signs: all sign flips, or a sample."""
    rng = np.random.default_rng(seed)
    for start in range(0, n_flips, size):
        rows = min(size, n_flips - start)
        if is_exact:
            numbers = np.arange(start, start + rows)
            bits = numbers[:, None] >> np.arange(n_topics) & 1
        else:
            bits = rng.integers(0, 2, size=(rows, n_topics))
        yield (2 * bits - 1).astype(np.float64)
