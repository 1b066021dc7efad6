"""Is a run only longer: score against words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...metrics.rank_correlation import spearman
from ..protocols.table import meaning


def score_by_length(
    measure: str, compared: Mapping[str, Any], words: Mapping[str, float | None]
) -> dict[str, Any]:
    """A point a run, the runs that no other beats in both, and the rank correlation.

    Args:
        compared: what `compare_scores` gives of the measure.
        words: the mean length of each run's answers.
    """
    points = [
        {"run": row["run_id"], "words": length, "score": row["mean"]}
        for row in compared["runs"]
        if (length := words.get(row["run_id"])) is not None and row["mean"] is not None
    ]
    scores, lengths = [[point[name] for point in points] for name in ("score", "words")]
    sign = -1 if meaning(measure).is_less_better else 1
    return {
        "points": points,
        "front": front([(point["words"], sign * point["score"]) for point in points]),
        "spearman": spearman(lengths, scores) if len(points) > 1 else None,
    }


def front(points: Sequence[tuple[float, float]]) -> list[int]:
    """Indices of the points than which none is as short and better, or shorter and as good.

    In the order of their lengths. The idea is Figure 7 of arXiv:2411.09607.

    >>> front([(100, 0.5), (200, 0.4), (300, 0.9), (90, 0.1)])
    [3, 0, 2]
    """
    best, indices = float("-inf"), []
    order = sorted(range(len(points)), key=lambda i: (points[i][0], -points[i][1]))
    for i in order:
        if points[i][1] > best:
            best = points[i][1]
            indices.append(i)
    return indices
