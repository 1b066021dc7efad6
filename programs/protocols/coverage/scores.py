"""Scores of contexts and reports from ratings of sub-questions; needs no model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np

from ....metrics.answer_scores import UNDEFINED, Value
from ....metrics.ranking import ranking_scores
from ....records.questions import reference_id
from ....records.rows import ScoreRow
from ...config.sections import CoverageConfig
from ...inputs import ORACLE_CONTEXT, ORACLE_REPORT
from ..scoreboard import Scoreboard
from .topic import CoverageData, TopicView

AT_K = ("alpha_ndcg", "alpha_ndcg_required")
CONTEXT_MEASURES = ("coverage", *AT_K, "density", "redundancy")  # without their @k
REPORT_MEASURES = ("report_coverage", "report_density")
COVERAGE_MEASURES = (*CONTEXT_MEASURES, *REPORT_MEASURES)
RELEVANCE_MEASURES = ("R", "AP", "nDCG")  # of ir_measures, each cut at the size of the context


def coverage_measures(settings: CoverageConfig) -> list[str]:
    """The names of all measures of contexts and reports, those at a cut-off with theirs."""
    at_k = {name: f"{name}@{settings.k}" for name in AT_K}
    return [at_k.get(name, name) for name in COVERAGE_MEASURES]


def coverage_rows(
    data: CoverageData, settings: CoverageConfig, topics: Sequence[str] | None = None
) -> list[ScoreRow]:
    """Score rows of contexts and of reports, those of the oracles `Z*` and `y*` among them.

    A topic without an answerable question is left out of every mean; a run that has no ranking
    or no answer for one scores 0 there.

    Args:
        topics: those that every run has to answer; None: all that have questions.
    """
    wanted = [topic for topic in (topics or data.topics) if topic in data.topics]
    contexts = _Board(wanted, data.rankings, "density")
    reports = _Board(wanted, data.reports, "report_density")
    at_k = {name: f"{name}@{settings.k}" for name in AT_K}
    context_board(contexts, data, [at_k.get(name, name) for name in CONTEXT_MEASURES])
    report_board(reports, data, REPORT_MEASURES)
    if data.rankings:
        contexts.leave_unmade((ORACLE_CONTEXT, topic) for topic in data.unasked)
    reports.leave_unmade((ORACLE_REPORT, topic) for topic in data.unasked)
    has_reference = any(reference_id(topic) in texts for topic, texts in data.ratings.items())
    for topic_id in (topic for topic in wanted if topic in data.questions):
        view = TopicView(data, topic_id, settings)
        if data.rankings:
            contexts.add(ORACLE_CONTEXT, topic_id, view.oracle_values())
        for run_id, rankings in data.rankings.items():
            if topic_id in rankings:
                contexts.add(run_id, topic_id, view.context_values(rankings[topic_id]))
        for run_id, of_run in data.reports.items():
            if topic_id in of_run:
                reports.add(run_id, topic_id, view.report_values(of_run[topic_id]))
        if has_reference:
            report = reference_id(topic_id)
            is_rated = report in data.ratings.get(topic_id, {})
            values = view.report_values(report)
            reports.add(
                ORACLE_REPORT,
                topic_id,
                values if is_rated else dict.fromkeys(values, UNDEFINED),
            )
        for board in (contexts, reports):
            topic_board(board, view)
    return [*contexts.rows(), *reports.rows()]


def context_board(board: Scoreboard, data: CoverageData, measures: Sequence[str]) -> None:
    """Tell a board of contexts what could not be made: sub-questions of topics, and contexts.

    With a context go passages that may be in the pool and in the ideal ranking, so that it leaves
    all of its topic open.
    """
    board.leave_unmade(_unasked(data, data.rankings))
    board.leave_unmade(data.no_context, measures)
    board.leave_open(None, Counter(topic for _, topic in data.no_context))
    board.leave_open(None, dict.fromkeys(data.unasked, 0))


def report_board(board: Scoreboard, data: CoverageData, measures: Sequence[str]) -> None:
    """The same of a board of reports."""
    board.leave_unmade(_unasked(data, data.reports))
    board.leave_unmade(data.no_report, measures)
    board.leave_open(None, dict.fromkeys(data.unasked, 0))


def topic_board(board: Scoreboard, view: TopicView) -> None:
    """Tell a board of a topic without an answerable question, or perhaps without one."""
    if not (view.answerable != 0).any():
        board.leave_out(None, [view.topic_id])
    elif not view.n_answerable:
        board.leave_open(None, {view.topic_id: int(np.isnan(view.answerable).sum())})


def _unasked(
    data: CoverageData, by_run: Mapping[str, Mapping[str, object]]
) -> Iterator[tuple[str, str]]:
    """The runs that have something on a topic whose sub-questions could not be made."""
    for run_id, of_topic in by_run.items():
        yield from ((run_id, topic) for topic in data.unasked if topic in of_topic)


def relevance_rows(data: CoverageData, settings: CoverageConfig) -> list[ScoreRow]:
    """Recall, average precision and nDCG of each context, by the grades of the passages.

    Grades as in `TopicView.grades`: 3 required to 0 answers nothing; 1 and more is relevant. A
    passage outside the pool is not. One whose grade missing ratings leave open is taken out of
    the context; then, or if the pool has such passages, the bounds are 0 and 1. Topics without a
    question that may be answerable are left out.
    """
    by_k: dict[int, dict[str, TopicView]] = {}
    for topic_id in data.questions:
        view = TopicView(data, topic_id, settings)
        if (view.answerable != 0).any():
            by_k.setdefault(view.k, {})[topic_id] = view
    board = Scoreboard([*(topic for views in by_k.values() for topic in views), *data.unasked])
    board.ensure_runs(data.rankings)
    context_board(board, data, [f"{name}@{settings.k}" for name in RELEVANCE_MEASURES])
    for k, views in by_k.items():
        grades = {topic: view.grades() for topic, view in views.items()}
        names = {f"{name}@{k}": f"{name}@{settings.k}" for name in RELEVANCE_MEASURES}
        for view in views.values():
            topic_board(board, view)
        for run_id, rankings in data.rankings.items():
            first_k = {topic: rankings[topic][:k] for topic in views if topic in rankings}
            graded = {t: _graded(views[t], grades[t], ids) for t, ids in first_k.items()}
            scorable = {t: ids for t, ids in graded.items() if grades[t]}
            scores = ranking_scores(grades, scorable, list(names)).by_topic if scorable else {}
            for topic, ids in graded.items():
                view = views[topic]
                n_open = len(first_k[topic]) - len(ids) + len(view.pool) - len(grades[topic])
                if settings.k == "required":
                    n_open += view.n_open
                is_known = view.n_answerable and (ids or not first_k[topic])
                for name, ours in names.items():
                    value = scores.get(name, {}).get(topic) if is_known else None
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
