"""Files of nuggetizer, as its commands `create`, `assign` and `metrics` write them.

Field names are those of its repository (castorini/nuggetizer, 2026: core/types.py, core/metrics.py,
cli/adapters.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...records.nuggets import NUGGET_KIND, Assignment
from ...records.rows import NuggetBank

NUGGET_COLUMNS = {measure: column for column, measure in NUGGET_KIND.columns.items()}

FAILED = "failed"  # its word for a failed judgement


def bank(nugget_bank: NuggetBank) -> dict[str, Any]:
    """A line of its create layout; a nugget without an importance is `failed`."""
    nuggets = [
        {
            "text": nugget.text,
            "importance": nugget.importance.value if nugget.importance else FAILED,
        }
        for nugget in nugget_bank.nuggets
    ]
    return {"query": nugget_bank.query, "qid": nugget_bank.topic_id, "nuggets": nuggets}


def assignment(assigned: Assignment) -> dict[str, Any]:
    """A line of its assign layout; a missing label is `failed`."""
    return {
        "query": assigned.query,
        "qid": assigned.topic_id,
        "answer_text": assigned.answer_text,
        "response_length": assigned.response_length,
        "run_id": assigned.run_id,
        "nuggets": [
            {
                "text": each.nugget.text,
                "importance": each.nugget.importance.value if each.nugget.importance else FAILED,
                "assignment": each.label or FAILED,
            }
            for each in assigned.nuggets
        ],
    }


def metric_row(topic_id: str, values: Mapping[str, float | None]) -> dict[str, Any]:
    """A line of its metrics, from our measures; null if there is no value."""
    return {"qid": topic_id} | {
        column: values.get(measure) for measure, column in NUGGET_COLUMNS.items()
    }
