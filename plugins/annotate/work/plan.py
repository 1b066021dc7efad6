"""The plan of queues, and a position of a queue."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ....records.kinds import Cell
from ....records.reading.problems import InputError
from ....records.rows import Row
from ..store.events import Condition
from ..store.kinds import Kind

How = Literal["random", "next"]

REPEATS = 0.05  # share of items that are repeated, to measure self-agreement
GAP = 10  # least number of positions between an item and its repeat
CONTROLS = 0.05  # share of post-edited items that show a label that the judge did not give
BLOCK = 10  # items of a topic per turn, so that an unfinished queue has all topics
_PLAIN: tuple[Kind, ...] = ("bank", "verify")  # without a judge's labels


class Entry(Row):
    """A position in a person's queue.

    Attributes:
        chosen_by: random, a criterion of `judge next`, or "" for topics whose nuggets are edited.
        probability: for random items, the share of the topic's items that this person drew; None
            for other items.
        repeat: 0 for the first time that the person gets it.
        is_control: `shown` is a label that the judge did not give.
        shown: the label shown next to it; None: no label.
        is_shared: whether all annotators get it.
    """

    cell: Cell
    chosen_by: str
    probability: float | None = Field(default=None, gt=0, le=1)
    repeat: int = Field(default=0, ge=0)
    is_control: bool = False
    shown: str | None = None
    is_shared: bool = False


class Plan(Row):
    """How queues are made.

    Attributes:
        how: random: a draw by topics; next: `random_share` is drawn, the rest is chosen where
            labels help most.
        n: positions of each queue, with repeats; None: all items, and repeats. For `verify`, a
            position is a key point with two questions.
        overlap: share of the positions that all annotators get; they come first.
    """

    how: How = "random"
    n: int | None = None
    random_share: float = 0.5
    overlap: float = 0.1
    seed: int = 0
    condition: Condition = "from_scratch"

    def check(self, kind: Kind) -> None:
        """Raise InputError for a value out of range, or one that this kind does not support."""
        if self.n is not None and self.n < 1:
            raise InputError(f"--n {self.n}: wanted 1 or more")
        for name, share in (("random-share", self.random_share), ("overlap", self.overlap)):
            if not 0 <= share <= 1:
                raise InputError(f"--{name} {share:g}: wanted 0 to 1")
        if self.seed < 0:
            raise InputError(f"--seed {self.seed}: wanted 0 or more")
        if kind in _PLAIN and self.condition == "post_edit":
            raise InputError(f"--condition post-edit: --kind {kind} has no judge's label to show")
        if kind in _PLAIN and self.how == "next":
            raise InputError(f"--queue next: --kind {kind} has no judge's labels to choose by")
