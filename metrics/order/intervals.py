"""Topic-bootstrap intervals of the rank correlations of scores; see docs/trust/agreement.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..bootstrap import BEYOND_CHANCE, LEVEL, RESAMPLES, SIGNED, Interval, Resampling, resampling
from ..ratio import Array, ratio
from .coefficients import of_drawn_cells, of_samples
from .taus import TOP_K, Scores, Taus, defined

_DIGITS = 12  # of a drawn mean, so that equal means are tied however they were added up
_CLOSE = 1e-3  # a run's score and its mean over topics, which may have been printed to 4 digits


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
    """Intervals of all coefficients of `taus`, whose result and arguments these are.

    A run's score over drawn topics is their mean. A topic of its side (where any run of that
    side has a value) that the run lacks altogether counts 0, as in `mean_over_topics`; one where
    its value is None is left out. Run-level intervals need run scores that are these means: if
    one differs by more than .001 (published scores over topics that are not here, or a measure
    with another mean, as `length`), they have no bounds and n_topics 0.

    Returns: run_level, topic_mean, pooled -> name of the coefficient -> interval. n_topics
        counts the topics drawn from: at run level those of either side, else those with a cell
        on both.

    >>> from nuggetjudge.metrics import taus
    >>> cells = {(run, f"t{i}"): i + s for i in range(9) for s, run in enumerate("abc")}
    >>> runs = {"a": 4.0, "b": 5.0, "c": 6.0}
    >>> both = {"truth_runs": runs, "judged_runs": runs}
    >>> tau_intervals(taus(cells, cells, **both), cells, cells, **both)["run_level"]["tau_b"]
    Interval(value=1.0, low=1.0, high=1.0, n_topics=9, level=0.95)
    """
    cells = sorted(defined(truth).keys() & defined(judged).keys(), key=lambda cell: cell[::-1])
    x, y = (np.array([scores[cell] for cell in cells], float) for scores in (truth, judged))
    sample = resampling([topic for _, topic in cells], resamples=resamples, seed=seed, level=level)
    return {
        "run_level": _run_level(
            correlations, truth, judged, truth_runs, judged_runs, resamples, seed, level
        ),
        "topic_mean": _topic_mean(correlations, sample),
        "pooled": _pooled(correlations, x, y, sample),
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
    topics = sorted({topic for _, topic in defined(truth).keys() | defined(judged).keys()})
    sample = resampling(topics, resamples=resamples, seed=seed, level=level)
    sides = [
        _Side(scores, runs, topics, [run_scores[run] for run in runs])
        for scores, run_scores in ((truth, truth_runs), (judged, judged_runs))
    ]
    if not len(sample.draws) or not all(side.is_mean for side in sides):
        return {name: Interval(value, None, None, 0, level) for name, value in values.items()}
    of_truth, of_judged = (side.means(sample.draws.astype(float)) for side in sides)
    drawn = of_samples(of_truth, of_judged, TOP_K)
    return {name: sample.interval(value, drawn[name], SIGNED) for name, value in values.items()}


class _Side:
    """The scores of one side as arrays (n_runs, n_topics), and whether they give its run scores."""

    def __init__(
        self,
        scores: Scores,
        runs: Sequence[str],
        topics: Sequence[str],
        run_scores: Sequence[float],
    ) -> None:
        own_topics = {topic for _, topic in defined(scores)}
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


def _pooled(correlations: Taus, x: Array, y: Array, sample: Resampling) -> dict[str, Interval]:
    values = {name: c.value for name, c in correlations.coefficients["pooled"].items()}
    if not len(sample.draws):
        return {
            name: sample.interval(value, np.zeros(0), BEYOND_CHANCE)
            for name, value in values.items()
        }
    drawn = of_drawn_cells(x, y, sample.topic_of, sample.draws)
    return {
        name: sample.interval(value, drawn[name], BEYOND_CHANCE) for name, value in values.items()
    }
