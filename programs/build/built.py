"""The files of a built collection."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...records.ratings import Ratings
from ..config.sections import CoverageConfig
from ..engine.making import DATASHEET, STATISTICS
from ..engine.results import MANIFEST, Results
from ..protocols.coverage.files import write_ratings
from ..protocols.coverage.topic import CoverageData, TopicView
from .crux_statistics import BuiltTopic, statistics

BUILT_FILES = (
    *("topics.jsonl", "questions.jsonl", "documents.jsonl", "passages.jsonl", "reports.jsonl"),
    *("ratings.jsonl", "qrels.txt", "diversity_qrels.txt", STATISTICS, DATASHEET),
    *("unjudged.jsonl", "problems.jsonl", MANIFEST),
)
PROGRAM = "build crux"  # in the manifest


def write_collection(
    topics: Sequence[BuiltTopic], ratings: Ratings, config: CoverageConfig, results: Results
) -> dict[str, Any]:
    """Write the files of the texts and ratings; returns the statistics."""
    data = CoverageData(
        questions={topic.id: topic.questions for topic in topics},
        ratings=ratings,
        pools={topic.id: tuple(topic.passages) for topic in topics},
    )
    views = {topic.id: TopicView(data, topic.id, config) for topic in topics}
    with results.open("topics.jsonl") as rows:
        for topic in topics:
            rows.write({"id": topic.id, "request": topic.request})
    with results.open("documents.jsonl") as rows:
        for topic in topics:
            for place, text in enumerate(topic.summary.documents):
                rows.write({"id": f"{topic.id}:{place}", "text": text})
    with results.open("passages.jsonl") as rows:
        for topic in topics:
            for name, text in topic.passages.items():
                rows.write({"id": name, "text": text})
    with results.open("reports.jsonl") as rows:
        for topic in topics:
            rows.write({"id": topic.id, "report": topic.summary.summary})
    write_ratings(data, views, results)
    return statistics(topics, views, ratings, config)
