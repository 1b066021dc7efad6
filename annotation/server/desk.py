"""One person's desk: the places of their queue, what they did at each, and what is next."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from threading import Lock
from typing import NamedTuple

import orjson

from ..store.events import Condition, Deed, Event, Flag, Key, Label, Redo, Skip, Undo, Verdict
from ..store.journal import Journal
from ..work.plan import Entry
from ..work.task import Task


class Progress(NamedTuple):
    """How far a person is: places with a label, of how many, and the time that they took."""

    done: int
    total: int
    active_ms: int


class Desk:
    """A queue and a journal; what asks it, and what writes, takes turns.

    Args:
        entries: in the order in which the person gets them; they stay as they are.
    """

    def __init__(
        self, task: Task, entries: Sequence[Entry], journal: Journal, condition: Condition
    ) -> None:
        self.task, self.entries, self.condition = task, entries, condition
        self._journal = journal
        self._lock = Lock()
        self._places = {self.key_of(n): n for n in reversed(range(len(entries)))}
        self._names = {self.name(n): n for n in range(len(entries))}
        self._taken: dict[int, int] = {}  # places that are done, with the time that each took
        self._skipped: set[int] = set()
        self._turned: dict[str, int | None] = {}  # where undo and redo were, by the event's id
        self._active_ms = 0
        for n in range(len(entries)):
            self._look(n)

    def name(self, n: int) -> str:
        """What names the item of a place, for as long as all that is shown of it is the same.

        What was labelled while the server was away then never lands on another item.
        """
        entry = self.entries[n]
        of = [self.task.fingerprint, self.task.kind, self.condition, entry.cell, entry.repeat]
        return hashlib.sha256(orjson.dumps([*of, entry.shown])).hexdigest()[:16]

    def named(self, name: str) -> int | None:
        """The place of an item; None: it is not in this queue."""
        return self._names.get(name)

    def key_of(self, n: int) -> Key:
        """What the label of a place is found by; of `bank`, the topic's edits."""
        entry, kind = self.entries[n], self.task.kind
        if kind == "bank":
            return ("bank", *entry.cell)
        return ("label", kind, *entry.cell, str(entry.repeat))

    def place_of(self, deed: Deed) -> int | None:
        """The place that a deed was done at; None: it is in the queue no more."""
        if isinstance(deed, Flag | Skip | Verdict):
            return self._places.get(("label", deed.kind, *deed.cell, "0"))
        return self._places.get(deed.key)

    @contextmanager
    def journal(self) -> Iterator[Journal]:
        """The journal, while nobody else has it."""
        with self._lock:
            yield self._journal

    def take(self, event: Event) -> tuple[Event | None, int | None]:
        """Keep an event: on the disk when this returns. Also the place that it changed.

        An event that was kept before is not kept again, and answered as it was. None: there was
        nothing to undo or redo. Raises: InputError for what the disk refuses.
        """
        with self._lock:
            state = self._journal.state
            n_before, done = state.n, state.recent(1)
            kept = self._journal.add(event)
            if kept is None:
                return None, None
            if not isinstance(kept, Undo | Redo):
                place = self.place_of(kept)
            elif state.n == n_before:
                place = self._turned.get(kept.id)
            else:
                deed = done[0] if isinstance(kept, Undo) else state.recent(1)[0]
                place = self._turned[kept.id] = self.place_of(deed)
            if place is not None:
                self._look(place)
            return kept, place

    def _look(self, n: int) -> None:
        state, entry = self._journal.state, self.entries[n]
        self._active_ms -= self._taken.pop(n, 0)
        self._skipped.discard(n)
        found = state.last(self.key_of(n))
        if isinstance(found, Label):
            self._taken[n] = found.active_ms
            self._active_ms += found.active_ms
        elif found is not None and found.do == "bank":
            self._taken[n] = 0
        elif state.last(("skip", self.task.kind, *entry.cell)) is not None:
            self._skipped.add(n)

    @property
    def progress(self) -> Progress:
        """How far the person is."""
        return Progress(len(self._taken), len(self.entries), self._active_ms)

    def next_open(self, after: int = -1) -> int | None:
        """The first place behind this one without a label, those before it then; skipped ones last.

        None: all have one.
        """
        total = len(self.entries)
        for others in (self._skipped, ()):
            for n in chain(range(after + 1, total), range(min(after + 1, total))):
                if n not in self._taken and n not in others and n != after:
                    return n
        return after if 0 <= after < total and after not in self._taken else None

    def close(self) -> None:
        """Close the journal, once nobody writes."""
        with self._lock:
            self._journal.close()
