"""Metric rows of nuggetizer and RAGDoll: one object, or line of CSV, with a column a measure."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..reading.fields import Line, stem
from ..reading.lines import raw_lines
from ..reading.problems import Problems

# Their columns by our measures: nuggetizer's core/metrics.py, RAGDoll's nuggetizer/metrics.py and
# support/metrics.py. Both count a judgement that failed as one that is not supported, or leave it
# out without saying so; see docs/howto/ragdoll.md.
NUGGET_COLUMNS: Mapping[str, str] = {
    "V_strict": "strict_vital_score",
    "A_strict": "strict_all_score",
    "V": "vital_score",
    "A": "all_score",
}
SUPPORT_COLUMNS: Mapping[str, str] = {
    "support_precision": "weighted_precision_first_citation",
    "support_recall": "weighted_recall_first_citation",
    "support_precision_all": "weighted_precision_all_judged_citations",
    "support_recall_all": "weighted_recall_all_judged_citations",
    "support_precision_hard": "hard_precision",
    "support_recall_hard": "hard_recall",
}
# RAGDoll's rubric/metrics.py; its criteria have no weights below 0, so that it needs no clip.
RUBRIC_COLUMNS: Mapping[str, str] = {"rubric": "ternary_score", "rubric_strict": "binary_score"}
_ALL = (NUGGET_COLUMNS, SUPPORT_COLUMNS, RUBRIC_COLUMNS)
MEASURES = {column: ours for columns in _ALL for ours, column in columns.items()}


def is_metric_row(names: Mapping[str, Any]) -> bool:
    """Whether an object, or the header of a CSV file, is a row of metrics."""
    return not MEASURES.keys().isdisjoint(names) and "nuggets" not in names


def long_rows(line: Line) -> Iterator[Line]:
    """Of a row of metrics one row for each measure, by our name; any other row as it is.

    nuggetizer's rows name no run: it is then named by the file.
    """
    if not is_metric_row(line.row) or "measure" in line.row:
        yield line
        return
    run_id, topic_id = line.optional_id("run_id"), line.id("topic_id", "qid", "narrative_id")
    ids = {"run_id": run_id or stem(line.path), "topic_id": topic_id}
    for column, measure in MEASURES.items() if topic_id is not None else ():
        if column in line.row:
            value = line.row[column]
            row = {**ids, "measure": measure, "value": None if value == "" else value}
            yield Line(line.path, line.number, row, line.problems)


def csv_rows(path: Path, problems: Problems) -> Iterator[Line]:
    """The rows of a CSV file of metrics, such as RAGDoll's `cell_metrics.csv`."""
    reader = csv.DictReader(text for _, text in raw_lines(path))
    for row in reader:
        yield Line(path, reader.line_num, row, problems)


def is_csv(first: str) -> bool:
    """Whether this is the header of such a file; one of means alone, without a topic, is none."""
    names = dict.fromkeys(first.split(","))
    return is_metric_row(names) and ("qid" in names or "topic_id" in names)
