"""Disputes: items on which people, or people and the judge, differ, shown without names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import ascii_uppercase

from ....records.kinds import Cell
from ..store.events import Condition, Label
from ..store.state import State
from .drawing import generator
from .task import Task

JUDGE = "@judge"  # the name of the judge as a source; no person can have it


@dataclass(frozen=True)
class LabelSource:
    """A label that somebody gave. Show `name` only after the verdict."""

    name: str
    label: str | None
    rationale: str = ""


@dataclass(frozen=True)
class Dispute:
    """An item to decide.

    Attributes:
        n: the index of its cell in the task. Clients use it, because new labels and restarts do
            not change it.
        sources: the labels, in the order of their letters.
    """

    n: int
    cell: Cell
    sources: tuple[LabelSource, ...]

    @property
    def order(self) -> tuple[str, ...]:
        """The names of the sources, as a Verdict stores them."""
        return tuple(source.name for source in self.sources)

    def hide_names(self) -> list[dict[str, str | None]]:
        """The sources as the page shows them before the verdict."""
        return [
            {"letter": get_letter(at), "label": source.label, "rationale": source.rationale}
            for at, source in enumerate(self.sources)
        ]


def disputes(
    task: Task,
    states: Mapping[str, State],
    adjudicator: str,
    *,
    condition: Condition = "from_scratch",
    against_judge: bool = False,
    seed: int = 0,
) -> list[Dispute]:
    """The items to decide, in a random order of the adjudicator's own.

    An item is a dispute if no label has a majority of the people who gave one. Labels of the other
    condition, repeats and controls do not count. Nobody decides an item that they labelled.

    Args:
        states: states of the annotators, by name.
        adjudicator: the person who decides.
        against_judge: add items on which most people differ from the judge, and show its label as
            one of the sources; otherwise it is hidden, because it would influence the verdict.
        seed: seed of the orders of items and of sources.
    """
    by_cell: dict[Cell, dict[str, Label]] = {}
    for name, state in states.items():
        for label in state.labels():
            if label.kind == task.kind and not label.repeat:
                by_cell.setdefault(label.cell, {})[name] = label
    open_disputes = []
    for number, cell in enumerate(task.cells):
        labels = by_cell.get(cell, {})
        counted = {
            name: label
            for name, label in labels.items()
            if label.condition == condition and not label.is_control
        }
        if adjudicator in labels or not counted:
            continue
        judged = task.get_first_label(cell) if against_judge else None
        if _is_open(counted, judged):
            people = sorted(counted.items())
            sources = [LabelSource(name, one.label, one.rationale) for name, one in people]
            sources += [LabelSource(JUDGE, judged)] if judged is not None else []
            letters = generator(seed, "voices", task.kind, adjudicator, *cell)
            shuffled = tuple(sources[int(at)] for at in letters.permutation(len(sources)))
            open_disputes.append(Dispute(number, cell, shuffled))
    rng = generator(seed, "disputes", task.kind, adjudicator)
    order = rng.permutation(len(task.cells))  # of every cell, so that new ones move no other
    return sorted(open_disputes, key=lambda dispute: int(order[dispute.n]))


def get_letter(at: int) -> str:
    """A, B, C ..., then A2, B2 ...

    >>> get_letter(0), get_letter(27)
    ('A', 'B2')
    """
    again, letter = divmod(at, len(ascii_uppercase))
    return ascii_uppercase[letter] + (str(again + 1) if again else "")


def majority(labels: Sequence[str | None]) -> str | None:
    """The majority label; None if no label has more than half of the labels."""
    votes = [label for label in labels if label is not None]
    for label, n in Counter(votes).items():
        if 2 * n > len(votes):
            return label
    return None


def _is_open(counted: Mapping[str, Label], judged: str | None) -> bool:
    """Whether an item is a dispute; `judged`: the judge's label, if it counts."""
    labels = [one.label for one in counted.values()]
    if all(label is None for label in labels):
        return False
    agreed = majority(labels)
    return agreed is None or judged not in (None, agreed)
