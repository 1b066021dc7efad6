"""What answers are written from, and within which limits."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ...records.answers import RAG_2024, RAG_2025, RAG_2026, is_of_2026
from ...records.judgements import Reason
from ...records.reading.problems import InputError, Problems
from ...records.rows import Passage, Topic
from ..config.names import JudgeName
from ..config.sections import NAME_BYTES, Config, CoverageConfig, DataConfig, GenerateConfig
from ..engine.making import DATASHEET, STATISTICS, check_build_folder
from ..engine.stage import Item
from ..inputs import load_collection
from ..protocols.coverage.texts import inputs_of

PROGRAM, ANSWERS = "generate", "answers"
JUDGES: tuple[JudgeName, ...] = ("answer_writer",)


@dataclass(frozen=True)
class Contexts:
    """What answers are written from.

    Attributes:
        names: ids of passages that have a text, best first, by run of the answers and topic.
        lost: why there is none, by run and topic, where that is no doing of the retrieval run; a
            context that is empty and not lost is one for which nothing was found.
    """

    topics: Mapping[str, Topic]
    passages: Mapping[str, Passage]
    names: Mapping[str, Mapping[str, Sequence[str]]]
    lost: Mapping[tuple[str, str], Reason]

    def items(self) -> Iterator[Item]:
        """The inputs of each answer: question, ids and texts; runs and topics in order."""
        for run_id, of_topics in self.names.items():
            for topic_id, names in of_topics.items():
                texts = [self.passages[name].text for name in names]
                ids = {"run_id": run_id, "topic_id": topic_id}
                if (why := self.lost.get((run_id, topic_id))) is not None:
                    yield Item(ids, None, missing="there is no context to write from", reason=why)
                else:
                    yield Item(ids, (self.topics[topic_id].question, names, texts))

    def names_of(self, item: Item) -> Sequence[str]:
        """The passages of one of the items."""
        return self.names[item.ids["run_id"]][item.ids["topic_id"]]

    def has_no_passages(self, item: Item) -> bool:
        """Whether the retrieval run has no passage for it: then it has no answer either."""
        return item.payload is not None and not self.names_of(item)


def generate_config(config: Config) -> Config:
    """The config with topics, passages and retrieval runs as its only data.

    Raises: InputError for one that is missing, or a folder that is not for this program.
    """
    source = config.data
    for name in ("topics", "passages", "retrieval"):
        if not getattr(source, name):
            raise InputError(f"no {name}: name a file (data.{name}, --{name})")
    data = DataConfig(topics=source.topics, passages=source.passages, retrieval=source.retrieval)
    config = config.model_copy(update={"program": (), "data": data})
    check_build_folder(config, PROGRAM, (f"{ANSWERS}/", STATISTICS, DATASHEET))
    return config


def load_contexts(config: Config, problems: Problems) -> Contexts:
    """The first passages of each retrieval run for each topic, up to the limit of topics.

    A passage without a text in the data is left out, and none moves up in its place.

    Raises: InputError with all that is wrong with the files, for settings that the layout of the
        answers does not allow, or a run id that cannot name a file.
    """
    settings = config.generate
    collection = load_collection(config.data, config.run.limit, CoverageConfig(k=settings.k))
    _check_limits(settings, collection.topics)
    contexts: dict[str, dict[str, list[str]]] = {}
    lost: dict[tuple[str, str], Reason] = {}
    inputs = inputs_of(collection)
    rankings = inputs.rankings
    for retrieval_run, ranking in rankings.items():
        run_id = _run_id(settings.run_id, retrieval_run, is_one=len(rankings) == 1)
        of_topics = contexts[run_id] = {}
        for topic_id in collection.topics:
            of_topics[topic_id] = []
            for name in ranking.get(topic_id, ())[: settings.k]:
                if name in collection.passages:
                    of_topics[topic_id].append(name)
                else:
                    what = f"{name!r}, which {retrieval_run} has for topic {topic_id}, has no text"
                    collection.problems.skip(config.data.passages[0], 0, "no_passage", what)
            if (why := inputs.not_made.get((retrieval_run, topic_id))) is not None:
                lost[run_id, topic_id] = why
            elif ranking.get(topic_id) and not of_topics[topic_id]:
                lost[run_id, topic_id] = Reason.NO_PASSAGE
    problems.take(collection.problems)
    return Contexts(collection.topics, collection.passages, contexts, lost)


def _check_limits(settings: GenerateConfig, topic_ids: Iterable[str]) -> None:
    """Raise InputError for answers that would be read back as too long for their track."""
    form = RAG_2024 if settings.layout == "rag24" else RAG_2025
    if form is RAG_2025 and any(map(is_of_2026, topic_ids)):
        form = RAG_2026
    for name, most in (
        ("k", form.max_references),
        ("words", form.max_words),
        ("citations", form.max_citations),
    ):
        if most is not None and (got := getattr(settings, name)) > most:
            raise InputError(f"generate.{name}: {got}, wanted {most} at most ({form.name})")


def _run_id(wanted: str | None, retrieval_run: str, *, is_one: bool) -> str:
    """What the run of the answers is called: as was given, with several runs as a prefix."""
    run_id = retrieval_run if wanted is None else wanted if is_one else f"{wanted}-{retrieval_run}"
    if run_id.split() != [run_id]:
        raise InputError(f"generate.run_id: {run_id!r}, wanted an id without white space")
    n_bytes = len(os.fsencode(f"{run_id}.jsonl.part"))
    if "/" in run_id or "\0" in run_id or run_id.startswith(".") or n_bytes > NAME_BYTES:
        raise InputError(f"run {run_id!r} cannot name a file; name another one (generate.run_id)")
    return run_id
