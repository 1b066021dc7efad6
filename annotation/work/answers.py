"""The items of a queue that are about one answer, to be labelled side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...records.labels.cells import Cell
from ..store.events import Kind
from .plan import Entry
from .task import Task

# By kind, the text that several items share and the last of the ids that name it.
_SHARED: dict[Kind, tuple[str, str]] = {
    "nuggets": ("answer_text", "run_id"),
    "keypoints": ("response", "run_id"),
    "rubric": ("response", "run_id"),
    "ratings": ("context", "passage_id"),
    "support": ("sentence", "sentence_id"),
}


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
    if task.kind not in _SHARED:
        return []
    of, last = _SHARED[task.kind]
    end = task.key_names.index(last) + 1
    found: dict[Cell, list[int]] = {}
    for place, entry in enumerate(queue):
        if not entry.repeat:
            found.setdefault(entry.cell[:end], []).append(place)
    return [
        Group(of, tuple(sorted(places, key=lambda place: queue[place].cell)))
        for places in found.values()
    ]
