"""Metric rows of nuggetizer and RAGDoll: one object, or line of CSV, with a column a measure."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from ..kinds import is_metric_row, read_measures
from ..nuggets import NUGGET_KIND
from ..reading.fields import Line, stem
from ..reading.lines import raw_lines
from ..reading.problems import Problems
from ..support import SUPPORT_KIND

NUGGET_COLUMNS = {measure: column for column, measure in NUGGET_KIND.columns.items()}
SUPPORT_COLUMNS = {measure: column for column, measure in SUPPORT_KIND.columns.items()}


def long_rows(line: Line) -> Iterator[Line]:
    """Of a row of metrics one row for each measure, by our name; any other row as it is.

    nuggetizer's rows name no run: it is then named by the file.
    """
    if "measure" in line.row or not is_metric_row(line.row):
        yield line
        return
    run_id, topic_id = line.optional_id("run_id"), line.id("topic_id", "qid", "narrative_id")
    ids = {"run_id": run_id or stem(line.path), "topic_id": topic_id}
    for column, measure in read_measures().items() if topic_id is not None else ():
        if column in line.row:
            value = line.row[column]
            row = {**ids, "measure": measure, "value": None if value == "" else value}
            yield Line(line.path, line.number, row, line.problems)


def csv_rows(path: Path, problems: Problems) -> Iterator[Line]:
    """The rows of a CSV file of metrics, such as RAGDoll's `cell_metrics.csv`."""
    reader = csv.DictReader(text for _, text in raw_lines(path))
    for row in reader:
        yield Line(path, reader.line_num, row, problems)
