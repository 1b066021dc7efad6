"""The items of a queue that are about one answer, to be labelled side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...records.labels.cells import Cell
from .plan import Entry
from .task import Task
from .wording import words_of


@dataclass(frozen=True)
class Group:
    """Items that share a text.

    Attributes:
        of: the name of the text. places: of the items in the queue, in one order for all texts of
            a topic; repeats are not among them, since their first labels would stand beside them.
    """

    of: str
    places: tuple[int, ...]


def groups_of(task: Task, queue: Sequence[Entry]) -> list[Group]:
    """The items of a queue by what they share, in the order of their first places.

    [] for a kind whose items share nothing.
    """
    if not (shared := words_of(task.kind).shared):
        return []
    of, last = shared
    end = task.key_names.index(last) + 1
    found: dict[Cell, list[int]] = {}
    for place, entry in enumerate(queue):
        if not entry.repeat:
            found.setdefault(entry.cell[:end], []).append(place)
    return [
        Group(of, tuple(sorted(places, key=lambda place: queue[place].cell)))
        for places in found.values()
    ]
