"""One action of a person while labelling: a line of their journal."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, Field, TypeAdapter, ValidationInfo

from ....records.kinds import Cell
from ....records.rows import Row
from .kinds import Kind

Condition = Literal["from_scratch", "post_edit"]
Key: TypeAlias = tuple[str, ...]  # what an event is about: its kind, its topic or cell, its repeat

MAX_INT = 2**53 - 1  # the largest whole number that every JSON reader keeps exactly
MAX_ACTIVE_MS = 10**9  # of one label: 11 days and a half
_STORED = {"is_stored": True}  # validation context of lines that an earlier version accepted


def _check_time(value: int, info: ValidationInfo) -> int:
    """Refuse a time out of range; a stored one reads as 0 (unknown)."""
    if value <= MAX_ACTIVE_MS:
        return value
    if info.context is _STORED:
        return 0
    raise ValueError(f"wanted at most {MAX_ACTIVE_MS:,} milliseconds")


Count = Annotated[int, Field(ge=0, le=MAX_INT)]
ActiveMs = Annotated[int, Field(ge=0), AfterValidator(_check_time)]


class Span(Row):
    """Words that a person marked in a text of an item.

    `of` is the judge's input, `start` and `end` are code points in it, and `sha256` is the first 16
    hex digits of the hash of the whole text, as in the quotes of judges.
    """

    of: str
    start: Count
    end: Count
    sha256: str


class _Event(Row):
    """The fields of all events. The client gives `id`, which identifies an event sent twice.

    `seq` counts the events of a person from 1, `at` is the server's time (UTC); the server sets
    both when it stores the event.
    """

    id: str = Field(min_length=8, max_length=64)
    seq: Count = 0
    at: datetime | None = None


class Label(_Event):
    """A label of a cell; None: "cannot tell", which is not a label.

    Attributes:
        shown: the label shown next to the item; None: no label.
        chosen_by, probability: the criterion that chose the cell, and its probability, as in
            `judge next`.
        repeat: 0 for the first time; repeats are for self-agreement only.
        is_control: the shown label is not the judge's, to measure how much it influences people.
        active_ms: active time; 0: unknown.
        guidelines_sha256: first 16 hex digits of the hash of the guidelines.
    """

    do: Literal["label"] = "label"
    kind: Kind
    cell: Cell
    label: str | None
    spans: tuple[Span, ...] = ()
    rationale: str = Field(default="", max_length=20_000)
    condition: Condition = "from_scratch"
    shown: str | None = None
    chosen_by: str = ""
    probability: float | None = Field(default=None, gt=0, le=1)
    repeat: Count = 0
    is_control: bool = False
    active_ms: ActiveMs = 0
    guidelines_sha256: str = ""

    @property
    def key(self) -> Key:
        """The key of the cell."""
        return ("label", self.kind, *self.cell, str(self.repeat))


class Clear(_Event):
    """The label of a cell is removed; the cell then has no label, not the lowest."""

    do: Literal["clear"] = "clear"
    kind: Kind
    cell: Cell
    repeat: Count = 0

    @property
    def key(self) -> Key:
        """The key of the removed label."""
        return ("label", self.kind, *self.cell, str(self.repeat))


class Flag(_Event):
    """A cell that somebody should review, and why; a false `on` removes the flag."""

    do: Literal["flag"] = "flag"
    kind: Kind
    cell: Cell
    on: bool = True
    why: str = Field(default="", max_length=20_000)

    @property
    def key(self) -> Key:
        """The key of the flag."""
        return ("flag", self.kind, *self.cell)


class Skip(_Event):
    """A cell left for later; it comes back at the end."""

    do: Literal["skip"] = "skip"
    kind: Kind
    cell: Cell

    @property
    def key(self) -> Key:
        """The key of the skipped cell."""
        return ("skip", self.kind, *self.cell)


class BankEdit(_Event):
    """A change of the nuggets of one topic.

    Attributes:
        op: add, edit, delete, merge (several become one), split (one becomes several), importance.
        sources: ids of the changed nuggets; all changes except `importance` remove them.
        texts: texts of the nuggets that replace them or are added.
        importance: vital or okay; None: not given.
    """

    do: Literal["bank"] = "bank"
    topic_id: str
    op: Literal["add", "edit", "delete", "merge", "split", "importance"]
    sources: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    importance: Literal["vital", "okay"] | None = None

    @property
    def key(self) -> Key:
        """The key of the topic's bank: all its edits count, in order."""
        return ("bank", self.topic_id)


class Verdict(_Event):
    """The verdict on a cell on which people, or people and the judge, differ.

    Attributes:
        label: the right label; None: "cannot tell".
        order: the hidden names of the labels shown as A, B, C ...
        condition: condition of those labels; the verdict decides only labels of this condition.
    """

    do: Literal["adjudicate"] = "adjudicate"
    kind: Kind
    cell: Cell
    label: str | None
    order: tuple[str, ...]
    rationale: str = Field(default="", max_length=20_000)
    condition: Condition = "from_scratch"
    active_ms: ActiveMs = 0

    @property
    def key(self) -> Key:
        """The key of the verdict."""
        return ("adjudicate", self.kind, self.condition, *self.cell)


class Undo(_Event):
    """Undoes the last action that was not undone."""

    do: Literal["undo"] = "undo"
    of: Count = 0  # its seq, set when the event is stored


class Redo(_Event):
    """Redoes the last undone action, if nothing was done since."""

    do: Literal["redo"] = "redo"
    of: Count = 0


Action: TypeAlias = Label | Clear | Flag | Skip | BankEdit | Verdict
Event: TypeAlias = Action | Undo | Redo
_EVENTS: TypeAdapter[Event] = TypeAdapter(Annotated[Event, Field(discriminator="do")])


def read_event(row: Any) -> Event:
    """Read an event from a JSON object. Raises: pydantic.ValidationError, a ValueError."""
    return _EVENTS.validate_python(row)


def event_of_line(line: bytes) -> Event:
    """Read an event from a line of a journal. Raises: pydantic.ValidationError, a ValueError."""
    return _EVENTS.validate_json(line, context=_STORED)
