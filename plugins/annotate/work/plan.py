"""How queues are made, and what a position in one is."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ....records.kinds import Cell
from ....records.reading.problems import InputError
from ....records.rows import Row
from ..store.events import Condition
from ..store.kinds import Kind

How = Literal["random", "next"]

REPEATS = 0.05  # of a queue: items that come once more, for a person's agreement with themselves
GAP = 10  # positions between an item and its repeat, at least
CONTROLS = 0.05  # of post-edited items: those with a label shown that the judge did not give
BLOCK = 10  # items of a topic before the next one's turn: a queue cut short has all topics
_PLAIN: tuple[Kind, ...] = ("bank", "verify")  # without a judge's labels


class Entry(Row):
    """A position in a person's queue.

    Attributes:
        chosen_by: random, what `judge next` chose it by, or "" of topics whose nuggets are edited.
        probability: of random ones, the share of its topic's items that this person was given by
            the draw; None: it was not drawn.
        repeat: which time it is asked, from 0.
        is_control: `shown` is a label that the judge did not give.
        shown: the label that stands beside it; None: none does.
        is_shared: of the part that all annotators get.
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
        how: random: a draw by topics; next: `random_share` of it is, the rest is chosen for what
            a label would tell.
        n: positions of each queue, repeats included; None: as many as there are items, and repeats.
            Of `verify` a position is a key point, with two questions.
        overlap: share of the positions that all annotators get, the first ones.
    """

    how: How = "random"
    n: int | None = None
    random_share: float = 0.5
    overlap: float = 0.1
    seed: int = 0
    condition: Condition = "from_scratch"

    def check(self, kind: Kind) -> None:
        """Raise InputError for what is out of range, or cannot be had of this kind."""
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
