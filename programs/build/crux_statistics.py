"""What is in a built collection: how many texts of each kind, how long, and what is missing."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...metrics.length import token_counter
from ...metrics.value import mean_over_topics
from ...records.documents import Summary
from ...records.questions import Ratings, reference_id
from ...records.rows import QuestionSet
from ..config.sections import CoverageConfig
from ..protocols.coverage.topic import TopicView


@dataclass(frozen=True)
class BuiltTopic:
    """All texts of a topic; `passages` by id, in the order of the documents."""

    summary: Summary
    request: str
    questions: QuestionSet
    passages: Mapping[str, str]

    @property
    def id(self) -> str:
        """Of the summary."""
        return self.summary.id


def statistics(
    topics: Sequence[BuiltTopic],
    views: Mapping[str, TopicView],
    ratings: Ratings,
    config: CoverageConfig,
) -> dict[str, Any]:
    """Counts and mean lengths, as Table 4 of arXiv:2506.20051 has them, and what is missing."""
    count = token_counter(config.tokenizer)
    texts: dict[str, list[str]] = {
        "requests": [topic.request for topic in topics],
        "reports": [topic.summary.summary for topic in topics],
        "questions": [q.text for topic in topics for q in topic.questions.questions],
        "answerable_questions": [
            question.text
            for topic in topics
            for question, answerable in zip(
                topic.questions.questions, views[topic.id].answerable, strict=True
            )
            if answerable == 1
        ],
        "documents": [text for topic in topics for text in topic.summary.documents],
        "passages": [text for topic in topics for text in topic.passages.values()],
        "required_passages": [
            topic.passages[name] for topic in topics for name in views[topic.id].required
        ],
    }
    covered = {
        name: view.report_values(reference_id(name))["report_coverage"]
        for name, view in views.items()
    }
    mean, n_topics = mean_over_topics(covered, None)
    grades = Counter(grade for view in views.values() for grade in view.grades().values())
    all_ratings = [rating for of in ratings.values() for row in of.values() for rating in row]
    n_missing = sum(rating < 0 for rating in all_ratings)
    return {
        "tokenizer": config.tokenizer,
        "eta": config.eta,
        "topics": len(topics),
        "texts": {kind: _counted(listed, len(topics), count) for kind, listed in texts.items()},
        "undecided_questions": sum(
            math.isnan(answerable) for view in views.values() for answerable in view.answerable
        ),
        "topics_without_answerable_question": sum(
            not (view.answerable != 0).any() for view in views.values()
        ),
        "reference_coverage": {
            "value": mean.value, "low": mean.low, "high": mean.high, "topics": n_topics,
        },
        "passage_grades": {str(grade): grades[grade] for grade in (3, 2, 1, 0)}
        | {"open": len(texts["passages"]) - grades.total()},
        "ratings": {"given": len(all_ratings) - n_missing, "missing": n_missing},
    }  # fmt: skip


def statistics_table(stats: Mapping[str, Any]) -> list[list[str]]:
    """The statistics as rows of a table, the header first."""
    header = ["", "n", "per topic", f"mean tokens ({stats['tokenizer']})"]
    rows = [
        [
            kind.replace("_", " "),
            f"{of['n']:,}",
            _shown(of["per_topic"], 1),
            _shown(of["mean_tokens"], 1),
        ]
        for kind, of in stats["texts"].items()
    ]
    return [header, ["topics", f"{stats['topics']:,}", "", ""], *rows]


def reference_coverage(stats: Mapping[str, Any]) -> str:
    """The coverage of the reference reports in words."""
    covered = stats["reference_coverage"]
    text = _shown(covered["value"], 3)
    if covered["low"] != covered["high"]:
        text += f" [{_shown(covered['low'], 3)} {_shown(covered['high'], 3)}]"
    return f"{text} (mean of {covered['topics']:,} topics)"


def _counted(texts: Sequence[str], n_topics: int, count: Callable[[str], int]) -> dict[str, Any]:
    return {
        "n": len(texts),
        "per_topic": len(texts) / n_topics if n_topics else None,
        "mean_tokens": _mean(map(count, texts)),
    }


def _mean(numbers: Iterable[int]) -> float | None:
    values = list(numbers)
    return sum(values) / len(values) if values else None


def _shown(value: float | None, decimals: int) -> str:
    return "-" if value is None else f"{value:.{decimals}f}"
