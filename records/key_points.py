"""Key points: what an answer should take from the documents of its topic."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .nuggets import QUERY_FIELDS, TOPIC_FIELDS
from .reading.fields import Line, as_id, read_lines, show
from .reading.problems import Problems
from .rows import KeyPoint, KeyPointSet, key_point_ids


def read_key_point_sets(path: Path, problems: Problems) -> dict[str, KeyPointSet]:
    """Read key points by topic, in file order: `qid`, `query` and `key_points`.

    A key point is a text, or an object with `text` (or `key_point`) and, where they are known,
    `id`, `spans` (verbatim texts of documents) and `sources` (their ids). It keeps its own id,
    or is named by its text (`key_point_ids`).

    Errors noted: no topic, no list, a topic twice, an id twice in a topic. An empty key point is
    skipped; a text that occurs twice is kept and mentioned, as are what is no span or no source,
    which are left out.
    """
    sets: dict[str, KeyPointSet] = {}
    for line in read_lines(path, problems):
        topic_id = line.id(*TOPIC_FIELDS)
        items = line.objects("key_points", text_as="text")
        if topic_id is None or items is None:
            continue
        if topic_id in sets:
            line.error("duplicate_topic", f"topic {topic_id!r} has key points already, wanted once")
            continue
        query = line.optional_text(*QUERY_FIELDS)
        if not query.strip():
            line.keep("no_query", f"the key points of topic {topic_id!r} have no query text")
        if not (points := _key_points(items)):
            line.keep("no_key_points", f"topic {topic_id!r} has no key points")
        sets[topic_id] = KeyPointSet(topic_id=topic_id, query=query, key_points=tuple(points))
    return sets


def key_point_set_row(points: KeyPointSet) -> dict[str, Any]:
    """A line of `keypoints.jsonl`; `spans` and `sources` stand where there are any."""
    rows = []
    for point in points.key_points:
        row: dict[str, Any] = {"id": point.id, "text": point.text}
        if point.spans:
            row["spans"] = list(point.spans)
        if point.sources:
            row["sources"] = list(point.sources)
        rows.append(row)
    return {"query": points.query, "qid": points.topic_id, "key_points": rows}


def _key_points(items: list[Line]) -> list[KeyPoint]:
    """The key points of one list, each under an id of its own."""
    found = []
    for item in items:
        text = item.text("text", "key_point")
        if text is None:
            continue
        if text.strip():
            found.append((text, item))
        else:
            item.skip("empty_key_point", f"{item.name('text')} is empty, wanted a key point")
    points = []
    named: dict[str, str] = {}  # by id, which item has it
    for (text, item), hashed in zip(found, key_point_ids([t for t, _ in found]), strict=True):
        place, given = item.prefix.removesuffix("."), item.optional_id("id", "key_point_id")
        if given is None and "-" in hashed:
            item.keep("duplicate_key_point", f"{place} has the text of a key point before it")
        name = given or hashed
        if name in named:
            item.error("duplicate_id", f"{place} has the id {name!r}, which {named[name]} has too")
            continue
        named[name] = place
        points.append(KeyPoint(id=name, text=text, spans=_spans(item), sources=_sources(item)))
    return points


def _spans(item: Line) -> tuple[str, ...]:
    found = _listed(item, "spans")
    spans = [span for span in found if isinstance(span, str) and span.strip()]
    if len(spans) < len(found):
        what = f"{len(found) - len(spans)} of {len(found)} are empty or no text; left out"
        item.keep("bad_spans", f"{item.name('spans')}: {what}")
    return tuple(spans)


def _sources(item: Line) -> tuple[str, ...]:
    found = _listed(item, "sources")
    sources = [name for name in map(as_id, found) if name is not None]
    if len(sources) < len(found):
        what = f"{len(found) - len(sources)} of {len(found)} are no ids; left out"
        item.keep("bad_sources", f"{item.name('sources')}: {what}")
    return tuple(sources)


def _listed(item: Line, field: str) -> list[object]:
    written = item.row.get(field)
    if written is None or isinstance(written, list):
        return written or []
    item.keep(f"bad_{field}", f"{item.name(field)} is {show(written)}, wanted a list; left out")
    return []
