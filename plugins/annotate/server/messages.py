"""Checks the events that a page sends; the queue gives the rest of an event."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ....records.judgements import text_hash
from ..store.events import BankEdit, Event, Label, Verdict, read_event
from ..store.state import State
from ..work.bank import EditedBank
from ..work.task import Task
from .dispute_queue import DisputeQueue
from .session import Session

FIELDS = {
    "label": ("label", "spans", "rationale", "active_ms"),
    "clear": (),
    "flag": ("on", "why"),
    "skip": (),
    "bank": ("op", "sources", "texts", "importance"),
    "undo": (),
    "redo": (),
}
VERDICT_FIELDS = ("label", "rationale", "active_ms")
_WITHOUT_ITEM = ("undo", "redo")
MAX_SPANS = 100


class Wrong(ValueError):
    """The message is not an event of this queue; `status` is the HTTP status."""

    def __init__(self, what: str, status: int = 400) -> None:
        super().__init__(what)
        self.status = status


def id_in(row: Any) -> str:
    """The id that the page gave an event. Raises: Wrong."""
    event_id = row.get("id") if isinstance(row, dict) else None
    if isinstance(event_id, str):
        return event_id
    raise Wrong("wanted an object with an 'id'")


def event_in(row: Mapping[str, Any], session: Session) -> Event:
    """The event in a page's message.

    Raises: Wrong for a message that has none, or is about an item that is not in the queue.
    """
    do = row.get("do")
    if not isinstance(do, str) or do not in FIELDS:
        raise Wrong(f"field 'do': wanted one of {', '.join(FIELDS)}")
    if (do == "bank") is not (session.task.kind == "bank") and do in ("bank", "label", "clear"):
        raise Wrong(f"{do}: does not exist for --kind {session.task.kind}")
    fields = {"id": row.get("id"), "do": do} | {
        name: row[name] for name in FIELDS[do] if name in row
    }
    if do not in _WITHOUT_ITEM:
        fields |= _from_queue(do, _position(row, session), session)
    if do == "label":
        _check_label(row, session.task)
    event = _parse(fields)
    if isinstance(event, Label):
        _check_spans(event, session.task)
    return event


def check_same(row: Mapping[str, Any], stored: Event, session: Session) -> None:
    """Raise Wrong if a message has the id of a different event.

    A page sends an event again if it got no answer. Fields that come from the queue are not
    compared, because they may have changed.
    """
    fields = FIELDS.get(stored.do, VERDICT_FIELDS)
    sent = {"do": row.get("do"), **_item_in(row, stored, session)}
    sent |= {name: row[name] for name in fields if name in row}
    kept = stored.model_dump(mode="json")
    try:
        if read_event({**kept, **sent}).model_dump(mode="json") == kept:
            return
    except ValueError:
        pass
    what = f"the id {stored.id} was used before, for event {stored.seq} ({stored.do})"
    raise Wrong(f"{what}, with other content; nothing was saved: give each event a new id")


def _item_in(row: Mapping[str, Any], stored: Event, session: Session) -> dict[str, Any]:
    """The item that a message names; {} if it is unknown."""
    name, n, cells = row.get("item"), row.get("n"), session.task.cells
    if isinstance(stored, Verdict):
        return {"cell": cells[n]} if isinstance(n, int) and 0 <= n < len(cells) else {}
    position = session.find_item(name) if isinstance(name, str) else None
    if position is None or stored.do in _WITHOUT_ITEM:
        return {}
    about = _from_queue(stored.do, position, session)
    return {key: about[key] for key in ("topic_id", "kind", "cell", "repeat") if key in about}


def make_check(event: Event, session: Session) -> Callable[[State], None]:
    """Return a check that raises Wrong if an event cannot be stored in the current state."""

    def check(state: State) -> None:
        if isinstance(event, BankEdit) and session.task.bank is not None:
            bank = session.task.bank.banks[event.topic_id]
            try:
                EditedBank.of(bank, state.edits(event.topic_id)).check(event)
            except ValueError as error:
                raise Wrong(str(error)) from None
        if isinstance(event, Verdict) and state.last(event.key) is not None:
            raise Wrong("you cannot change a verdict after you have seen the names", 410)

    return check


def verdict_in(row: Mapping[str, Any], dispute_queue: DisputeQueue) -> Verdict:
    """The verdict in a page's message. Raises: Wrong."""
    if row.get("do") != "adjudicate":
        raise Wrong("field 'do': wanted adjudicate")
    n = row.get("n")
    dispute = dispute_queue.all().get(n) if isinstance(n, int) else None
    if dispute is None or row.get("item") != dispute_queue.name(dispute):
        raise Wrong("the labels of this item have changed: reload the page and decide again", 410)
    _check_label(row, dispute_queue.task)
    decision = {name: row[name] for name in VERDICT_FIELDS if name in row}
    about: dict[str, Any] = {
        "kind": dispute_queue.task.kind,
        "condition": dispute_queue.session.condition,
    }
    about |= {"cell": dispute.cell, "order": dispute.order}
    verdict = _parse({"id": row.get("id"), "do": "adjudicate", **decision, **about})
    assert isinstance(verdict, Verdict)
    return verdict


def _parse(row: Mapping[str, Any]) -> Event:
    try:
        return read_event(row)
    except ValueError as error:
        raise Wrong(" ".join(str(error).splitlines()[1:3]) or str(error)) from None


def _check_label(row: Mapping[str, Any], task: Task) -> None:
    if "label" not in row:
        raise Wrong("field 'label' is missing; null is 'cannot tell'")
    if row["label"] not in (None, *task.scale):
        raise Wrong(f"label {row['label']!r}: wanted null or one of {', '.join(task.scale)}")


def _position(row: Mapping[str, Any], session: Session) -> int:
    """Find the position by the name of the item, because `n` changes with the queue."""
    name, n = row.get("item"), row.get("n")
    if isinstance(name, str):
        if (position := session.find_item(name)) is not None:
            return position
        what = "this item is no longer in the queue: the server was restarted with other items"
        raise Wrong(what, 410)
    if isinstance(n, int) and not isinstance(n, bool) and 0 <= n < len(session.entries):
        raise Wrong("field 'item' is missing: the name that came with the item")
    raise Wrong(f"field 'n': wanted 0 to {len(session.entries) - 1}, with the item's name")


def _from_queue(do: str, n: int, session: Session) -> dict[str, Any]:
    """The fields of an event that come from the queue, not from the page."""
    entry, task = session.entries[n], session.task
    if do == "bank":
        return {"topic_id": entry.cell[0]}
    fields: dict[str, Any] = {"kind": task.kind, "cell": entry.cell}
    if do in ("label", "clear"):
        fields["repeat"] = entry.repeat
    if do == "label":
        fields |= {
            "condition": session.condition,
            "shown": entry.shown,
            "chosen_by": entry.chosen_by,
            "probability": entry.probability,
            "is_control": entry.is_control,
            "guidelines_sha256": task.guidelines_sha256,
        }
    return fields


def _check_spans(event: Label, task: Task) -> None:
    """Raise Wrong if a span is not in the current texts, or a required span is missing."""
    if not event.spans:
        if event.label in task.needs_spans:
            raise Wrong(f"label {event.label!r}: first mark the words that support it")
        return
    if len(event.spans) > MAX_SPANS:
        raise Wrong(f"{len(event.spans)} spans, wanted at most {MAX_SPANS}")
    texts = {one.of: one.text for one in task.show_texts(event.cell)}
    for span in event.spans:
        text = texts.get(span.of)
        if text is None:
            raise Wrong(f"span of {span.of!r}: wanted one of {', '.join(texts)}")
        if span.sha256 != text_hash(text):
            raise Wrong(f"span of {span.of!r}: its text has changed; reload the page", 410)
        if not span.start < span.end <= len(text):
            offsets = f"{span.start} to {span.end}"
            raise Wrong(f"span of {span.of!r}: {offsets} in a text of {len(text):,} characters")
