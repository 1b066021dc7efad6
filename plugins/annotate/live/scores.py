"""Current corrected scores, each with a fixed-sample interval and a confidence sequence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....metrics.inference import LEVEL, Interval
from ....programs.protocols.judged_items import Measure
from ....programs.scoring.corrected import later_citations
from ....programs.scoring.corrected_measure import (
    CorrectedScore,
    Correction,
    find_labelled,
)
from ....records.kinds import Cell
from .confidence_sequence import Floats, Order, confidence_sequence, predictions
from .judged import Judged

_LOOKS = 24  # numbers of labels at which the sequence is computed; the last one is now


@dataclass(frozen=True)
class LiveScore:
    """A run's score in one measure; run `all` is the mean of all runs.

    Attributes:
        corrected: as by `judge score --labels`; None, with the `reason`, if impossible.
        fixed: its interval for these topics, valid for one look at a number of labels that was
            fixed in advance.
        sequence: confidence sequence for these topics, valid at any time; None if scores of items
            are not in [0, 1].
        needed: labels still needed, drawn the same way over all runs, until `fixed` has the target
            width; None: not known yet.
        least_half_width: half-width for topics like these with a label on every item.
    """

    run: str
    measure: str
    judged: float | None
    corrected: float | None
    like_these: tuple[float, float] | None
    fixed: tuple[float, float] | None
    sequence: tuple[float, float] | None
    n_labels: int
    n_items: int
    needed: int | None
    least_half_width: float | None
    reason: str | None
    warnings: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """The data for JSON, as the page shows it."""
        needed = {"of_these": self.needed, "least_half_width": self.least_half_width}
        return {**vars(self), "needed": None if self.needed is None else needed}


def live_scores(
    judged: Judged,
    labels: Mapping[Cell, str | None],
    *,
    half_width: float,
    level: float = LEVEL,
) -> list[LiveScore]:
    """The mean of all runs and the score of each run, in every measure with labels.

    Args:
        labels: labels of a random draw, in order; None: "cannot tell".
    """
    items = judged.items
    comparable = {
        cell: label
        for cell, label in labels.items()
        if (at := judged.index.get(cell)) is not None and judged.is_judged[at]
    }
    human: list[str | None] = [None] * len(items.cells)
    for cell, label in comparable.items():
        human[judged.index[cell]] = label
    later = later_citations(items, human)
    n_labels = sum(label is not None for label in human)
    sequences = _Sequences(judged, comparable, level)
    scores = []
    correction = Correction(judged.means, None, half_width, level)
    for measure in items.measures:
        if measure.name.endswith("_all") and not (later and all(later.values())):
            continue
        found = correction.measure(find_labelled(items, human, measure))
        rows = [*([] if found.pooled is None else [found.pooled]), *found.scores]
        by_run = sequences.of(measure, [row.run_id for row in rows])
        scores += [_live(row, by_run[row.run_id], n_labels) for row in rows]
    return scores


def _live(row: CorrectedScore, sequence: tuple[float, float] | None, n_labels: int) -> LiveScore:
    needed = None
    if row.needed is not None and row.n_labels:
        still = max(row.needed.of_these - row.n_labels, 0)
        needed = int(np.ceil(still * n_labels / row.n_labels))
    return LiveScore(
        run=row.run_id,
        measure=row.measure,
        judged=row.judged,
        corrected=None if row.corrected is None else row.corrected.value,
        like_these=None if row.corrected is None else _bounds(row.corrected.like_these),
        fixed=None if row.corrected is None else _bounds(row.corrected.of_these),
        sequence=sequence,
        n_labels=row.n_labels,
        n_items=row.n_items,
        needed=needed,
        least_half_width=None if row.needed is None else row.needed.least_half_width,
        reason=row.reason,
        warnings=row.warnings,
    )


def _bounds(interval: Interval) -> tuple[float, float] | None:
    return None if interval.low is None or interval.high is None else (interval.low, interval.high)


class _Sequences:
    """The confidence sequences of all scores, which share the order of the labels."""

    def __init__(self, judged: Judged, labels: Mapping[Cell, str | None], level: float) -> None:
        self._judged, self._level = judged, level
        indices = judged.drawable_index[[judged.index[cell] for cell in labels]]
        self._order = Order(judged.strata, indices.astype(np.int64))
        self._labels = list(labels.values())
        n = len(labels)
        looks = np.unique(np.linspace(0, n, min(_LOOKS, n) + 1).round().astype(int))
        self._looks: list[int] = looks.tolist()

    def of(self, measure: Measure, runs: Sequence[str]) -> dict[str, tuple[float, float] | None]:
        """By run, the current interval."""
        gains = measure.gains
        if not 0 <= min(gains.values()) <= max(gains.values()) <= 1:
            return dict.fromkeys(runs)
        human = np.array([np.nan if x is None else gains[x] for x in self._labels], dtype=float)
        judged = np.clip(self._judged.gains[measure.name], 0.0, 1.0)
        weighs = measure.weights[self._judged.drawable][self._order.labelled] > 0
        by_judge = judged[self._order.labelled]
        predicted = predictions(self._order, by_judge, np.where(weighs, human, np.nan))

        def bounds(weights: Floats) -> tuple[float, float]:
            sequence = confidence_sequence(
                self._order,
                judged,
                human,
                weights,
                predicted=predicted,
                looks=self._looks,
                level=self._level,
            )
            low = min(max(float(sequence.low[-1]), 0.0), 1.0)
            return low, max(low, min(float(sequence.high[-1]), 1.0))

        return {run: bounds(self._judged.weights(measure, run)) for run in runs}
