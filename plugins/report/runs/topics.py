"""Where do runs fail, and which topics are hard: every run on every topic."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ....programs.protocols.glossary import meaning
from ....records.instruments.rubrics import read_rubrics
from ....records.key_points import read_key_point_sets
from ....records.nuggets import read_nugget_banks
from ....records.reading.problems import Problems
from ..source import Source

_SETS: Mapping[str, Callable[[Path, Problems], Mapping[str, Any]]] = {
    "nuggets": read_nugget_banks,
    "keypoints": read_key_point_sets,
    "rubrics": read_rubrics,
}


def data(source: Source) -> Mapping[str, Any] | None:
    """The cells are in the page's head (`cells.py`); here what is known of topics beside them.

    `questions`: by topic. `unjudged`: by measure and topic the judgements that are missing.
    """
    if not source.topics:
        return None
    return {
        "count": len(source.topics),
        "questions": _questions(source),
        "unjudged": {measure: _unjudged(source, measure) for measure in source.measures},
        "less_is_better": [m for m in source.measures if meaning(m).is_less_better],
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
