"""Whether a judge puts systems in the same order as the truth does: Kendall's tau."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

_Key = TypeVar("_Key", str, tuple[str, str])


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

    def as_dict(self) -> dict[str, Any]:
        """The same fields, ready for JSON."""
        return asdict(self)


def kendall_tau(truth: Sequence[float], judged: Sequence[float]) -> float | None:
    """Kendall's tau-b of two lists of scores of the same items, in [-1, 1]; 1 = same order.

    Ties: a pair that is tied on one side is neither agreement nor disagreement, and tau-b takes
    it out of that side's share of the denominator; so tau reaches 1 only if the ties are the same
    on both sides. Scores are tied when exactly equal: compare scores rounded alike, since a score
    printed to 4 digits has ties that the full one has not.

    Returns: tau, or None when it is undefined: fewer than 2 items, or one side all equal.
    Raises: ValueError if the lengths differ or a score is not finite; it names the index.
    Source: Kendall, "The treatment of ties in ranking problems" (1945). Computed by scipy.

    >>> round(kendall_tau([1, 2, 3, 4], [1, 2, 4, 3]), 4)
    0.6667
    >>> kendall_tau([1, 2], [5, 5]) is None
    True
    """
    if len(truth) != len(judged):
        raise ValueError(f"{len(truth)} true scores for {len(judged)} judged ones")
    for name, scores in (("truth", truth), ("judged", judged)):
        for i, score in enumerate(scores):
            if not math.isfinite(score):
                raise ValueError(f"{name}[{i}] is {score!r}, wanted a finite number")
    if len(set(truth)) < 2 or len(set(judged)) < 2:
        return None
    from scipy.stats import kendalltau

    tau = float(kendalltau(truth, judged).statistic)
    return max(-1.0, min(1.0, tau))


def taus(
    truth: Mapping[tuple[str, str], float],
    judged: Mapping[tuple[str, str], float],
    *,
    truth_runs: Mapping[str, float],
    judged_runs: Mapping[str, float],
) -> Taus:
    """Kendall's tau of one measure at run level, as the mean over topics, and over all cells.

    Args:
        truth, judged: (run id, topic id) -> score. Leave out cells without a value.
        truth_runs, judged_runs: run id -> the run's score over all topics, as its owner defines
            it (see `mean_over_topics`); it is not computed from the cells here.

    Cells and runs that only one side has are left out and counted. Raises: ValueError for a
    score that is not finite. Source: arXiv:2411.09607 and arXiv:2504.15205 report the three.

    >>> truth = {("a", "t1"): 0.1, ("b", "t1"): 0.2, ("a", "t2"): 0.8, ("b", "t2"): 0.9}
    >>> judged = {("a", "t1"): 0.3, ("b", "t1"): 0.4, ("a", "t2"): 0.6, ("b", "t2"): 0.5}
    >>> means = {"a": 0.45, "b": 0.55}, {"a": 0.45, "b": 0.45}
    >>> found = taus(truth, judged, truth_runs=means[0], judged_runs=means[1])
    >>> found.run_level, found.topic_mean, found.n_topics, round(found.pooled, 4)
    (None, 0.0, 2, 0.6667)
    """
    cells = sorted(truth.keys() & judged.keys())
    by_topic: dict[str, list[tuple[str, str]]] = {}
    for cell in cells:
        by_topic.setdefault(cell[1], []).append(cell)
    per_topic = [_tau_of(keys, truth, judged) for keys in by_topic.values()]
    defined = [tau for tau in per_topic if tau is not None]
    runs = sorted(truth_runs.keys() & judged_runs.keys())
    return Taus(
        run_level=_tau_of(runs, truth_runs, judged_runs),
        n_runs=len(runs),
        n_runs_unmatched=len(truth_runs.keys() ^ judged_runs.keys()),
        topic_mean=math.fsum(defined) / len(defined) if defined else None,
        n_topics=len(defined),
        n_topics_undefined=len(per_topic) - len(defined),
        pooled=_tau_of(cells, truth, judged),
        n_cells=len(cells),
        n_cells_unmatched=len(truth.keys() ^ judged.keys()),
    )


def _tau_of(
    keys: Iterable[_Key], truth: Mapping[_Key, float], judged: Mapping[_Key, float]
) -> float | None:
    pairs = [(truth[key], judged[key]) for key in keys]
    return kendall_tau([t for t, _ in pairs], [j for _, j in pairs])
