"""Leaderboards: values of measures by run and topic, in our layout and in other tools' layouts."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import orjson

from .columns import ColumnMap, find_measures, guess_columns, map_lines
from .kinds import has_header, is_csv, is_metric_row, read_measures
from .reading.fields import Line, as_int, read_lines, stem
from .reading.lines import first_line, is_json, raw_lines, text_lines
from .reading.problems import Problems
from .rows import ScoreRow
from .tables import Table, as_number, find_binary_kind, read_table
from .tables.label_rows import note_columns
from .writing import write_file

Layout = Literal["jsonl", "ir_measures", "tot", "trec_eval", "rag4reports", "ranking"]

# The order of the columns; "-" is not read. trec_eval has no column for its run.
COLUMNS: dict[str, tuple[str, ...]] = {
    "ir_measures": ("run", "topic", "measure", "value"),
    "tot": ("run", "measure", "topic", "value"),
    "trec_eval": ("measure", "topic", "value"),
    "rag4reports": ("topic", "run", "measure", "value"),
    "ranking": ("topic", "-", "run", "-", "value", "measure"),
}
_ABSENT = ("none", "null", "nan", "na", "n/a")
_OF_MEANS = ("n_topics", "n_answered", "n_asked")
_COUNTS = ("n", "n_unjudged", *_OF_MEANS)
_BOUNDS = ("low", "high")


def read_scores(path: Path, problems: Problems, layout: Layout | None = None) -> list[ScoreRow]:
    """Read score rows in file order; topic `all` is the mean of a run.

    A first line without a value is a header and is mentioned. `nan` and `none` read as None.
    Rows with one column per measure, of other tools, are read under our names; so is any
    table with a row for each run, or run and topic, and a column for each measure.

    Errors reported: a wrong number of columns, a value that is not a finite number, a cell twice.

    Args:
        path: the file with the scores.
        problems: collects the faults of the file, by line.
        layout: the order of columns. By default recognised by content: `jsonl`, three columns
            `trec_eval` (the run gets the name of the file), otherwise `ir_measures`. The other
            layouts look alike and must be named.

    Returns:
        A row for each value, in file order.

    Raises: InputError if the file cannot be read.
    """
    is_binary = find_binary_kind(path) is not None
    if layout == "jsonl" or (layout is None and not is_binary and is_json(path)):
        numbered = score_rows(read_lines(path, problems))
    elif layout is None and not is_binary and is_csv(first_line(path)):
        numbered = score_rows(_csv_rows(path, problems))
    elif layout is None and (wide := _read_wide(path, problems)) is not None:
        numbered = wide
    else:
        n_columns = len(first_line(path).split())
        named = layout or ("trec_eval" if n_columns == len(COLUMNS["trec_eval"]) else "ir_measures")
        numbered = _from_columns(path, problems, named)
    rows: dict[tuple[str, str, str], ScoreRow] = {}
    for number, row in numbered:
        cell = (row.run_id, row.topic_id, row.measure)
        if cell in rows:
            what = f"{row.measure} of run {row.run_id!r}, topic {row.topic_id!r} occurs twice"
            problems.error(path, number, "duplicate_score", f"{what}, wanted one value")
        else:
            rows[cell] = row
    return list(rows.values())


def _read_wide(path: Path, problems: Problems) -> Iterator[tuple[int, ScoreRow]] | None:
    """The scores of a table with one column per measure; None for another file."""
    if find_binary_kind(path) is None and not has_header(path):
        return None
    table = read_table(path, problems)
    columns = guess_columns(table, ("topic_id", "run_id"))
    measures = find_measures(table, columns)
    if not measures:
        return None
    note_columns(table, columns, problems)
    return _wide_rows(table, columns, measures)


def _wide_rows(
    table: Table, columns: ColumnMap, measures: Sequence[str]
) -> Iterator[tuple[int, ScoreRow]]:
    for line in map_lines(table.rows, columns):
        run = line.id("run_id")
        topic = line.optional_id("topic_id") if "topic_id" in columns else "all"
        for measure in measures if run is not None and topic is not None else ():
            value = as_number(line.row.get(measure))
            row = ScoreRow(run_id=run or "", topic_id=topic or "", measure=measure, value=value)
            yield line.number, row


def write_scores(jsonl: Path, ir_measures: Path, rows: Iterable[ScoreRow]) -> None:
    """Write both layouts in one pass, so that the many rows are never all in memory.

    `scores.jsonl` has one object per row; the columns for ir_measures and auto-judge tools are
    `run topic measure value`, tab-separated. Columns cannot express "no value", and their readers
    average all rows: a row whose value is None is only in `scores.jsonl`.

    Args:
        jsonl: the file for the objects.
        ir_measures: the file for the columns.
        rows: the rows, read once.

    Raises: ValueError if a name is empty or has white space, which the columns cannot hold; then
        neither file is written.
    """
    objects, columns = [], []
    for row in rows:
        objects.append(orjson.dumps(score_row(row)) + b"\n")  # orjson's own bytes take 1 KB more
        columns.append(_ir_measures_line(row))
    write_file(jsonl, b"".join(objects))
    write_file(ir_measures, "".join(columns))


def score_row(row: ScoreRow) -> dict[str, Any]:
    """Write a line of `scores.jsonl`.

    Args:
        row: the row to write.

    Returns:
        An object ready for JSON.
    """
    fields = row.model_dump()
    return {name: x for name, x in fields.items() if x is not None or name not in _OF_MEANS}


def _ir_measures_line(row: ScoreRow) -> str:
    names = (row.run_id, row.topic_id, row.measure)
    for name in names:
        if name.split() != [name]:
            raise ValueError(f"name {name!r} is not a name for a column: empty, or has white space")
    return "" if row.value is None else "\t".join((*names, repr(row.value))) + "\n"


def _from_columns(path: Path, problems: Problems, layout: str) -> Iterator[tuple[int, ScoreRow]]:
    wanted = COLUMNS[layout]
    is_first = True
    for number, line in text_lines(path):
        columns = line.split()
        if len(columns) != len(wanted):
            what = f"{len(columns)} columns, wanted {len(wanted)} ({layout}): {' '.join(wanted)}"
            problems.error(path, number, "bad_score", what)
            continue
        cell = dict(zip(wanted, columns, strict=True))
        value, is_value = _number(cell["value"])
        if is_value:
            run = cell.get("run") or stem(path)
            topic, measure = cell["topic"], cell["measure"]
            yield number, ScoreRow(run_id=run, topic_id=topic, measure=measure, value=value)
        elif is_first:
            problems.skip(path, number, "header", f"{line[:60]!r} has no value, read as a header")
        elif layout == "trec_eval" and cell["measure"] == "runid":
            problems.skip(
                path, number, "header", f"runid {cell['value']!r}; the file names the run"
            )
        else:
            what = f"value {cell['value'][:40]!r}, wanted a number"
            problems.error(path, number, "bad_score", what)
        is_first = False


def score_rows(lines: Iterable[Line]) -> Iterator[tuple[int, ScoreRow]]:
    """The score rows in these objects, as in `read_scores`, each with its line."""
    for line in (row for each in lines for row in _split_measures(each)):
        run, topic, measure = line.id("run_id"), line.id("topic_id"), line.id("measure")
        if "value" not in line.row:
            line.missing("value")
        elif run is not None and topic is not None and measure is not None:
            names = {"run_id": run, "topic_id": topic, "measure": measure}
            numbers = {field: _json_number(line, field) for field in ("value", *_BOUNDS)}
            counts = {field: _json_count(line, field) for field in _COUNTS}
            yield line.number, ScoreRow.model_validate({**names, **numbers, **counts})


def _split_measures(line: Line) -> Iterator[Line]:
    """Split a row with one column per measure into one row per measure, under our names.

    Other rows are unchanged. A row without a run belongs to the run that the file is named after.
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


def _csv_rows(path: Path, problems: Problems) -> Iterator[Line]:
    """The rows of a CSV file with one column per measure."""
    reader = csv.DictReader(text for _, text in raw_lines(path))
    for row in reader:
        yield Line(path, reader.line_num, row, problems)


def _json_number(line: Line, field: str) -> float | None:
    written = line.row.get(field)
    value, is_value = _number(written)
    if not is_value:
        line.bad(field, written, "a finite number or null")
    return value


def _json_count(line: Line, field: str) -> int | None:
    written = line.row.get(field)
    if (count := as_int(written)) is None and written is not None:
        line.bad(field, written, "a whole number or null")
    return count


def _number(written: object) -> tuple[float | None, bool]:
    """The value, and whether the text is a valid one (or a mark for no value)."""
    if written is None or (isinstance(written, str) and written.strip().lower() in _ABSENT):
        return None, True
    if isinstance(written, bool) or not isinstance(written, int | float | str):
        return None, False
    try:
        value = float(written)
    except ValueError:
        return None, False
    return (value, True) if math.isfinite(value) else (None, False)


def read_run_groups(path: Path, problems: Problems) -> dict[str, str]:
    """Read the group of each run: its task, its team or its model.

    Accepts lines of `run<TAB>group`, and JSONL with `run_id` and `group` (or `task`). A run with
    two groups is an error.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "groups.tsv")
    ...     n_characters = path.write_text("uis.ginger\\tAG\\nneu.neurag\\tRAG")
    ...     read_run_groups(path, Problems())
    {'uis.ginger': 'AG', 'neu.neurag': 'RAG'}
    """
    groups: dict[str, str] = {}
    for number, run, group in _group_json(path, problems) if is_json(path) else _group_tsv(path):
        if not run or not group:
            problems.error(path, number, "bad_group", "wanted a run, a tab and its group")
        elif groups.setdefault(run, group) != group:
            what = f"run {run!r} has the groups {groups[run]!r} and {group!r}, wanted one"
            problems.error(path, number, "two_groups", what)
    if not groups:
        problems.error(path, 1, "empty_file", "no groups of runs, wanted lines of run, tab, group")
    return groups


def _group_json(path: Path, problems: Problems) -> Iterator[tuple[int, str, str]]:
    for line in read_lines(path, problems):
        run, group = line.id("run_id", "run"), line.text("group", "task")
        if run is not None and group is not None:
            yield line.number, run, group.strip()


def _group_tsv(path: Path) -> Iterator[tuple[int, str, str]]:
    for number, line in text_lines(path):
        run, _, group = (part.strip() for part in line.partition("\t"))
        yield number, run, group
