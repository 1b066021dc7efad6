"""Rank correlations: do two judges put the same items in the same order?

With topic-bootstrap intervals: see docs/trust/agreement.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

import numpy as np

from .drawn_correlations import correlate_drawn_cells, correlate_samples, weighted_spearman
from .inference import (
    BEYOND_CHANCE,
    LEVEL,
    RESAMPLES,
    SIGNED,
    Array,
    Interval,
    Resampling,
    as_number,
    as_numbers,
    ratio,
    resampling,
)


def orders(truth: Sequence[float], judged: Sequence[float]) -> dict[str, float | None]:
    """Compute tau_b, tau_ap, spearman and pearson of two lists of scores in one call.

    Args:
        truth: n finite scores; higher is better.
        judged: n finite scores of the same items, in the same order.

    Returns: name -> coefficient in [-1, 1]; None: undefined, see `kendall_tau`.
    Raises: ValueError if the lengths differ or a score is not finite; it names the index.

    >>> {name: round(value, 3) for name, value in orders([1, 2, 3, 4], [1, 2, 4, 3]).items()}
    {'tau_b': 0.667, 'tau_ap': 0.333, 'spearman': 0.8, 'pearson': 0.8}
    """
    x, y = _check(truth, judged)
    if not len(x):
        return dict.fromkeys(("tau_b", "tau_ap", "spearman", "pearson"))
    by_name = correlate_drawn_cells(x, y, np.zeros(len(x), np.int64), np.ones((1, 1), np.int64))
    return as_numbers({name: values[0] for name, values in by_name.items()})


def kendall_tau(truth: Sequence[float], judged: Sequence[float]) -> float | None:
    """Compute Kendall's tau-b of two lists of scores of the same items, in [-1, 1]; 1 = same order.

    Ties: a pair that is tied on one side is neither agreement nor disagreement, and tau-b leaves it
    out of that side's part of the denominator. So tau is 1 only if both sides have the same ties.
    Scores are tied if they are exactly equal: compare scores with the same rounding, because a
    score printed to 4 digits has ties that the full score does not have.

    Args:
        truth: n finite scores; higher is better.
        judged: n finite scores of the same items, in the same order.

    Returns: tau, or None if it is undefined: fewer than 2 items, or all scores of a side equal.
    Raises: ValueError if the lengths differ or a score is not finite; it names the index.
    Source: Kendall, "The treatment of ties in ranking problems" (1945).

    >>> round(kendall_tau([1, 2, 3, 4], [1, 2, 4, 3]), 4)
    0.6667
    >>> kendall_tau([1, 2], [5, 5]) is None
    True
    """
    return orders(truth, judged)["tau_b"]


def top_k_tau(truth: Sequence[float], judged: Sequence[float], k: int) -> float | None:
    """Compute tau-b over the k items that the truth ranks highest.

    Items that are tied in truth with the k-th are all included, so that the order of the lists does
    not matter; there may be more than k (`count_top`).

    Args:
        truth: n finite scores; higher is better.
        judged: n finite scores of the same items, in the same order.
        k: the number of items, >= 1.

    Returns: tau-b in [-1, 1]; None if it is undefined, or if there are fewer than k items.
    Raises: ValueError if the lengths differ, a score is not finite, or k is below 1.
    Source: Kendall (1945), see `kendall_tau`; the cut at k with its ties is ours.

    >>> top_k_tau([4, 3, 2, 1], [3, 4, 1, 2], k=2)
    -1.0
    """
    _check(truth, judged)
    chosen = _top(truth, k)
    return kendall_tau([truth[i] for i in chosen], [judged[i] for i in chosen]) if chosen else None


def count_top(truth: Sequence[float], k: int) -> int:
    """Count the items that `top_k_tau` uses: k and ties with the k-th; 0 if there are fewer.

    Args:
        truth: n scores; higher is better.
        k: the number of items, >= 1.

    >>> count_top([4, 3, 3, 1], k=2), count_top([4, 3], k=5)
    (3, 0)
    """
    return len(_top(truth, k))


def tau_ap(truth: Sequence[float], judged: Sequence[float]) -> float | None:
    """Compute the AP correlation: a tau in which errors near the top weigh more; in [-1, 1].

    For each item below the first of the judged order, take (right - wrong) / all over the items
    that are judged above it. An item above is right if the truth has it above too, otherwise wrong.
    tau_ap is the mean. It is not symmetric: it follows the judged order.

    Ties: an item is compared with the items judged strictly higher, and is left out if there are
    none (ties at the top). A pair that is tied only in truth is wrong. So tau_ap is 1 if both sides
    have the same ties, and the mean of both directions is tau_ap,b of Urbano and Marrero, "The
    treatment of ties in AP correlation" (2017).

    Args:
        truth: n finite scores; higher is better.
        judged: n finite scores of the same items, in the same order.

    Returns: tau_ap, or None if it is undefined: fewer than 2 items, or all scores of a side equal.
    Raises: ValueError if the lengths differ or a score is not finite; it names the index.
    Source: Yilmaz, Aslam and Robertson, "A new rank correlation coefficient for information
        retrieval" (2008), Equation 3: 2 / (n - 1) sum_i(C(i) / (i - 1)) - 1.

    >>> tau_ap([4, 3, 2, 1], [4, 3, 1, 2]) > tau_ap([4, 3, 2, 1], [3, 4, 2, 1])
    True
    """
    return orders(truth, judged)["tau_ap"]


def spearman(truth: Sequence[float], judged: Sequence[float]) -> float | None:
    """Compute Spearman's rank correlation, in [-1, 1]; tied items share the mean of their ranks.

    Args:
        truth: n finite scores; higher is better.
        judged: n finite scores of the same items, in the same order.

    Returns: rho, or None if it is undefined: fewer than 2 items, or all scores of a side equal.
    Raises: ValueError if the lengths differ or a score is not finite; it names the index.
    Source: Spearman, "The proof and measurement of association between two things" (1904).

    >>> spearman([1, 2, 3], [10, 30, 20])
    0.5
    """
    x, y = _check(truth, judged)
    return as_number(weighted_spearman(x, y, np.ones(len(x)))) if len(x) else None


def pearson(truth: Sequence[float], judged: Sequence[float]) -> float | None:
    """Compute Pearson's correlation of scores, in [-1, 1]; 1: they lie on a rising line.

    Args:
        truth: n finite scores; higher is better.
        judged: n finite scores of the same items, in the same order.

    Returns: r, or None if it is undefined: fewer than 2 items, or all scores of a side equal.
    Raises: ValueError if the lengths differ or a score is not finite; it names the index.
    Source: Pearson, "Note on regression and inheritance in the case of two parents" (1895).

    >>> round(pearson([1, 2, 3], [10, 30, 20]), 4), round(pearson([1, 2, 4], [1, 2, 9]), 4)
    (0.5, 0.9762)
    """
    return orders(truth, judged)["pearson"]


def _check(truth: Sequence[float], judged: Sequence[float]) -> tuple[Array, Array]:
    """The scores as arrays. Raises: ValueError like `kendall_tau`."""
    if len(truth) != len(judged):
        raise ValueError(f"{len(truth)} true scores for {len(judged)} judged ones")
    for name, scores in (("truth", truth), ("judged", judged)):
        for i, score in enumerate(scores):
            if not math.isfinite(score):
                raise ValueError(f"{name}[{i}] is {score!r}, wanted a finite number")
    return np.asarray(truth, np.float64), np.asarray(judged, np.float64)


def _top(truth: Sequence[float], k: int) -> list[int]:
    if k < 1:
        raise ValueError(f"wanted k >= 1, got {k}")
    if len(truth) < k:
        return []
    least = sorted(truth, reverse=True)[k - 1]
    return [i for i, score in enumerate(truth) if score >= least]


_Key = TypeVar("_Key", str, tuple[str, str])
Scores = Mapping[tuple[str, str], float | None]  # (run id, topic id) -> score

TOP_K = (5, 10, 15, 20)
_ORDERS = ("tau_b", "tau_ap", "spearman", "pearson")
_TOPS = {f"tau_top_{k}": k for k in TOP_K}
_NAMES = (*_ORDERS, *_TOPS)


@dataclass(frozen=True)
class Coefficient:
    """A coefficient and its sample size.

    Attributes:
        value: in [-1, 1]; None: undefined.
        n: the number of runs at run level (for a top k, the included runs), of topics for the mean
            per topic, and of cells for all cells.
    """

    value: float | None
    n: int


@dataclass(frozen=True)
class Taus:
    """Kendall's tau-b at three levels, each in [-1, 1], or None if it is undefined.

    Attributes:
        run_level: tau of the run scores: does the judge give the same leaderboard?
        n_runs: runs with a score on both sides.
        n_runs_unmatched: runs on one side only, which are left out.
        topic_mean: mean of the taus within each topic, over topics where tau is defined.
        n_topics: topics in that mean.
        n_topics_undefined: topics with fewer than 2 runs, or with all runs equal on one side.
        pooled: tau of all (run, topic) cells together; differences between topics count here.
        n_cells: cells with a value on both sides.
        n_cells_unmatched: cells with a value on one side only, which are left out.
        coefficients: run_level, topic_mean, pooled -> tau_b, tau_ap, spearman, pearson, and for
            runs (not for pooled cells) tau_top_5, tau_top_10, tau_top_15, tau_top_20.
        by_topic: topic id -> the same coefficients of its runs; topics in sorted order.
    """

    run_level: float | None
    n_runs: int
    n_runs_unmatched: int
    topic_mean: float | None
    n_topics: int
    n_topics_undefined: int
    pooled: float | None
    n_cells: int
    n_cells_unmatched: int
    coefficients: dict[str, dict[str, Coefficient]]
    by_topic: dict[str, dict[str, float | None]]

    def as_dict(self) -> dict[str, Any]:
        """Return the same fields, ready for JSON."""
        return asdict(self)


def taus(
    truth: Scores,
    judged: Scores,
    *,
    truth_runs: Mapping[str, float],
    judged_runs: Mapping[str, float],
) -> Taus:
    """Compare the orders of one measure at run level, as the mean over topics, and over all cells.

    Args:
        truth, judged: (run id, topic id) -> score; a cell without a value is absent or None.
        truth_runs, judged_runs: run id -> the run's score over all topics, as its source defines
            it (see `mean_over_topics`); it is not computed from the cells here.

    Returns: the coefficients at each level. Cells and runs on one side only are left out and
        counted.
    Raises: ValueError for a score that is not finite.
    Source: arXiv:2411.09607 and arXiv:2504.15205 report the three taus; for the other coefficients
        see `tau_ap`, `spearman` and `pearson`.

    >>> truth = {("a", "t1"): 0.1, ("b", "t1"): 0.2, ("a", "t2"): 0.8, ("b", "t2"): 0.9}
    >>> judged = {("a", "t1"): 0.3, ("b", "t1"): 0.4, ("a", "t2"): 0.6, ("b", "t2"): 0.5}
    >>> means = {"a": 0.45, "b": 0.55}, {"a": 0.45, "b": 0.45}
    >>> tau = taus(truth, judged, truth_runs=means[0], judged_runs=means[1])
    >>> tau.run_level, tau.topic_mean, tau.n_topics, round(tau.pooled, 4)
    (None, 0.0, 2, 0.6667)
    """
    true_cells, judged_cells = keep_defined(truth), keep_defined(judged)
    cells = sorted(true_cells.keys() & judged_cells.keys())
    by_topic: dict[str, list[tuple[str, str]]] = {}
    for cell in cells:
        by_topic.setdefault(cell[1], []).append(cell)
    of_topics = {
        topic: _values(*_pairs(by_topic[topic], true_cells, judged_cells))
        for topic in sorted(by_topic)
    }
    runs = sorted(truth_runs.keys() & judged_runs.keys())
    coefficients = {
        "run_level": _of_runs(*_pairs(runs, truth_runs, judged_runs)),
        "topic_mean": {name: _mean([v[name] for v in of_topics.values()]) for name in _NAMES},
        "pooled": _of_cells(*_pairs(cells, true_cells, judged_cells)),
    }
    by_topics = coefficients["topic_mean"]["tau_b"]
    return Taus(
        run_level=coefficients["run_level"]["tau_b"].value,
        n_runs=len(runs),
        n_runs_unmatched=len(truth_runs.keys() ^ judged_runs.keys()),
        topic_mean=by_topics.value,
        n_topics=by_topics.n,
        n_topics_undefined=len(by_topic) - by_topics.n,
        pooled=coefficients["pooled"]["tau_b"].value,
        n_cells=len(cells),
        n_cells_unmatched=len(true_cells.keys() ^ judged_cells.keys()),
        coefficients=coefficients,
        by_topic=of_topics,
    )


def keep_defined(scores: Scores) -> dict[tuple[str, str], float]:
    """Return the cells with a value."""
    return {cell: value for cell, value in scores.items() if value is not None}


def _values(truth: Sequence[float], judged: Sequence[float]) -> dict[str, float | None]:
    return orders(truth, judged) | {name: top_k_tau(truth, judged, k) for name, k in _TOPS.items()}


def _of_runs(truth: Sequence[float], judged: Sequence[float]) -> dict[str, Coefficient]:
    n = {name: count_top(truth, _TOPS[name]) if name in _TOPS else len(truth) for name in _NAMES}
    return {name: Coefficient(v, n[name]) for name, v in _values(truth, judged).items()}


def _of_cells(truth: Sequence[float], judged: Sequence[float]) -> dict[str, Coefficient]:
    return {name: Coefficient(v, len(truth)) for name, v in orders(truth, judged).items()}


def _mean(values: Sequence[float | None]) -> Coefficient:
    present = [value for value in values if value is not None]
    mean = math.fsum(present) / len(present) if present else None
    return Coefficient(mean, len(present))


def _pairs(
    keys: Sequence[_Key], truth: Mapping[_Key, float], judged: Mapping[_Key, float]
) -> tuple[list[float], list[float]]:
    return [truth[key] for key in keys], [judged[key] for key in keys]


_DIGITS = 12  # of a drawn mean, so that equal means are tied whatever their rounding
_CLOSE = 1e-3  # allowed difference of a run's score and its mean: it may be rounded to 4 digits


def tau_intervals(
    correlations: Taus,
    truth: Scores,
    judged: Scores,
    *,
    truth_runs: Mapping[str, float],
    judged_runs: Mapping[str, float],
    resamples: int = RESAMPLES,
    seed: int = 0,
    level: float = LEVEL,
) -> dict[str, dict[str, Interval]]:
    """Compute intervals of all coefficients of `taus`, from its result and its arguments.

    A run's score over drawn topics is their mean. A topic that has a value for another run of the
    same side but no cell for this run counts 0, as in `mean_over_topics`; a topic where this run's
    value is None is left out. Run-level intervals need run scores that are these means: if one
    differs by more than .001 (published scores over other topics, or a measure with another mean,
    such as `length`), they have no bounds and n_topics 0.

    Returns: run_level, topic_mean, pooled -> name of the coefficient -> interval. n_topics
        counts the drawn topics: at run level the topics of either side, otherwise the topics with
        a cell on both.

    >>> from nuggetjudge.metrics import taus
    >>> cells = {(run, f"t{i}"): i + s for i in range(9) for s, run in enumerate("abc")}
    >>> runs = {"a": 4.0, "b": 5.0, "c": 6.0}
    >>> both = {"truth_runs": runs, "judged_runs": runs}
    >>> tau_intervals(taus(cells, cells, **both), cells, cells, **both)["run_level"]["tau_b"]
    Interval(value=1.0, low=1.0, high=1.0, n_topics=9, level=0.95)
    """
    cells = sorted(
        keep_defined(truth).keys() & keep_defined(judged).keys(), key=lambda cell: cell[::-1]
    )
    x, y = (np.array([scores[cell] for cell in cells], float) for scores in (truth, judged))
    sample = resampling([topic for _, topic in cells], resamples=resamples, seed=seed, level=level)
    return {
        "run_level": _run_level(
            correlations, truth, judged, truth_runs, judged_runs, resamples, seed, level
        ),
        "topic_mean": _topic_mean(correlations, sample),
        "pooled": _pool(correlations, x, y, sample),
    }


def _run_level(
    correlations: Taus,
    truth: Scores,
    judged: Scores,
    truth_runs: Mapping[str, float],
    judged_runs: Mapping[str, float],
    resamples: int,
    seed: int,
    level: float,
) -> dict[str, Interval]:
    values = {name: c.value for name, c in correlations.coefficients["run_level"].items()}
    runs = sorted(truth_runs.keys() & judged_runs.keys())
    topics = sorted(
        {topic for _, topic in keep_defined(truth).keys() | keep_defined(judged).keys()}
    )
    sample = resampling(topics, resamples=resamples, seed=seed, level=level)
    sides = [
        _Side(scores, runs, topics, [run_scores[run] for run in runs])
        for scores, run_scores in ((truth, truth_runs), (judged, judged_runs))
    ]
    if not len(sample.draws) or not all(side.is_mean for side in sides):
        return {name: Interval(value, None, None, 0, level) for name, value in values.items()}
    of_truth, of_judged = (side.means(sample.draws.astype(float)) for side in sides)
    drawn = correlate_samples(of_truth, of_judged, TOP_K)
    return {name: sample.interval(value, drawn[name], SIGNED) for name, value in values.items()}


class _Side:
    """Scores of one side as arrays (n_runs, n_topics), and whether their means are run scores."""

    def __init__(
        self,
        scores: Scores,
        runs: Sequence[str],
        topics: Sequence[str],
        run_scores: Sequence[float],
    ) -> None:
        own_topics = {topic for _, topic in keep_defined(scores)}
        cells = [[scores.get((run, topic), 0.0) for topic in topics] for run in runs]
        shape = (len(runs), len(topics))
        self.counts = np.array(
            [
                [
                    value is not None and topic in own_topics
                    for value, topic in zip(row, topics, strict=True)
                ]
                for row in cells
            ],
            float,
        ).reshape(shape)
        self.values = np.array([[v or 0.0 for v in row] for row in cells], float).reshape(shape)
        means = self.means(np.ones((1, len(topics))))[0]
        self.is_mean = bool(np.allclose(means, run_scores, rtol=_CLOSE, atol=_CLOSE))

    def means(self, draws: Array) -> Array:
        """(resamples, n_topics) draws -> (resamples, n_runs); nan where a run has no topic."""
        means = ratio(draws @ (self.values * self.counts).T, draws @ self.counts.T)
        return np.round(means, _DIGITS)


def _topic_mean(correlations: Taus, sample: Resampling) -> dict[str, Interval]:
    intervals, draws = {}, sample.draws.astype(float)
    for name, mean in correlations.coefficients["topic_mean"].items():
        of_topics = [values[name] for values in correlations.by_topic.values()] or [None]
        taus = np.array(of_topics, float)  # None becomes nan
        drawn = ratio(draws @ np.nan_to_num(taus), draws @ ~np.isnan(taus))
        intervals[name] = sample.interval(mean.value, drawn, BEYOND_CHANCE)
    return intervals


def _pool(correlations: Taus, x: Array, y: Array, sample: Resampling) -> dict[str, Interval]:
    values = {name: c.value for name, c in correlations.coefficients["pooled"].items()}
    if not len(sample.draws):
        return {
            name: sample.interval(value, np.zeros(0), BEYOND_CHANCE)
            for name, value in values.items()
        }
    drawn = correlate_drawn_cells(x, y, sample.topic_of, sample.draws)
    return {
        name: sample.interval(value, drawn[name], BEYOND_CHANCE) for name, value in values.items()
    }
