"""Scores by run and topic, packed: a table of the distinct values, and a number for each cell."""

from __future__ import annotations

import base64
from array import array
from collections.abc import Mapping
from typing import Any

from ....records.rows import ScoreRow
from ..source import Source

# Codes from the top of what a number can be; all below are indices in the table of values.
UNANSWERED, UNJUDGED, UNDEFINED = 1, 2, 3
_DIGITS = 6


def packed_cells(source: Source) -> dict[str, Any]:
    """By measure the cells of all runs on all topics, in the order of `source`.

    Returns: by measure `values`, the distinct ones; `cells`, base64 of (runs x topics) numbers of
        `bytes` bytes, little end first. A number n is an index in `values`, or, counted down from
        one more than the highest: 1 the run did not answer, 2 it was not judged, 3 the measure
        means nothing there. `is_of_answered`: 1 does not count as 0 in means.
    """
    return {measure: _packed(source, measure) for measure in source.measures}


def _packed(source: Source, measure: str) -> dict[str, Any]:
    wanted = set(source.scores.topics[measure])
    values, rows = source.scores.values[measure], source.scores.rows[measure]
    cells_in_order: list[float | int] = []
    for run in source.runs:
        for topic in source.topics:
            if run not in values or topic not in wanted:
                cells_in_order.append(-UNDEFINED)
            else:
                cells_in_order.append(_cell(rows.get(run, {}), topic))
    distinct = sorted({cell for cell in cells_in_order if isinstance(cell, float)})
    size = 1 if len(distinct) < 250 else 2
    if len(distinct) > 65_000:
        cells_in_order = [
            round(cell, 3) if isinstance(cell, float) else cell for cell in cells_in_order
        ]
        distinct = sorted({cell for cell in cells_in_order if isinstance(cell, float)})
    code_of: dict[float | int, int] = {value: i for i, value in enumerate(distinct)}
    code_of |= {-code: 256**size - code for code in (UNANSWERED, UNJUDGED, UNDEFINED)}
    numbers = array("B" if size == 1 else "H", (code_of[cell] for cell in cells_in_order))
    if size == 2 and array("H", [1]).tobytes() != b"\x01\x00":
        numbers.byteswap()
    cells = base64.b64encode(numbers.tobytes()).decode()
    return {
        "values": distinct,
        "bytes": size,
        "cells": cells,
        "is_of_answered": source.scores.is_of_answered(measure),
    }


def _cell(rows: Mapping[str, ScoreRow], topic: str) -> float | int:
    """A value, rounded, or less the code of why there is none."""
    if topic not in rows:
        return -UNANSWERED
    row = rows[topic]
    if row.value is not None:
        return round(float(row.value), _DIGITS)
    return -UNJUDGED if row.n_unjudged or row.high is not None else -UNDEFINED
