"""Facts and runs: which facts each answer states, and which nobody does."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

from ....records.reading.fields import stem
from ..source import Source
from .cells import matrices


def data(source: Source) -> Mapping[str, Any] | None:
    """The matrices of all folders, and the order of runs by each measure."""
    drawable = []
    for path in source.paths:
        of_folder = list(matrices(path, source.problems))
        questions = {topic: text for one in of_folder for topic, text in one.words.items() if text}
        where = f"@{stem(path)}" if len(source.paths) > 1 else ""
        for one in of_folder:
            if (drawn := one.as_json(partial(source.shown_run, path), questions)) is not None:
                drawable.append({"name": f"{one.kind}{where}", **drawn})
    if not drawable:
        return None
    return {"matrices": drawable, "order": _order(source)}


def _order(source: Source) -> dict[str, list[int]]:
    """By measure, runs of `source.runs` by their mean; an answer that is missing counts as 0."""
    index = {run: at for at, run in enumerate(source.runs)}
    orders = {}
    for measure, by_run in source.scores.values.items():
        topics = source.scores.topics[measure]
        means = {}
        for run, values in by_run.items():
            counted = [value for t in topics if (value := values.get(t, 0.0)) is not None]
            means[run] = math.fsum(counted) / len(counted) if counted else -math.inf
        orders[measure] = [index[run] for run in sorted(means, key=lambda run: (-means[run], run))]
    return orders
