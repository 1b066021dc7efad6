"""Key points made of documents: found in each, merged over those of a question, filtered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ....judges import KeyPointExtractor, KeyPointFilter, KeyPointMerger, MergedPoint
from ....records.judgements import Judged
from ....records.rows import KeyPoint, Passage, key_point_ids
from ...engine.journal import Journal
from ...engine.results import Results
from ...engine.stage import Item


class SourcedPoint(NamedTuple):
    """A key point as it was found; `source` is the id of its document. See FoundPoint."""

    text: str
    spans: tuple[str, ...]
    missing: tuple[str, ...]
    source: str


# By topic; None where a judgement is missing that could have changed the points.
Found = dict[str, list[SourcedPoint] | None]
Merged = dict[str, list[KeyPoint] | None]
# Topic -> point id -> the verdict as a row (`label`, `score`, `method`), None if not judged.
Filtered = dict[str, dict[str, dict[str, Any] | None]]


class ExtractStage:
    """One item per topic and document: the key points in it.

    Args:
        questions: what is asked, by topic.
        documents: by topic and id; those of topics without a question are not read.
    """

    name = "extract"

    def __init__(
        self,
        questions: Mapping[str, str],
        documents: Mapping[str, Mapping[str, Passage]],
        judge: KeyPointExtractor,
    ) -> None:
        self._questions = questions
        self._documents = {t: held for t, held in documents.items() if t in questions}
        self._judge = judge

    def items(self) -> Iterator[Item]:
        """Topic by topic, the documents in their order."""
        for topic_id, held in self._documents.items():
            for document in held.values():
                yield Item((topic_id, document.id), (self._questions[topic_id], document.text))

    def total(self) -> int:
        """Number of items."""
        return sum(map(len, self._documents.values()))

    def inputs(self, item: Item) -> dict[str, object]:
        """What the first prompt is rendered from, of a document that fits in one window."""
        question, text = item.payload
        return {"question": question, "document": text, "known": []}

    async def judge(self, item: Item) -> Judged:
        """The points of one document, with the spans that are not in it apart."""
        points, calls = await self._judge.extract(*item.payload)
        return Judged({"points": [tuple(point) for point in points]}, tuple(calls))

    def finish(self, journal: Journal, results: Results) -> Found:
        """The points of each topic that has documents; None where those of one are missing."""
        found: Found = {topic_id: [] for topic_id in self._documents}
        for number, item in enumerate(self.items()):
            outcome = journal.outcome(number)
            topic_id, source = item.ids
            results.judged(self.name, {"topic_id": topic_id, "document_id": source}, outcome)
            points = found[topic_id]
            if not isinstance(outcome, Judged):
                found[topic_id] = None
            elif points is not None:
                for text, spans, missing in outcome.values["points"]:
                    points.append(SourcedPoint(text, tuple(spans), tuple(missing), source))
        return found


class MergeStage:
    """One item per topic with points that a span of a document shows: those merged.

    Points without such a span stay out; who finds them in `found` may list them.
    """

    name = "merge"

    def __init__(
        self,
        questions: Mapping[str, str],
        found: Mapping[str, Sequence[SourcedPoint] | None],
        judge: KeyPointMerger,
    ) -> None:
        self._questions = questions
        self._found = found
        self._judge = judge

    def items(self) -> Iterator[Item]:
        """Topics in order."""
        for topic_id in self._found:
            if points := self._shown(topic_id):
                texts = [point.text for point in points]
                yield Item((topic_id,), (self._questions[topic_id], texts))

    def total(self) -> int:
        """Number of items."""
        return sum(1 for _ in self.items())

    def inputs(self, item: Item) -> dict[str, object]:
        """What the first prompt is rendered from, of points that fit in one call."""
        question, texts = item.payload
        numbered = {str(number): text for number, text in enumerate(texts, 1)}
        return {"question": question, "points": numbered, "rejected": [], "faults": []}

    async def judge(self, item: Item) -> Judged:
        """The merged points of one topic."""
        points, calls = await self._judge.merge(*item.payload)
        return Judged({"points": [tuple(point) for point in points]}, tuple(calls))

    def finish(self, journal: Journal, results: Results) -> Merged:
        """The key points by topic, each with the spans and documents of all its members."""
        merged: Merged = {t: None if points is None else [] for t, points in self._found.items()}
        for number, item in enumerate(self.items()):
            outcome = journal.outcome(number)
            topic_id = item.ids[0]
            results.judged(self.name, {"topic_id": topic_id}, outcome)
            merged[topic_id] = None
            if isinstance(outcome, Judged):
                points = [MergedPoint(*point) for point in outcome.values["points"]]
                merged[topic_id] = _key_points(points, self._shown(topic_id))
        return merged

    def _shown(self, topic_id: str) -> list[SourcedPoint]:
        return [point for point in self._found[topic_id] or () if point.spans]


class FilterStage:
    """One item per key point: does it answer the question of its topic?"""

    name = "filter"

    def __init__(
        self,
        questions: Mapping[str, str],
        points: Mapping[str, Sequence[KeyPoint] | None],
        judge: KeyPointFilter,
    ) -> None:
        self._questions = questions
        self._points = points
        self._judge = judge

    def items(self) -> Iterator[Item]:
        """Topic by topic, the points in their order."""
        for topic_id, points in self._points.items():
            for point in points or ():
                yield Item((topic_id, point.id), (self._questions[topic_id], point.text))

    def total(self) -> int:
        """Number of items."""
        return sum(len(points or ()) for points in self._points.values())

    def inputs(self, item: Item) -> dict[str, object]:
        """What the judge's prompt is rendered from."""
        question, text = item.payload
        return {"question": question, "key_point": text}

    async def judge(self, item: Item) -> Judged:
        """The verdict on one point."""
        question, text = item.payload
        verdict, call = await self._judge.verdict(item.ids[0], question=question, key_point=text)
        return Judged(verdict.as_row(), (call,))

    def finish(self, journal: Journal, results: Results) -> Filtered:
        """The verdicts of each topic that has points, or none to judge; None where one is missing.

        A topic whose points are None is not among them.
        """
        found: Filtered = {t: {} for t, points in self._points.items() if points is not None}
        for number, item in enumerate(self.items()):
            outcome = journal.outcome(number)
            topic_id, point_id = item.ids
            results.judged(self.name, {"topic_id": topic_id, "key_point_id": point_id}, outcome)
            found[topic_id][point_id] = outcome.values if isinstance(outcome, Judged) else None
        return found


def _key_points(points: Sequence[MergedPoint], found: Sequence[SourcedPoint]) -> list[KeyPoint]:
    ids = key_point_ids([point.text for point in points])
    made = []
    for name, point in zip(ids, points, strict=True):
        members = [found[place] for place in point.members]
        spans = dict.fromkeys(span for member in members for span in member.spans)
        sources = dict.fromkeys(member.source for member in members)
        made.append(KeyPoint(id=name, text=point.text, spans=tuple(spans), sources=tuple(sources)))
    return made
