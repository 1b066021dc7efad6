"""`judge build crux`: a collection for coverage, made from multi-document summaries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import StrictStr

from ...records.documents import Summary, read_summaries
from ...records.judgements import Provenance
from ...records.questions import Ratings, reference_id
from ...records.reading.problems import Problems
from ...records.rows import QuestionSet
from ..config.base import JudgeName
from ..config.sections import Config, CoverageConfig, DataConfig
from ..engine.making import DATASHEET, STATISTICS, Build, check_build_folder, run_build
from ..engine.panel import Panel
from ..engine.rehearsal import rehearse
from ..engine.results import MANIFEST, Results
from ..engine.spending import Estimate
from ..engine.stage import Item
from ..inputs import note_instructions
from ..protocols.coverage.files import write_ratings
from ..protocols.coverage.judging import question_set, rate
from ..protocols.coverage.texts import Text, token_counter_of
from ..protocols.coverage.topic import CoverageData, TopicView
from ..protocols.table import empty_notes
from .crux_statistics import BuiltTopic, statistics
from .datasheets import crux_datasheet

JUDGES: tuple[JudgeName, ...] = ("request", "subquestions", "decontextualizer", "answerability")
BUILT_FILES = (
    *("topics.jsonl", "questions.jsonl", "documents.jsonl", "passages.jsonl", "reports.jsonl"),
    *("ratings.jsonl", "qrels.txt", "diversity_qrels.txt", STATISTICS, DATASHEET),
    *("unjudged.jsonl", "problems.jsonl", MANIFEST),
)
PROGRAM = "build crux"  # in the manifest


def build_crux(
    path: Path, config: Config, *, quiet: bool = True, panel: Panel | None = None
) -> dict[str, Any]:
    """Make a collection from summaries, in `config.run.out`.

    From each summary come a request, sub-questions (`coverage.n`) and, of its documents,
    standalone passages; each passage and the summary itself are rated for each question. A topic
    of which one of the first three is missing is left out; a rating that is missing stays so.

    Args:
        path: JSONL of `id`, `documents` and `summary`; records/summaries.py.
        config: models, judges, coverage and run are used, program and data are not.
        quiet: draw no progress bar.
        panel: judges that are open already; None: those of the config.

    Returns: the manifest that was written.
    Raises: InputError for bad input, EndpointUnusable when no request can succeed; what was
        made until then is in the folder's journal, and the same call goes on from there.
    Source: arXiv:2506.20051, section 3.
    """
    config = _build_config(path, config)

    load = partial(_load_summaries, path, config.run.limit)
    return run_build(_CruxBuild, load, config, quiet=quiet, panel=panel)


def plan_build(path: Path, config: Config) -> list[Estimate]:
    """What a build will ask, see `rehearse`. Raises: InputError as the build does."""
    _build_config(path, config)
    return rehearse(config, lambda alone, panel: build_crux(path, alone, panel=panel))


def _build_config(path: Path, config: Config) -> Config:
    """The config with the summaries, which are reference reports, as its only data.

    Raises: InputError for an unknown tokenizer, or a folder that is not for this build.
    """
    token_counter_of(config.coverage)
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
    notes = empty_notes()
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
        """The topics of which everything was made."""
        panel, n = self.panel, self.config.coverage.n
        writer = panel["request"]

        async def request(report: str) -> tuple[str, list[Provenance]]:
            text, call = await writer.write(report)
            return text, [call]

        items = (Item({"topic_id": s.id}, (s.summary,)) for s in self._whole())
        requests = await self.made("request", "requests", request, items, results, StrictStr)
        items = (Item({"topic_id": s.id}, (s.summary, n)) for s in self._whole())
        generate = panel["subquestions"].generate
        questions = await self.made(
            "subquestions", "questions", generate, items, results, list[StrictStr]
        )
        items = (
            Item({"topic_id": s.id, "document": str(number)}, (text,))
            for s in self._whole()
            for number, text in enumerate(s.documents)
        )
        split = panel["decontextualizer"].split
        passages = await self.made(
            "decontextualizer", "passages", split, items, results, list[StrictStr]
        )
        topics = []
        for summary in self._whole():
            subquestions = question_set(summary.id, questions[summary.id,])
            if missing := n - len(subquestions.questions):
                results.count("questions fewer than asked for", missing)
            texts = [passages[summary.id, str(i)] for i in range(len(summary.documents))]
            topics.append(
                BuiltTopic(summary, requests[summary.id,], subquestions, _named(summary, texts))
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
        return [summary for summary in self.source if summary.id not in self.left_out]


def _named(summary: Summary, texts: Sequence[Sequence[str]]) -> dict[str, str]:
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
