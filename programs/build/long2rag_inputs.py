"""What Long2RAG questions are made from: seeds and documents that are fit for it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from ...records.documents import TopicDocuments, read_topic_documents
from ...records.reading.problems import InputError, Problems
from ...records.rows import Passage, Topic
from ...records.topics import read_topics
from ..config.base import JudgeName
from ..config.sections import Config, DataConfig
from ..engine.making import check_build_folder
from ..inputs import note_instructions
from .long2rag_files import FILES
from .verification import KEY_POINTS, PROGRAM, SHEET, check_unverified

JUDGES: tuple[JudgeName, ...] = (
    *("question_scorer", "question_evolver", "question_decomposer"),
    *("keypoint_extractor", "keypoint_merger", "keypoint_filter"),
)
_ID = re.compile(r"\w\S*")  # no formula in a spreadsheet
_NEW = re.compile(r"(.+)-[dw]\d*")  # of a question made from a seed, or of all of them


class Source(NamedTuple):
    """What a collection is made from; `documents` by topic, None: they come later."""

    seeds: list[Topic]
    documents: TopicDocuments | None


def build_config(topics: Path, documents: Path | None, config: Config) -> Config:
    """The config with seeds and documents as its only data.

    Raises: InputError for a folder that is not for this build.
    """
    data = DataConfig(topics=topics, documents=documents)
    config = config.model_copy(update={"program": (), "data": data})
    check_build_folder(config, PROGRAM, (*FILES, SHEET))
    check_unverified(config.run.out)
    if documents is None and (config.run.out / KEY_POINTS).is_file():
        what = "has key points, which a build without documents would remove"
        raise InputError(f"{config.run.out}: {what}; name --documents, or another --out")
    return config


def load_source(config: Config, problems: Problems) -> Source:
    """Seeds up to the limit, and documents. Raises: InputError with all that is wrong with them."""
    path, where = config.data.topics, config.data.documents
    assert path is not None
    seeds = read_topics(path, problems)
    for name in seeds:
        if not _ID.fullmatch(name):
            what = f"the id {name!r} cannot stand in a sheet, wanted a letter or digit first"
            problems.error(path, 0, "bad_id", f"{what} and no white space")
        if (made := _NEW.fullmatch(name)) and made[1] in seeds:
            what = f"the id {name!r} is that of a question made from {made[1]!r}, wanted another"
            problems.error(path, 0, "bad_id", what)
    documents = read_topic_documents(where, problems) if where else None
    problems.raise_errors()
    chosen = list(seeds.values())[: config.run.limit]
    for seed in chosen:
        note_instructions(problems, path, f"question {seed.id} has text that", seed.question)
    for topic_id, of_topic in (documents or {}).items():
        made = _NEW.fullmatch(topic_id)
        if topic_id not in seeds and (made is None or made[1] not in seeds):
            what = f"documents of {topic_id!r}, which is no seed and not made from one"
            problems.skip(where or path, 0, "other_documents", what)
        for document in of_topic.values():
            what = f"document {document.id} of {topic_id}"
            note_instructions(problems, where or path, what, document.text)
    return Source(chosen, documents)


def new_ids(seed_id: str, way: str, n: int) -> list[str]:
    """Ids of the questions made from a seed: `t1-d1`, `t1-d2` in depth, `t1-w1` in width.

    >>> new_ids("t1", "depth", 2)
    ['t1-d1', 't1-d2']
    """
    return [f"{seed_id}-{way[0]}{number}" for number in range(1, n + 1)]


def documents_of(name: str, seed_id: str, documents: TopicDocuments) -> dict[str, Passage]:
    """The documents of a question: its own, or else those of its seed; {} without any."""
    return documents.get(name) or documents.get(seed_id) or {}
