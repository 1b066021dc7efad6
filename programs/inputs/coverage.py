"""What the coverage program reads: sub-questions, reference reports, ratings, retrieval runs."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ...records.documents import read_reports
from ...records.judgements import Reason
from ...records.questions import Ratings, is_own, read_question_sets, read_ratings, topics_of
from ...records.reading.fields import Line
from ...records.reading.problems import InputError, Problems
from ...records.relevance import read_qrels, read_trec_run
from ...records.rows import Answer, QuestionSet, Topic
from ..config.sections import CoverageConfig, DataConfig
from .other_topics import against, nearest

ORACLE_CONTEXT = "Z*"  # run id of the required passages
ORACLE_REPORT = "y*"  # run id of the reference reports
ORACLES = (ORACLE_CONTEXT, ORACLE_REPORT)


@dataclass
class CoverageInputs:
    """The inputs of the coverage program, checked.

    Attributes:
        questions: by topic; None: they are to be made from the reports.
        rankings: retrieval run -> topic -> passage ids, best first.
        not_made: why there is no ranking, by run and topic, where that is no doing of the system.
        listed: topic -> the passages of its pool with their grades, from passage qrels.
    """

    settings: CoverageConfig
    questions: dict[str, QuestionSet] | None = None
    reports: dict[str, str] = field(default_factory=dict)
    ratings: Ratings = field(default_factory=dict)
    rankings: dict[str, dict[str, tuple[str, ...]]] = field(default_factory=dict)
    not_made: dict[tuple[str, str], Reason] = field(default_factory=dict)
    listed: dict[str, dict[str, int]] = field(default_factory=dict)
    retrieved: frozenset[str] = frozenset()  # runs that a retrieval file has

    def wanted(self, topics: Collection[str]) -> Iterator[str]:
        """Ids of all passages that may be rated or whose length counts."""
        for topic in topics:
            yield from self.listed.get(topic, ())
            yield from self.ratings.get(topic, ())
            for rankings in self.rankings.values():
                yield from self.judged_ids(topic, rankings.get(topic, ())[: self.most_k(topic)])

    def most_k(self, topic: str) -> int:
        """The most passages that a context of this topic can have."""
        if self.settings.k != "required":
            return self.settings.k
        questions = self.questions.get(topic) if self.questions is not None else None
        return self.settings.n if questions is None else len(questions.questions)

    def note(self, answer: Answer, line: Line) -> None:
        """Take what an answer names as its run's context, where the settings say so."""
        if answer.run_id in ORACLES:
            line.error("bad_run_id", f"run_id {answer.run_id!r} names the oracle, wanted another")
        if self.settings.contexts == "answers":
            if answer.run_id in self.retrieved:
                what = f"run {answer.run_id!r} is a retrieval run too, wanted one context of it"
                line.error("two_contexts", what)
            contexts = self.rankings.setdefault(answer.run_id, {})
            if answer.not_made is not None and not answer.references:  # what it names is not known
                self.not_made[answer.run_id, answer.topic_id] = answer.not_made
            else:
                contexts.setdefault(answer.topic_id, answer.references)

    def judged_ids(self, topic: str, ids: tuple[str, ...]) -> tuple[str, ...]:
        """The passages of a context that questions are asked about."""
        if not self.settings.own_only:
            return ids
        return tuple(name for name in ids if is_own(name, topic))


class WantedPassages(Container[str]):
    """Which passages are read: those named, and those of the topics' own documents."""

    def __init__(self, named: Container[str], topics: Container[str]) -> None:
        self._named = named
        self._topics = topics

    def __contains__(self, name: object) -> bool:
        return name in self._named or any(topics_of(str(name), self._topics))


def read_coverage_inputs(
    data: DataConfig,
    settings: CoverageConfig,
    retrieval: list[Path],
    topics: dict[str, Topic],
    problems: Problems,
) -> CoverageInputs:
    """Read the files of coverage; where there is no file of topics, its topics are added.

    Raises: InputError for two retrieval runs of one name, or one that the oracle rows have.
    """
    inputs = CoverageInputs(settings)
    if data.reference is not None:
        inputs.reports = read_reports(data.reference, problems)
    if data.questions is not None:
        inputs.questions = read_question_sets(data.questions, problems)
    if data.topics is None and not topics:
        for name in (*(inputs.questions or {}), *inputs.reports):
            topics.setdefault(name, Topic(id=name, text=""))
    if data.pool is not None:
        inputs.listed = read_qrels(data.pool, problems)
    for path in data.ratings:
        for topic, of_topic in read_ratings(path, problems, inputs.questions).items():
            _add_ratings(inputs.ratings.setdefault(topic, {}), of_topic, path, problems)
    _read_rankings(inputs, retrieval, topics, problems)
    inputs.retrieved = frozenset(inputs.rankings)
    return inputs


def _add_ratings(
    earlier: dict[str, tuple[int, ...]],
    added: dict[str, tuple[int, ...]],
    path: Path,
    problems: Problems,
) -> None:
    for name, ratings in added.items():
        if earlier.setdefault(name, ratings) != ratings:
            what = f"{name!r} has other ratings in an earlier file, wanted one list"
            problems.error(path, 0, "duplicate_ratings", what)


def _read_rankings(
    inputs: CoverageInputs, files: list[Path], topics: dict[str, Topic], problems: Problems
) -> None:
    n_ranked, others = 0, dict[str, None]()
    for path in files:
        rankings = read_trec_run(path, problems)
        n_ranked += len(rankings)
        if not rankings:
            continue
        run_id = next(iter(rankings.values())).run_id
        if run_id in inputs.rankings:
            raise InputError(f"{path}: an earlier file has the run {run_id!r} too, wanted it once")
        if run_id in ORACLES:
            raise InputError(f"{path}: {run_id!r} names the oracle, wanted another name of a run")
        of_run = inputs.rankings[run_id] = {}
        for topic, ranking in rankings.items():
            if topic in topics and ranking.not_made is not None:
                inputs.not_made[run_id, topic] = ranking.not_made
            elif topic in topics:
                of_run[topic] = ranking.passage_ids
            else:
                others[topic] = None
                what = f"{run_id} ranks passages for topic {topic!r}, which is not judged"
                problems.skip(path, 0, "unknown_topic", what + nearest(topic, topics))
    if others and not any(inputs.rankings.values()) and not inputs.not_made:
        both = against(list(others), topics)
        raise InputError(f"{files[0]}: 0 of {n_ranked:,} rankings match a topic: {both}")
