"""Whether a judge puts systems in the same order as the truth does: by run, by topic, by cell."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

from .correlation import n_top, orders, top_k_tau

_Key = TypeVar("_Key", str, tuple[str, str])
Scores = Mapping[tuple[str, str], float | None]  # (run id, topic id) -> score

TOP_K = (5, 10, 15, 20)
_ORDERS = ("tau_b", "tau_ap", "spearman", "pearson")
_TOPS = {f"tau_top_{k}": k for k in TOP_K}
_NAMES = (*_ORDERS, *_TOPS)


@dataclass(frozen=True)
class Coefficient:
    """A coefficient in [-1, 1], or None where undefined, and what it rests on.

    `n` counts runs at run level (of a top k, the runs taken), topics in the mean per topic, and
    cells where all are pooled.
    """

    value: float | None
    n: int


@dataclass(frozen=True)
class Taus:
    """Kendall's tau-b at three levels, each in [-1, 1], or None where undefined.

    Attributes:
        run_level: tau of the run scores: does the judge give the same leaderboard?
        n_runs: runs with a score on both sides. n_runs_unmatched: on one side alone, left out.
        topic_mean: mean of the taus within each topic, over topics where tau is defined.
        n_topics: topics in that mean. n_topics_undefined: with fewer than 2 runs, or all runs
            equal on one side.
        pooled: tau of all (run, topic) cells together; topic difficulty counts here.
        n_cells: cells with a value on both sides. n_cells_unmatched: on one side alone, left out.
        coefficients: run_level, topic_mean, pooled -> tau_b, tau_ap, spearman, pearson, and of runs
            (so not of the pooled cells) tau_top_5, tau_top_10, tau_top_15, tau_top_20.
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
        """The same fields, ready for JSON."""
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
        truth_runs, judged_runs: run id -> the run's score over all topics, as its owner defines
            it (see `mean_over_topics`); it is not computed from the cells here.

    Cells and runs that only one side has are left out and counted. Raises: ValueError for a
    score that is not finite. Source: arXiv:2411.09607 and arXiv:2504.15205 report the three
    taus; of the other coefficients see metrics/order/correlation.py.

    >>> truth = {("a", "t1"): 0.1, ("b", "t1"): 0.2, ("a", "t2"): 0.8, ("b", "t2"): 0.9}
    >>> judged = {("a", "t1"): 0.3, ("b", "t1"): 0.4, ("a", "t2"): 0.6, ("b", "t2"): 0.5}
    >>> means = {"a": 0.45, "b": 0.55}, {"a": 0.45, "b": 0.45}
    >>> tau = taus(truth, judged, truth_runs=means[0], judged_runs=means[1])
    >>> tau.run_level, tau.topic_mean, tau.n_topics, round(tau.pooled, 4)
    (None, 0.0, 2, 0.6667)
    """
    true_cells, judged_cells = defined(truth), defined(judged)
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


def defined(scores: Scores) -> dict[tuple[str, str], float]:
    """The cells that have a value."""
    return {cell: value for cell, value in scores.items() if value is not None}


def _values(truth: Sequence[float], judged: Sequence[float]) -> dict[str, float | None]:
    return orders(truth, judged) | {name: top_k_tau(truth, judged, k) for name, k in _TOPS.items()}


def _of_runs(truth: Sequence[float], judged: Sequence[float]) -> dict[str, Coefficient]:
    n = {name: n_top(truth, _TOPS[name]) if name in _TOPS else len(truth) for name in _NAMES}
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
