"""Where do runs fail, and which topics are hard: every run on every topic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ....programs.protocols.glossary import meaning
from ....programs.protocols.table import programs
from ....records.nuggets import QUERY_FIELDS, TOPIC_FIELDS
from ....records.reading.fields import read_lines
from ....records.reading.problems import Problems
from ..source import Source


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
        for name in {name: None for one in programs() for name in one.makes.values()}:
            lines = read_lines(path / name, Problems()) if (path / name).is_file() else ()
            for line in lines:
                topic, question = line.optional_id(*TOPIC_FIELDS), line.optional_text(*QUERY_FIELDS)
                if topic is not None and question:
                    questions.setdefault(topic, question)
    return questions


def _unjudged(source: Source, measure: str) -> dict[str, int]:
    counts: dict[str, int] = {}
    for run in source.scores.values[measure]:
        for topic, row in source.scores.rows[measure].get(run, {}).items():
            if row.n_unjudged and topic != "all":
                counts[topic] = counts.get(topic, 0) + row.n_unjudged
    return counts
