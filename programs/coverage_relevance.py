"""Contexts by the measures of relevance, from the grades that ratings of a pool make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..metrics.ranking import ranking_scores
from ..metrics.value import Value
from ..records.rows import ScoreRow
from .coverage_scores import CoverageData, CoverageSettings, TopicView
from .scoreboard import Scoreboard

RELEVANCE_MEASURES = ("R", "AP", "nDCG")  # of ir_measures, each cut at the size of the context


def relevance_rows(data: CoverageData, settings: CoverageSettings) -> list[ScoreRow]:
    """Recall, average precision and nDCG of each context, by the grades of the passages.

    Grades as in `TopicView.grades`: 3 required to 0 answers nothing; 1 and more is relevant. A
    passage outside the pool is not. One whose grade missing ratings leave open is taken out of
    the context; then, or if the pool has such passages, the bounds are 0 and 1. Topics without an
    answerable question are left out.
    """
    by_depth: dict[int, dict[str, TopicView]] = {}
    for topic_id in data.questions:
        view = TopicView(data, topic_id, settings)
        if view.n_answerable:
            by_depth.setdefault(view.depth, {})[topic_id] = view
    board = Scoreboard([topic for views in by_depth.values() for topic in views])
    board.ensure_runs(data.contexts)
    for depth, views in by_depth.items():
        grades = {topic: view.grades() for topic, view in views.items()}
        names = {f"{name}@{depth}": f"{name}@{settings.k}" for name in RELEVANCE_MEASURES}
        for run_id, rankings in data.contexts.items():
            given = {topic: rankings[topic][:depth] for topic in views if topic in rankings}
            known = {t: _graded(views[t], grades[t], ids) for t, ids in given.items()}
            found = ranking_scores(grades, known, list(names)).by_topic
            for topic, ids in known.items():
                n_open = len(given[topic]) - len(ids) + len(views[topic].pool) - len(grades[topic])
                for name, ours in names.items():
                    value = found[name][topic]
                    low, high = (0.0, 1.0) if n_open else (value, value)
                    board.add(run_id, topic, {ours: Value(value, len(ids), n_open, low, high)})
    return list(board.rows())


def _graded(view: TopicView, grades: Mapping[str, int], ids: Sequence[str]) -> list[str]:
    """The passages of a context whose grade is known; outside the pool it is 0 once rated."""
    pool, ratings = set(view.pool), view.matrix(ids)
    n_missing = np.isnan(ratings[:, view.answerable != 0]).sum(axis=1)
    return [
        name
        for name, missing in zip(ids, n_missing.tolist(), strict=True)
        if name in grades or (name not in pool and not missing)
    ]
