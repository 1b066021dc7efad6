"""One thing that a person did while labelling: a line of their journal."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, Field, TypeAdapter, ValidationInfo

from ....records.kinds import Cell
from ....records.rows import Row
from .kinds import Kind

Condition = Literal["from_scratch", "post_edit"]
Key: TypeAlias = tuple[str, ...]  # of what an event is about: its kind, its topic or cell, its pass

MAX_INT = 2**53 - 1  # the largest whole number that every reader of JSON keeps exactly
MAX_ACTIVE_MS = 10**9  # of one label: 11 days and a half
_STORED = {"is_stored": True}  # validation context of lines that an earlier version accepted


def _check_time(value: int, info: ValidationInfo) -> int:
    """Refuse a time out of range; one that is stored already reads as 0, which is not known."""
    if value <= MAX_ACTIVE_MS:
        return value
    if info.context is _STORED:
        return 0
    raise ValueError(f"wanted at most {MAX_ACTIVE_MS:,} milliseconds")


Count = Annotated[int, Field(ge=0, le=MAX_INT)]
ActiveMs = Annotated[int, Field(ge=0), AfterValidator(_check_time)]


class Span(Row):
    """Words that a person marked in one of the texts of an item.

    `of` is the judge's input that they stand in, `start` and `end` are code points in it, `sha256`
    the first 16 hex digits of the hash of the whole text: as in the quotes of judges.
    """

    of: str
    start: Count
    end: Count
    sha256: str


class _Event(Row):
    """What all events have. `id` is the client's: an event that is sent again is known by it.

    `seq` counts the events of a person from 1, `at` is the server's time (UTC); both are given
    when the event is kept.
    """

    id: str = Field(min_length=8, max_length=64)
    seq: Count = 0
    at: datetime | None = None


class Label(_Event):
    """A label of a cell; None: cannot tell, which is not a label.

    Attributes:
        shown: the judge's label that stood beside it; None: none was shown.
        chosen_by, probability: what chose the cell, and with which chance, as in `judge next`.
        repeat: which time this person was asked, from 0; others than the first are for
            self-agreement alone.
        is_control: post-edited with a label shown that the judge did not give, to measure how far
            people follow what they see.
        active_ms: time that the person was at it; 0: not known.
        guidelines_sha256: first 16 hex digits of the hash of the guidelines that were shown.
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
        """Of what it is about."""
        return ("label", self.kind, *self.cell, str(self.repeat))


class Clear(_Event):
    """The label of a cell is taken away: the cell has none then, not the lowest one."""

    do: Literal["clear"] = "clear"
    kind: Kind
    cell: Cell
    repeat: Count = 0

    @property
    def key(self) -> Key:
        """Of the label that goes."""
        return ("label", self.kind, *self.cell, str(self.repeat))


class Flag(_Event):
    """A cell that somebody should look at, and why; an empty `on` takes the flag away."""

    do: Literal["flag"] = "flag"
    kind: Kind
    cell: Cell
    on: bool = True
    why: str = Field(default="", max_length=20_000)

    @property
    def key(self) -> Key:
        """Of the flag."""
        return ("flag", self.kind, *self.cell)


class Skip(_Event):
    """A cell that is left for later; it comes again at the end."""

    do: Literal["skip"] = "skip"
    kind: Kind
    cell: Cell

    @property
    def key(self) -> Key:
        """Of the cell's position in the queue."""
        return ("skip", self.kind, *self.cell)


class BankEdit(_Event):
    """A change of the nuggets of one topic.

    Attributes:
        op: add, edit, delete, merge (several become one), split (one becomes several), importance.
        sources: ids of the nuggets that are changed; they are no more, but for `importance`.
        texts: of the nuggets that take their place, or are added.
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
        """Of the topic's bank: all edits of it count, in their order."""
        return ("bank", self.topic_id)


class Verdict(_Event):
    """Who is right about a cell on which people, or people and the judge, differ.

    Attributes:
        label: None: "cannot tell".
        order: whose labels were shown as A, B, C ...; names that the person did not see.
        condition: of those labels; it decides nothing about labels of the other.
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
        """Of the verdict."""
        return ("adjudicate", self.kind, self.condition, *self.cell)


class Undo(_Event):
    """The last thing that was done, and not undone, is as if it had not been."""

    do: Literal["undo"] = "undo"
    of: Count = 0  # its seq, given when the event is kept


class Redo(_Event):
    """The last thing that was undone holds again, if nothing was done since."""

    do: Literal["redo"] = "redo"
    of: Count = 0


Action: TypeAlias = Label | Clear | Flag | Skip | BankEdit | Verdict
Event: TypeAlias = Action | Undo | Redo
_EVENTS: TypeAdapter[Event] = TypeAdapter(Annotated[Event, Field(discriminator="do")])


def read_event(row: Any) -> Event:
    """An event of an object of JSON. Raises: pydantic.ValidationError, a ValueError."""
    return _EVENTS.validate_python(row)


def event_of_line(line: bytes) -> Event:
    """An event of a line of a journal. Raises: pydantic.ValidationError, a ValueError."""
    return _EVENTS.validate_json(line, context=_STORED)
