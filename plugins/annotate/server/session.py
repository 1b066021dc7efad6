"""One person's session: the positions of their queue, their actions, and the next position."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from threading import Lock
from typing import NamedTuple

import orjson

from ..store.events import Action, Condition, Event, Flag, Key, Label, Redo, Skip, Undo, Verdict
from ..store.journal import Journal
from ..store.state import State
from ..work.answers import Group, group_items
from ..work.plan import Entry
from ..work.task import Task


class Progress(NamedTuple):
    """A person's progress: positions with a label, all positions, and the active time."""

    done: int
    total: int
    active_ms: int


class Session:
    """A queue and a journal; what asks it, and what writes, takes turns.

    Args:
        entries: in the order in which the person gets them; they stay as they are.
    """

    def __init__(
        self, task: Task, entries: Sequence[Entry], journal: Journal, condition: Condition
    ) -> None:
        self.task, self.entries, self.condition = task, entries, condition
        self.person = journal.name
        self._journal = journal
        self._lock = Lock()
        self._groups = {n: one for one in group_items(task, entries) for n in one.positions}
        self._positions = {self.get_key(n): n for n in reversed(range(len(entries)))}
        self._names = {self.name(n): n for n in range(len(entries))}
        self._taken: dict[int, int] = {}  # positions that are done, with the time that each took
        self._skipped: set[int] = set()
        self._turned: dict[str, int | None] = {}  # where undo and redo were, by the event's id
        self._n_undone = 0  # actions that can be redone, of this queue
        self._active_ms = 0
        for n in range(len(entries)) if journal.state.n else ():
            self._look(n)

    def name(self, n: int) -> str:
        """What names the item at a position, for as long as all that is shown of it is the same.

        What was labelled while the server was away then never lands on another item.
        """
        entry = self.entries[n]
        of = [self.task.fingerprint, self.task.kind, self.condition, entry.cell, entry.repeat]
        return hashlib.sha256(orjson.dumps([*of, entry.shown])).hexdigest()[:16]

    def find_item(self, name: str) -> int | None:
        """The position of an item; None: it is not in this queue."""
        return self._names.get(name)

    def group(self, n: int) -> Group | None:
        """The positions that share a text with this one; None: it stands alone."""
        return self._groups.get(n)

    def get_key(self, n: int) -> Key:
        """What the label of a position is found by; of `bank`, the topic's edits."""
        entry, kind = self.entries[n], self.task.kind
        if kind == "bank":
            return ("bank", *entry.cell)
        return ("label", kind, *entry.cell, str(entry.repeat))

    def position(self, key: Key) -> int | None:
        """The position whose label is found by this key; None: there is none."""
        return self._positions.get(key)

    def find_position(self, action: Action) -> int | None:
        """The position that an action was done at; None: it is in the queue no more."""
        if isinstance(action, Flag | Skip | Verdict):
            return self._positions.get(("label", action.kind, *action.cell, "0"))
        return self._positions.get(action.key)

    @contextmanager
    def journal(self) -> Iterator[Journal]:
        """The journal, while nobody else has it."""
        with self._lock:
            yield self._journal

    def take(
        self, event: Event, check: Callable[[State], None] = lambda state: None
    ) -> tuple[Event | None, int | None]:
        """Keep an event: on the disk when this returns. Also the position that it changed.

        An event that was kept before is not kept again, and answered as it was. None: there was
        nothing to undo or redo here; what was done at other queues is left alone.

        Args:
            check: raises for an event that cannot be kept now.

        Raises: InputError for what the disk refuses; what `check` does.
        """
        with self._lock:
            if (earlier := self._find_event(event.id)) is not None:
                return earlier
            state = self._journal.state
            if isinstance(event, Undo) and not self._is_here(state.recent(1)):
                return None, None
            if isinstance(event, Redo) and not self._n_undone:
                return None, None
            check(state)
            done = state.recent(1)
            if (stored := self._journal.add(event)) is None:
                return None, None
            if isinstance(stored, Undo | Redo):
                self._n_undone += 1 if isinstance(stored, Undo) else -1
                action = done[0] if isinstance(stored, Undo) else state.recent(1)[0]
                position = self._turned[stored.id] = self.find_position(action)
            else:
                self._n_undone = 0
                position = self.find_position(stored)
            if position is not None:
                self._look(position)
            return stored, position

    def find_event(self, id: str) -> tuple[Event, int | None] | None:
        """The event of this id, and the position that it changed; None: none was stored."""
        with self._lock:
            return self._find_event(id)

    def _find_event(self, id: str) -> tuple[Event, int | None] | None:
        if (event := self._journal.find_event(id)) is None:
            return None
        if isinstance(event, Undo | Redo):
            return event, self._turned.get(id)
        return event, self.find_position(event)

    def _is_here(self, actions: Sequence[Action]) -> bool:
        return bool(actions) and self.find_position(actions[0]) is not None

    def _look(self, n: int) -> None:
        state, entry = self._journal.state, self.entries[n]
        self._active_ms -= self._taken.pop(n, 0)
        self._skipped.discard(n)
        event = state.last(self.get_key(n))
        if isinstance(event, Label):
            self._taken[n] = event.active_ms
            self._active_ms += event.active_ms
        elif event is not None and event.do == "bank":
            self._taken[n] = 0
        elif state.last(("skip", self.task.kind, *entry.cell)) is not None:
            self._skipped.add(n)

    @property
    def progress(self) -> Progress:
        """How far the person is."""
        return Progress(len(self._taken), len(self.entries), self._active_ms)

    def next_open(self, after: int = -1) -> int | None:
        """The first position behind this one without a label, then those before; skipped ones last.

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
