"""Relevance judgements in the TREC layout: `topic iteration document grade`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, TypeVar

from .passages import natural_order
from .reading.fields import as_int
from .reading.lines import text_lines
from .reading.problems import Problems

Of = TypeVar("Of")
_TRUTH = {"true": 1, "false": 0}


def read_qrels(path: Path, problems: Problems) -> dict[str, dict[str, int]]:
    """Read grades by topic and document, in file order; the iteration column is not used.

    A grade may be written as a whole number, as a float that is one (`2.0`), or True or False.

    Errors noted: other than 4 columns, other grades, one pair with two grades.
    """
    qrels: dict[str, dict[str, int]] = {}
    for line in _lines(path, problems):
        _add(qrels.setdefault(line.topic_id, {}), line, path, problems)
    return qrels


def read_diversity_qrels(path: Path, problems: Problems) -> dict[str, dict[str, dict[str, int]]]:
    """Read 0 or 1 by topic, sub-question (in the place of the iteration) and passage.

    Errors noted: as `read_qrels`, and a grade that is not 0 or 1.
    """
    qrels: dict[str, dict[str, dict[str, int]]] = {}
    for line in _lines(path, problems):
        if line.grade not in (0, 1):
            what = f"grade {line.grade}, wanted 1 where the passage answers the question, else 0"
            problems.error(path, line.number, "bad_grade", what)
            continue
        of_question = qrels.setdefault(line.topic_id, {}).setdefault(line.iteration, {})
        _add(of_question, line, path, problems)
    return qrels


def write_qrels(path: Path, qrels: Mapping[str, Mapping[str, int]], iteration: str = "0") -> None:
    """Write sorted by topic and document, as auto-judge tools do.

    Raises: ValueError if an id is empty or holds white space, which the layout cannot carry.
    """
    lines = []
    for topic_id, grades in sorted(qrels.items()):
        for passage_id, grade in sorted(grades.items()):
            lines.append(_written(topic_id, iteration, passage_id, grade))
    path.write_text("".join(lines), encoding="utf-8")


def write_diversity_qrels(
    path: Path, grades: Mapping[str, Mapping[str, Mapping[str, int]]]
) -> None:
    """Write `topic question passage grade`, as ir-measures reads it for alpha-nDCG.

    Sorted by all three ids, digits as numbers.

    Args:
        grades: topic -> sub-question -> passage -> 1 where it answers the question, else 0.

    Raises: ValueError for an id as `write_qrels`, and for another grade.
    """
    lines = []
    for topic_id, questions in _sorted(grades):
        for question_id, passages in _sorted(questions):
            for passage_id, grade in _sorted(passages):
                if grade not in (0, 1):
                    what = f"grade {grade} of {passage_id!r}, question {question_id!r}"
                    raise ValueError(f"topic {topic_id!r}: {what}, wanted 0 or 1")
                lines.append(_written(topic_id, question_id, passage_id, grade))
    path.write_text("".join(lines), encoding="utf-8")


class _Line(NamedTuple):
    number: int
    topic_id: str
    iteration: str
    passage_id: str
    grade: int


def _lines(path: Path, problems: Problems) -> Iterator[_Line]:
    for number, line in text_lines(path):
        columns = line.split()
        if len(columns) != 4:
            what = f"{len(columns)} columns, wanted 4: topic iteration document grade"
            problems.error(path, number, "bad_qrels", what)
            continue
        topic_id, iteration, passage_id, written = columns
        grade = _TRUTH.get(written.lower(), as_int(written))
        if grade is None:
            what = f"grade {written[:40]!r}, wanted a whole number, True or False"
            problems.error(path, number, "bad_grade", what)
            continue
        yield _Line(number, topic_id, iteration, passage_id, grade)


def _add(grades: dict[str, int], line: _Line, path: Path, problems: Problems) -> None:
    known = grades.get(line.passage_id)
    place = f"{line.passage_id!r} of topic {line.topic_id!r}"
    if known is None:
        grades[line.passage_id] = line.grade
    elif known == line.grade:
        what = f"{place} occurs twice with grade {line.grade}"
        problems.keep(path, line.number, "duplicate_grade", what)
    else:
        what = f"{place} has grade {line.grade} here and {known} before, wanted one"
        problems.error(path, line.number, "duplicate_grade", what)


def _sorted(by_id: Mapping[str, Of]) -> list[tuple[str, Of]]:
    return sorted(by_id.items(), key=lambda item: natural_order(item[0]))


def _written(topic_id: str, iteration: str, passage_id: str, grade: int) -> str:
    for name in (topic_id, passage_id, iteration):
        if len(name.split()) != 1 or name.split()[0] != name:
            raise ValueError(f"id {name!r} is empty or has white space: no qrels for it")
    return f"{topic_id} {iteration} {passage_id} {grade}\n"
