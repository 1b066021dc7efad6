"""Files of nuggetizer, as its commands `create`, `assign` and `metrics` write them.

Field names are those of its repository (castorini/nuggetizer, 2026: core/types.py, core/metrics.py,
cli/adapters.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..assignments import Assignment
from ..rows import NuggetBank
from .metric_rows import NUGGET_COLUMNS

FAILED = "failed"  # its word for a judgement that did not come


def bank(given: NuggetBank) -> dict[str, Any]:
    """A line of its create layout; a nugget whose importance is not known is `failed`."""
    nuggets = [
        {
            "text": nugget.text,
            "importance": nugget.importance.value if nugget.importance else FAILED,
        }
        for nugget in given.nuggets
    ]
    return {"query": given.query, "qid": given.topic_id, "nuggets": nuggets}


def assignment(given: Assignment) -> dict[str, Any]:
    """A line of its assign layout; a label that is not there is `failed`."""
    return {
        "query": given.query,
        "qid": given.topic_id,
        "answer_text": given.answer_text,
        "response_length": given.response_length,
        "run_id": given.run_id,
        "nuggets": [
            {
                "text": each.nugget.text,
                "importance": each.nugget.importance.value if each.nugget.importance else FAILED,
                "assignment": each.label or FAILED,
            }
            for each in given.nuggets
        ],
    }


def metric_row(topic_id: str, values: Mapping[str, float | None]) -> dict[str, Any]:
    """A line of its metrics, by our measures; null where there is no value."""
    return {"qid": topic_id} | {
        column: values.get(measure) for measure, column in NUGGET_COLUMNS.items()
    }
