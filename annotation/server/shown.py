"""What a person is shown: no run, no judge but in post-edit, nobody else's labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..store.events import BankEdit, Deed, Flag, Label, Skip, Verdict
from ..work.task import Task
from ..work.wording import cannot_tell_key, question_of, shown_labels
from .desk import Desk

MOST_RECENT = 10
Object = dict[str, Any]


def shown_task(task: Task, views: Sequence[str], practice: Sequence[Object]) -> Object:
    """What is the same for all annotators."""
    return {
        "kind": task.kind,
        "question": question_of(task.kind),
        "scale": [one._asdict() for one in shown_labels(task.kind, task.scale)],
        "cannot_tell": cannot_tell_key(task.scale),
        "inputs": list(task.inputs),
        "guidelines": task.guidelines,
        "guidelines_sha256": task.guidelines_sha256,
        "practice": list(practice),
        "fingerprint": task.fingerprint,
        "views": list(views),
    }


def shown_item(desk: Desk, n: int) -> Object:
    """An item with what the person did to it. Raises: InputError where its texts are not there."""
    task, entry = desk.task, desk.entries[n]
    texts = [one._asdict() for one in task.shown(entry.cell)]
    with desk.journal() as journal:
        label = journal.state.last(desk.key_of(n))
        flag = journal.state.last(("flag", task.kind, *entry.cell))
        skip = journal.state.last(("skip", task.kind, *entry.cell))
    is_labelled = isinstance(label, Label)
    return {
        "n": n,
        "item": desk.name(n),
        "question": question_of(task.kind, entry.cell[-1]),
        "texts": texts,
        "shown": entry.shown,
        "label": shown_label(label) if isinstance(label, Label) else None,
        "flagged": isinstance(flag, Flag) and flag.on,
        "why": flag.why if isinstance(flag, Flag) and flag.on else "",
        "is_skipped": isinstance(skip, Skip) and not is_labelled,
        "progress": desk.progress._asdict(),
    }


def shown_label(label: Label) -> Object:
    """A person's own label."""
    return {
        "label": label.label,
        "spans": [span.model_dump() for span in label.spans],
        "rationale": label.rationale,
        "active_ms": label.active_ms,
    }


def shown_recent(desk: Desk) -> list[Object]:
    """The last deeds that hold, the latest first, each with its place."""
    with desk.journal() as journal:
        deeds = journal.state.recent(MOST_RECENT)
    found = ((desk.place_of(deed), deed) for deed in deeds)
    return [{"n": n, "what": _what(deed), **_label_of(deed)} for n, deed in found if n is not None]


def _what(deed: Deed) -> str:
    if isinstance(deed, Flag) and not deed.on:
        return "unflag"
    return deed.op if isinstance(deed, BankEdit) else deed.do


def _label_of(deed: Deed) -> Object:
    return {"label": deed.label} if isinstance(deed, Label | Verdict) else {}
