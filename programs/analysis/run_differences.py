"""The topics and judgements behind the difference of two runs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ...records.kinds import Cell, find_kind, kinds_of_labels
from ...records.questions import RATING_KIND
from ...records.reading.problems import InputError, Problems
from ..protocols.coverage.files import read_coverage
from ..protocols.coverage.topic import TopicView
from ..protocols.judged_files import kinds_in
from ..protocols.judged_items import JudgedItems
from ..protocols.program import Folder
from ..protocols.table import programs
from ..scoring.human_labels import read_items
from ..scoring.topic_scores import TopicScores
from .cell_texts import TEXTS, cell_texts, text_fields

QUESTIONS = "sub-questions"


@dataclass(frozen=True)
class _Item:
    """An item of one topic with the labels of both runs.

    `ranks`: ranks of labels, higher is better; None: one was not judged. `weight`: order of items
    with equal differences.
    """

    topic_id: str
    id: str
    labels: tuple[str | None, str | None]
    ranks: tuple[float, float] | None
    weight: float
    text: str | None = None
    cell: Cell = ()

    @property
    def is_flipped(self) -> bool:
        """Whether one label is better."""
        return self.ranks is not None and self.ranks[0] != self.ranks[1]


def find_topic_differences(
    scores: TopicScores, measure: str, run_id: str, other_run_id: str
) -> list[dict[str, Any]]:
    """Return both values of each topic and their difference, largest first.

    An unanswered topic has 0, as in the mean, and `is_answered` or `other_is_answered` is false.
    None: not judged, or an unanswered topic in measures of given answers.
    """
    one, other = (scores.values[measure].get(run, {}) for run in (run_id, other_run_id))
    absent = None if scores.is_of_answered(measure) else 0.0
    rows = []
    for topic in scores.topics[measure]:
        first, second = one.get(topic, absent), other.get(topic, absent)
        difference = None if first is None or second is None else first - second
        rows.append(
            {
                "topic_id": topic,
                "value": first,
                "other_value": second,
                "difference": difference,
                "is_answered": topic in one,
                "other_is_answered": topic in other,
            }
        )
    return sorted(rows, key=lambda row: -abs(row["difference"] or 0.0))


def find_judgement_differences(
    path: Path, run_id: str, other_run_id: str, problems: Problems
) -> list[dict[str, Any]]:
    """Return the judgements that differ between two runs of a results folder, by kind.

    Returns: for nuggets, key points and sub-questions of reports or contexts: `what`, `n` (items
        judged for both), `n_better` and `n_worse` (from the view of the first run), the same per
        topic in `topics`, most first, and `flips`: ids, both labels and, if known, the text,
        largest difference first. For citations, which belong to one run: `labels` and
        `other_labels`, counts of each label, in all and per topic.
    """
    differences: list[dict[str, Any]] = []
    kinds = [kind for kind in kinds_in(path) if kind in kinds_of_labels()]
    for kind in kinds:
        if kind == RATING_KIND.name:
            differences += _questions(path, run_id, other_run_id)
            continue
        try:
            items = read_items(path, kind, Problems())
        except InputError as error:
            what = f"{kind} are not compared: {str(error).splitlines()[0]}"
            problems.skip(path, 0, "not_compared", what)
            continue
        matrix = next((one.matrix for one in programs() if one.kind == kind), "")
        if matrix == "points":  # all runs share these items
            differences.append(_compare_shared(path, kind, items, run_id, other_run_id, problems))
        elif matrix == "sentences":  # each run has its own items
            differences.append(_own(kind, items, run_id, other_run_id))
    return [one for one in differences if one["n"]]


def _compare_shared(
    path: Path, kind: str, items: JudgedItems, run_id: str, other_run_id: str, problems: Problems
) -> dict[str, Any]:
    """Compare items that all runs share: nuggets and key points."""
    rank = {label: float(n) for n, label in enumerate(items.scale)}
    weights = items.measures[0].weights if items.measures else np.zeros(len(items.cells))
    by_run: dict[str, dict[tuple[str, str], int]] = {run_id: {}, other_run_id: {}}
    at = items.key_names.index("topic_id")
    for i, (cell, run) in enumerate(zip(items.cells, items.runs, strict=True)):
        if run in by_run and cell[-1]:
            by_run[run][cell[at], cell[-1]] = i
    one, other = by_run.values()
    items_of_both = []
    for key in one.keys() & other.keys():
        at_one, at_other = one[key], other[key]
        mine, theirs = labels = items.labels[at_one], items.labels[at_other]
        ranks = None if mine is None or theirs is None else (rank[mine], rank[theirs])
        items_of_both.append(
            _Item(*key, labels, ranks, float(weights[at_one]), cell=items.cells[at_one])
        )
    flips = [item.cell for item in items_of_both if item.is_flipped]
    texts = cell_texts(path, items.kind, flips, problems) if flips else {}
    names = (
        "nugget",
        "key_point",
        *(name for name in text_fields() if name not in TEXTS),
        "question",
    )
    for n, item in enumerate(items_of_both):
        if fields := texts.get(item.cell):
            text = next((fields[name] for name in names if name in fields), None)
            items_of_both[n] = replace(item, text=text)
    return _flip_rows(_name_kind(kind), items_of_both)


def _name_kind(kind: str) -> str:
    declared = find_kind(kind)
    return (declared and declared.many) or kind


def _furthest(item: _Item) -> tuple[float, float, str, str]:
    gap = abs(item.ranks[0] - item.ranks[1]) if item.ranks else 0.0
    return -gap, -item.weight, item.topic_id, item.id


def _flip_rows(what: str, items: Sequence[_Item]) -> dict[str, Any]:
    flips = [item for item in sorted(items, key=_furthest) if item.is_flipped]
    better: Counter[str] = Counter()
    worse: Counter[str] = Counter()
    for item in flips:
        if item.ranks is not None:
            (better if item.ranks[0] > item.ranks[1] else worse)[item.topic_id] += 1
    n_of = Counter(item.topic_id for item in items if item.ranks is not None)
    topics = sorted(n_of, key=lambda topic: (-better[topic] - worse[topic], topic))
    return {
        "what": what,
        "n": n_of.total(),
        "n_better": better.total(),
        "n_worse": worse.total(),
        "topics": [
            {"topic_id": t, "n": n_of[t], "n_better": better[t], "n_worse": worse[t]}
            for t in topics
        ],
        "flips": [
            {
                "topic_id": item.topic_id,
                "id": item.id,
                "label": item.labels[0],
                "other_label": item.labels[1],
                "text": item.text,
            }
            for item in flips
        ],
    }


def _own(kind: str, items: JudgedItems, run_id: str, other_run_id: str) -> dict[str, Any]:
    """Compare items that belong to one run: counts of labels."""
    counts: dict[str, tuple[Counter[str], Counter[str]]] = {}
    for topic, run, label in zip(items.topics, items.runs, items.labels, strict=True):
        if run in (run_id, other_run_id) and label is not None:
            counts.setdefault(topic, (Counter(), Counter()))[run == other_run_id][label] += 1
    best_first = tuple(reversed(items.scale))
    every = [sum((of[side] for of in counts.values()), Counter[str]()) for side in (0, 1)]

    def row(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, Any]:
        sides = (("labels", one), ("other_labels", other))
        return {name: {label: of.get(label, 0) for label in best_first} for name, of in sides}

    return {
        "what": _name_kind(kind),
        "n": sum(side.total() for side in every),
        **row(*every),
        "topics": [{"topic_id": topic, **row(*counts[topic])} for topic in sorted(counts)],
    }


def _questions(path: Path, run_id: str, other_run_id: str) -> list[dict[str, Any]]:
    """Find sub-questions that the context or report of only one run answers."""
    data, settings = read_coverage(Folder(path, Problems()))
    contexts = {run: {t: list(ids) for t, ids in of.items()} for run, of in data.rankings.items()}
    reports = {
        run: {topic: [name] for topic, name in of.items() if name is not None}
        for run, of in data.reports.items()
    }
    differences = []
    for of_what, texts in (("contexts", contexts), ("reports", reports)):
        one, other = (texts.get(run, {}) for run in (run_id, other_run_id))
        items = []
        for topic in sorted(one.keys() & other.keys() & data.questions.keys()):
            view = TopicView(data, topic, settings)
            best = [_best(view, of[topic]) for of in (one, other)]
            for n, question in enumerate(data.questions[topic].questions):
                if view.answerable[n] != 1:
                    continue
                mine, theirs = float(best[0][n]), float(best[1][n])
                labels = _rating(mine), _rating(theirs)
                ranks = float(mine >= settings.eta), float(theirs >= settings.eta)
                judged = None if None in labels else ranks
                apart = abs(mine - theirs)
                items.append(_Item(topic, question.id, labels, judged, apart, question.text))
        differences.append(_flip_rows(f"{QUESTIONS} answered by {of_what}", items))
    return differences


def _rating(value: float) -> str | None:
    return None if math.isnan(value) else f"{value:g}"


def _best(view: TopicView, ids: Sequence[str]) -> np.ndarray[Any, Any]:
    """Return (n_questions,) highest ratings of these texts; nan: not judged."""
    ratings = view.matrix(ids[: view.k])
    if not len(ratings):
        return np.zeros(len(view.question_ids))
    lost = np.isnan(ratings).any(axis=0)
    best = np.nan_to_num(ratings, nan=-1.0).max(axis=0)
    highest: np.ndarray[Any, Any] = np.where(lost & (best < view.settings.eta), np.nan, best)
    return highest
