"""Make key points from documents: extract, merge by topic, filter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import StrictStr

from ...records.rows import KeyPoint, KeyPointSet, Passage, key_point_ids
from ..engine.journal import Count
from ..engine.results import Results
from ..engine.stage import Item, Maker, labels, make_rows, makes
from .program import Run

if TYPE_CHECKING:
    from ..engine.session import Session  # imports DSPy, which readers of results do not need

NO_SPAN, FILTERED = "no_span", "filter"  # why a point was rejected
EXTRACTED = list[tuple[StrictStr, list[StrictStr], list[StrictStr]]]  # FoundPoint
MERGED = list[tuple[StrictStr, list[Count]]]  # MergedPoint


class SourcedPoint(NamedTuple):
    """An extracted key point; `source` is the id of its document. See FoundPoint."""

    text: str
    spans: tuple[str, ...]
    missing: tuple[str, ...]
    source: str


class Made(NamedTuple):
    """The results of the three steps by topic; None if a judgement is missing.

    Attributes:
        extracted: the points of each topic with documents.
        merged: the key points, each with the spans and documents of its members.
        filtered: verdict by point id as a row (`label`, `score`, `method`); None: not judged.
            Topics whose points are None are not included.
    """

    extracted: dict[str, list[SourcedPoint] | None]
    merged: dict[str, list[KeyPoint] | None]
    filtered: dict[str, dict[str, dict[str, Any] | None]]

    def keep_points(self, topic_id: str) -> tuple[KeyPoint, ...] | None:
        """Return the points that answer the question; None if a judgement is missing."""
        points, verdicts = self.merged.get(topic_id), self.filtered.get(topic_id)
        if points is None or verdicts is None or None in verdicts.values():
            return None
        return tuple(p for p in points if (verdicts[p.id] or {}).get("label") == "yes")

    def list_rejected(self, topic_id: str, query: str) -> Iterator[dict[str, Any]]:
        """Return rows of rejected points, with reasons.

        `no_span`: no span is in the document; `filter`: the point does not answer the question.
        """
        named = {"qid": topic_id, "query": query}
        for point in self.extracted.get(topic_id) or ():
            if not point.spans:
                row = {"text": point.text, "spans": point.missing, "sources": [point.source]}
                yield {**named, **row, "why": NO_SPAN}
        verdicts = self.filtered.get(topic_id, {})
        for merged in self.merged.get(topic_id) or ():
            verdict = verdicts.get(merged.id)
            if verdict is not None and verdict["label"] != "yes":
                yield {**named, **merged.model_dump(mode="json"), "why": FILTERED, **verdict}

    def write_rejected(self, name: str, queries: Mapping[str, str], results: Results) -> None:
        """Write a file of the rejected points of these topics, and count points by their fate."""
        with results.open(name) as rows:
            for topic_id, query in queries.items():
                for row in self.list_rejected(topic_id, query):
                    rows.write(row)
                    results.count(f"key points left out ({row['why']})")
        for verdict in (v for t in queries for v in self.filtered.get(t, {}).values() if v):
            results.count(f"key points filtered by {verdict.get('method')}")


async def make_key_points(run: Run) -> dict[str, KeyPointSet | None]:
    """Extract, merge and filter the key points of each topic with documents; list rejected points.

    Returns: key points by topic; None if a missing judgement could have changed them.
    """
    topics, results = run.collection.topics, run.results
    questions = {topic.id: topic.question for topic in topics.values()}
    made = await find_points(run.session, results, questions, run.collection.documents)
    made.write_rejected(
        "rejected_keypoints.jsonl", {t.id: t.text for t in topics.values()}, results
    )
    sets: dict[str, KeyPointSet | None] = {}
    for topic in (topic for topic in topics.values() if topic.id in made.merged):
        sets[topic.id] = None
        if (points := made.keep_points(topic.id)) is not None:
            sets[topic.id] = KeyPointSet(topic_id=topic.id, query=topic.text, key_points=points)
    return sets


async def find_points(
    session: Session,
    results: Results,
    questions: Mapping[str, str],
    documents: Mapping[str, Mapping[str, Passage]],
) -> Made:
    """Extract key points in rounds, merge them, and filter them at 0.7.

    Args:
        questions: questions by topic.
        documents: by topic and id; documents of topics without a question are not read.

    Source: arXiv:2410.23000 (Long2RAG).
    """
    extracted = await _extract(session, results, questions, documents)
    merged = await _merge(session, results, questions, extracted)
    return Made(extracted, merged, await _filter(session, results, questions, merged))


async def _extract(
    session: Session,
    results: Results,
    questions: Mapping[str, str],
    documents: Mapping[str, Mapping[str, Passage]],
) -> dict[str, list[SourcedPoint] | None]:
    """Extract the points of each document; keep spans that are not in it separate."""
    extract = session.judge_set["keypoint_extractor"].extract
    read = {topic: of_topic for topic, of_topic in documents.items() if topic in questions}

    def items() -> Iterator[Item]:
        for topic_id, of_topic in read.items():
            for document in of_topic.values():
                ids = {"topic_id": topic_id, "document_id": document.id}
                yield Item(ids, (questions[topic_id], document.text))

    extracted: dict[str, list[SourcedPoint] | None] = {topic_id: [] for topic_id in read}
    total = sum(map(len, read.values()))
    make = _plain(extract)
    stage = makes("extract", ("keypoint_extractor",), make, items, made=EXTRACTED, total=total)
    for ids, made in await session.make_stage(stage, results):
        topic_id, source = ids["topic_id"], ids["document_id"]
        points = extracted[topic_id]
        if made is None:
            extracted[topic_id] = None
        elif points is not None:
            for text, spans, missing in made:
                points.append(SourcedPoint(text, tuple(spans), tuple(missing), source))
    return extracted


async def _merge(
    session: Session,
    results: Results,
    questions: Mapping[str, str],
    extracted: Mapping[str, Sequence[SourcedPoint] | None],
) -> dict[str, list[KeyPoint] | None]:
    """Merge the points with a span in a document; leave out the others."""
    merge = session.judge_set["keypoint_merger"].merge

    def list_points(topic_id: str) -> list[SourcedPoint]:
        return [point for point in extracted[topic_id] or () if point.spans]

    def items() -> Iterator[Item]:
        for topic_id in extracted:
            if points := list_points(topic_id):
                texts = [point.text for point in points]
                yield Item({"topic_id": topic_id}, (questions[topic_id], texts))

    merged: dict[str, list[KeyPoint] | None]
    merged = {topic: None if points is None else [] for topic, points in extracted.items()}
    make = _plain(merge)
    stage = makes("merge", ("keypoint_merger",), make, items, made=MERGED, misfit=_no_such_point)
    for ids, made in await session.make_stage(stage, results):
        topic_id = ids["topic_id"]
        merged[topic_id] = None if made is None else _key_points(made, list_points(topic_id))
    return merged


async def _filter(
    session: Session,
    results: Results,
    questions: Mapping[str, str],
    merged: Mapping[str, Sequence[KeyPoint] | None],
) -> dict[str, dict[str, dict[str, Any] | None]]:
    """Judge whether each key point answers the question of its topic."""

    def items() -> Iterator[Item]:
        for topic_id, points in merged.items():
            for point in points or ():
                ids = {"topic_id": topic_id, "key_point_id": point.id}
                yield Item(ids, (questions[topic_id], point.text))

    verdicts: dict[str, dict[str, dict[str, Any] | None]]
    verdicts = {topic: {} for topic, points in merged.items() if points is not None}
    total = sum(len(points or ()) for points in merged.values())
    stage = labels("filter", session.judge_set, "keypoint_filter", items, total=total)
    async with session.judge_stage(stage, results) as outcome:
        for item in items():
            [verdict] = make_rows(outcome(item), 1)
            judged = None if verdict["label"] is None else verdict
            verdicts[item.ids["topic_id"]][item.ids["key_point_id"]] = judged
    return verdicts


def _plain(ask: Maker) -> Maker:
    """Return a function that returns points as plain tuples for JSON."""

    async def make(question: str, inputs: Any) -> tuple[Any, Any]:
        points, calls = await ask(question, inputs)
        return [tuple(point) for point in points], calls

    return make


def _no_such_point(item: Item, made: Any) -> str:
    n = len((item.payload or ((), ()))[1])
    beyond = [number for _, numbers in made for number in numbers if number >= n]
    return f"point {beyond[0]}, wanted 0 to {n - 1}" if beyond else ""


def _key_points(points: Sequence[Any], extracted: Sequence[SourcedPoint]) -> list[KeyPoint]:
    """Return merged points as (text, numbers of members) for the journal."""
    ids = key_point_ids([text for text, _ in points])
    made = []
    for name, (text, numbers) in zip(ids, points, strict=True):
        members = [extracted[number] for number in numbers]
        spans = dict.fromkeys(span for member in members for span in member.spans)
        sources = dict.fromkeys(member.source for member in members)
        made.append(KeyPoint(id=name, text=text, spans=tuple(spans), sources=tuple(sources)))
    return made
