"""The labels in any file that holds some, joined later cell by cell on their ids."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from ..reading.fields import Line, Where, read_lines
from ..reading.lines import is_json
from ..reading.problems import InputError, Problems
from ..relevance import RELEVANCE_KIND, read_qrels
from .cells import Cell, Cells, LabelFile, grade_scale, is_graded
from .declared import Kind, kind_of_rows
from .kinds import file_kind
from .label_rows import csv_lines, cut_file, labels_of_rows

VOTES = "votes"


def read_labels(
    path: Path,
    problems: Problems,
    where: Where | None = None,
    scale: Sequence[str] | None = None,
    cut: str | None = None,
    *,
    votes: str = VOTES,
) -> LabelFile:
    """Read the labels of any file that has some, recognised by content.

    Takes nugget assignments, support files, relevance judgements, qrels, ratings of
    sub-questions, entailments of key points, verdicts on criteria, battles (ours and RAGDoll's),
    and label files: JSONL or CSV with ids (`KEY_FIELDS`), `label`, and optionally `annotator` and
    `rationale`. Sentence ids are 0-based positions as text. Support labels are full, partial, none
    however the file spells them; a sentence without citations is no cell, for nobody had to judge
    it. The question id of a rating is its column as text, and -1 and -2 are no label.
    Two citations of one sentence to one passage ask the same question: with one label they
    are one cell, and mentioned; with two labels they are an error.

    Args:
        where: read only rows whose top-level fields have one of these values.
        scale: what the labels of a label file are, worst to best, if that is known; relevance
            grades of any file are on it at least.
        cut: a label; all from it on become "positive", those below it "negative". Of several
            annotators each label is cut before the majority is taken.
        votes: the field that holds the labels of a jury's members, by their names.

    Raises: InputError if the file holds no labels, or `where` or `cut` cannot be applied, or
        nothing is left.
    Errors reported: an id or label missing, a cell with two labels, an annotator twice in a cell.
    """
    where = where or {}
    kind = file_kind(path)
    if kind == "qrels":
        if where:
            raise InputError(f"{path}: qrels have no field {next(iter(where))!r} to choose by")
        labels = _qrels(path, problems)
    elif kind == "labels":
        lines = read_lines if is_json(path) else csv_lines
        rows = _voted(lines(path, problems, where), votes)
        labels = labels_of_rows(path, rows, problems, scale, cut)
    elif (judged := kind_of_rows(kind)) is not None:
        labels = _judged(judged, _voted(read_lines(path, problems, where), votes), problems)
    else:
        wanted = "labels, assignments, support, ratings, entailments, verdicts or qrels"
        raise InputError(f"{path}: it holds {kind}, wanted {wanted}")
    if where and not labels.cells and not labels.n_unlabelled:
        chosen = ", ".join(f"{name}={' or '.join(values)}" for name, values in where.items())
        raise InputError(f"{path}: no labels with {chosen}")
    if scale is not None and is_graded(labels.kind) and kind != "labels":
        with suppress(ValueError):  # labels that are no grades
            labels = replace(labels, scale=grade_scale((*labels.scale, *scale)))
    return labels if cut is None or kind == "labels" else cut_file(labels, cut, path)


def _voted(lines: Iterable[Line], field: str) -> Iterable[Line]:
    """The lines, what stands under this field being the votes of a jury."""
    if field == VOTES:
        return lines
    return (replace(line, row={**line.row, VOTES: line.row.get(field)}) for line in lines)


def _qrels(path: Path, problems: Problems) -> LabelFile:
    cells: dict[Cell, str] = {
        (topic_id, passage_id): str(grade)
        for topic_id, grades in read_qrels(path, problems).items()
        for passage_id, grade in grades.items()
    }
    return LabelFile("relevance", grade_scale(cells.values()), cells, RELEVANCE_KIND.key)


def _judged(kind: Kind, lines: Iterable[Line], problems: Problems) -> LabelFile:
    cells = Cells(problems)
    for line, cell, label, sure in kind.read(lines) if kind.read is not None else ():
        cells.add(line.path, line.number, cell, label, **sure)
    return cells.of(kind.name)
