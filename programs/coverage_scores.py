"""Scores of contexts and reports from ratings of sub-questions; needs no model."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..metrics.alpha_ndcg import alpha_ndcg
from ..metrics.coverage import answerable, coverage, rank_steps, redundancy
from ..metrics.density import density_value
from ..metrics.required import passage_grades, required_subset
from ..metrics.value import Value
from ..records.passages import natural_order
from ..records.ratings import NOT_JUDGED, UNPARSED, Ratings, reference_id
from ..records.rows import QuestionSet, ScoreRow
from .config import CoverageConfig
from .scoreboard import Scoreboard

REQUIRED = "Z*"  # run id of the required passages, the oracle context
REFERENCE = "y*"  # run id of the reference reports
ORACLES = (REQUIRED, REFERENCE)
Depth = int | Literal["required"]


@dataclass(frozen=True)
class CoverageSettings:
    """The numbers of arXiv:2506.20051.

    Attributes:
        eta: the rating from which a text answers a question, 1 to 5.
        k: passages of a ranking that make the context; "required": as many as the topic's Z*.
        alpha: of alpha-nDCG, in [0, 1]. weight: exponent of the density, > 0.
        paper_zero: count unreadable ratings as 0, as the paper does; else they are missing.
        own_only: passages of other topics answer nothing, unasked, as in the authors' tool.
    """

    eta: int = 3
    k: Depth = 10
    alpha: float = 0.5
    weight: float = 0.5
    paper_zero: bool = False
    own_only: bool = False


@dataclass
class CoverageData:
    """What coverage is computed from.

    Attributes:
        questions: by topic. ratings: topic -> passage or report id -> a rating a column.
        contexts: run -> topic -> passage ids in rank order, to any depth.
        answers: run -> topic -> the id under which the answer is rated; None: it has no text.
        pools: topic -> ids of P*, the passages that say which questions are answerable.
        tokens: of each passage and report whose text is known.
    """

    questions: dict[str, QuestionSet]
    ratings: Ratings
    contexts: dict[str, dict[str, tuple[str, ...]]] = field(default_factory=dict)
    answers: dict[str, dict[str, str | None]] = field(default_factory=dict)
    pools: dict[str, tuple[str, ...]] = field(default_factory=dict)
    tokens: dict[str, int] = field(default_factory=dict)


class TopicView:
    """The ratings of one topic as matrices, and what follows from its pool."""

    def __init__(self, data: CoverageData, topic_id: str, settings: CoverageSettings) -> None:
        self.topic_id = topic_id
        self.settings = settings
        self._data = data
        self._columns = [q.column for q in data.questions[topic_id].questions]
        self._ratings = data.ratings.get(topic_id, {})

    def matrix(self, ids: Sequence[str]) -> NDArray[np.float64]:
        """(n_texts, n_questions) ratings, missing = nan."""
        found = np.full((len(ids), len(self._columns)), np.nan)
        for row, name in zip(found, ids, strict=True):
            if self.settings.own_only and not is_own(name, self.topic_id):
                row[:] = 0.0
            elif (given := self._ratings.get(name)) is not None:
                row[:] = [self._number(given[column]) for column in self._columns]
        return found

    @cached_property
    def pool(self) -> tuple[str, ...]:
        """Ids of P*, in natural order."""
        return tuple(sorted(self._data.pools.get(self.topic_id, ()), key=natural_order))

    @cached_property
    def judged(self) -> tuple[str, ...]:
        """Ids of all passages that have ratings: the pool and what systems found beside it."""
        found = dict.fromkeys((*self.pool, *passages_of(self.topic_id, self._ratings)))
        return tuple(sorted(found, key=natural_order))

    @cached_property
    def answerable(self) -> NDArray[np.float64]:
        """(n_questions,) 1 answerable, 0 not, nan undecided."""
        return answerable(self.matrix(self.pool), self.settings.eta)

    @cached_property
    def required(self) -> tuple[str, ...]:
        """Ids of P**, in the order in which they were taken."""
        pool = self.matrix(self.pool)
        taken = required_subset(pool, range(len(self.pool)), self.settings.eta)
        return tuple(self.pool[i] for i in taken)

    @property
    def n_answerable(self) -> int:
        """Questions known to be answerable."""
        return int(np.nansum(self.answerable))

    @property
    def depth(self) -> int:
        """How many passages of a ranking are looked at."""
        k = self.settings.k
        return len(self.required) if k == "required" else k

    def grades(self) -> dict[str, int]:
        """The grade of each passage of the pool; those that missing ratings leave open are out."""
        place = {name: i for i, name in enumerate(self.pool)}
        required = [place[name] for name in self.required]
        found = passage_grades(self.matrix(self.pool), required, self.settings.eta)
        return {name: g for name, g in zip(self.pool, found, strict=True) if g is not None}

    def answers(self) -> dict[str, dict[str, int]]:
        """Question -> passage of the pool -> 1 or 0, of answerable questions and known ratings."""
        pool, questions = self.matrix(self.pool), self._data.questions[self.topic_id].questions
        return {
            question.id: {
                name: int(rating >= self.settings.eta)
                for name, rating in zip(self.pool, pool[:, i], strict=True)
                if not np.isnan(rating)
            }
            for i, question in enumerate(questions)
            if self.answerable[i] == 1
        }

    def context_values(self, ranked: Sequence[str]) -> dict[str, Value]:
        """The measures of a context: the first passages of a ranking, best first.

        Without the density where a text is not in the data, so that its length is not known.
        """
        ids = ranked[: self.depth]
        context, eta, k = self.matrix(ids), self.settings.eta, self.settings.k
        covered = coverage(context, self.answerable, eta)
        found = {"coverage": covered}
        found[f"alpha_ndcg@{k}"] = self._alpha_ndcg(context, self.judged)
        found[f"alpha_ndcg_required@{k}"] = self._alpha_ndcg(context, self.required)
        if (density := self._density(covered, ids)) is not None:
            found["density"] = density
        found["redundancy"] = redundancy(context, self.answerable, eta)
        return found

    def report_values(self, report_id: str | None) -> dict[str, Value]:
        """The measures of a report; None: an answer without text, which answers nothing.

        Without the density where a length is not known.
        """
        ids = () if report_id is None else (report_id,)
        covered = coverage(self.matrix(ids), self.answerable, self.settings.eta)
        density = self._density(covered, ids)
        found = {"report_coverage": covered}
        return found if density is None else {**found, "report_density": density}

    def steps(self, ranked: Sequence[str]) -> Iterator[dict[str, Any]]:
        """What each passage of a context adds, rank by rank."""
        ids = ranked[: self.depth]
        found = rank_steps(self.matrix(ids), self.answerable, self.settings.eta)
        for rank, (name, step) in enumerate(zip(ids, found, strict=True), 1):
            numbers = {field: getattr(step, field) for field in step.__dataclass_fields__}
            yield {"rank": rank, "docid": name, **numbers}

    def _alpha_ndcg(self, context: NDArray[np.float64], ideal: Sequence[str]) -> Value:
        """With the answerable questions as subtopics, whoever else might answer others."""
        asked = self.answerable != 0
        best = self.matrix(ideal)[:, asked]
        alpha, eta = self.settings.alpha, self.settings.eta
        return alpha_ndcg(context[:, asked], best, k=self.depth, alpha=alpha, eta=eta)

    def _density(self, covered: Value, ids: Sequence[str]) -> Value | None:
        tokens, required = self._tokens(ids), self._tokens(self.required)
        if tokens is None or required is None:
            return None
        weight = self.settings.weight
        return density_value(covered, self.n_answerable, tokens, required, weight)

    def _tokens(self, ids: Sequence[str]) -> int | None:
        known = [self._data.tokens.get(name) for name in ids]
        return None if None in known else sum(n for n in known if n is not None)

    def _number(self, rating: int) -> float:
        if rating == UNPARSED and self.settings.paper_zero:
            return 0.0
        return np.nan if rating in (UNPARSED, NOT_JUDGED) else float(rating)


def settings_of(config: CoverageConfig) -> CoverageSettings:
    """The settings that scores depend on."""
    names = [field.name for field in fields(CoverageSettings)]
    return CoverageSettings(**{name: getattr(config, name) for name in names})


def is_own(passage_id: str, topic_id: str) -> bool:
    """Whether CRUX's ids, `<topic>:<document>#<passage>`, say that a text belongs to a topic."""
    return passage_id.startswith(f"{topic_id}:")


def coverage_rows(
    data: CoverageData, settings: CoverageSettings, topics: Sequence[str] | None = None
) -> list[ScoreRow]:
    """Score rows of contexts and of reports, those of the oracles `Z*` and `y*` among them.

    A topic without an answerable question is left out of every mean; a run that has no ranking
    or no answer for one scores 0 there.

    Args:
        topics: those that every run has to answer; None: all that have questions.
    """
    wanted = [topic for topic in (topics or data.questions) if topic in data.questions]
    contexts = _Board(wanted, data.contexts, "density")
    reports = _Board(wanted, data.answers, "report_density")
    for topic_id in wanted:
        view = TopicView(data, topic_id, settings)
        if data.contexts:
            contexts.add(REQUIRED, topic_id, view.context_values(view.required))
        for run_id, rankings in data.contexts.items():
            if topic_id in rankings:
                contexts.add(run_id, topic_id, view.context_values(rankings[topic_id]))
        for run_id, given in data.answers.items():
            if topic_id in given:
                reports.add(run_id, topic_id, view.report_values(given[topic_id]))
        if _has_reference(data):
            reports.add(REFERENCE, topic_id, view.report_values(reference_id(topic_id)))
    return [*contexts.rows(), *reports.rows()]


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


def _has_reference(data: CoverageData) -> bool:
    return any(reference_id(topic) in given for topic, given in data.ratings.items())


def pool_of(
    topic_id: str, given: Iterable[str], listed: Mapping[str, int] | None = None
) -> tuple[str, ...]:
    """Which passages make P*, the pool that says what is answerable.

    Those listed in the passage qrels; without them the rated passages of the topic's own
    documents, by their ids; and where no id says so, all rated passages.

    Args:
        given: the texts of the topic that have ratings. listed: the topic's passage qrels.
    """
    if listed is not None:
        return tuple(listed)
    rated = passages_of(topic_id, given)
    return tuple(name for name in rated if is_own(name, topic_id)) or tuple(rated)


def passages_of(topic_id: str, given: Iterable[str]) -> list[str]:
    """Those of the rated texts that are no reports."""
    report = reference_id(topic_id)
    return [name for name in given if name != report and not name.startswith(f"{report}:")]
