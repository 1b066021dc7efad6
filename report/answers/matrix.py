"""Facts and runs: which facts each answer states, and which nobody does."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

from ...records.reading.fields import stem
from ..source import Source
from .cells import matrices


def data(source: Source) -> Mapping[str, Any] | None:
    """The matrices of all folders, and the order of runs by each measure."""
    found = []
    for path in source.paths:
        given = list(matrices(path, source.problems))
        questions = {topic: text for one in given for topic, text in one.words.items() if text}
        where = f"@{stem(path)}" if len(source.paths) > 1 else ""
        for one in given:
            if (drawn := one.as_json(partial(source.shown_run, path), questions)) is not None:
                found.append({"name": f"{one.kind}{where}", **drawn})
    if not found:
        return None
    return {"matrices": found, "order": _order(source)}


def _order(source: Source) -> dict[str, list[int]]:
    """By measure, runs of `source.runs` by their mean; an answer that is missing counts as 0."""
    places = {run: at for at, run in enumerate(source.runs)}
    found = {}
    for measure, by_run in source.scores.values.items():
        topics = source.scores.topics[measure]
        means = {}
        for run, values in by_run.items():
            given = [value for t in topics if (value := values.get(t, 0.0)) is not None]
            means[run] = math.fsum(given) / len(given) if given else -math.inf
        found[measure] = [places[run] for run in sorted(means, key=lambda run: (-means[run], run))]
    return found
