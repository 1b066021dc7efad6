"""`judge build long2rag`: questions that want long answers, and key points of documents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

from pydantic import StrictStr

from ...judges.makers.questions import CRITERIA
from ...records.judgements import Provenance
from ...records.rows import Topic
from ..config.sections import Config
from ..engine.journal import Count, object_of
from ..engine.making import Build, run_build
from ..engine.panel import Panel
from ..engine.rehearsal import rehearse
from ..engine.results import Results
from ..engine.spending import Estimate
from ..engine.stage import Item
from ..protocols.keypoints.making import find_points
from ..protocols.table import empty_notes
from .datasheets import long2rag_datasheet
from .long2rag_files import (
    FILES,
    BuiltQuestion,
    MadePoints,
    ScoredSeed,
    statistics,
    write_points,
    write_questions,
)
from .long2rag_inputs import JUDGES, Source, build_config, documents_of, load_source, new_ids
from .verification import PROGRAM, sheet_hash, write_verification

SCORES = object_of(dict.fromkeys(CRITERIA, Count))
_WAYS: tuple[Literal["depth", "width"], ...] = ("depth", "width")


def build_long2rag(
    topics: Path,
    documents: Path | None,
    config: Config,
    *,
    quiet: bool = True,
    panel: Panel | None = None,
) -> dict[str, Any]:
    """Make questions, and of documents their key points, in `config.run.out`.

    Seeds get a point for each of five criteria; of those with `long2rag.least` points or more,
    `long2rag.evolve` new questions are made in depth and in width. Each question is given its kind
    and split for retrieval. Where
    documents are given, key points are found in each, merged and filtered, and a sheet is written
    for people to verify them. A question that lacks a judgement, or a document, is left out whole.

    Args:
        topics: seed questions; records/topics.py.
        documents: by topic; records/documents.py. A new question without documents of its own has
            those of its seed. None: the build ends with the questions, and goes on from there
            when it is called again with documents.
        config: models, judges, long2rag, keypoints and run are used, program and data are not.
        quiet: draw no progress bar.
        panel: judges that are open already; None: those of the config.

    Returns: the manifest that was written.
    Raises: InputError for bad input, EndpointUnusable when no request can succeed; what was
        made until then is in the folder's journal, and the same call goes on from there.
    Source: arXiv:2410.23000, section 3.
    """
    config = build_config(topics, documents, config)

    load = partial(load_source, config)
    return run_build(_Long2RagBuild, load, config, quiet=quiet, panel=panel)


def plan_long2rag(topics: Path, documents: Path | None, config: Config) -> list[Estimate]:
    """What a build will ask, see `rehearse`. Raises: InputError as the build does."""
    build_config(topics, documents, config)
    return rehearse(
        config, lambda alone, panel: build_long2rag(topics, documents, alone, panel=panel)
    )


class _Long2RagBuild(Build):
    """Scores, new questions, sub-questions; then key points of the questions that have all that."""

    program, judges, files = PROGRAM, JUDGES, FILES
    notes = empty_notes()
    source: Source

    async def make(self, results: Results) -> tuple[dict[str, Any], dict[str, Any]]:
        """See Build."""
        seeds = await self._scored(results)
        questions = [BuiltQuestion(seed.topic) for seed in seeds if seed.is_kept]
        if self.config.long2rag.evolve:
            questions = await self._evolved(questions, results)
        questions = await self._split(questions, results)
        made = None
        if self.source.documents is not None:
            made = await self._points(questions, results)
            questions = [question for question in questions if question.id not in self.left_out]
        write_questions(seeds, questions, results)
        sets = [] if made is None else write_points(questions, made, results)
        topics = {question.id: question.topic for question in questions}
        write_verification(results.folder, sets, topics, self.problems)
        stats = statistics(seeds, len(self.source.seeds), questions, made, sets)
        data = {"topic_ids": list(topics), "topics": len(topics)}
        data |= {"has_key_points": made is not None, "sheet": sheet_hash(results.folder)}
        return stats, data

    def datasheet(self, manifest: Mapping[str, Any]) -> str:
        """See Build."""
        return long2rag_datasheet(manifest)

    async def _scored(self, results: Results) -> list[ScoredSeed]:
        seeds, least = self.source.seeds, self.config.long2rag.least
        items = [Item({"topic_id": seed.id}, (seed.question,)) for seed in seeds]
        score = self.panel["question_scorer"].scores
        scores_by_seed = await self.made("question_scorer", "scores", score, items, results, SCORES)
        scored = []
        for seed in seeds:
            if scores := scores_by_seed.get((seed.id,)):
                is_kept = sum(scores.values()) >= least
                scored.append(ScoredSeed(seed, scores, is_kept))
                if not is_kept:
                    results.count(f"seed questions with fewer than {least} points")
        return scored

    async def _evolved(self, seeds: list[BuiltQuestion], results: Results) -> list[BuiltQuestion]:
        """Each seed with the questions made from it; those of one way that are not made are named
        by their ids without a number."""
        n = self.config.long2rag.evolve
        items = [
            Item(
                {"topic_id": f"{q.id}-{way[0]}"},
                (q.topic.question, way, n, q.topic.domain, q.topic.category),
            )
            for q in seeds
            for way in _WAYS
        ]
        evolve = self.panel["question_evolver"].evolve
        evolved = await self.made(
            "question_evolver", "evolution", evolve, items, results, list[StrictStr]
        )
        questions = []
        for seed in seeds:
            questions.append(seed)
            groups = {"domain": seed.topic.domain, "category": seed.topic.category}
            for way in _WAYS:
                if (texts := evolved.get((f"{seed.id}-{way[0]}",))) is None:
                    continue
                if missing := n - len(texts):
                    results.count("new questions fewer than asked for", missing)
                for name, text in zip(new_ids(seed.id, way, n), texts, strict=False):
                    topic = Topic(id=name, text=text, **groups)
                    questions.append(BuiltQuestion(topic, seed.id, way))
        return questions

    async def _split(self, questions: list[BuiltQuestion], results: Results) -> list[BuiltQuestion]:
        """The questions with their sub-questions; those without are left out."""
        judge = self.panel["question_decomposer"]

        async def split(question: str) -> tuple[list[Any], list[Provenance]]:
            decomposed, calls = await judge.decompose(question)
            return [str(decomposed.kind), decomposed.subquestions], calls

        items = [Item({"topic_id": q.id}, (q.topic.question,)) for q in questions]
        by_question = await self.made(
            "question_decomposer",
            "subquestions",
            split,
            items,
            results,
            tuple[StrictStr, list[StrictStr]],
        )
        return [
            replace(question, kind=kind, parts=tuple(parts))
            for question in questions
            for kind, parts in filter(None, [by_question.get((question.id,))])
        ]

    async def _points(self, questions: list[BuiltQuestion], results: Results) -> MadePoints:
        """The key points of the questions that have documents."""
        by_topic = self.source.documents or {}
        documents = {q.id: documents_of(q.id, q.seed, by_topic) for q in questions}
        for name, of_question in documents.items():
            if not of_question:
                self.leave_out(name, "documents", "none given")
        with_documents = {q.id: q.topic.question for q in questions if documents[q.id]}
        made = await find_points(self.session, results, with_documents, documents)
        self.leave_out_missing(results)
        return MadePoints(documents, made)
