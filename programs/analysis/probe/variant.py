"""A judge with one thing changed, or what it is shown of the items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ....judges import ItemJudge
from ....records.labels.items import ItemRow


@dataclass(frozen=True)
class Variant:
    """A judge that differs in one thing, said in a word and for people.

    `items` are all items, as they are shown to it; None: as they are. `order` has the places of
    those that it is asked about; None: of all, in their order.
    """

    name: str
    what: str
    judge: ItemJudge = field(repr=False)
    items: Sequence[ItemRow] | None = field(default=None, repr=False)
    order: list[int] | None = field(default=None, repr=False)


Made = Variant | str  # why there is none


class Base(NamedTuple):
    """What variants are made of: the judge and its items, how many random ones, and by which rng"""

    judge: ItemJudge
    items: Sequence[ItemRow]
    rng: np.random.Generator
    repeats: int
