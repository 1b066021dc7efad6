"""The labels that people gave to a random draw of items, in order of arrival."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from ....programs.scoring.human_labels import RANDOM
from ....records.kinds import Cell
from ..store.events import Condition, Label
from ..store.kinds import Kind
from ..store.state import State

_NEVER = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True)
class RandomLabels:
    """Labels of randomly drawn items.

    Attributes:
        labels: in the order in which the items were first labelled or skipped; None: "cannot
            tell", or skipped and still without a label. Of several labels, the verdict counts,
            otherwise the most frequent label, the first of a tie. Items on which people differ stay
            in: they are harder, and without them the draw would not be random.
        by_person: annotator -> their labels of these items.
        n_other: labels of items chosen by a criterion, which are not used for a score.
        n_disputed: items on which people differ, without a verdict.
    """

    labels: dict[Cell, str | None]
    by_person: dict[str, dict[Cell, str]]
    n_other: int
    n_disputed: int


def random_labels(states: Mapping[str, State], kind: Kind, condition: Condition) -> RandomLabels:
    """The labels of all people under one condition, without repeats and controls.

    A skipped item counts at the position where it was skipped: otherwise the hardest items, which
    are labelled last, would look as if they had been drawn last.

    Args:
        states: the state of each annotator.
    """
    by_cell: dict[Cell, list[tuple[datetime, str, str | None]]] = {}
    skipped: dict[Cell, datetime] = {}
    by_person: dict[str, dict[Cell, str]] = {}
    n_other = 0
    for name, state in states.items():
        for label in state.labels():
            if not _counts(label, kind, condition):
                continue
            if label.chosen_by != RANDOM:
                n_other += 1
                continue
            by_cell.setdefault(label.cell, []).append((label.at or _NEVER, name, label.label))
            if label.label is not None:
                by_person.setdefault(name, {})[label.cell] = label.label
        for skip in state.list_skipped():
            if skip.kind == kind:
                at = skip.at or _NEVER
                skipped[skip.cell] = min(at, skipped.get(skip.cell, at))
    verdicts = {
        one.cell: one.label
        for state in states.values()
        for one in state.verdicts()
        if one.kind == kind and one.condition == condition
    }
    first = {cell: min(at for at, *_ in votes) for cell, votes in by_cell.items()}
    for cell, at in skipped.items():
        first[cell] = min(at, first.get(cell, at))
    labels, n_disputed = dict[Cell, str | None](), 0
    for cell in sorted(first, key=lambda cell: (first[cell], cell)):
        sources = [label for *_, label in sorted(by_cell.get(cell, ()), key=lambda one: one[:2])]
        counts = Counter(label for label in sources if label is not None)
        if cell in verdicts:
            labels[cell] = verdicts[cell]
        else:
            labels[cell] = counts.most_common(1)[0][0] if counts else None
            n_disputed += len(counts) > 1
    return RandomLabels(labels, by_person, n_other, n_disputed)


def _counts(label: Label, kind: Kind, condition: Condition) -> bool:
    is_first = not label.repeat and not label.is_control
    return is_first and label.kind == kind and label.condition == condition
