"""The data that a person sees: no run, no judge except in post-edit, no labels of others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....records.reading.problems import InputError
from ....records.rows import Passage
from ..store.events import Action, BankEdit, Flag, Label, Skip, Verdict
from ..work.bank import EditedBank
from ..work.task import Task
from ..work.verify import verify_cells
from ..work.wording import (
    cannot_tell_key,
    get_words,
    judge_input,
    make_practice,
    show_labels,
)
from .session import Session

MAX_RECENT = 10
Object = dict[str, Any]


def show_task(task: Task, views: Sequence[str]) -> Object:
    """The data that is the same for everyone with these screens."""
    practice = make_practice(task.kind, task.scale)
    return {
        "kind": task.kind,
        "title": get_words(task.kind).title,
        "question": task.question(),
        "scale": [one._asdict() for one in show_labels(task.kind, task.scale, task.guidelines)],
        "needs_spans": sorted(task.needs_spans),
        "cannot_tell": cannot_tell_key(task.scale),
        "inputs": list(task.inputs),
        "guidelines": task.guidelines,
        "guidelines_sha256": task.guidelines_sha256,
        "practice": [
            {"texts": [text._asdict() for text in texts], "label": label, "why": why}
            for texts, label, why in practice
        ],
        "fingerprint": task.fingerprint,
        "views": list(views),
    }


def show_item(session: Session, n: int) -> Object:
    """An item with the person's actions. Raises: InputError if its texts are missing."""
    task, entry = session.task, session.entries[n]
    texts = [one._asdict() for one in task.show_texts(entry.cell)]
    with session.journal() as journal:
        label = journal.state.last(session.get_key(n))
        flag = journal.state.last(("flag", task.kind, *entry.cell))
        skip = journal.state.last(("skip", task.kind, *entry.cell))
    is_labelled = isinstance(label, Label)
    return {
        "n": n,
        "item": session.name(n),
        "question": task.question(entry.cell),
        "words": task.label_words(entry.cell),
        "texts": texts,
        "shown": entry.shown,
        "label": show_label(label) if isinstance(label, Label) else None,
        "flagged": isinstance(flag, Flag) and flag.on,
        "why": flag.why if isinstance(flag, Flag) and flag.on else "",
        "is_skipped": isinstance(skip, Skip) and not is_labelled,
        "progress": session.progress._asdict(),
    }


def show_answer(session: Session, n: int) -> Object:
    """A text and all items about it."""
    group = session.group(n)
    items = [
        show_item(session, position)
        for position in (group.positions if group is not None else (n,))
    ]
    texts = items[0]["texts"]
    of = judge_input(session.task.kind, group.of) if group is not None else texts[-1]["of"]
    question = next((one["text"] for one in texts if one["of"] == "question"), "")
    answer = next(one for one in texts if one["of"] == of)
    return {"question": question, "answer": answer, "items": items, "n": n}


def show_bank(session: Session, n: int) -> Object:
    """The nuggets of a topic with the person's edits, and the passages."""
    bank, topic_id = session.task.bank, session.entries[n].cell[0]
    if bank is None:
        raise InputError("this task does not edit nuggets")
    with session.journal() as journal:
        edits = journal.state.edits(topic_id)
    nuggets = EditedBank.of(bank.banks[topic_id], edits).nuggets.values()
    start = {nugget.id: nugget.text for nugget in bank.banks[topic_id].nuggets}
    return {
        "n": n,
        "item": session.name(n),
        "topic_id": topic_id,
        "question": bank.question(topic_id),
        "nuggets": [
            {
                "id": one.nugget.id,
                "text": one.nugget.text,
                "importance": one.nugget.importance,
                "from": [{"id": root, "text": start[root]} for root in one.roots],
            }
            for one in nuggets
        ],
        "passages": [_passage(one) for one in bank.passages(topic_id)],
        "progress": session.progress._asdict(),
    }


def show_reference_item(session: Session, n: int) -> Object:
    """A key point with the answers to its two questions, and their positions."""
    cell, repeat = session.entries[n].cell, session.entries[n].repeat
    point, documents = session.task.points.get(cell[:2]), session.task.documents
    if point is None or documents is None:
        raise InputError("this task does not verify key points")
    cells = verify_cells([cell[:2]])
    keys = {one[-1]: ("label", session.task.kind, *one, str(repeat)) for one in cells}
    positions = {
        task: position
        for task, key in keys.items()
        if (position := session.position(key)) is not None
    }
    with session.journal() as journal:
        labels = {task: journal.state.last(key) for task, key in keys.items()}
        flags = [journal.state.last(("flag", session.task.kind, *one)) for one in cells]
    answered = {task: one for task, one in labels.items() if isinstance(one, Label)}
    return {
        **point.row(),
        "spans": list(point.point.spans),
        "documents": [_passage(one) for one in documents.of(cell[0], point.point)],
        "n": n,
        "item": session.name(n),
        "labels": {task: show_label(one) for task, one in answered.items()},
        "places": {task: {"n": at, "item": session.name(at)} for task, at in positions.items()},
        "flagged": any(isinstance(one, Flag) and one.on for one in flags),
        "progress": session.progress._asdict(),
    }


def _passage(one: Passage) -> Object:
    return {"id": one.id, "title": one.title, "text": one.text}


def show_label(label: Label) -> Object:
    """A person's own label."""
    return {
        "label": label.label,
        "spans": [span.model_dump() for span in label.spans],
        "rationale": label.rationale,
        "active_ms": label.active_ms,
    }


def show_review(session: Session) -> Object:
    """The person's progress, and the items to review: one row a position."""
    kind, rows = session.task.kind, []
    with session.journal() as journal:
        for n, entry in enumerate(session.entries):
            label = journal.state.last(session.get_key(n))
            flag = journal.state.last(("flag", kind, *entry.cell))
            is_flagged = isinstance(flag, Flag) and flag.on and not entry.repeat
            is_labelled = isinstance(label, Label)
            row = {
                "n": n,
                "is_flagged": is_flagged,
                "why": flag.why if isinstance(flag, Flag) and is_flagged else "",
                "cannot_tell": isinstance(label, Label) and label.label is None,
                "is_open": not is_labelled,
            }
            if is_flagged or row["cannot_tell"] or not is_labelled:
                rows.append(row)
    return {"items": rows, "progress": session.progress._asdict()}


def show_recent(session: Session) -> list[Object]:
    """The last actions that were not undone, latest first, each with its position."""
    with session.journal() as journal:
        actions = journal.state.recent(MAX_RECENT)
    recent = ((session.find_position(action), action) for action in actions)
    return [
        {"n": n, "what": _what(action), **_get_label(action)}
        for n, action in recent
        if n is not None
    ]


def _what(action: Action) -> str:
    if isinstance(action, Flag) and not action.on:
        return "unflag"
    return action.op if isinstance(action, BankEdit) else action.do


def _get_label(action: Action) -> Object:
    return {"label": action.label} if isinstance(action, Label | Verdict) else {}
