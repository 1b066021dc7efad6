"""Before Long2RAG questions are made: are the seeds and documents fit for it, what will it take?"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from ...backends.budget import Budget
from ...records.documents import TopicDocuments, read_topic_documents
from ...records.reading.problems import InputError, Problems
from ...records.rows import Passage, Topic
from ...records.topics import read_topics
from ..engine.making import check_build_folder
from ..inputs.collection import Collection
from ..config.sections import Config, DataConfig, JudgeName
from ..engine.estimates import KEYED_TOKENS, Asked, Estimate, estimated, placeholder
from ..inputs.hostile import looks_like_an_instruction
from ..protocols.keypoints.plan import POINTS, keypoint_estimates
from .long2rag_files import FILES
from ..engine.panel import Panel
from .verification import KEY_POINTS, PROGRAM, SHEET, check_unverified

JUDGES: tuple[JudgeName, ...] = (
    *("question_scorer", "question_evolver", "question_decomposer"),
    *("keypoint_extractor", "keypoint_merger", "keypoint_filter"),
)
NEW_TOKENS, PARTS = 30, 3  # assumed by a plan: of a new question; sub-questions of one
ASSUMED = (
    f"Assumed, since it is known only later: every seed is kept, new questions of {NEW_TOKENS} "
    f"tokens, {POINTS} key points\nfrom a window of a document, no two the same, in all rounds. "
    "What is finished or in the cache is not asked again.\n"
)
_ID = re.compile(r"\w\S*")  # no formula in a spreadsheet
_NEW = re.compile(r"(.+)-[dw]\d*")  # of a question made from a seed, or of all of them


class Given(NamedTuple):
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


def load_given(config: Config, problems: Problems) -> Given:
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
        if looks_like_an_instruction(seed.question):
            what = f"question {seed.id} has text that looks like an instruction to a judge"
            problems.keep(path, 0, "instruction_like", what)
    for topic_id, held in (documents or {}).items():
        made = _NEW.fullmatch(topic_id)
        if topic_id not in seeds and (made is None or made[1] not in seeds):
            what = f"documents of {topic_id!r}, which is no seed and not made from one"
            problems.skip(where or path, 0, "other_documents", what)
        for document in held.values():
            if looks_like_an_instruction(document.text):
                what = f"document {document.id} of {topic_id} looks like an instruction to a judge"
                problems.keep(where or path, 0, "instruction_like", what)
    return Given(chosen, documents)


def plan_long2rag(topics: Path, documents: Path | None, config: Config) -> list[Estimate]:
    """What a build would ask, as if nothing were in the cache or the journal; asks nothing.

    Calls for the scores are exact, those for new questions and sub-questions are if every seed
    is kept. Raises: InputError as the build does.
    """
    config = build_config(topics, documents, config)
    given, n_new = load_given(config, Problems()), config.long2rag.evolve
    run = config.run.model_copy(update={"offline": True})
    panel = Panel(config.model_copy(update={"run": run}), cache=None, budget=Budget())
    score, split = panel.question_scorer.prompt("score"), panel.question_decomposer.prompt("split")
    scores, news, parts = Asked(), Asked(), Asked()
    asked: dict[str, Topic] = {}
    held: TopicDocuments = {}
    for seed in given.seeds:
        scores.add(score, {"question": seed.question})
        questions = [seed]
        for way in ("depth", "width") if n_new else ():
            groups = {"domain": seed.domain, "category": seed.category}
            inputs = {"question": seed.question, "wanted": n_new, **groups}
            news.add(panel.question_evolver.prompt(way), inputs)
            names = new_ids(seed.id, way, n_new)
            questions += [Topic(id=name, text=placeholder(NEW_TOKENS)) for name in names]
        for question in questions:
            parts.add(split, {"question": question.question})
            asked[question.id] = question
            held[question.id] = documents_of(question.id, seed.id, given.documents or {})
    found = [estimated(config, "question_scorer", scores, KEYED_TOKENS * 5)]
    if n_new:
        found.append(estimated(config, "question_evolver", news, NEW_TOKENS * n_new))
    reply = (NEW_TOKENS + KEYED_TOKENS) * PARTS
    found.append(estimated(config, "question_decomposer", parts, reply))
    if given.documents is not None:
        collection = Collection(topics=asked, run_files=[], documents=held)
        points = keypoint_estimates(config, collection, panel)
        found += [estimate for estimate in points if estimate.judge in JUDGES]
    return found


def new_ids(seed_id: str, way: str, n: int) -> list[str]:
    """Ids of the questions made from a seed: `t1-d1`, `t1-d2` in depth, `t1-w1` in width.

    >>> new_ids("t1", "depth", 2)
    ['t1-d1', 't1-d2']
    """
    return [f"{seed_id}-{way[0]}{number}" for number in range(1, n + 1)]


def documents_of(name: str, seed_id: str, documents: TopicDocuments) -> dict[str, Passage]:
    """The documents of a question: its own, or else those of its seed; {} without any."""
    return documents.get(name) or documents.get(seed_id) or {}
