"""One topic of coverage: ratings of its texts, required passages, and scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....metrics.answer_scores import UNDEFINED, Value
from ....metrics.coverage import (
    NO_ANSWER,
    answerable,
    coverage,
    density_value,
    find_required_subset,
    passage_grades,
    rank_steps,
    redundancy,
)
from ....metrics.ranking import alpha_ndcg, ranking_scores
from ....records.questions import NOT_JUDGED, UNPARSED, Ratings, is_own, list_passages, reference_id
from ....records.rows import QuestionSet, ScoreRow
from ....records.topics import natural_order
from ...config.sections import CoverageConfig
from ...inputs import ORACLE_CONTEXT, ORACLE_REPORT
from ..scoreboard import Scoreboard, find_range

_REPORT = "report_coverage"


@dataclass
class CoverageData:
    """The data of coverage.

    Attributes:
        questions: by topic. ratings: topic -> passage or report id -> a rating per question.
        rankings: run -> topic -> passage ids, best first; cut to the context or not.
        reports: run -> topic -> the id of the rated answer; None: it has no text.
        pools: topic -> ids of P*, the passages that decide which questions are answerable.
        unasked: topics whose sub-questions could not be made; rankings and reports include them.
        no_context, no_report: (run, topic) that nuggetjudge itself failed to make.
        tokens: number of tokens of each passage and report with a known text.
    """

    questions: dict[str, QuestionSet]
    ratings: Ratings
    rankings: dict[str, dict[str, tuple[str, ...]]] = field(default_factory=dict)
    reports: dict[str, dict[str, str | None]] = field(default_factory=dict)
    pools: dict[str, tuple[str, ...]] = field(default_factory=dict)
    tokens: dict[str, int] = field(default_factory=dict)
    unasked: list[str] = field(default_factory=list)
    no_context: set[tuple[str, str]] = field(default_factory=set)
    no_report: set[tuple[str, str]] = field(default_factory=set)

    @property
    def topics(self) -> list[str]:
        """The evaluated topics, with or without questions."""
        return [*self.questions, *self.unasked]


class TopicView:
    """The ratings of one topic as matrices, and the values computed from its pool."""

    def __init__(self, data: CoverageData, topic_id: str, settings: CoverageConfig) -> None:
        self.topic_id = topic_id
        self.settings = settings
        self._data = data
        self._questions = data.questions[topic_id].questions
        self._ratings = data.ratings.get(topic_id, {})

    @property
    def question_ids(self) -> list[str]:
        """The questions in the order of the columns of `matrix`."""
        return [question.id for question in self._questions]

    def matrix(self, ids: Sequence[str]) -> NDArray[np.float64]:
        """(n_texts, n_questions) ratings, missing = nan."""
        ratings = np.full((len(ids), len(self._questions)), np.nan)
        for row, name in zip(ratings, ids, strict=True):
            if self.settings.own_only and not is_own(name, self.topic_id):
                row[:] = 0.0
            elif (text_ratings := self._ratings.get(name)) is not None:
                row[:] = [
                    self._number(text_ratings[question.column]) for question in self._questions
                ]
        return ratings

    @cached_property
    def pool(self) -> tuple[str, ...]:
        """Ids of P*, in natural order."""
        return tuple(sorted(self._data.pools.get(self.topic_id, ()), key=natural_order))

    @cached_property
    def judged(self) -> tuple[str, ...]:
        """Ids of all rated passages: the pool and other retrieved passages."""
        ids = dict.fromkeys((*self.pool, *list_passages(self.topic_id, self._ratings)))
        return tuple(sorted(ids, key=natural_order))

    @cached_property
    def answerable(self) -> NDArray[np.float64]:
        """(n_questions,) 1 answerable, 0 not, nan undecided."""
        if self.settings.answerable == "all":
            return np.ones(len(self._questions))
        return answerable(self.matrix(self.pool), self.settings.eta)

    @cached_property
    def required(self) -> tuple[str, ...]:
        """Ids of P** by the known ratings, in order of selection."""
        pool = self.matrix(self.pool)
        taken = find_required_subset(pool, range(len(self.pool)), self.settings.eta)
        return tuple(self.pool[i] for i in taken)

    @cached_property
    def n_open(self) -> int:
        """Missing ratings of the pool that may change P**."""
        return int(np.isnan(self.matrix(self.pool))[:, self.answerable != 0].sum())

    @property
    def n_answerable(self) -> int:
        """Questions known to be answerable."""
        return int(np.nansum(self.answerable))

    @property
    def k(self) -> int:
        """Number of passages of a ranking in the context."""
        k = self.settings.k
        return len(self.required) if k == "required" else k

    def grades(self) -> dict[str, int]:
        """The grade of each passage of the pool, without grades that missing ratings leave open."""
        index = {name: i for i, name in enumerate(self.pool)}
        required = [index[name] for name in self.required]
        pool = self.matrix(self.pool)
        pool_grades = passage_grades(pool, required, self.settings.eta)
        if self.n_open:
            pool_grades = [grade if grade == NO_ANSWER else None for grade in pool_grades]
        return {name: g for name, g in zip(self.pool, pool_grades, strict=True) if g is not None}

    def by_question(self) -> dict[str, dict[str, int]]:
        """Question -> judged passage -> 1 or 0, for answerable questions and known ratings."""
        judged = self.matrix(self.judged)
        return {
            question: {
                name: int(rating >= self.settings.eta)
                for name, rating in zip(self.judged, judged[:, i], strict=True)
                if not np.isnan(rating)
            }
            for i, question in enumerate(self.question_ids)
            if self.answerable[i] == 1
        }

    def context_values(self, ranked: Sequence[str]) -> dict[str, Value]:
        """Return the measures of a context: the first passages of a ranking, best first.

        There is no density if the length of a text is unknown, or if all questions count, since
        P** may not answer them. If ratings of the pool are missing, P** is uncertain, and values
        that depend on it have the widest bounds.
        """
        ids = ranked[: self.k]
        context, eta, k = self.matrix(ids), self.settings.eta, self.settings.k
        covered = coverage(context, self.answerable, eta)
        values = {"coverage": covered}
        for name, ideal in (("alpha_ndcg", self.judged), ("alpha_ndcg_required", self.required)):
            value = self._alpha_ndcg(context, ideal)
            n_open = self.n_open if ideal is self.required else 0
            if n_open or value.is_unbounded:
                value = value.widen(find_range(name), n_open)
            values[f"{name}@{k}"] = value
        if (density := self._density(covered, ids)) is not None:
            values["density"] = density
        values["redundancy"] = redundancy(context, self.answerable, eta)
        return self._widen(values, self.n_open if self.settings.k == "required" else 0)

    def oracle_values(self) -> dict[str, Value]:
        """Return the measures of P** as a context; with the widest bounds while it is open."""
        return self._widen(self.context_values(self.required), self.n_open)

    def report_values(self, report_id: str | None) -> dict[str, Value]:
        """Return the measures of a report; None: an answer without text, which answers nothing.

        There is no density if a length is unknown.
        """
        covered = self._report_covered(report_id)
        ids = () if report_id is None else (report_id,)
        density = self._density(covered, ids)
        values = {_REPORT: covered}
        if density is not None:
            values["report_density"] = density
        return self._widen(values, 0)

    def report_coverage(self, report_id: str | None) -> Value:
        """Return only the coverage of `report_values`, which needs neither P** nor lengths."""
        return self._widen({"report_coverage": self._report_covered(report_id)}, 0)[
            "report_coverage"
        ]

    def _report_covered(self, report_id: str | None) -> Value:
        ids = () if report_id is None else (report_id,)
        return coverage(self.matrix(ids), self.answerable, self.settings.eta)

    def steps(self, ranked: Sequence[str]) -> Iterator[dict[str, Any]]:
        """Return what each passage of a context adds, rank by rank."""
        ids = ranked[: self.k]
        by_rank = rank_steps(self.matrix(ids), self.answerable, self.settings.eta)
        for name, step in zip(ids, by_rank, strict=True):
            yield {"rank": step.rank, "passage_id": name, **asdict(step)}

    def _alpha_ndcg(self, context: NDArray[np.float64], ideal: Sequence[str]) -> Value:
        """Return the score with the answerable questions as subtopics."""
        alpha, eta = self.settings.alpha, self.settings.eta
        best = self.matrix(ideal)
        return alpha_ndcg(context, best, self.answerable, k=self.k, alpha=alpha, eta=eta)

    def _widen(self, values: Mapping[str, Value], n_open: int) -> dict[str, Value]:
        """Return the values with the widest bounds if `n_open` ratings leave them open.

        The same holds without a value: the measure may be 0/0, so that the topic does not count.
        """
        return {
            name: value.widen(find_range(name), n_open)
            if n_open or (value.value is None and value.low is not None)
            else value
            for name, value in values.items()
        }

    def _density(self, covered: Value, ids: Sequence[str]) -> Value | None:
        tokens, required = self._tokens(ids), self._tokens(self.required)
        if tokens is None or required is None or self.settings.answerable == "all":
            return None
        weight = self.settings.weight
        value = density_value(covered, self.n_answerable, tokens, required, weight)
        return value.widen(None, self.n_open) if self.n_open else value

    def _tokens(self, ids: Sequence[str]) -> int | None:
        counts = [self._data.tokens.get(name) for name in ids]
        return None if None in counts else sum(n for n in counts if n is not None)

    def _number(self, rating: int) -> float:
        return np.nan if rating in (UNPARSED, NOT_JUDGED) else float(rating)


AT_K = ("alpha_ndcg", "alpha_ndcg_required")
CONTEXT_MEASURES = ("coverage", *AT_K, "density", "redundancy")  # without their @k
REPORT_MEASURES = ("report_coverage", "report_density")
COVERAGE_MEASURES = (*CONTEXT_MEASURES, *REPORT_MEASURES)
RELEVANCE_MEASURES = ("R", "AP", "nDCG")  # measures of ir_measures, cut at the size of the context


def coverage_measures(settings: CoverageConfig) -> list[str]:
    """Return the names of all measures of contexts and reports, with cut-offs."""
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
        contexts.mark_failed((ORACLE_CONTEXT, topic) for topic in data.unasked)
    reports.mark_failed((ORACLE_REPORT, topic) for topic in data.unasked)
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
    board.mark_failed(_find_unasked(data, data.rankings))
    board.mark_failed(data.no_context, measures)
    board.bound(None, Counter(topic for _, topic in data.no_context))
    board.bound(None, dict.fromkeys(data.unasked, 0))


def report_board(board: Scoreboard, data: CoverageData, measures: Sequence[str]) -> None:
    """The same of a board of reports."""
    board.mark_failed(_find_unasked(data, data.reports))
    board.mark_failed(data.no_report, measures)
    board.bound(None, dict.fromkeys(data.unasked, 0))


def topic_board(board: Scoreboard, view: TopicView) -> None:
    """Tell a board of a topic without an answerable question, or perhaps without one."""
    if not (view.answerable != 0).any():
        board.exclude(None, [view.topic_id])
    elif not view.n_answerable:
        board.bound(None, {view.topic_id: int(np.isnan(view.answerable).sum())})


def _find_unasked(
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
            graded = {t: _list_graded(views[t], grades[t], ids) for t, ids in first_k.items()}
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


def _list_graded(view: TopicView, grades: Mapping[str, int], ids: Sequence[str]) -> list[str]:
    """The passages of a context whose grade is known; outside the pool it is 0 once rated."""
    pool, ratings = set(view.pool), view.matrix(ids)
    n_missing = np.isnan(ratings[:, view.answerable != 0]).sum(axis=1)
    return [
        name
        for name, missing in zip(ids, n_missing.tolist(), strict=True)
        if name in grades or (name not in pool and not missing)
    ]
