"""The labels in any file that holds some, joined later cell by cell on their ids."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..assignments import assignments_with_lines
from ..key_points import entailments_with_lines
from ..qrels import read_qrels
from ..ratings import ratings_with_lines
from ..reading.choosing import Where
from ..reading.fields import Line, read_lines
from ..reading.lines import is_json
from ..reading.problems import InputError, Problems
from ..support import support_with_lines
from ..tools.battles import battles_with_lines
from ..tools.rubric_verdicts import verdicts_with_lines
from .cells import RATING_SCALE, RELEVANCE_KEY, Cell, Cells, LabelFile, LabelKind, grade_scale
from .cuts import cut_file
from .kinds import file_kind
from .label_rows import csv_lines, labels_of_rows
from .relevance import relevance_with_lines

VOTES = "votes"
_Labelled = tuple[Line, Cell, str | None, Mapping[str, Any]]  # the last: how sure the judge was


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
    elif kind in _READERS:
        labels = _labelled(kind, _voted(read_lines(path, problems, where), votes), problems)
    elif kind == "ratings":
        labels = _ratings(_voted(read_lines(path, problems, where), votes), problems)
    else:
        wanted = "labels, assignments, support, ratings, entailments, verdicts or qrels"
        raise InputError(f"{path}: it holds {kind}, wanted {wanted}")
    if where and not labels.cells and not labels.n_unlabelled:
        chosen = ", ".join(f"{name}={' or '.join(values)}" for name, values in where.items())
        raise InputError(f"{path}: no labels with {chosen}")
    if scale is not None and labels.kind == "relevance" and kind != "labels":
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
    return LabelFile("relevance", grade_scale(cells.values()), cells, RELEVANCE_KEY)


def _nuggets(lines: Iterable[Line]) -> Iterator[_Labelled]:
    for line, assignment in assignments_with_lines(lines):
        for assigned in assignment.nuggets:
            cell = (assignment.topic_id, assignment.run_id, assigned.nugget.id)
            yield line, cell, assigned.label, assigned.sure()


def _support(lines: Iterable[Line]) -> Iterator[_Labelled]:
    for line, answer in support_with_lines(lines):
        for sentence in answer.sentences:
            for citation in sentence.citations:
                cell = (answer.topic_id, answer.run_id, str(sentence.id), citation.passage_id)
                yield line, cell, citation.label, citation.sure()


def _relevance(lines: Iterable[Line]) -> Iterator[_Labelled]:
    for line, label in relevance_with_lines(lines):
        grade = None if label.grade is None else str(label.grade)
        yield line, (label.topic_id, label.passage_id), grade, label.sure()


def _entailments(lines: Iterable[Line]) -> Iterator[_Labelled]:
    for line, entailment in entailments_with_lines(lines):
        yield (
            line,
            (entailment.topic_id, entailment.run_id, entailment.key_point_id),
            entailment.label,
            entailment.sure(),
        )


def _verdicts(lines: Iterable[Line]) -> Iterator[_Labelled]:
    for line, verdict in verdicts_with_lines(lines):
        yield (
            line,
            (verdict.topic_id, verdict.run_id, verdict.criterion_id),
            verdict.label,
            verdict.sure(),
        )


def _battles(lines: Iterable[Line]) -> Iterator[_Labelled]:
    for line, battle in battles_with_lines(lines):
        yield line, (battle.topic_id, battle.run_id, battle.opponent_id), battle.label, {}


_READERS: dict[str, tuple[LabelKind, Callable[[Iterable[Line]], Iterator[_Labelled]]]] = {
    "assignments": ("nuggets", _nuggets),
    "support": ("support", _support),
    "relevance": ("relevance", _relevance),
    "entailments": ("keypoints", _entailments),
    "verdicts": ("rubric", _verdicts),
    "battles": ("battles", _battles),
}


def _labelled(kind: str, lines: Iterable[Line], problems: Problems) -> LabelFile:
    of, read = _READERS[kind]
    cells = Cells(problems)
    for line, cell, label, sure in read(lines):
        cells.add(line.path, line.number, cell, label, **sure)
    return cells.of(of)


def _ratings(lines: Iterable[Line], problems: Problems) -> LabelFile:
    cells = Cells(problems)
    for topic_id, texts in ratings_with_lines(lines).items():
        for name, rated in texts.items():
            for column, rating in enumerate(rated.ratings):
                cell = (topic_id, name, str(column))
                cells.labels[cell] = RATING_SCALE[rating] if rating >= 0 else None
                cells.lines[cell] = rated.line
    return cells.of("ratings")
