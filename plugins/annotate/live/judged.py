"""What was judged, read once: the items of all scores, and what the judge made of them."""

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
        means: (run, measure) -> the plain score, where the program has it.
        is_ordered: the scale has an order.
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
        """Places of the items that people can be given."""
        return np.flatnonzero(self.is_judged)

    @cached_property
    def strata(self) -> Ints:
        """(n_drawable,) index of the topic."""
        topics = np.array(self.items.topics)[self.drawable]
        return np.unique(topics, return_inverse=True)[1].astype(np.int64)

    @cached_property
    def drawable_index(self) -> Ints:
        """(n_items,) index among those that people can be given; -1: not there."""
        index = np.full(len(self.items.cells), -1, dtype=np.int64)
        index[self.drawable] = np.arange(len(self.drawable))
        return index

    @cached_property
    def gains(self) -> dict[str, Floats]:
        """Measure -> (n_drawable,) what the judge says that items earn, in [0, 1]."""
        return {
            measure.name: measure.get_gains(self.items)[self.drawable]
            for measure in self.items.measures
        }

    def weights(self, measure: Measure, run: str) -> Floats:
        """(n_drawable,) of each item in a run's score, or in the mean of all runs.

        What the judge failed to judge stands at the mean of its run.
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
    """What was judged; None of `bank` and `verify`, which no score is made of.

    Args:
        results: folder, or file of judgements.

    Raises: InputError if there are no such judgements, or they are broken.
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
