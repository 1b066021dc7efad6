"""The faults there are, and one that is planted: a changed text, and what has to come of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from .....records.labels.cells import Cell
from .....records.labels.items import ItemRow

Must = Literal["down", "same"]  # what an honest judge's label has to do


class Fault(NamedTuple):
    """A kind of fault. `test`: "directional" or "invariance", as CheckList names them."""

    test: Literal["directional", "invariance"]
    what: str


# In the order in which they are shown. Source of the two tests: arXiv:2005.04118 (CheckList);
# of perturbing answers to find blind spots of judges: arXiv:2406.13439 (FBI).
FAULTS: dict[str, Fault] = {
    "citation-swap": Fault("directional", "another passage of the topic is cited"),
    "negation": Fault("directional", "a sentence is negated"),
    "number": Fault("directional", "a number is another"),
    "date": Fault("directional", "a year, month or weekday is another"),
    "name": Fault("directional", "a name is another"),
    "omission": Fault("directional", "the one sentence that states it is dropped"),
    "duplication": Fault("invariance", "a sentence is said twice"),
    "reordering": Fault("invariance", "the sentences have another order"),
    "citation-removal": Fault("directional", "the citation is taken away"),
    "padding": Fault("invariance", "words that say nothing are added"),
}


@dataclass(frozen=True)
class Form:
    """What a judge reads, as far as faults are planted in it.

    Attributes:
        target: the input that is looked for. source: the one in which it is looked for.
        wrote: which of them systems wrote, and faults are planted in.
        blind: faults that leave what the judge is asked as it is, each with the reason; the
            others of `FAULTS` are planted, if `plants` has them.
        plants: faults whose direction is certain for this judge.
        needed: what of the target has to stand in the source.
    """

    target: str
    source: str
    wrote: Literal["target", "source"]
    plants: tuple[str, ...]
    blind: Mapping[str, str] = field(default_factory=dict)
    needed: Callable[[str], str] = str


@dataclass(frozen=True)
class Case:
    """One planted fault: the items of one call with one of their inputs changed.

    Attributes:
        items: as they were judged. must: of each of them; None: nothing is certain.
        changed: the input that differs. text: what it now is. also: what changes with it.
        before, after: the sentences that the fault changed.
    """

    fault: str
    items: Sequence[ItemRow] = field(repr=False)
    must: Sequence[Must | None]
    changed: str
    text: str = field(repr=False)
    before: str
    after: str
    also: Mapping[str, str] = field(default_factory=dict, repr=False)

    def rows(self, number: int) -> list[ItemRow]:
        """Its items with the fault; their id `fault`, a number, keeps each case a call."""
        return [
            item.model_copy(
                update={
                    "ids": {**item.ids, "fault": str(number)},
                    "inputs": {**item.inputs, self.changed: self.text, **self.also},
                }
            )
            for item in self.items
        ]


@dataclass(frozen=True)
class SourceLabels:
    """The labels of the items before anything is asked.

    Attributes:
        labels: those of the source, by cell; None in it: not judged. Empty: it has no labels.
        best: the label from which alone a fall is certain; None: the labels have no order.
    """

    labels: Mapping[Cell, str | None] = field(repr=False)
    best: str | None

    def is_judged(self, item: ItemRow) -> bool:
        """Whether it has a label, or the source has none for any."""
        return not self.labels or self.labels.get(item.cell) is not None

    def may_fall(self, item: ItemRow) -> bool:
        """Whether its label, where one is known, is the best."""
        if self.best is None:
            return False
        return not self.labels or self.labels.get(item.cell) == self.best
