"""Rows of a label file: one for each person and cell, or one for each cell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

from ....programs.scoring.human_labels import CHOSEN_BY, RANDOM
from ....records.kinds import Cell
from ..store.events import Label, Span
from .collected import Collected

Decided = Literal["verdict", "unanimous", "majority", "one", "cannot_tell", "open"]
FLAGGED = "flagged"  # the text of a flag without a note


def annotator_rows(collected: Collected) -> Iterator[tuple[Cell, dict[str, Any]]]:
    """A row for each person and cell, in the order of cells, without ids and texts.

    "Cannot tell" (None) is a row without a label.
    """
    for cell, by in collected.labels.items():
        for name, label in sorted(by.items()):
            flag = collected.flags.get(cell, {}).get(name)
            yield cell, {**_row(label, name), "flag": None if flag is None else flag or FLAGGED}


def check_rows(collected: Collected) -> Iterator[tuple[Cell, dict[str, Any]]]:
    """Rows of repeats, of the labels that they repeat, and of controls.

    `repeat` counts how often a person was asked; the `shown` label of a control is not the judge's.
    They measure people (`live/quality.py`) and are not labels of cells.
    """
    rows: list[tuple[Cell, str, Label]] = [(one.cell, name, one) for name, one in collected.checks]
    for cell, name in {(one.cell, name) for name, one in collected.checks if one.repeat}:
        if name in collected.labels.get(cell, {}):
            rows.append((cell, name, collected.labels[cell][name]))
    for cell, name, label in sorted(rows, key=lambda row: (row[0], row[1], row[2].repeat)):
        more = {"repeat": label.repeat, "is_control": label.is_control, "shown": label.shown}
        yield cell, {**_row(label, name), **more}


def make_adjudicated_rows(
    collected: Collected, sizes: Mapping[str, int] | None
) -> Iterator[tuple[Cell, dict[str, Any]]]:
    """A row for each cell, without an annotator: the verdict, otherwise the majority label.

    `decided_by` says which; a cell without either has no label. `chosen_by` is random if one or
    more people got the cell at random, and `probability` is then the share of its topic's cells
    that were labelled this way.

    Args:
        sizes: number of judged cells by topic; None: unknown, so there is no probability.
    """
    n_drawn = Counter(cell[0] for cell in collected.labels if collected.is_random(cell))
    for cell, by in collected.labels.items():
        label, decided = decision(collected, cell)
        agreeing = [one for one in by.values() if label in (None, one.label)]
        remarks = [one.rationale for one in agreeing]
        ms = sum(one.active_ms for one in by.values())
        if (verdict := collected.verdicts.get(cell)) is not None:
            remarks, ms = [verdict.rationale], ms + verdict.active_ms
        chosen_by, share = RANDOM, None
        if not collected.is_random(cell):
            chosen_by = next((one.chosen_by for one in by.values() if one.chosen_by), "")
        elif sizes and cell[0] in sizes:
            share = n_drawn[cell[0]] / sizes[cell[0]]
        flags = collected.flags.get(cell, {})
        yield (
            cell,
            {
                "label": label,
                "rationale": "\n".join(filter(None, remarks)) or None,
                "condition": collected.condition,
                CHOSEN_BY: chosen_by or None,
                "probability": share,
                "seconds": ms / 1000,
                "spans": _spans(span for one in agreeing for span in one.spans),
                "decided_by": decided,
                "n_labels": sum(one.label is not None for one in by.values()),
                "flag": "\n".join(why or FLAGGED for why in flags.values()) or None,
            },
        )


def decision(collected: Collected, cell: Cell) -> tuple[str | None, Decided]:
    """The label of a cell, and how it was decided; None if no label has a majority."""
    if (verdict := collected.verdicts.get(cell)) is not None:
        return verdict.label, "verdict" if verdict.label is not None else "cannot_tell"
    n = Counter(one.label for one in collected.labels[cell].values() if one.label is not None)
    if not n:
        return None, "cannot_tell"
    ((label, n_for),) = n.most_common(1)
    if 2 * n_for <= n.total():
        return None, "open"
    if n.total() == 1:
        return label, "one"
    return label, "unanimous" if n_for == n.total() else "majority"


def _row(label: Label, name: str) -> dict[str, Any]:
    row: dict[str, Any] = {
        "label": label.label,
        "annotator": name,
        "rationale": label.rationale or None,
        "condition": label.condition,
        CHOSEN_BY: label.chosen_by or None,
        "probability": label.probability,
        "seconds": label.active_ms / 1000,
        "spans": _spans(label.spans),
    }
    return {**row, "shown": label.shown} if label.condition == "post_edit" else row


def _spans(spans: Iterable[Span]) -> list[dict[str, Any]] | None:
    return [span.model_dump() for span in dict.fromkeys(spans)] or None
