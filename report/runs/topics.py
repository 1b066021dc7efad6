"""Where do runs fail, and which topics are hard: every run on every topic."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ...programs.protocols.glossary import meaning
from ...programs.scoring.corrected_samples import Labelled, labelled
from ...programs.scoring.human_labels import human_labels
from ...records.instruments.rubrics import read_rubrics
from ...records.key_points import read_key_point_sets
from ...records.nuggets import read_nugget_banks
from ...records.reading.problems import InputError, Problems
from ..source import Source

_SETS: Mapping[str, Callable[[Path, Problems], Mapping[str, Any]]] = {
    "nuggets": read_nugget_banks,
    "keypoints": read_key_point_sets,
    "rubrics": read_rubrics,
}


def data(source: Source) -> Mapping[str, Any] | None:
    """The cells are in the page's head (`cells.py`); here what is known of topics beside them.

    `questions`: by topic. `unjudged`: by measure and topic the judgements that are missing.
    `gaps`: by measure and topic how much more the judge gives than people, over what both
    labelled; none without labels.
    """
    if not source.topics:
        return None
    return {
        "count": len(source.topics),
        "questions": _questions(source),
        "unjudged": {measure: _unjudged(source, measure) for measure in source.measures},
        "less_is_better": [m for m in source.measures if meaning(m).is_less_better],
        "gaps": _gaps(source),
    }


def _questions(source: Source) -> dict[str, str]:
    questions: dict[str, str] = {}
    for path in source.paths:
        for name, read in _SETS.items():
            file = path / f"{name}.jsonl"
            if file.is_file():
                sets = read(file, Problems())
                questions |= {
                    topic: one.query for topic, one in sets.items() if topic not in questions
                }
    return questions


def _unjudged(source: Source, measure: str) -> dict[str, int]:
    counts: dict[str, int] = {}
    for run in source.scores.values[measure]:
        for topic, row in source.scores.rows[measure].get(run, {}).items():
            if row.n_unjudged and topic != "all":
                counts[topic] = counts.get(topic, 0) + row.n_unjudged
    return counts


def _gaps(source: Source) -> dict[str, dict[str, float]]:
    gaps: dict[str, dict[str, float]] = {}
    if len(source.paths) > 1 or not source.corrected:
        return gaps
    for labels in source.labels:
        try:
            items, human = human_labels(source.paths[0], labels, Problems(), {}, ignore_others=True)
        except InputError:
            continue
        gaps |= {m.name: gaps_by_topic(labelled(items, human, m)) for m in items.measures}
    return gaps


def gaps_by_topic(items: Labelled) -> dict[str, float]:
    """By topic, what the judge gives less what people give, over the items that both labelled.

    Each item weighs as in the measure.
    """
    on = items.is_labelled & ~np.isnan(items.judged) & (items.topics >= 0)
    human = items.levels[items.human_level[on]]
    n = len(items.measure.topics)
    weights = np.bincount(items.topics[on], items.weights[on], n)
    surplus = np.bincount(items.topics[on], items.weights[on] * (items.judged[on] - human), n)
    return {
        topic: round(float(surplus[i] / weights[i]), 6)
        for i, topic in enumerate(items.measure.topics)
        if weights[i]
    }
