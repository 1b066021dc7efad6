"""Labels of several judges of one item: juries, Dawid-Skene, and cascades of two judges."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from .inference import UNBOUNDED, jackknife_interval

JuryMethod = Literal["vote", "median", "mean"]
Ties = Literal["between", "worst", "unjudged"]
METHODS: tuple[JuryMethod, ...] = get_args(JuryMethod)
TIES: tuple[Ties, ...] = get_args(Ties)
EQUAL = 1e-9  # positions closer than this are equal: rounding


def combine_votes(
    votes: Sequence[int], k: int, method: JuryMethod, ties: Ties = "between"
) -> int | None:
    """Combine the votes of several judges into one label.

    Args:
        votes: 1 or more codes 0..k-1, the worst label first.
        method: `vote`: the most frequent label; `median`: the middle label; `mean`: the label
            nearest the mean of the codes.
        ties: for two or more labels with equally many votes, in the middle, or equally near the
            mean: `between`: of these, the label nearest the mean, and of two equally near, the
            worse (for a median, all labels from one middle label to the other are candidates);
            `worst`: the worst of them; `unjudged`: none.

    Returns: the code; None for a tie under `unjudged`.
    Raises: ValueError without votes.

    >>> votes = [0, 0, 2, 2, 3]
    >>> combine_votes(votes, 4, "vote"), combine_votes(votes, 4, "vote", "unjudged")
    (2, None)
    >>> combine_votes([0, 3], 4, "median"), combine_votes([0, 0, 3], 4, "mean")
    (1, 1)
    """
    if not votes:
        raise ValueError("wanted at least one vote")
    mean = sum(votes) / len(votes)
    if method == "vote":
        counts = [votes.count(code) for code in range(k)]
        tied = [code for code in range(k) if counts[code] == max(counts)]
    elif method == "median":
        middle = sorted(votes)[(len(votes) - 1) // 2 : len(votes) // 2 + 1]
        tied = list(range(middle[0], middle[-1] + 1))
    else:
        away = [abs(code - mean) for code in range(k)]
        tied = [code for code in range(k) if away[code] <= min(away) + EQUAL]
    if len(tied) == 1:
        return tied[0]
    if ties == "unjudged":
        return None
    if ties == "worst":
        return tied[0]
    nearest = min(abs(code - mean) for code in tied)
    return next(code for code in tied if abs(code - mean) <= nearest + EQUAL)


Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

MIN_ITEMS, MIN_MEMBERS = 100, 3  # with fewer, confusion matrices are guesses
MAX_STEPS = 1000
CHANGE = 1e-6  # EM ends when probabilities change less
NEVER = 1e-10  # replaces a probability of 0 in logarithms


@dataclass(frozen=True)
class DawidSkene:
    """The result of EM.

    Attributes:
        probabilities: (n, k) of each item's label.
        shares: (k,) of the labels.
        confusions: (m, k, k) probability that a judge gives the label of the column if the label of
            the row is true; the row of a label that no item has is 0.
        log_likelihood: of all votes, natural log.
        n_steps: of EM. converged: whether it ended before the limit of steps.
    """

    probabilities: Floats
    shares: Floats
    confusions: Floats
    log_likelihood: float
    n_steps: int
    converged: bool

    @property
    def codes(self) -> Codes:
        """(n,) the most probable label of each item; of equally probable ones, the worst."""
        likeliest: Codes = self.probabilities.argmax(1)
        return likeliest


def dawid_skene(votes: Codes, k: int, *, most_steps: int = MAX_STEPS) -> DawidSkene:
    """Estimate the most likely labels, with one confusion matrix for each judge.

    The model assumes that judges err independently, given the true label. Models make similar
    errors, so the probabilities are too close to 0 and 1, and EM may find the judges' common error
    instead of the truth. Always check the result against human labels.

    Args:
        votes: (n, m) codes 0..k-1, -1 if a judge gave none; each item has at least one.

    Raises: ValueError for a code out of range, or an item without votes; it names the index.
    Source: Dawid and Skene, "Maximum likelihood estimation of observer error-rates using the EM
        algorithm" (1979): maximum likelihood, started at the shares of the votes, without
        smoothing.
    """
    if votes.ndim != 2 or not votes.size:
        raise ValueError(f"wanted items by judges, got {votes.shape}")
    for i, j in np.argwhere((votes < -1) | (votes >= k)):
        raise ValueError(f"votes[{i}, {j}] is {votes[i, j]}, wanted -1 to {k - 1}")
    for i in np.flatnonzero((votes < 0).all(1)):
        raise ValueError(f"votes[{i}] is empty: no judge labelled the item")
    n, m = votes.shape
    by_judge = (votes[:, :, None] == np.arange(k)).astype(np.float64)
    one_hot, chances = by_judge.reshape(n, m * k), by_judge.sum(1)
    chances /= chances.sum(1, keepdims=True)
    n_steps, change = 0, 1.0
    while n_steps < most_steps and change >= CHANGE:
        n_steps += 1
        shares = chances.mean(0)
        counts = (chances.T @ one_hot).reshape(k, m, k).swapaxes(0, 1)
        sums = counts.sum(2, keepdims=True)
        confusions = np.divide(counts, sums, out=np.zeros_like(counts), where=sums > 0)
        logs = np.log(np.maximum(confusions, NEVER))
        joint = np.log(np.maximum(shares, NEVER)) + one_hot @ logs.swapaxes(1, 2).reshape(m * k, k)
        highest = joint.max(1, keepdims=True)
        after = np.exp(joint - highest)
        likelihood = float((highest[:, 0] + np.log(after.sum(1))).sum())
        after /= after.sum(1, keepdims=True)
        change = float(np.abs(after - chances).max())
        chances = after
    return DawidSkene(chances, shares, confusions, likelihood, n_steps, change < CHANGE)


@dataclass(frozen=True)
class EffectiveVotes:
    """The effective number of judges: `n_members` give as much information as `value` independent
    ones.

    `correlation` is the mean over pairs of members whose errors both vary. None: unknown.
    """

    n_members: int
    value: float | None
    correlation: float | None


def effective_votes(errors: NDArray[np.float64]) -> EffectiveVotes:
    """Compute the effective number of judges, m / (1 + (m - 1) r), r the mean error correlation.

    Args:
        errors: (n, m) 1 where a judge's label is wrong, 0 where it is right, nan where it gave
            none. The correlation of a pair is over the items that both labelled.

    If errors are negatively correlated (r < 0), the value is above m; None from r = -1 / (m - 1)
    on, where errors cancel out.
    Source: Kish, "Survey Sampling" (1965), the design effect of equally correlated values.

    >>> same = np.array([[1.0, 1.0], [0.0, 0.0], [1.0, 1.0], [0.0, 0.0]])
    >>> effective_votes(same).value
    1.0
    """
    m = errors.shape[1]
    correlations = [
        r
        for i in range(m)
        for j in range(i + 1, m)
        if (r := _correlation(errors[:, i], errors[:, j])) is not None
    ]
    if m < 2 or not correlations:
        return EffectiveVotes(m, float(m) if m == 1 else None, None)
    mean = float(np.mean(correlations))
    effect = 1 + (m - 1) * mean
    return EffectiveVotes(m, m / effect if effect > 0 else None, mean)


def _correlation(one: NDArray[np.float64], other: NDArray[np.float64]) -> float | None:
    both = ~np.isnan(one) & ~np.isnan(other)
    x, y = one[both], other[both]
    if len(x) < 2 or not np.ptp(x) or not np.ptp(y):
        return None
    return float(np.corrcoef(x, y)[0, 1])


def escalate_least_confident(confidence: Sequence[float] | Floats, share: float) -> Floats:
    """Compute the probability that each item is judged again, for a share of all items.

    Args:
        confidence: (n,) of each item; nan: none, which goes first. share: in [0, 1].

    The least confident items go first. Items of equal confidence share the remaining places with
    equal probability, so no random draw changes a score.

    >>> escalate_least_confident([0.9, 0.5, 0.5, float("nan")], 0.5).tolist()
    [0.0, 0.5, 0.5, 1.0]
    """
    sure = np.nan_to_num(np.asarray(confidence, np.float64), nan=-np.inf)
    if not 0 <= share <= 1:
        raise ValueError(f"wanted a share from 0 to 1, got {share}")
    _, at, size = np.unique(sure, return_inverse=True, return_counts=True)
    before = np.cumsum(size) - size
    of_group: Floats = np.clip((share * len(sure) - before) / size, 0.0, 1.0)
    return of_group[at]


def count_mixed_labels(
    truth: Codes,
    cheap: Codes,
    expensive: Codes,
    goes: Floats,
    topic_of: Codes,
    n_topics: int,
    k: int,
) -> Floats:
    """Count (human label, final label) by topic; each item is judged again with a probability.

    Args:
        truth: (n,) codes 0..k-1. cheap, expensive: (n,) codes; -1 (no label) is the last column.
        goes: (n,) probability in [0, 1] that the expensive judge's label counts.

    Returns: (n_topics, k, k + 1) expected counts.
    """
    counts = np.zeros((n_topics, k, k + 1))
    np.add.at(counts, (topic_of, truth, cheap), 1 - goes)  # -1 is the last
    np.add.at(counts, (topic_of, truth, expensive), goes)
    return counts


def find_threshold(confidence: Sequence[float] | Floats, share: float) -> tuple[float, float]:
    """Find the threshold that escalates about this share of items, and the exact share.

    Raises: ValueError if no item has a confidence.

    >>> find_threshold([0.2, 0.4, 0.6, 0.8], 0.5)
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


Unit = Literal["topic", "item"]
UNITS: tuple[Unit, ...] = get_args(Unit)
MIN_TOPICS = 12  # with fewer, Student's t is so wide that no bound holds
COVERED = 0.8  # share of the topics that need kept items before a bound applies to topics
STEPS = 20  # most thresholds that are tested, at equal shares of the items


@dataclass(frozen=True)
class Counts:
    """Items kept at each of S thresholds, the highest first.

    Attributes:
        thresholds: (S,) an item with at least this confidence is kept.
        kept, wrong: (S, n_topics) kept items, and kept items with a wrong label.
        items: (n_topics,) all items, kept or not.
    """

    thresholds: Floats
    kept: Floats
    wrong: Floats
    items: Floats

    def of(self, topics: NDArray[np.bool_]) -> Counts:
        """The counts of these topics."""
        kept, wrong = self.kept[:, topics], self.wrong[:, topics]
        return Counts(self.thresholds, kept, wrong, self.items[topics])


def counts(
    confidence: Sequence[float] | Floats,
    is_wrong: Sequence[bool] | NDArray[np.bool_],
    topic_of: Sequence[int] | NDArray[np.int64],
    n_topics: int,
    steps: int = STEPS,
) -> Counts:
    """Count kept and wrong items at thresholds that keep about 1/steps, 2/steps, ... of all items.

    Args:
        confidence: (n,) of each item; nan: none, never kept.
        is_wrong: (n,) whether its label is wrong. topic_of: (n,) in 0 .. n_topics - 1.

    The choice of thresholds depends on the confidence only, not on the errors.
    """
    sure, wrong = np.asarray(confidence, np.float64), np.asarray(is_wrong, np.bool_)
    at = np.asarray(topic_of, np.int64)
    ordered = np.sort(sure[~np.isnan(sure)])[::-1]
    indices = (np.ceil(np.arange(1, steps + 1) / steps * len(sure)) - 1).astype(np.int64)
    tried = np.unique(ordered[indices[indices < len(ordered)]])[::-1]
    kept = [np.bincount(at[sure >= threshold], minlength=n_topics) for threshold in tried]
    lost = [np.bincount(at[(sure >= limit) & wrong], minlength=n_topics) for limit in tried]
    shape = (len(tried), n_topics)
    return Counts(
        tried,
        np.array(kept, np.float64).reshape(shape),
        np.array(lost, np.float64).reshape(shape),
        np.bincount(at, minlength=n_topics).astype(np.float64),
    )


def compute_error_bound(
    kept: Floats, wrong: Floats, confidence: float, unit: Unit = "topic"
) -> float:
    """Compute an upper bound for the share of wrong labels among the kept ones.

    Args:
        kept, wrong: (n_topics,) counts. confidence: of the bound, one-sided, in (0.5, 1).
        unit: `topic`: the topics are a sample of topics. The share is a ratio estimate, with the
            standard error of leaving out one topic at a time and Student's t; never below the
            bound of `item`, which decides if all topics are alike. `item`: the items are a
            sample of items (Clopper and Pearson's exact bound), whatever their topics.

    Returns: a share; nan without kept items or, for topics, with fewer than 2 that have some.

    >>> kept, wrong = np.array([10.0, 10, 10]), np.array([0.0, 2, 4])
    >>> [round(compute_error_bound(kept, wrong, 0.9, unit), 3) for unit in ("item", "topic")]
    [0.325, 0.418]
    """
    from scipy.stats import beta

    n, n_wrong = float(kept.sum()), float(wrong.sum())
    if not n:
        return math.nan
    by_item = 1.0 if n_wrong >= n else float(beta.ppf(confidence, n_wrong + 1, n - n_wrong))
    if unit == "item":
        return by_item
    has = kept > 0
    if has.sum() < 2:
        return math.nan
    without = (n_wrong - wrong[has]) / (n - kept[has])
    interval = jackknife_interval(n_wrong / n, without, UNBOUNDED, level=2 * confidence - 1)
    return math.nan if interval.high is None else min(max(interval.high, by_item), 1.0)


def design_effect(kept: Floats, wrong: Floats) -> float:
    """How much larger the variance of the share is over topics than over independent items.

    nan if it cannot be estimated: no item kept, all right, or all wrong.
    """
    has, n = kept > 0, float(kept.sum())
    share = float(wrong.sum()) / n if n else 0.0
    if has.sum() < 2 or not 0 < share < 1:
        return math.nan
    without = (wrong.sum() - wrong[has]) / (n - kept[has])
    spread = float(((without - without.mean()) ** 2).sum())
    return float((has.sum() - 1) / has.sum() * spread / (share * (1 - share) / n))


def find_safe_threshold(tally: Counts, agree: float, confidence: float, unit: Unit) -> int | None:
    """Find the index of the lowest threshold whose kept labels are right often enough.

    Thresholds are tested from the highest down, each at the full level, until one fails: fixed
    sequence testing, which needs no correction for the number of tests. By topic, it starts where
    4 in 5 of the topics have kept items: before that, the bound would cover topics without data.

    Args:
        agree: wanted share of right labels among the kept ones, in (0, 1). confidence: of the
            bound.

    Returns: None if the first test fails, or none is possible.
    Source: Jung et al., "Trust or Escalate" (arXiv:2407.18370), for items. By topic, the bound is
        `compute_error_bound`.
    """
    covers = (tally.kept > 0).mean(1) >= COVERED if unit == "topic" else tally.kept.any(1)
    index = None
    for i in np.flatnonzero(covers):
        if not compute_error_bound(tally.kept[i], tally.wrong[i], confidence, unit) <= 1 - agree:
            break
        index = int(i)
    return index


@dataclass(frozen=True)
class Violations:
    """How often the promised accuracy was missed on other topics.

    Attributes:
        share: of the splits in which kept labels were right less often than promised.
        kept: mean share of items kept. n: splits. n_topics: topics behind the choice of threshold.
    """

    share: float
    kept: float
    n: int
    n_topics: int


def violations(
    tally: Counts, agree: float, confidence: float, unit: Unit, *, splits: int = 300, seed: int = 0
) -> Violations:
    """Choose the threshold on one half of the topics and test it on the other half, many times.

    Each half is smaller than the whole, and the other half is a small sample too, so the measured
    share of violations is higher than the share to expect for the whole.

    Raises: ValueError for fewer than 4 topics.
    """
    n_topics = len(tally.items)
    if n_topics < 4:
        raise ValueError(f"wanted at least 4 topics to split, got {n_topics}")
    rng, half = np.random.default_rng(seed), (n_topics + 1) // 2
    n_broken, kept = 0, 0.0
    for _ in range(splits):
        chosen = np.isin(np.arange(n_topics), rng.permutation(n_topics)[:half])
        index = find_safe_threshold(tally.of(chosen), agree, confidence, unit)
        if index is None:
            continue
        others = tally.of(~chosen)
        n, wrong = others.kept[index].sum(), others.wrong[index].sum()
        kept += float(n / others.items.sum())
        n_broken += bool(n and 1 - wrong / n < agree)
    return Violations(n_broken / splits, kept / splits, splits, half)
