"""How far one label could move a run on the leaderboard."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...records.kinds import Cell
from ...records.reading.problems import Problems
from ..scoring.judged_items import read_items

WEIGHING = ("assignments", "support")  # kinds of files that tell what an item weighs
MEASURES = ("V_strict", "A_strict", "support_precision")  # the first that there is


def influence(path: Path, kind: str, cells: Sequence[Cell]) -> NDArray[np.float64]:
    """(n_cells,) w / (w + gap), in [0, 1]: by one label towards the next run on the leaderboard.

    w is how much the run's mean moves when the cell's label goes from worst to best, gap how far
    the run is from its nearest neighbour. The measure is V_strict (A_strict where no nugget is
    vital) or support_precision; what weighs nothing in it, or is of the only run, is 0.

    Args:
        path: a results folder, nugget assignments or support labels.
    """
    items = read_items(path, kind, Problems())
    by_name = {measure.name: measure for measure in items.measures}
    measure = next((by_name[name] for name in MEASURES if name in by_name), None)
    shares = np.zeros(len(cells))
    if measure is None:
        return shares
    earned = np.nan_to_num(measure.judged_gains(items)) * measure.weights
    runs, of_item = np.unique(items.runs, return_inverse=True)
    means = np.bincount(of_item, weights=earned, minlength=len(runs))
    gaps = _gaps(means.astype(np.float64))
    index = {cell: i for i, cell in enumerate(items.cells)}
    for i, cell in enumerate(cells):
        at = index.get(cell)
        if at is not None and measure.weights[at] > 0:
            weight = measure.weights[at]
            shares[i] = weight / (weight + gaps[of_item[at]])
    return shares


def _gaps(means: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n_runs,) how far each run is from the nearest other; infinite for a single run."""
    gaps = np.full(len(means), np.inf)
    for one, other in pairwise(np.argsort(means)):
        gap = means[other] - means[one]
        gaps[one], gaps[other] = min(gap, gaps[one]), gap
    return gaps
