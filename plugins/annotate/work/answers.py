"""The items of a queue about one answer, to label together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ....records.kinds import Cell
from .plan import Entry
from .task import Task
from .wording import get_words


@dataclass(frozen=True)
class Group:
    """Items that share a text.

    Attributes:
        of: the name of the text. positions: positions of the items in the queue, in the same order
            for all texts of a topic; without repeats, because the first labels are in sight.
    """

    of: str
    positions: tuple[int, ...]


def group_items(task: Task, queue: Sequence[Entry]) -> list[Group]:
    """The items of a queue by their shared text, in the order of their first positions.

    [] for a kind without shared texts.
    """
    if not (shared := get_words(task.kind).shared):
        return []
    of, last = shared
    end = task.key_names.index(last) + 1
    by_group: dict[Cell, list[int]] = {}
    for position, entry in enumerate(queue):
        if not entry.repeat:
            by_group.setdefault(entry.cell[:end], []).append(position)
    return [
        Group(of, tuple(sorted(positions, key=lambda position: queue[position].cell)))
        for positions in by_group.values()
    ]
