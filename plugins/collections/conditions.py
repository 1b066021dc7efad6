"""`judge build conditions`: documents whole, cut, as snippets and as summaries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import StrictStr

from ...metrics import count_words
from ...programs.config.base import JudgeName
from ...programs.config.sections import Config, DataConfig
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
    run_build,
    sources,
    table,
)
from ...programs.engine.results import MANIFEST, Results
from ...programs.engine.spending import Estimate
from ...programs.engine.stage import Item
from ...records.documents import TopicDocuments, read_topic_documents
from ...records.reading.injections import note_instructions
from ...records.reading.problems import InputError, Problems
from ...records.relevance import write_trec_run
from ...records.rows import Ranking, Topic
from ...records.topics import read_topics
from .settings import FORMS, Long2RagConfig

PROGRAM = "build conditions"  # in the manifest
JUDGES: tuple[JudgeName, ...] = ("document_shortener",)
PASSAGES = "passages.jsonl"
FULL = "full"
_FILES = (PASSAGES, STATISTICS, DATASHEET, "unjudged.jsonl", "problems.jsonl", MANIFEST)


class Source(NamedTuple):
    """The questions, and the documents of each."""

    topics: list[Topic]
    documents: TopicDocuments


def build_conditions(
    topics: Path,
    documents: Path,
    config: Config,
    *,
    quiet: bool = True,
    judge_set: JudgeSet | None = None,
) -> dict[str, Any]:
    """Write the documents under each of `long2rag.conditions`, and whole, in `config.run.out`.

    For each condition there is a run, `full.run`, `512.run`, `snippet.run` ..., that lists the
    documents of each topic in their order; `passages.jsonl` has the texts. `judge generate` writes
    an answer from each run. A number cuts each document to so many characters, in whole words. A
    topic with a missing snippet or summary is left out of every run.

    Args:
        topics, documents: records/topics.py, records/documents.py.

    Returns: the manifest that was written.
    Raises: InputError for bad input or a topic without documents.
    Source: arXiv:2410.23000, section 5.6 and Table 2.
    """
    config = _build_config(topics, documents, config)
    load = partial(_load, config)
    return run_build(_ConditionsBuild, load, config, quiet=quiet, judge_set=judge_set)


def plan_conditions(topics: Path, documents: Path, config: Config) -> list[Estimate]:
    """Estimate the calls of a build, see `estimate_calls`. Raises: InputError as the build does."""
    _build_config(topics, documents, config)
    return estimate_calls(
        config,
        lambda alone, judge_set: build_conditions(topics, documents, alone, judge_set=judge_set),
    )


def _build_config(topics: Path, documents: Path, config: Config) -> Config:
    data = DataConfig(topics=topics, documents=documents)
    config = config.model_copy(update={"program": (), "data": data})
    check_build_folder(config, PROGRAM, _list_files(config))
    return config


def _list_files(config: Config) -> tuple[str, ...]:
    conditions = (FULL, *config.section(Long2RagConfig).list_conditions())
    return (*_FILES, *(f"{name}.run" for name in conditions))


def _load(config: Config, problems: Problems) -> Source:
    where, path = config.data.topics, config.data.documents
    assert where is not None
    assert path is not None
    topics = list(read_topics(where, problems).values())[: config.run.limit]
    documents = read_topic_documents(path, problems)
    problems.raise_errors()
    for topic in topics:
        if not documents.get(topic.id):
            raise InputError(f"{path}: topic {topic.id!r} has no document")
        for one in documents[topic.id].values():
            if one.id.split() != [one.id]:
                what = f"the id {one.id!r} of a document of topic {topic.id!r} has white space"
                raise InputError(f"{path}: {what}, which a run file does not allow")
            what = f"document {one.id} of {topic.id}"
            note_instructions(problems, path, what, one.text)
    return Source(topics, documents)


def cut_text(text: str, most: int) -> str:
    """Cut to at most `most` characters, in whole words.

    >>> cut_text("Rain fell on the hills.", 11), cut_text("Rain fell on", 12)
    ('Rain fell', 'Rain fell on')
    """
    if len(text) <= most:
        return text
    whole = text[:most] if text[most].isspace() else text[:most].rpartition(" ")[0]
    return (whole or text[:most]).rstrip()


class _ConditionsBuild(Build):
    """Makes snippets and summaries, then writes all texts and a run for each condition."""

    program, judges, files = PROGRAM, JUDGES, _FILES
    source: Source

    def names(self) -> Sequence[str]:
        """See Build."""
        before = [path.name for path in self.config.run.out.glob("*.run")]
        return tuple(dict.fromkeys((*_list_files(self.config), *before)))

    async def make(self, results: Results) -> tuple[dict[str, Any], dict[str, Any]]:
        """See Build."""
        settings = self.config.section(Long2RagConfig)
        made = {}
        for form in (name for name in settings.list_conditions() if name in FORMS):
            made[form] = await self._shorten(form, settings.condition_words, results)
        texts: dict[str, dict[tuple[str, str], str]] = {}
        topics = [topic.id for topic in self.source.topics if topic.id not in self.excluded]
        for name in (FULL, *settings.list_conditions()):
            texts[name] = {
                (topic, one.id): self._text(name, topic, one.text, made.get(name, {}), one.id)
                for topic in topics
                for one in self.source.documents[topic].values()
            }
        with results.open(PASSAGES) as rows:
            for name, of_condition in texts.items():
                for (topic, docid), text in of_condition.items():
                    if text:
                        rows.write({"id": _name(topic, docid, name), "text": text})
        for name, of_condition in texts.items():
            rankings = (_rank(name, topic, of_condition) for topic in topics)
            write_trec_run(results.part(f"{name}.run"), rankings)
        stats = {name: _count(of_condition) for name, of_condition in texts.items()}
        return {"conditions": stats}, {"topic_ids": topics, "topics": len(topics)}

    def _text(
        self, name: str, topic: str, text: str, made: Mapping[tuple[str, ...], str], docid: str
    ) -> str:
        if name == FULL:
            return text
        return made.get((topic, docid), "") if name in FORMS else cut_text(text, int(name))

    async def _shorten(self, form: str, words: int, results: Results) -> dict[tuple[str, ...], str]:
        items = [
            Item({"topic_id": topic.id, "docid": one.id}, (topic.question, one.text, form, words))
            for topic in self.source.topics
            for one in self.source.documents[topic.id].values()
        ]
        shorten = self.judge_set["document_shortener"].shorten
        return await self.make_each("document_shortener", form, shorten, items, results, StrictStr)

    def datasheet(self, manifest: Mapping[str, Any]) -> str:
        """See Build."""
        made = {"document_shortener": "snippets and summaries, from the documents"}
        return datasheet(
            "Datasheet of documents under several conditions",
            "Made by `judge build conditions` of nuggetjudge, after Table 2 of arXiv:2410.23000.",
            {
                "Where it comes from": list(sources(manifest["inputs"])),
                "What was generated, and by what": describe_generated(manifest, made),
                "What is in it": table(conditions_table(manifest["statistics"])),
                "What was left out, and why": list_excluded(manifest) or ["Nothing."],
            },
        )


def _name(topic: str, docid: str, condition: str) -> str:
    return f"{topic}:{docid}@{condition}"


def _rank(name: str, topic: str, texts: Mapping[tuple[str, str], str]) -> Ranking:
    ids = [_name(topic, docid, name) for (at, docid), text in texts.items() if at == topic and text]
    return Ranking(run_id=name, topic_id=topic, passage_ids=ids)


def _count(texts: Mapping[tuple[str, str], str]) -> dict[str, Any]:
    lengths = [count_words(text) for text in texts.values() if text]
    mean = sum(lengths) / len(lengths) if lengths else None
    return {"documents": len(lengths), "empty": len(texts) - len(lengths), "mean_words": mean}


def conditions_table(stats: Mapping[str, Any]) -> list[list[str]]:
    """Documents and words by condition, after a header; `empty`: nothing helps, or no text."""
    return [["condition", "documents", "empty", "words each"], *_list_conditions(stats)]


def _list_conditions(stats: Mapping[str, Any]) -> Iterator[list[str]]:
    for name, of in stats["conditions"].items():
        words = "-" if of["mean_words"] is None else f"{of['mean_words']:,.1f}"
        yield [name, f"{of['documents']:,}", f"{of['empty']:,}", words]
