"""`judge build long2rag`: questions that want long answers, and key points of documents."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import StrictStr

from ...metrics import count_words
from ...programs.config.base import JudgeName
from ...programs.config.sections import Config, DataConfig
from ...programs.engine.dry_run import estimate_calls
from ...programs.engine.journal import Count, make_object_type
from ...programs.engine.judge_set import JudgeSet
from ...programs.engine.making import (
    DATASHEET,
    STATISTICS,
    Build,
    check_build_folder,
    run_build,
)
from ...programs.engine.results import MANIFEST, Results
from ...programs.engine.spending import Estimate
from ...programs.engine.stage import Item
from ...programs.protocols.key_point_making import Made, find_points
from ...records.documents import TopicDocuments, read_topic_documents
from ...records.judgements import Provenance
from ...records.key_points import key_point_set_row
from ...records.reading.injections import note_instructions
from ...records.reading.problems import InputError, Problems
from ...records.rows import KeyPointSet, Passage, Topic
from ...records.topics import read_topics
from .judges import CRITERIA
from .long2rag_datasheet import long2rag_datasheet
from .settings import Long2RagConfig
from .verification import (
    DOCUMENTS,
    KEY_POINTS,
    PROGRAM,
    REJECTED,
    SHEET,
    UNVERIFIED,
    check_unverified,
    sheet_hash,
    write_verification,
)

FILES = (
    *("topics.jsonl", "question_scores.jsonl", "subquestions.jsonl", DOCUMENTS),
    *(KEY_POINTS, REJECTED, UNVERIFIED, STATISTICS, DATASHEET),
    *("unjudged.jsonl", "problems.jsonl", MANIFEST),
)
KINDS = ("simple", "complex", "vague")
MORE_WORDS = 10, 20  # of a question in depth, arXiv:2410.23000


JUDGES: tuple[JudgeName, ...] = (
    *("question_scorer", "question_categorizer", "question_evolver", "question_decomposer"),
    *("keypoint_extractor", "keypoint_merger", "keypoint_filter"),
)
_ID = re.compile(r"\w\S*")  # no formula in a spreadsheet
_NEW = re.compile(r"(.+)-[dw]\d*")  # of a question made from a seed, or of all of them


SCORES = make_object_type(dict.fromkeys(CRITERIA, Count))
_WAYS: tuple[Literal["depth", "width"], ...] = ("depth", "width")


def build_long2rag(
    topics: Path,
    documents: Path | None,
    config: Config,
    *,
    quiet: bool = True,
    judge_set: JudgeSet | None = None,
) -> dict[str, Any]:
    """Make questions, and of documents their key points, in `config.run.out`.

    Seeds get a point for each of five criteria; of those with `long2rag.min_points` points or more,
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
        judge_set: judges that are open already; None: those of the config.

    Returns: the manifest that was written.
    Raises: InputError for bad input, EndpointUnusable when no request can succeed; what was
        made until then is in the folder's journal, and the same call goes on from there.
    Source: arXiv:2410.23000, section 3.
    """
    config = build_config(topics, documents, config)

    load = partial(load_source, config)
    return run_build(_Long2RagBuild, load, config, quiet=quiet, judge_set=judge_set)


def plan_long2rag(topics: Path, documents: Path | None, config: Config) -> list[Estimate]:
    """What a build will ask, see `estimate_calls`. Raises: InputError as the build does."""
    build_config(topics, documents, config)
    return estimate_calls(
        config,
        lambda alone, judge_set: build_long2rag(topics, documents, alone, judge_set=judge_set),
    )


class _Long2RagBuild(Build):
    """Scores, new questions, sub-questions; then key points of the questions that have all that."""

    program, judges, files = PROGRAM, JUDGES, FILES
    source: Source

    async def make(self, results: Results) -> tuple[dict[str, Any], dict[str, Any]]:
        """See Build."""
        seeds = await self._score_seeds(results)
        questions = [BuiltQuestion(seed.topic) for seed in seeds if seed.is_kept]
        if self.config.section(Long2RagConfig).categorize:
            questions = await self._categorize(questions, results)
        if self.config.section(Long2RagConfig).evolve:
            questions = await self._evolve_seeds(questions, results)
        questions = await self._split(questions, results)
        made = None
        if self.source.documents is not None:
            made = await self._points(questions, results)
            questions = [question for question in questions if question.id not in self.excluded]
        write_questions(seeds, questions, results)
        sets = [] if made is None else write_points(questions, made, results)
        topics = {question.id: question.topic for question in questions}
        write_verification(results.folder, sets, topics, self.problems)
        stats = statistics(seeds, len(self.source.seeds), questions, made, sets)
        stats["grid"] = count_grid(questions, self.config.section(Long2RagConfig))
        texts = {seed.topic.id: seed.topic.question for seed in seeds}
        stats["depth_in_range"] = count_in_range(questions, texts)
        data = {"topic_ids": list(topics), "topics": len(topics)}
        data |= {"has_key_points": made is not None, "sheet": sheet_hash(results.folder)}
        return stats, data

    def datasheet(self, manifest: Mapping[str, Any]) -> str:
        """See Build."""
        return long2rag_datasheet(manifest)

    async def _score_seeds(self, results: Results) -> list[ScoredSeed]:
        seeds, least = self.source.seeds, self.config.section(Long2RagConfig).min_points
        items = [Item({"topic_id": seed.id}, (seed.question,)) for seed in seeds]
        score = self.judge_set["question_scorer"].scores
        scores_by_seed = await self.make_each(
            "question_scorer", "scores", score, items, results, SCORES
        )
        scored = []
        for seed in seeds:
            if scores := scores_by_seed.get((seed.id,)):
                is_kept = sum(scores.values()) >= least
                scored.append(ScoredSeed(seed, scores, is_kept))
                if not is_kept:
                    results.count(f"seed questions with fewer than {least} points")
        return scored

    async def _categorize(
        self, seeds: list[BuiltQuestion], results: Results
    ) -> list[BuiltQuestion]:
        """Return the seeds, each with a category; a seed whose category failed is left out."""
        items = [
            Item({"topic_id": q.id}, (q.topic.question,)) for q in seeds if not q.topic.category
        ]
        judge = self.judge_set["question_categorizer"].categorize
        name = "question_categorizer"
        made = await self.make_each(name, "categories", judge, items, results, StrictStr)
        return [
            replace(q, topic=q.topic.model_copy(update={"category": category}))
            for q in seeds
            if (category := q.topic.category or made.get((q.id,), ""))
        ]

    async def _evolve_seeds(
        self, seeds: list[BuiltQuestion], results: Results
    ) -> list[BuiltQuestion]:
        """Each seed with the questions made from it; those of one way that are not made are named
        by their ids without a number. With `domains` those made for each of them, without seeds."""
        settings = self.config.section(Long2RagConfig)
        n, domains = settings.evolve, settings.list_domains()
        if domains:
            return await self._evolve_grid(seeds, n, domains, settings.per_pair, results)
        items = [
            Item(
                {"topic_id": f"{q.id}-{way[0]}"},
                (q.topic.question, way, n, q.topic.domain, q.topic.category),
            )
            for q in seeds
            for way in _WAYS
        ]
        evolve = self.judge_set["question_evolver"].evolve
        evolved = await self.make_each(
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

    async def _evolve_grid(
        self,
        seeds: list[BuiltQuestion],
        n: int,
        domains: Sequence[str],
        per_pair: int,
        results: Results,
    ) -> list[BuiltQuestion]:
        """New questions by category and domain: the first of every seed, then the second, ..."""
        items = [
            Item(
                {"topic_id": f"{q.id}-{way[0]}", "domain": domain},
                (q.topic.question, way, n, domain, q.topic.category),
            )
            for q in seeds
            for way in _WAYS
            for domain in domains
        ]
        evolve = self.judge_set["question_evolver"].evolve
        evolved = await self.make_each(
            "question_evolver", "evolution", evolve, items, results, list[StrictStr]
        )
        ranked: list[tuple[int, BuiltQuestion]] = []
        for seed in seeds:
            for way in _WAYS:
                ids = iter(new_ids(seed.id, way, n * len(domains)))
                for domain in domains:
                    texts = evolved.get((f"{seed.id}-{way[0]}", domain), ())
                    for i, name in zip(range(n), ids, strict=False):
                        if i < len(texts):
                            groups = {"domain": domain, "category": seed.topic.category}
                            topic = Topic(id=name, text=texts[i], **groups)
                            ranked.append((i, BuiltQuestion(topic, seed.id, way)))
        kept, counts = [], Counter[tuple[str, str]]()
        for _, question in sorted(ranked, key=lambda pair: pair[0]):
            pair = question.topic.category, question.topic.domain
            if not per_pair or counts[pair] < per_pair:
                counts[pair] += 1
                kept.append(question)
        if n_left := len(ranked) - len(kept):
            results.count("new questions beyond per_pair of a category and domain", n_left)
        return kept

    async def _split(self, questions: list[BuiltQuestion], results: Results) -> list[BuiltQuestion]:
        """The questions with their sub-questions; those without are left out."""
        judge = self.judge_set["question_decomposer"]

        async def split(question: str) -> tuple[list[Any], list[Provenance]]:
            decomposed, calls = await judge.decompose(question)
            return [str(decomposed.kind), decomposed.subquestions], calls

        items = [Item({"topic_id": q.id}, (q.topic.question,)) for q in questions]
        by_question = await self.make_each(
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
        has_other_domain = bool(self.config.section(Long2RagConfig).domains)
        documents = {
            q.id: get_documents(q.id, "" if has_other_domain else q.seed, by_topic)
            for q in questions
        }
        for name, of_question in documents.items():
            if not of_question:
                self.exclude(name, "documents", "none given")
        with_documents = {q.id: q.topic.question for q in questions if documents[q.id]}
        made = await find_points(self.session, results, with_documents, documents)
        self.leave_out_missing(results)
        return MadePoints(documents, made)


class Source(NamedTuple):
    """What a collection is made from; `documents` by topic, None: they come later."""

    seeds: list[Topic]
    documents: TopicDocuments | None


def build_config(topics: Path, documents: Path | None, config: Config) -> Config:
    """The config with seeds and documents as its only data.

    Raises: InputError for a folder that is not for this build.
    """
    settings = config.section(Long2RagConfig)
    if settings.domains and not settings.evolve:
        raise InputError("long2rag.domains: new questions for domains need --evolve")
    if settings.per_pair and not settings.domains:
        raise InputError("long2rag.per_pair: limits questions by domain, so it needs --domains")
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
            what = f"documents of {topic_id!r}, which is neither a seed nor made from one"
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


def get_documents(name: str, seed_id: str, documents: TopicDocuments) -> dict[str, Passage]:
    """The documents of a question: its own, or else those of its seed; {} without any."""
    return documents.get(name) or documents.get(seed_id) or {}


@dataclass(frozen=True)
class BuiltQuestion:
    """A question of the collection.

    Attributes:
        seed, way: from which one it was made, and how.
        kind, parts: how it has to be searched for, and its sub-questions.
    """

    topic: Topic
    seed: str = ""
    way: Literal["", "depth", "width"] = ""
    kind: str = ""
    parts: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """Of the topic."""
        return self.topic.id


@dataclass(frozen=True)
class MadePoints:
    """What became of the documents of the questions."""

    documents: Mapping[str, Mapping[str, Passage]]
    points: Made


@dataclass(frozen=True)
class ScoredSeed:
    """A seed with its points by criterion, 0 or 1 each, and whether there are enough of them."""

    topic: Topic
    scores: Mapping[str, int]
    is_kept: bool


def write_questions(
    seeds: Sequence[ScoredSeed], questions: Sequence[BuiltQuestion], results: Results
) -> None:
    """Write the seeds with their scores, and the questions with their sub-questions."""
    scores = (
        {
            **{"id": s.topic.id, "text": s.topic.text},
            **{"points": sum(s.scores.values()), "scores": s.scores, "kept": s.is_kept},
        }
        for s in seeds
    )
    results.write("question_scores.jsonl", scores)
    with results.open("topics.jsonl") as rows:
        for question in questions:
            row = {n: v for n, v in question.topic.model_dump().items() if v or n in ("id", "text")}
            made = {"seed": question.seed, "evolved": question.way} if question.seed else {}
            rows.write(row | made)
    with results.open("subquestions.jsonl") as rows:
        for question in questions:
            split = {"type": question.kind, "subquestions": question.parts}
            rows.write({"id": question.id, **split})


def write_points(
    questions: Sequence[BuiltQuestion], made: MadePoints, results: Results
) -> list[KeyPointSet]:
    """Write documents, key points and rejected key points; return the key points by question."""
    sets = []
    with results.open(DOCUMENTS) as rows:
        for question in questions:
            for document in made.documents[question.id].values():
                row = {"topic_id": question.id, "docid": document.id, "text": document.text}
                rows.write(row | ({"title": document.title} if document.title else {}))
    with results.open(KEY_POINTS) as rows:
        for question in questions:
            verdicts = made.points.filtered[question.id]
            points = made.points.keep_points(question.id) or ()
            query = question.topic.text
            point_set = KeyPointSet(topic_id=question.id, query=query, key_points=points)
            written = key_point_set_row(point_set)
            for point in written["key_points"]:
                verdict = verdicts[point["id"]] or {}
                point.update((n, verdict[n]) for n in ("score", "method") if n in verdict)
            rows.write(written)
            sets.append(point_set)
    made.points.write_rejected(REJECTED, {q.id: q.topic.text for q in questions}, results)
    return sets


def statistics(
    seeds: Sequence[ScoredSeed],
    n_seeds: int,
    questions: Sequence[BuiltQuestion],
    made: MadePoints | None,
    sets: Sequence[KeyPointSet],
) -> dict[str, Any]:
    """Counts of what was made and of what was left out on the way; None where nothing was asked."""
    ways = Counter(question.way or "seed" for question in questions)
    kinds = Counter(question.kind for question in questions)
    n_points = {points.topic_id: len(points.key_points) for points in sets}
    groups = {
        f"by_{by}": _by_group({q.id: getattr(q.topic, by) for q in questions}, n_points)
        for by in ("domain", "category")
    }
    return {
        "seeds": {
            "given": n_seeds,
            "scored": len(seeds),
            "kept": sum(seed.is_kept for seed in seeds),
            "mean_scores": {
                name: _mean([seed.scores[name] for seed in seeds]) for name in CRITERIA
            },
        },
        "questions": {way: ways[way] for way in ("seed", "depth", "width")},
        "types": {kind: kinds[kind] for kind in KINDS},
        "subquestions": sum(len(question.parts) for question in questions),
        "documents": None if made is None else _documents(questions, made),
        "key_points": None if made is None else _funnel(questions, made, n_points),
        **groups,
        "verification": None,
    }


def count_grid(questions: Sequence[BuiltQuestion], settings: Long2RagConfig) -> Any:
    """Count the pairs of category and domain with `per_pair` questions; None without domains."""
    domains = settings.list_domains()
    if not domains or not settings.per_pair:
        return None
    counts = Counter((q.topic.category, q.topic.domain) for q in questions)
    n_pairs = len(domains) * len({q.topic.category for q in questions})
    full = sum(n >= settings.per_pair for n in counts.values())
    return {"each": settings.per_pair, "pairs": n_pairs, "full": full}


def count_in_range(questions: Sequence[BuiltQuestion], seeds: Mapping[str, str]) -> int:
    """Questions in depth that are 10 to 20 words longer than their seed."""
    more = [
        count_words(q.topic.text) - count_words(seeds[q.seed])
        for q in questions
        if q.way == _WAYS[0]
    ]
    return sum(MORE_WORDS[0] <= n <= MORE_WORDS[1] for n in more)


def _documents(questions: Sequence[BuiltQuestion], made: MadePoints) -> dict[str, Any]:
    """Each document counts once for each question that it belongs to."""
    texts = [document.text for q in questions for document in made.documents[q.id].values()]
    return {"n": len(texts), "mean_words": _mean([count_words(text) for text in texts])}


def _funnel(
    questions: Sequence[BuiltQuestion], made: MadePoints, n_points: Mapping[str, int]
) -> dict[str, int]:
    points = [point for q in questions for point in made.points.extracted[q.id] or ()]
    merged = sum(len(made.points.merged[q.id] or ()) for q in questions)
    return {
        "found": len(points),
        "with_a_span": sum(bool(point.spans) for point in points),
        "after_merging": merged,
        "kept": sum(n_points.values()),
    }


def _by_group(groups: Mapping[str, str], n_points: Mapping[str, int]) -> dict[str, Any]:
    """Questions and key points of each group; questions without a group are left out."""
    counts: dict[str, Counter[str]] = {}
    for name, group in groups.items():
        if group:
            counts.setdefault(group, Counter()).update(
                {"questions": 1, "key_points": n_points.get(name, 0)}
            )
    return {
        group: {what: counts[group][what] for what in ("questions", "key_points")}
        for group in sorted(counts)
    }


def _mean(numbers: Sequence[int]) -> float | None:
    return sum(numbers) / len(numbers) if numbers else None
