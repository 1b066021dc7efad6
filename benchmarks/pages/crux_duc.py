"""CRUX-DUC as published, and its required subsets replayed on its recorded ratings.

What `python -m benchmarks.pages.crux` prints the figures of.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nuggetjudge.programs.config.sections import CoverageConfig
from nuggetjudge.programs.protocols.coverage.topic import CoverageData, TopicView
from nuggetjudge.records.questions import (
    NOT_JUDGED,
    answer_id,
    is_own,
    list_passages,
    read_question_sets,
    read_ratings,
    reference_id,
)
from nuggetjudge.records.reading.problems import Problems
from nuggetjudge.records.relevance import read_trec_run

SETTINGS = CoverageConfig()


@dataclass(frozen=True)
class Duc:
    """The folder: `data` as the coverage program has it, the rest as it is there, by topic."""

    data: CoverageData
    queries: dict[str, dict[str, Any]]
    passages: dict[str, list[str]]  # of the topic's own documents, rated or not
    reports: dict[str, dict[str, Any]]  # by report id
    labels: dict[str, list[dict[str, Any]]]  # of people, by report id


def read_duc(folder: Path) -> Duc:
    """Read crux_duc: both files of ratings, the ratings of the reference summaries, three runs."""
    problems = Problems()
    questions = read_question_sets(folder / "queries.jsonl", problems)
    data = CoverageData(questions, {topic: {} for topic in questions})
    for name in ("llm_ratings.jsonl", "llm_ratings_all_docids.jsonl"):
        for topic, rated in read_ratings(folder / name, problems, questions).items():
            data.ratings[topic].update(rated)
    for topic, rated in data.ratings.items():  # the rated passages of its own documents
        data.pools[topic] = tuple(n for n in list_passages(topic, rated) if is_own(n, topic))
    for path in sorted((folder / "runs").glob("*.run")):
        rankings = read_trec_run(path, problems)
        data.rankings[path.stem] = {t: ranking.passage_ids for t, ranking in rankings.items()}
    problems.raise_errors()
    queries = {row["qid"]: row for row in _rows(folder / "queries.jsonl")}
    for topic, row in queries.items():
        name, n_columns = reference_id(topic), questions[topic].n_columns
        data.ratings[topic][name] = tuple(row["llm_rating_of_reference_summary"][:n_columns])
    passages: dict[str, list[str]] = {}
    for row in _rows(folder / "passages.jsonl"):
        passages.setdefault(row["qid"], []).append(row["docid"])
    labels: dict[str, list[dict[str, Any]]] = {}
    for row in _rows(folder / "human_t1.jsonl"):
        labels.setdefault(row["report_id"], []).append(row)
    reports = {row["report_id"]: row for row in _rows(folder / "reports.jsonl")}
    return Duc(data, queries, passages, reports, labels)


def labelled_runs(duc: Duc) -> CoverageData:
    """The contexts that the labelled reports were written from, and the majority's labels of those.

    A question that people did not label is not judged; yes counts as a rating of 5.
    """
    data = replace(duc.data, rankings={}, reports={}, ratings={})
    for topic, rated in duc.data.ratings.items():
        data.ratings[topic] = dict(rated)
    for report, rows in duc.labels.items():
        about = duc.reports[report]
        topic, run = about["qid"], about["context"]
        ratings = [NOT_JUDGED] * data.questions[topic].n_columns
        for row in rows:
            ratings[row["question_idx"]] = 5 * row["majority"]
        data.ratings[topic][answer_id(topic, run)] = tuple(ratings)
        data.rankings.setdefault(run, {})[topic] = tuple(about["docids"])
        data.reports.setdefault(run, {})[topic] = answer_id(topic, run)
    topics = {row["qid"] for row in map(duc.reports.__getitem__, duc.labels)}
    data.questions = {t: questions for t, questions in data.questions.items() if t in topics}
    return data


# What a step of the published P** is, replayed on the ratings that are here.
STEPS = {
    "same": "the passage that our rule takes after the same steps",
    "tie": "answers as many new questions as ours, but is later in natural order",
    "not rated": "is not among the rated passages",
    "nothing": "answers no new question by these ratings: made from others",
    "fewer": "answers fewer new questions than ours: made from other ratings",
    "open": "answers fewer than ours, but what an earlier step answers is not known here",
}
ENDS = {
    "all answered": "it ends with every answerable question answered",
    "left": "it ends with questions open, all of it rated here: made from other ratings",
    "open": "it ends with questions open, but part of it is not rated here",
}


@dataclass(frozen=True)
class Replay:
    """The published required subset of a topic beside ours, step by step.

    Attributes:
        ours, theirs: docids in the order taken.
        steps: of theirs, a key of STEPS each. end: a key of ENDS.
        n_tied: of each step "same" or "tie", how many passages answer as many new questions.
        covered: share of the answerable questions that the rated part of theirs answers.
    """

    topic: str
    n_passages: int
    n_rated: int
    ours: tuple[str, ...]
    theirs: tuple[str, ...]
    steps: tuple[str, ...]
    n_tied: tuple[int, ...]
    end: str
    covered: float

    @property
    def n_same(self) -> int:
        """How many passages both begin with."""
        return next((i for i, step in enumerate(self.steps) if step != "same"), len(self.steps))

    @property
    def then(self) -> str:
        """What differs first: the step of theirs, or that it ends; "equal" if nothing does."""
        return "equal" if self.ours == self.theirs else [*self.steps, "ends"][self.n_same]


def replay(duc: Duc, topic: str) -> Replay:
    """Walk through the published required subset of a topic, as the greedy rule would."""
    view = TopicView(duc.data, topic, SETTINGS)
    answers = {
        name: (row >= SETTINGS.eta) & (view.answerable == 1)
        for name, row in zip(view.pool, view.matrix(view.pool), strict=True)
    }
    left = view.answerable == 1
    theirs = tuple(duc.queries[topic]["oracle_docids_k3"])
    steps: list[str] = []
    n_tied: list[int] = []
    for name in theirs:
        gains = {passage: int((left & row).sum()) for passage, row in answers.items()}
        best = max(gains, key=lambda passage: gains[passage])  # the first of equals
        if name not in gains:
            steps.append("not rated")
            continue
        if not gains[name]:
            steps.append("nothing")
        elif gains[name] < gains[best]:
            steps.append("open" if "not rated" in steps else "fewer")
        else:
            steps.append("same" if name == best else "tie")
            n_tied.append(list(gains.values()).count(gains[best]))
        left = left & ~answers[name]
    end = "all answered" if not left.any() else "open" if "not rated" in steps else "left"
    covered = 1 - int(left.sum()) / view.n_answerable
    return Replay(
        topic=topic,
        n_passages=len(duc.passages[topic]),
        n_rated=len(view.pool),
        ours=view.required,
        theirs=theirs,
        steps=tuple(steps),
        n_tied=tuple(n_tied),
        end=end,
        covered=covered,
    )


def ties(replays: Iterable[Replay]) -> tuple[int, int, float]:
    """Published steps with ties: how many, with the first in natural order, and so by chance."""
    n, n_first, by_chance = 0, 0, 0.0
    for one in replays:
        steps = [step for step in one.steps if step in ("same", "tie")]
        for step, n_tied in zip(steps, one.n_tied, strict=True):
            if n_tied > 1:
                n += 1
                n_first += step == "same"
                by_chance += 1 / n_tied
    return n, n_first, by_chance


def removed_questions(duc: Duc) -> dict[tuple[str, int], bool]:
    """(topic, column) of questions that the authors took out of task 1: are they answerable?"""
    removed = {}
    for topic, row in duc.queries.items():
        indices = {q.column: i for i, q in enumerate(duc.data.questions[topic].questions)}
        answerable = TopicView(duc.data, topic, SETTINGS).answerable
        for column in row["nulled_in_t1"] or ():
            removed[topic, column] = bool(answerable[indices[column]] == 1)
    return removed


def grade_counts(duc: Duc) -> dict[str, Counter[int]]:
    """How many passages of the pools have each grade, by our rule and by the authors' tool."""
    ours: Counter[int] = Counter()
    theirs: Counter[int] = Counter()
    for topic in duc.queries:
        view = TopicView(duc.data, topic, SETTINGS)
        ours.update(view.grades().values())
        best = view.matrix(view.required).max(axis=0)
        for name, row in zip(view.pool, view.matrix(view.pool), strict=True):
            theirs[3 if name in view.required else 1 if (row < best).all() else 2] += 1
    return {"ours": ours, "the authors' tool": theirs}


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)
