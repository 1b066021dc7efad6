"""The judged items behind all scores, with the judge's labels; read once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from ....programs.protocols.judged_files import are_ordered, find_judged_file
from ....programs.protocols.judged_items import ALL, JudgedItems, Measure
from ....programs.scoring.human_labels import read_items
from ....programs.scoring.score import score_path
from ....records.kinds import Cell, file_kind, kinds_of_labels
from ....records.reading.problems import Problems
from ..store.kinds import Kind
from .confidence_sequence import Floats, Ints


@dataclass(frozen=True, eq=False)
class Judged:
    """The judged items of one kind.

    Attributes:
        means: (run, measure) -> the score without correction, if the task has it.
        is_ordered: whether the scale has an order.
    """

    items: JudgedItems = field(repr=False)
    means: Mapping[tuple[str, str], float | None]
    is_ordered: bool

    @cached_property
    def index(self) -> dict[Cell, int]:
        """The index of each cell."""
        return {cell: i for i, cell in enumerate(self.items.cells)}

    @cached_property
    def runs(self) -> list[str]:
        """The runs, sorted."""
        return sorted(set(self.items.runs))

    @cached_property
    def run_at(self) -> Ints:
        """(n_items,) index of the item's run."""
        at = {run: i for i, run in enumerate(self.runs)}
        return np.array([at[run] for run in self.items.runs], dtype=np.int64)

    @cached_property
    def is_judged(self) -> np.ndarray:
        """(n_items,) whether the judge gave a label; only such items are given to people."""
        return np.array([label is not None for label in self.items.labels])

    @cached_property
    def drawable(self) -> Ints:
        """Indices of the items that people can get."""
        return np.flatnonzero(self.is_judged)

    @cached_property
    def strata(self) -> Ints:
        """(n_drawable,) index of the topic."""
        topics = np.array(self.items.topics)[self.drawable]
        return np.unique(topics, return_inverse=True)[1].astype(np.int64)

    @cached_property
    def drawable_index(self) -> Ints:
        """(n_items,) index among the items that people can get; -1: none."""
        index = np.full(len(self.items.cells), -1, dtype=np.int64)
        index[self.drawable] = np.arange(len(self.drawable))
        return index

    @cached_property
    def gains(self) -> dict[str, Floats]:
        """Measure -> (n_drawable,) the judge's scores of items, in [0, 1]."""
        return {
            measure.name: measure.get_gains(self.items)[self.drawable]
            for measure in self.items.measures
        }

    def weights(self, measure: Measure, run: str) -> Floats:
        """(n_drawable,) weights of items in a run's score, or in the mean of all runs.

        A failed judgement counts as the mean of its run.
        """
        n_runs = len(self.runs)
        whole = np.bincount(self.run_at, measure.weights, n_runs)
        judged = np.bincount(self.run_at, measure.weights * self.is_judged, n_runs)
        grown = np.divide(whole, judged, out=np.zeros(n_runs), where=judged > 0)
        weights = (measure.weights * grown[self.run_at])[self.drawable]
        if run == ALL:
            mean_weights: Floats = weights / n_runs
            return mean_weights
        return np.where(self.run_at[self.drawable] == self.runs.index(run), weights, 0.0)


def read_judged(results: Path, kind: Kind, problems: Problems) -> Judged | None:
    """Read the judged items; None for `bank` and `verify`, which have no scores.

    Args:
        results: a results folder or a file of judgements.

    Raises: InputError if there are no such judgements, or they are invalid.
    """
    if kind in ("bank", "verify"):
        return None
    label_kind = kind if kind in kinds_of_labels() else "other"
    file = find_judged_file(results, kind)
    items = read_items(results, label_kind, problems)
    is_scored = results.is_dir() or file_kind(file) in ("assignments", "support")
    rows = score_path(results, Problems()) if is_scored else []
    means = {(row.run_id, row.measure): row.value for row in rows if row.topic_id == ALL}
    return Judged(items, means, are_ordered(items.kind, items.scale, results))
