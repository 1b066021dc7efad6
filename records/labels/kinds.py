"""What kind of file a path holds, recognised by its first record."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from ..reading.fields import is_envelope, read_lines, shorten
from ..reading.lines import first_line, is_json, text_lines
from ..reading.problems import InputError, Problems
from ..tools.metric_rows import is_csv, is_metric_row
from .declared import kind_of_object

FileKind = str  # such as answers, topics or scores; those of judgements: see `declared`

_PASSAGE_IDS = ("docid", "id", "_id", "docno")
_PASSAGE_TEXTS = ("text", "contents", "segment")
_QUESTIONS = ("subquestions", "sub_questions", "questions")
_REPORTS = ("report", "summary", "reference_summary")
_NEEDS = ("title", "narrative", "problem_statement", "request", "query", "topic", "text")
_GRADES = frozenset("01234")  # of the longest scale that six-column qrels come with
_LOOKED_AT = 50  # lines that tell qrels from a leaderboard


def file_kind(path: Path) -> FileKind:
    """The kind of a file; only its beginning is read.

    Four columns are qrels where the second is 0 or Q0 and the fourth a grade, otherwise a
    leaderboard; six columns are a retrieval run, or qrels with confidence where the fourth holds
    grades from 0 to 4, of which one comes twice in a topic, as no rank does.

    Raises: InputError for an empty file, or one whose first record is of no known kind.
    """
    if not (first := first_line(path)):
        raise InputError(f"{path}:1: the file is empty, wanted records")
    if not is_json(path):
        return _columns_kind(path, first)
    problems = Problems()
    line = next(read_lines(path, problems), None)
    if line is None:
        problems.raise_errors()
        raise InputError(f"{path}:1: no record in it, wanted one")
    kind = _object_kind(line.row)
    if kind is None:
        fields = shorten(", ".join(map(str, line.row)) or "no fields", 200)
        wanted = "answers, assignments, support, relevance, nuggets, scores, labels or other input"
        state = "an empty envelope" if is_envelope(line.row) else f"an object with {fields}"
        raise InputError(f"{path}:{line.number}: {state}, wanted a record of {wanted}")
    return kind


def _object_kind(row: Mapping[str, Any]) -> FileKind | None:
    has = row.__contains__
    lists = {name for name, value in row.items() if isinstance(value, list)}
    has_passage = any(map(has, (*_PASSAGE_IDS, "passage_id")))
    if (declared := kind_of_object(row)) is not None:
        return declared
    if is_metric_row(row) or (has("measure") and has("value")):
        return "scores"
    if has("label"):  # beside it may stand any text that was judged: `answer`, `report`
        return "labels"
    if has("relevances") or lists & {"rating", "ratings"}:
        return "ratings"
    if lists.intersection(_QUESTIONS):
        return "questions"
    if has("answer") or has("responses"):
        return "answers"
    if has("candidates") or has("docids"):
        return "candidates"
    if has("documents") and has("summary"):
        return "summaries"
    if has("judgment") or (has_passage and (has("grade") or has("relevance"))):
        return "relevance"
    if has_passage and any(map(has, _PASSAGE_TEXTS)):
        return "passages"
    if any(map(has, _REPORTS)):
        return "reports"
    return "topics" if any(map(has, _NEEDS)) else None


def _columns_kind(path: Path, first: str) -> FileKind:
    names = [name.strip().strip('"') for name in re.split(r"[,;|\t]", first)]
    if len(names) > 1 and "label" in names:
        return "labels"
    if is_csv(first):
        return "scores"
    columns = first.split()
    if len(columns) == 6 and columns[1].upper() == "Q0":
        return "qrels" if _are_confident(path) else "run"
    if len(columns) == 4:
        head = _head(path)
        if all(_is_qrel(line) for line in head):
            return "qrels"
        if any(_is_number(line[-1]) for line in head):
            return "scores"
    if len(first.split("\t")) == 2:
        return "topics"
    if len(columns) == 3 and _is_number(columns[-1]):
        return "scores"
    wanted = "JSON, CSV with a label column, topics (tab), qrels, a run or a leaderboard"
    raise InputError(f"{path}:1: {shorten(first)!r} is of no known kind, wanted {wanted}")


def _head(path: Path) -> list[list[str]]:
    return [line.split() for _, line in islice(text_lines(path), _LOOKED_AT)]


def _are_confident(path: Path) -> bool:
    """Whether six columns have a grade where a run has the rank."""
    rows = [columns for columns in _head(path) if len(columns) == 6]
    pairs = [(columns[0], columns[3]) for columns in rows]
    return len({*pairs}) < len(pairs) and {grade for _, grade in pairs} <= _GRADES


def _is_qrel(columns: list[str]) -> bool:
    if len(columns) != 4 or columns[1].upper() not in ("0", "Q0"):
        return False
    grade = columns[3].lower()
    return grade in ("true", "false") or (_is_number(grade) and float(grade).is_integer())


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
