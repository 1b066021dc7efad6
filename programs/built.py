"""The files of a built collection."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import orjson

from ..records.problems import InputError
from ..records.ratings import Ratings
from .build_statistics import BuiltTopic, statistics
from .config import Config, CoverageConfig
from .coverage_files import write_ratings
from .coverage_topic import CoverageData, TopicView
from .manifest import check_not_input, read_manifest
from .results import MANIFEST, Results

STATISTICS, DATASHEET = "statistics.json", "DATASHEET.md"
BUILT_FILES = (
    *("topics.jsonl", "questions.jsonl", "documents.jsonl", "passages.jsonl", "reports.jsonl"),
    *("ratings.jsonl", "qrels.txt", "diversity_qrels.txt", STATISTICS, DATASHEET),
    *("unjudged.jsonl", "problems.jsonl", MANIFEST),
)
PROGRAM = "build crux"  # in the manifest


class LeftOut(NamedTuple):
    """A topic that is not in the collection, and what it lacks."""

    topic_id: str
    stage: str
    reason: str


def write_collection(
    topics: Sequence[BuiltTopic], ratings: Ratings, config: CoverageConfig, results: Results
) -> dict[str, Any]:
    """Write all files but datasheet and manifest; returns the statistics."""
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
    found = statistics(topics, views, ratings, config)
    shown = orjson.dumps(found, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    results.part(STATISTICS).write_bytes(shown)
    return found


def check_build_folder(config: Config) -> None:
    """Raise InputError if a build would replace one of its inputs, or files that none wrote."""
    folder = config.run.out
    check_not_input(config, BUILT_FILES)
    if (folder / MANIFEST).is_file():
        read_manifest(folder, PROGRAM)
    elif not (folder / "journal").is_dir():
        for name in BUILT_FILES:
            if (folder / name).exists():
                raise InputError(f"{folder}: has a {name} that no build wrote; name another --out")
