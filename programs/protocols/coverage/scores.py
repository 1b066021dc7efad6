"""Scores of contexts and reports from ratings of sub-questions; needs no model."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np

from ....metrics.ranking import ranking_scores
from ....metrics.value import UNDEFINED, Value
from ....records.ratings import reference_id
from ....records.rows import ScoreRow
from ...config.sections import CoverageConfig
from ...inputs.coverage import ORACLE_CONTEXT, ORACLE_REPORT
from ..scoreboard import Scoreboard
from .topic import CoverageData, TopicView

COVERAGE_MEASURES = (  # without their @k
    *("coverage", "alpha_ndcg", "alpha_ndcg_required", "density", "redundancy"),
    *("report_coverage", "report_density"),
)
RELEVANCE_MEASURES = ("R", "AP", "nDCG")  # of ir_measures, each cut at the size of the context


def coverage_rows(
    data: CoverageData, settings: CoverageConfig, topics: Sequence[str] | None = None
) -> list[ScoreRow]:
    """Score rows of contexts and of reports, those of the oracles `Z*` and `y*` among them.

    A topic without an answerable question is left out of every mean; a run that has no ranking
    or no answer for one scores 0 there.

    Args:
        topics: those that every run has to answer; None: all that have questions.
    """
    wanted = [topic for topic in (topics or data.questions) if topic in data.questions]
    contexts = _Board(wanted, data.rankings, "density")
    reports = _Board(wanted, data.reports, "report_density")
    has_reference = any(reference_id(topic) in given for topic, given in data.ratings.items())
    for topic_id in wanted:
        view = TopicView(data, topic_id, settings)
        if data.rankings:
            contexts.add(ORACLE_CONTEXT, topic_id, view.context_values(view.required))
        for run_id, rankings in data.rankings.items():
            if topic_id in rankings:
                contexts.add(run_id, topic_id, view.context_values(rankings[topic_id]))
        for run_id, given in data.reports.items():
            if topic_id in given:
                reports.add(run_id, topic_id, view.report_values(given[topic_id]))
        if has_reference:
            report = reference_id(topic_id)
            is_rated = report in data.ratings.get(topic_id, {})
            values = view.report_values(report)
            reports.add(
                ORACLE_REPORT,
                topic_id,
                values if is_rated else dict.fromkeys(values, UNDEFINED),
            )
        if not (view.answerable != 0).any():
            for board in (contexts, reports):
                board.leave_out(None, [topic_id])
    return [*contexts.rows(), *reports.rows()]


def relevance_rows(data: CoverageData, settings: CoverageConfig) -> list[ScoreRow]:
    """Recall, average precision and nDCG of each context, by the grades of the passages.

    Grades as in `TopicView.grades`: 3 required to 0 answers nothing; 1 and more is relevant. A
    passage outside the pool is not. One whose grade missing ratings leave open is taken out of
    the context; then, or if the pool has such passages, the bounds are 0 and 1. Topics without an
    answerable question are left out.
    """
    by_k: dict[int, dict[str, TopicView]] = {}
    for topic_id in data.questions:
        view = TopicView(data, topic_id, settings)
        if view.n_answerable:
            by_k.setdefault(view.k, {})[topic_id] = view
    board = Scoreboard([topic for views in by_k.values() for topic in views])
    board.ensure_runs(data.rankings)
    for k, views in by_k.items():
        grades = {topic: view.grades() for topic, view in views.items()}
        names = {f"{name}@{k}": f"{name}@{settings.k}" for name in RELEVANCE_MEASURES}
        for run_id, rankings in data.rankings.items():
            given = {topic: rankings[topic][:k] for topic in views if topic in rankings}
            known = {t: _graded(views[t], grades[t], ids) for t, ids in given.items()}
            found = ranking_scores(grades, known, list(names)).by_topic
            for topic, ids in known.items():
                n_open = len(given[topic]) - len(ids) + len(views[topic].pool) - len(grades[topic])
                for name, ours in names.items():
                    value = found[name][topic] if ids or not given[topic] else None
                    low, high = (0.0, 1.0) if n_open else (value, value)
                    board.add(run_id, topic, {ours: Value(value, len(ids), n_open, low, high)})
    return list(board.rows())


class _Board(Scoreboard):
    """Leaves out a run's density if one topic's is not known: a mean over the others misleads."""

    def __init__(self, topics: Sequence[str], runs: Collection[str], density: str) -> None:
        super().__init__(topics)
        self.ensure_runs(runs)
        self._density = density
        self._without: set[str] = set()  # runs

    def add(self, run_id: str, topic_id: str, values: Mapping[str, Value]) -> None:
        """See Scoreboard."""
        if self._density not in values:
            self._without.add(run_id)
        super().add(run_id, topic_id, values)

    def rows(self) -> Iterator[ScoreRow]:
        """See Scoreboard."""
        for row in super().rows():
            if row.measure != self._density or row.run_id not in self._without:
                yield row


def _graded(view: TopicView, grades: Mapping[str, int], ids: Sequence[str]) -> list[str]:
    """The passages of a context whose grade is known; outside the pool it is 0 once rated."""
    pool, ratings = set(view.pool), view.matrix(ids)
    n_missing = np.isnan(ratings[:, view.answerable != 0]).sum(axis=1)
    return [
        name
        for name, missing in zip(ids, n_missing.tolist(), strict=True)
        if name in grades or (name not in pool and not missing)
    ]
