"""The files of a built collection, and what its statistics count."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import orjson

from ..metrics.means import mean_over_topics
from ..metrics.tokens import token_counter
from ..records.problems import InputError
from ..records.qrels import write_diversity_qrels, write_qrels
from ..records.questions import question_set_row
from ..records.ratings import Ratings, rating_row, reference_id
from ..records.rows import QuestionSet
from ..records.summaries import Summary
from .config import Config, CoverageConfig
from .coverage_scores import CoverageData, TopicView, settings_of
from .manifest import input_files
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


def write_collection(
    topics: Sequence[BuiltTopic], ratings: Ratings, config: CoverageConfig, results: Results
) -> dict[str, Any]:
    """Write all files but datasheet and manifest; returns the statistics."""
    data = CoverageData(
        questions={topic.id: topic.questions for topic in topics},
        ratings=ratings,
        pools={topic.id: tuple(topic.passages) for topic in topics},
    )
    views = {topic.id: TopicView(data, topic.id, settings_of(config)) for topic in topics}
    with results.open("topics.jsonl") as rows:
        for topic in topics:
            rows.write({"id": topic.id, "request": topic.request})
    with results.open("questions.jsonl") as rows:
        for topic in topics:
            rows.write(question_set_row(topic.questions))
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
    with results.open("ratings.jsonl") as rows:
        for topic in topics:
            for name, row in ratings[topic.id].items():
                rows.write(rating_row(topic.id, name, row))
    write_qrels(results.part("qrels.txt"), {t: view.grades() for t, view in views.items()})
    by_question = {topic_id: view.answers() for topic_id, view in views.items()}
    write_diversity_qrels(results.part("diversity_qrels.txt"), by_question)
    found = statistics(topics, views, ratings, config)
    shown = orjson.dumps(found, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    results.part(STATISTICS).write_bytes(shown)
    return found


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
        "answerable questions": [
            question.text
            for topic in topics
            for question, known in zip(
                topic.questions.questions, views[topic.id].answerable, strict=True
            )
            if known == 1
        ],
        "documents": [text for topic in topics for text in topic.summary.documents],
        "passages": [text for topic in topics for text in topic.passages.values()],
        "required passages": [
            topic.passages[name] for topic in topics for name in views[topic.id].required
        ],
    }
    covered = {
        name: view.report_values(reference_id(name))["report_coverage"]
        for name, view in views.items()
    }
    mean, n_topics = mean_over_topics(covered, None)
    grades = Counter(grade for view in views.values() for grade in view.grades().values())
    given = [rating for of in ratings.values() for row in of.values() for rating in row]
    n_missing = sum(rating < 0 for rating in given)
    return {
        "tokenizer": config.tokenizer,
        "eta": config.eta,
        "topics": len(topics),
        "texts": {kind: _counted(found, len(topics), count) for kind, found in texts.items()},
        "undecided questions": sum(
            math.isnan(known) for view in views.values() for known in view.answerable
        ),
        "topics without an answerable question": sum(not v.n_answerable for v in views.values()),
        "reference coverage": {
            "value": mean.value, "low": mean.low, "high": mean.high, "topics": n_topics,
        },
        "passage grades": {str(grade): grades[grade] for grade in (3, 2, 1, 0)}
        | {"open": len(texts["passages"]) - grades.total()},
        "ratings": {"given": len(given) - n_missing, "missing": n_missing},
    }  # fmt: skip


def statistics_table(found: Mapping[str, Any]) -> list[list[str]]:
    """The statistics as rows of a table, the header first."""
    header = ["", "n", "per topic", f"mean tokens ({found['tokenizer']})"]
    rows = [
        [kind, f"{of['n']:,}", _shown(of["per_topic"], 1), _shown(of["mean_tokens"], 1)]
        for kind, of in found["texts"].items()
    ]
    return [header, ["topics", f"{found['topics']:,}", "", ""], *rows]


def reference_coverage(found: Mapping[str, Any]) -> str:
    """The coverage of the reference reports in words."""
    covered = found["reference coverage"]
    text = _shown(covered["value"], 3)
    if covered["low"] != covered["high"]:
        text += f" [{_shown(covered['low'], 3)} {_shown(covered['high'], 3)}]"
    return f"{text} (mean of {covered['topics']:,} topics)"


def check_build_folder(config: Config) -> None:
    """Raise InputError if a build would replace one of its inputs, or files that none wrote."""
    folder = config.run.out
    for path in input_files(config):
        if path.name in BUILT_FILES and path.resolve().parent == folder.resolve():
            what = "is read by this build, which writes that file; name another --out"
            raise InputError(f"{path}: {what}")
    if (folder / MANIFEST).is_file():
        _read_manifest(config)
    elif not (folder / "journal").is_dir():
        for name in BUILT_FILES:
            if (folder / name).exists():
                raise InputError(f"{folder}: has a {name} that no build wrote; name another --out")


def is_built(config: Config, fingerprint: str) -> bool:
    """Whether this very build has been finished in its folder."""
    if not (config.run.out / MANIFEST).is_file():
        return False
    return bool(_read_manifest(config).get("fingerprint") == fingerprint)


def _read_manifest(config: Config) -> dict[str, Any]:
    path = config.run.out / MANIFEST
    try:
        found = orjson.loads(path.read_bytes())
    except (OSError, orjson.JSONDecodeError) as error:
        raise InputError(f"{path}: cannot be read ({error}); name another --out") from None
    if not isinstance(found, dict) or found.get("program") != PROGRAM:
        raise InputError(f"{config.run.out}: holds results of another command; name another --out")
    return found


def _counted(texts: Sequence[str], n_topics: int, count: Callable[[str], int]) -> dict[str, Any]:
    return {
        "n": len(texts),
        "per_topic": len(texts) / n_topics if n_topics else None,
        "mean_tokens": _mean(map(count, texts)),
    }


def _mean(numbers: Iterable[int]) -> float | None:
    found = list(numbers)
    return sum(found) / len(found) if found else None


def _shown(value: float | None, places: int) -> str:
    return "-" if value is None else f"{value:.{places}f}"
