"""`judge build crux`: a collection for coverage, made from multi-document summaries."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import StrictStr

from ...metrics.answer_scores import mean_over_topics
from ...metrics.length import token_counter
from ...programs.config.base import JudgeName
from ...programs.config.sections import Config, CoverageConfig, DataConfig
from ...programs.engine.dry_run import estimate_calls
from ...programs.engine.judge_set import JudgeSet
from ...programs.engine.making import (
    DATASHEET,
    STATISTICS,
    Build,
    check_build_folder,
    datasheet,
    describe_generated,
    list_excluded,
    plain,
    run_build,
    sources,
    table,
)
from ...programs.engine.results import MANIFEST, Results
from ...programs.engine.spending import Estimate
from ...programs.engine.stage import Item
from ...programs.protocols.coverage.files import Text, make_token_counter, write_ratings
from ...programs.protocols.coverage.program import question_set, rate
from ...programs.protocols.coverage.topic import CoverageData, TopicView
from ...records.documents import Summary, read_summaries
from ...records.judgements import Provenance
from ...records.questions import Ratings, reference_id
from ...records.reading.injections import note_instructions
from ...records.reading.problems import Problems
from ...records.rows import QuestionSet

JUDGES: tuple[JudgeName, ...] = ("request", "subquestions", "decontextualizer", "answerability")
BUILT_FILES = (
    *("topics.jsonl", "questions.jsonl", "documents.jsonl", "passages.jsonl", "reports.jsonl"),
    *("ratings.jsonl", "qrels.txt", "diversity_qrels.txt", STATISTICS, DATASHEET),
    *("unjudged.jsonl", "problems.jsonl", MANIFEST),
)
PROGRAM = "build crux"  # in the manifest


def build_crux(
    path: Path, config: Config, *, quiet: bool = True, judge_set: JudgeSet | None = None
) -> dict[str, Any]:
    """Make a collection from summaries, in `config.run.out`.

    From each summary come a request, sub-questions (`coverage.n`) and, of its documents,
    standalone passages; each passage and the summary itself are rated for each question. A topic
    without a request, sub-questions or passages is left out; a missing rating stays missing.

    Args:
        path: JSONL of `id`, `documents` and `summary`; records/summaries.py.
        config: models, judges, coverage and run are used, program and data are not.
        quiet: draw no progress bar.
        judge_set: judges that are open already; None: those of the config.

    Returns: the manifest that was written.
    Raises: InputError for bad input, EndpointUnusable when no request can succeed; what was
        made until then is in the folder's journal, and the same call goes on from there.
    Source: arXiv:2506.20051, section 3.
    """
    config = _build_config(path, config)

    load = partial(_load_summaries, path, config.run.limit)
    return run_build(_CruxBuild, load, config, quiet=quiet, judge_set=judge_set)


def plan_build(path: Path, config: Config) -> list[Estimate]:
    """What a build will ask, see `estimate_calls`. Raises: InputError as the build does."""
    _build_config(path, config)
    return estimate_calls(
        config, lambda alone, judge_set: build_crux(path, alone, judge_set=judge_set)
    )


def _build_config(path: Path, config: Config) -> Config:
    """The config with the summaries, which are reference reports, as its only data.

    Raises: InputError for an unknown tokenizer, or a folder that is not for this build.
    """
    make_token_counter(config.coverage)
    config = config.model_copy(update={"program": (), "data": DataConfig(reference=path)})
    check_build_folder(config, PROGRAM, BUILT_FILES)
    return config


def _load_summaries(path: Path, limit: int | None, problems: Problems) -> list[Summary]:
    """The summaries up to the limit. Raises: InputError with all that is wrong with them."""
    summaries = read_summaries(path, problems)
    problems.raise_errors()
    for summary in summaries[:limit]:
        texts = (*summary.documents, summary.summary)
        note_instructions(problems, path, f"topic {summary.id} has text that", *texts)
    return summaries[:limit]


class _CruxBuild(Build):
    """Requests, questions and passages, then the ratings of the whole topics."""

    program, judges, files = PROGRAM, JUDGES, BUILT_FILES
    source: Sequence[Summary]

    async def make(self, results: Results) -> tuple[dict[str, Any], dict[str, Any]]:
        """See Build."""
        topics = await self._topics(results)
        ratings = await self._ratings(topics, results)
        return _write(topics, ratings, self.config.coverage, results), {
            "topic_ids": [topic.id for topic in topics],
            "topics": len(topics),
            "passages": sum(len(topic.passages) for topic in topics),
        }

    def datasheet(self, manifest: Mapping[str, Any]) -> str:
        """See Build."""
        return crux_datasheet(manifest)

    async def _topics(self, results: Results) -> list[BuiltTopic]:
        """The topics for which everything was made."""
        judge_set, n = self.judge_set, self.config.coverage.n
        writer = judge_set["request"]

        async def request(report: str) -> tuple[str, list[Provenance]]:
            text, call = await writer.write(report)
            return text, [call]

        items = (Item({"topic_id": s.id}, (s.summary,)) for s in self._whole())
        requests = await self.make_each("request", "requests", request, items, results, StrictStr)
        items = (Item({"topic_id": s.id}, (s.summary, n)) for s in self._whole())
        generate = judge_set["subquestions"].generate
        questions = await self.make_each(
            "subquestions", "questions", generate, items, results, list[StrictStr]
        )
        items = (
            Item({"topic_id": s.id, "document": str(number)}, (text,))
            for s in self._whole()
            for number, text in enumerate(s.documents)
        )
        split = judge_set["decontextualizer"].split
        passages = await self.make_each(
            "decontextualizer", "passages", split, items, results, list[StrictStr]
        )
        topics = []
        for summary in self._whole():
            subquestions = question_set(summary.id, questions[summary.id,])
            if missing := n - len(subquestions.questions):
                results.count("questions fewer than asked for", missing)
            texts = [passages[summary.id, str(i)] for i in range(len(summary.documents))]
            topics.append(
                BuiltTopic(
                    summary, requests[summary.id,], subquestions, _name_passages(summary, texts)
                )
            )
        return topics

    async def _ratings(self, topics: Sequence[BuiltTopic], results: Results) -> Ratings:
        """Of each passage of a topic, in order, and of its reference report."""
        ratings: Ratings = {}
        questions: dict[str, QuestionSet] = {topic.id: topic.questions for topic in topics}

        def texts() -> Iterable[Text]:
            for topic in topics:
                for name, text in topic.passages.items():
                    yield Text(topic.id, name, text)
                yield Text(topic.id, reference_id(topic.id), topic.summary.summary)

        await rate(self.session, results, "ratings", texts, questions, ratings)
        return ratings

    def _whole(self) -> list[Summary]:
        return [summary for summary in self.source if summary.id not in self.excluded]


def _name_passages(summary: Summary, texts: Sequence[Sequence[str]]) -> dict[str, str]:
    """The passages of each document under `<topic>:<document>#<n>`; n runs over the topic."""
    by_name: dict[str, str] = {}
    for index, passages in enumerate(texts):
        for text in passages:
            by_name[f"{summary.id}:{index}#{len(by_name)}"] = text
    return by_name


def _write(
    topics: Sequence[BuiltTopic], ratings: Ratings, config: CoverageConfig, results: Results
) -> dict[str, Any]:
    """Write the files of the texts and ratings; returns the statistics."""
    data = CoverageData(
        questions={topic.id: topic.questions for topic in topics},
        ratings=ratings,
        pools={topic.id: tuple(topic.passages) for topic in topics},
    )
    views = {topic.id: TopicView(data, topic.id, config) for topic in topics}
    requests = ({"id": topic.id, "request": topic.request} for topic in topics)
    results.write("topics.jsonl", requests)
    documents = (
        {"id": f"{topic.id}:{number}", "text": text}
        for topic in topics
        for number, text in enumerate(topic.summary.documents)
    )
    results.write("documents.jsonl", documents)
    passages = (
        {"id": name, "text": text} for topic in topics for name, text in topic.passages.items()
    )
    results.write("passages.jsonl", passages)
    reports = ({"id": topic.id, "report": topic.summary.summary} for topic in topics)
    results.write("reports.jsonl", reports)
    write_ratings(data, views, results)
    return statistics(topics, views, ratings, config)


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
        "texts": {kind: _count(listed, len(topics), count) for kind, listed in texts.items()},
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
            _show(of["per_topic"], 1),
            _show(of["mean_tokens"], 1),
        ]
        for kind, of in stats["texts"].items()
    ]
    return [header, ["topics", f"{stats['topics']:,}", "", ""], *rows]


def reference_coverage(stats: Mapping[str, Any]) -> str:
    """The coverage of the reference reports in words."""
    covered = stats["reference_coverage"]
    text = _show(covered["value"], 3)
    if covered["low"] != covered["high"]:
        text += f" [{_show(covered['low'], 3)} {_show(covered['high'], 3)}]"
    return f"{text} (mean of {covered['topics']:,} topics)"


def _count(texts: Sequence[str], n_topics: int, count: Callable[[str], int]) -> dict[str, Any]:
    return {
        "n": len(texts),
        "per_topic": len(texts) / n_topics if n_topics else None,
        "mean_tokens": _mean(map(count, texts)),
    }


def _mean(numbers: Iterable[int]) -> float | None:
    values = list(numbers)
    return sum(values) / len(values) if values else None


def _show(value: float | None, decimals: int) -> str:
    return "-" if value is None else f"{value:.{decimals}f}"


_MADE_FOR_CRUX = {
    "request": "the request of a topic, from its reference report",
    "subquestions": "the sub-questions, from the reference report",
    "decontextualizer": "the passages, from the documents",
    "answerability": "the ratings 0-5 of passages and reference reports for each question",
}
_LIMITS_OF_CRUX = (
    "- No person has read the requests, questions, passages or ratings. Check a sample by hand.",
    "- The questions come from one summary a topic: what its author left out is not asked for.",
    "- A question is answerable if a passage of the topic's own documents answers it by the judge.",
    "- Passages were rated for their own topic only; for other topics they are not judged.",
    "- Passages were rewritten by the judge, so they are not the words of the documents.",
    "- Scores that another judge gives are not comparable with those of the judge named above.",
)


def crux_datasheet(manifest: Mapping[str, Any]) -> str:
    """That of `judge build crux`."""
    stats = manifest["statistics"]
    return datasheet(
        f"Datasheet of a collection of {stats['topics']:,} topics",
        "Made by `judge build crux` of nuggetjudge, by the protocol of CRUX (arXiv:2506.20051),\n"
        "to measure how much of what a report needs is in retrieved passages and in answers.",
        {
            "Where it comes from": [
                *sources(manifest["inputs"]),
                "",
                "Documents and summaries were given. Who wrote them, when, in which language and "
                "on what\nterms they may be passed on is not known to the program: the maker has "
                "to add it here.",
            ],
            "What was generated, and by what": describe_generated(manifest, _MADE_FOR_CRUX),
            "Numbers it was made with": _numbers_of_crux(manifest),
            "What is in it": _content_of_crux(stats),
            "What was left out, and why": [*list_excluded(manifest), *_missing_ratings(stats)]
            or ["Nothing."],
            "Known limits": _LIMITS_OF_CRUX,
        },
    )


def _numbers_of_crux(manifest: Mapping[str, Any]) -> Iterator[str]:
    numbers = manifest["config"]["coverage"]
    window = manifest["judges"]["answerability"]["window"]
    how = "one question a call" if window == 1 else f"up to {window} questions a call"
    yield f"- sub-questions asked for: {numbers['n']} a topic"
    yield f"- a text answers a question from rating {numbers['eta']} on (eta), graded {how}"
    yield "- required passages: greedily the one that answers most questions not yet answered,"
    yield "  ties by the natural order of the ids"
    yield "- qrels.txt: 3 required; 2 answers something better than any required passage;"
    yield "  1 answers nothing better; 0 answers nothing"
    yield f"- tokens counted by: {plain(numbers['tokenizer'])}"


def _content_of_crux(stats: Mapping[str, Any]) -> Iterator[str]:
    yield from table(statistics_table(stats))
    yield ""
    grades = ", ".join(f"{n:,} of grade {grade}" for grade, n in stats["passage_grades"].items())
    yield f"- passages in qrels.txt: {grades.replace('grade open', 'open grade (left out)')}"
    yield f"- coverage of the reference reports: {reference_coverage(stats)}"
    n = stats["topics_without_answerable_question"]
    yield f"- topics without an answerable question: {n:,}"


def _missing_ratings(stats: Mapping[str, Any]) -> Iterator[str]:
    ratings = stats["ratings"]
    if ratings["missing"]:
        total = ratings["given"] + ratings["missing"]
        yield f"- {ratings['missing']:,} of {total:,} ratings are missing (-1 or -2)"
        yield f"- {stats['undecided_questions']:,} questions are undecided for that reason"
