"""Corrected scores by slice: short answers and long ones, some runs and the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from ....records.reading.problems import InputError, Problems
from ...protocols.judged_items import Floats, JudgedItems, Measure
from .covariates import RUN, covariates

Regroup = Callable[[JudgedItems], JudgedItems]


def slicer(name: str, path: Path, labels: Path, problems: Problems) -> Regroup:
    """What makes slices of judged items in place of their runs, for `corrected_scores`.

    A slice's score is the mean over the topics that it has items of, of what these earn there, each
    with its weight in the measure. Measures that count what was not judged, such as recall of
    sentences without a citation, are left out, for that is in no slice.

    Raises: InputError for all runs, and when used if no measure has items of two slices.
    """
    if name == RUN:
        raise InputError(f"--by {name}: scores are by run already; name a group, {RUN}:PATTERN")

    def regroup(items: JudgedItems) -> JudgedItems:
        (covariate,) = covariates([name], path, items, labels, problems)
        slices = [covariate.group(i) or "" for i in range(len(items.cells))]
        measures = [of for of in (_sliced(m, items, slices) for m in items.measures) if of]
        if not measures:
            raise InputError(f"--by {name}: no measure has items of both slices")
        runs = [f"{name} {of_item}" if covariate.is_number else of_item for of_item in slices]
        return replace(items, runs=runs, measures=measures)

    return regroup


def _sliced(measure: Measure, items: JudgedItems, slices: list[str]) -> Measure | None:
    """The measure with weights that sum to 1 over each slice; None: it has no items of two.

    `slices` (n_items,): the slice of each item; "": none.
    """
    counted = set(measure.topics)
    if not _is_whole(measure, items):
        return None
    sums: dict[tuple[str, str], float] = {}
    for topic, of_item, weight in zip(items.topics, slices, measure.weights, strict=True):
        if of_item and topic in counted and weight > 0:
            sums[of_item, topic] = sums.get((of_item, topic), 0.0) + float(weight)
    n_topics = Counter(of_item for of_item, _ in sums)
    if len(n_topics) < 2:
        return None
    weights: Floats = np.array([
        weight / sums[of_item, topic] / n_topics[of_item] if (of_item, topic) in sums else 0.0
        for topic, of_item, weight in zip(items.topics, slices, measure.weights, strict=True)
    ])  # fmt: skip
    return replace(measure, weights=weights, by_own_topics=True)


def _is_whole(measure: Measure, items: JudgedItems) -> bool:
    """Whether the items of each answer have all its weight."""
    sums: dict[tuple[str, str], float] = {}
    for topic, run, weight in zip(items.topics, items.runs, measure.weights, strict=True):
        if weight > 0:
            sums[topic, run] = sums.get((topic, run), 0.0) + float(weight)
    return all(total > (1 - 1e-9) / len(measure.topics) for total in sums.values())
