"""The state after a person's events: for each thing, the last action that was not undone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .events import Action, BankEdit, Clear, Event, Flag, Key, Label, Redo, Skip, Undo, Verdict


class State:
    """A fold of events. `n` counts all events, including undone events and undos."""

    def __init__(self) -> None:
        self.n = 0
        self._done: list[Action] = []
        self._undone: list[Action] = []
        self._by_key: dict[Key, list[Action]] = {}

    def resolve(self, event: Event) -> Event | None:
        """The event as it would be stored now: an undo or redo names its event.

        None if there is nothing to undo or redo.
        """
        if isinstance(event, Undo | Redo):
            stack = self._done if isinstance(event, Undo) else self._undone
            return event.model_copy(update={"of": stack[-1].seq}) if stack else None
        return event

    def add(self, event: Event) -> None:
        """Apply an event. Raises: ValueError for an undo or redo that is not of the last event."""
        if isinstance(event, Undo):
            action = _pop(self._done, event)
            self._undone.append(action)
            self._by_key[action.key].pop()
        elif isinstance(event, Redo):
            self._do(_pop(self._undone, event))
        else:
            self._undone.clear()
            self._do(event)
        self.n += 1

    def _do(self, action: Action) -> None:
        self._done.append(action)
        self._by_key.setdefault(action.key, []).append(action)

    def last(self, key: Key) -> Action | None:
        """The last action on this key."""
        actions = self._by_key.get(key)
        return actions[-1] if actions else None

    def labels(self) -> Iterator[Label]:
        """The current labels, with repeats and "cannot tell"."""
        return (action for action in self._lasts() if isinstance(action, Label))

    def flags(self) -> Iterator[Flag]:
        """The current flags."""
        return (action for action in self._lasts() if isinstance(action, Flag) and action.on)

    def list_skipped(self) -> Iterator[Skip]:
        """The skipped cells, in the order in which they were first skipped."""
        return (action for action in self._lasts() if isinstance(action, Skip))

    def verdicts(self) -> Iterator[Verdict]:
        """The current verdicts."""
        return (action for action in self._lasts() if isinstance(action, Verdict))

    def holding(self) -> Iterator[Action]:
        """The last action on each thing except banks: labels, flags, skips and verdicts."""
        return (action for action in self._lasts() if not isinstance(action, Clear | BankEdit))

    def edits(self, topic_id: str) -> list[BankEdit]:
        """The changes of a topic's nuggets, in order."""
        actions = self._by_key.get(("bank", topic_id), [])
        return [action for action in actions if isinstance(action, BankEdit)]

    def list_edited_topics(self) -> list[str]:
        """The topics whose nuggets were changed, without undone changes, sorted."""
        return sorted(
            key[1] for key, actions in self._by_key.items() if key[0] == "bank" and actions
        )

    def recent(self, n: int) -> list[Action]:
        """The last actions that were not undone, latest first."""
        return self._done[: -n - 1 : -1]

    def _lasts(self) -> Iterator[Action | Clear]:
        return (actions[-1] for actions in self._by_key.values() if actions)

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, State) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]


def _pop(stack: list[Action], event: Undo | Redo) -> Action:
    if not stack or stack[-1].seq != event.of:
        raise ValueError(f"{event.do} of event {event.of}, which is not the last")
    return stack.pop()
