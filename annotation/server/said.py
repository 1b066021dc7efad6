"""What a page may say of what a person did; all else of an event comes from their queue."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...records.evidence import text_hash
from ..store.events import Event, Label, event_of
from ..work.task import Task
from .desk import Desk

SAYS = {
    "label": ("label", "spans", "rationale", "active_ms"),
    "clear": (),
    "flag": ("on", "why"),
    "skip": (),
    "bank": ("op", "sources", "texts", "importance"),
    "adjudicate": ("label", "rationale", "active_ms"),
    "undo": (),
    "redo": (),
}
_OF_NO_PLACE = ("undo", "redo")
MOST_SPANS = 100


class Wrong(ValueError):
    """What was said is no event of this queue; `status` is the answer's."""

    def __init__(self, what: str, status: int = 400) -> None:
        super().__init__(what)
        self.status = status


def event_said(row: Any, desk: Desk) -> Event:
    """The event that a page's words come to.

    Raises: Wrong for words that make none, or are about an item that is not in the queue.
    """
    if not isinstance(row, dict):
        raise Wrong("wanted an object")
    do = row.get("do")
    if not isinstance(do, str) or do not in SAYS:
        raise Wrong(f"field 'do': wanted one of {', '.join(SAYS)}")
    if do in ("label", "adjudicate") and "label" not in row:
        raise Wrong("field 'label' is missing; null is 'cannot tell'")
    found = {"id": row.get("id"), "do": do} | {name: row[name] for name in SAYS[do] if name in row}
    if do not in _OF_NO_PLACE:
        found |= _of_place(do, _place(row, desk), desk)
    try:
        event = event_of(found)
    except ValueError as error:
        raise Wrong(" ".join(str(error).splitlines()[1:3]) or str(error)) from None
    if do in ("label", "adjudicate") and row["label"] not in (None, *desk.task.scale):
        raise Wrong(f"label {row['label']!r}: wanted null or one of {', '.join(desk.task.scale)}")
    if isinstance(event, Label):
        _check_spans(event, desk.task)
    return event


def _place(row: Mapping[str, Any], desk: Desk) -> int:
    """By the item's name, which holds when the queue is another by now; `n` alone does not."""
    name, n = row.get("item"), row.get("n")
    if isinstance(name, str):
        if (place := desk.named(name)) is not None:
            return place
        raise Wrong("this item is not in the queue any more: it was started with others", 410)
    if isinstance(n, int) and not isinstance(n, bool) and 0 <= n < len(desk.entries):
        raise Wrong("field 'item' is missing: the name that came with the item")
    raise Wrong(f"field 'n': wanted 0 to {len(desk.entries) - 1}, with the item's name")


def _of_place(do: str, n: int, desk: Desk) -> dict[str, Any]:
    """What the queue knows of a place: the page is not asked for it."""
    entry, task = desk.entries[n], desk.task
    if do == "bank":
        return {"topic_id": entry.cell[0]}
    found: dict[str, Any] = {"kind": task.kind, "cell": entry.cell}
    if do in ("label", "clear"):
        found["repeat"] = entry.repeat
    if do == "label":
        found |= {
            "condition": desk.condition,
            "shown": entry.shown,
            "chosen_by": entry.chosen_by,
            "probability": entry.probability,
            "is_control": entry.is_control,
            "guidelines_sha256": task.guidelines_sha256,
        }
    return found


def _check_spans(event: Label, task: Task) -> None:
    """Raise Wrong unless the spans lie in the texts that stand there now."""
    if not event.spans:
        return
    if len(event.spans) > MOST_SPANS:
        raise Wrong(f"{len(event.spans)} spans, wanted at most {MOST_SPANS}")
    texts = {one.of: one.text for one in task.shown(event.cell)}
    for span in event.spans:
        text = texts.get(span.of)
        if text is None:
            raise Wrong(f"span of {span.of!r}: wanted one of {', '.join(texts)}")
        if span.sha256 != text_hash(text):
            raise Wrong(f"span of {span.of!r}: its text is another one by now", 410)
        if not span.start < span.end <= len(text):
            places = f"{span.start} to {span.end}"
            raise Wrong(f"span of {span.of!r}: {places} in a text of {len(text):,} characters")
