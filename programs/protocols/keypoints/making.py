"""Key points of topics, made from their documents within a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ....records.rows import KeyPoint, KeyPointSet
from ...engine.results import Results
from ...engine.session import Session
from ...inputs.collection import Collection
from .stages import ExtractStage, Filtered, FilterStage, Found, Merged, MergeStage

NO_SPAN, FILTERED = "no_span", "filter"  # why a point is not among the key points


async def make_key_points(
    session: Session, collection: Collection, results: Results
) -> dict[str, KeyPointSet | None]:
    """Find, merge and filter the key points of each topic with documents; list those left out.

    Returns: by topic; None where a judgement is missing that could have changed the points.
    Source: arXiv:2410.23000 (Long2RAG): extraction in rounds, merging, filter at 0.7.
    """
    panel = session.panel
    questions = {t.id: t.question for t in collection.topics.values()}
    extract = ExtractStage(questions, collection.documents, panel.keypoint_extractor)
    journal = await session.journaled(extract, ("keypoint_extractor",))
    found = extract.finish(journal, results)
    journal.close()
    merge = MergeStage(questions, found, panel.keypoint_merger)
    journal = await session.journaled(merge, ("keypoint_merger",))
    merged = merge.finish(journal, results)
    journal.close()
    keep = FilterStage(questions, merged, panel.keypoint_filter)
    journal = await session.journaled(keep, ("keypoint_filter",))
    filtered = keep.finish(journal, results)
    journal.close()
    with results.open("rejected_keypoints.jsonl") as rows:
        for row in rejected(collection, found, merged, filtered):
            rows.write(row)
            results.count(f"key points left out ({row['why']})")
    for verdict in (v for of in filtered.values() for v in of.values() if v is not None):
        results.count(f"key points filtered by {verdict.get('method')}")
    return {
        topic: _set(topic, collection.topics[topic].text, merged[topic], filtered.get(topic))
        for topic in collection.topics
        if topic in merged
    }


def kept(
    points: list[KeyPoint] | None, verdicts: Mapping[str, dict[str, Any] | None] | None
) -> tuple[KeyPoint, ...] | None:
    """The points that answer the question; None where a judgement is missing."""
    if points is None or verdicts is None or None in verdicts.values():
        return None
    return tuple(p for p in points if (verdicts[p.id] or {}).get("label") == "yes")


def rejected(
    collection: Collection, found: Found, merged: Merged, filtered: Filtered
) -> Iterator[dict[str, Any]]:
    """Rows of the points that are not among the key points, and why.

    `no_span`: no span of theirs stands in the document; `filter`: they do not answer the question.
    """
    for topic_id in collection.topics:
        query = {"qid": topic_id, "query": collection.topics[topic_id].text}
        for point in found.get(topic_id) or ():
            if not point.spans:
                row = {"text": point.text, "spans": point.missing, "sources": [point.source]}
                yield {**query, **row, "why": NO_SPAN}
        verdicts = filtered.get(topic_id, {})
        for merged_point in merged.get(topic_id) or ():
            verdict = verdicts.get(merged_point.id)
            if verdict is not None and verdict["label"] != "yes":
                row = merged_point.model_dump(mode="json")
                yield {**query, **row, "why": FILTERED, **verdict}


def _set(
    topic_id: str,
    query: str,
    points: list[KeyPoint] | None,
    verdicts: Mapping[str, dict[str, Any] | None] | None,
) -> KeyPointSet | None:
    key_points = kept(points, verdicts)
    if key_points is None:
        return None
    return KeyPointSet(topic_id=topic_id, query=query, key_points=key_points)
