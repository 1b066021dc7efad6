"""The files of a built Long2RAG collection, and what is counted of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ...judges.makers.questions import CRITERIA
from ...metrics import count_words
from ...records.key_points import key_point_set_row
from ...records.rows import KeyPointSet, Passage, Topic
from ..engine.making import DATASHEET, STATISTICS
from ..engine.results import MANIFEST, Results
from ..protocols.keypoints.making import Made
from .verification import DOCUMENTS, KEY_POINTS, REJECTED, UNVERIFIED

FILES = (
    *("topics.jsonl", "question_scores.jsonl", "subquestions.jsonl", DOCUMENTS),
    *(KEY_POINTS, REJECTED, UNVERIFIED, STATISTICS, DATASHEET),
    *("unjudged.jsonl", "problems.jsonl", MANIFEST),
)
KINDS = ("simple", "complex", "vague")


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
    """Write documents, key points and what is none; the key points of each question."""
    sets = []
    with results.open(DOCUMENTS) as rows:
        for question in questions:
            for document in made.documents[question.id].values():
                row = {"topic_id": question.id, "docid": document.id, "text": document.text}
                rows.write(row | ({"title": document.title} if document.title else {}))
    with results.open(KEY_POINTS) as rows:
        for question in questions:
            verdicts = made.points.filtered[question.id]
            points = made.points.kept(question.id) or ()
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


def statistics_table(stats: Mapping[str, Any]) -> list[list[str]]:
    """The statistics as rows of a table, the header first."""
    n_questions = sum(stats["questions"].values())
    rows = [["", "n", "per question"]]

    def add(name: str, n: int, *, each: bool = True) -> None:
        per = f"{n / n_questions:.1f}" if each and n_questions else ""
        rows.append([name, f"{n:,}", per])

    add("seed questions", stats["seeds"]["given"], each=False)
    add("seed questions kept", stats["seeds"]["kept"], each=False)
    for way, n in stats["questions"].items():
        add(f"questions ({way})", n, each=False)
    for kind, n in stats["types"].items():
        add(f"questions that are {kind}", n, each=False)
    add("sub-questions", stats["subquestions"])
    if stats["documents"] is not None:
        add("documents", stats["documents"]["n"])
        for what, n in stats["key_points"].items():
            add(f"key points {what.replace('_', ' ')}", n)
    return rows


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
    """Questions and key points of each group; questions that name none are in no group."""
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
